/* Killed at random moments, a run goes on where it was and ends with the same ids as one that was
 * left alone. This process never opens a store (its threads would not survive fork): every run is
 * a child. Seed printed; EQLOOM_TEST_SEED. */
#include "base/os.h"
#include "base/rng.h"
#include "place.h"
#include "store/maintain.h"
#include "tests/unit.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NODES = 9, WIDE = 1200, BUDGET_S = CASES(15, 8), KILLS_LEAST = 4 };

static void no_fault(void *arg, const struct digest *id, const char *what)
{
}

/* In the child: a whole run; ids and whether fsck is clean go to the pipe. */
static void child(const char *dir, int out)
{
    struct place p = {0};
    struct fsck_result fsck;
    struct err e = {0};
    snprintf(p.dir, sizeof p.dir, "%s", dir);
    p.store = place_open_store(dir);
    struct graph *g = graph_of(&p, "kill", numbered(&p, 60, ""));
    graph_add(g, "upper", "upper", "repeat=3 ms=1", "exprs=seeds");
    graph_add(g, "first", "first", "", "exprs=upper");
    graph_add(g, "joined", "join", "", "exprs=first");
    graph_add(g, "model", "fold", "steps=12 ms=2", "expr=joined");
    graph_add(g, "upper2", "upper", "repeat=1", "exprs=upper");
    /* Leaves, their actions and summaries of them, half written. */
    graph_add(g, "lines", "lines", "", write_file(&p, "lines", numbered(&p, WIDE, "")));
    graph_add(g, "wide", "upper", "repeat=2", "exprs=lines");
    graph_add(g, "weigh", "weigh", "most=9", "exprs=wide");
    struct run_result r = run(&p, g);
    if (r.failed || store_fsck(&fsck, p.store, false, no_fault, NULL, &e) || fsck.bad_records ||
        fsck.missing)
        _exit(1);
    struct digest ids[NODES];
    for (int i = 0; i < NODES; i++)
        ids[i] = r.nodes[i].outputs[0];
    if (write(out, ids, sizeof ids) != sizeof ids)
        _exit(1);
    _exit(0);
}

/* True when the child ended by itself, with its ids; not killed if it is over before. */
static bool run_child(struct digest ids[NODES], const char *dir, int kill_after_ms)
{
    int fds[2], status;
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(fds[0]);
        child(dir, fds[1]);
    }
    close(fds[1]);
    if (kill_after_ms >= 0 &&
        poll(&(struct pollfd){.fd = fds[0], .events = POLLIN}, 1, kill_after_ms) == 0)
        kill(pid, SIGKILL);
    bool whole = read(fds[0], ids, NODES * sizeof *ids) == NODES * (ssize_t)sizeof *ids;
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (kill_after_ms < 0)
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return whole;
}

static void new_dir(char dir[64])
{
    strcpy(dir, "/tmp/eqloom-kill-XXXXXX");
    assert_non_null(mkdtemp(dir));
}

static void remove_dir(const char *dir)
{
    struct place p = {0};
    snprintf(p.dir, sizeof p.dir, "%s", dir);
    place_free(&p);
}

/* At a random moment. A run that is over before tells how long one takes by now: the first may have
 * had a busier machine. */
static bool is_killed(const char *dir, uint64_t *whole_ms, struct rng *r)
{
    struct digest ids[NODES];
    uint64_t began = os_monotonic_ns();
    if (!run_child(ids, dir, (int)rng_below(r, *whole_ms)))
        return true;
    uint64_t took_ms = 1 + (os_monotonic_ns() - began) / 1000000;
    *whole_ms = took_ms < *whole_ms ? took_ms : *whole_ms;
    return false;
}

TEST(kill)
{
    struct rng r = rng_new(test_seed((uint64_t)time(NULL)), 0);
    struct digest expected[NODES], ids[NODES];
    char dir[64];
    new_dir(dir);
    uint64_t start = os_monotonic_ns();
    assert_true(run_child(expected, dir, -1));
    uint64_t whole_ms = 1 + (os_monotonic_ns() - start) / 1000000;
    remove_dir(dir);
    unsigned kills = 0, trials = 0;
    while (kills < KILLS_LEAST || os_monotonic_ns() - start < BUDGET_S * 1000000000ull) {
        new_dir(dir);
        for (unsigned n = 1 + (unsigned)rng_below(&r, 6); n > 0; n--)
            kills += is_killed(dir, &whole_ms, &r);
        assert_true(run_child(ids, dir, -1));
        assert_memory_equal(ids, expected, sizeof ids);
        remove_dir(dir);
        trials++;
    }
    print_message("%u kills in %u trials, undisturbed run %" PRIu64 " ms\n", kills, trials,
                  whole_ms);
}
