/* The engine over maps of trivial elements: a first run, a run in which nothing is new, one line of
 * the file changed, a leaf's worth of lines changed, one of 100 rules edited (proofs that elements
 * stand; one that matches nowhere, then one that matches in every leaf), and what `plan` takes. One
 * line a figure, by number of elements: NAME N VALUE UNIT. Arguments: numbers of elements (1,000 to
 * 100,000; a million takes a minute or two: `bench_engine 1000 1000000`). With `--keep DIR` stores
 * stay in DIR, and the first run is left out where there is one; with `--no-op` before that, edits
 * are left out, too.
 *
 *     seeds (lines) ── first (map) ── weigh (task, by summaries)
 *     names (100 rules) ── rank (map over seeds, with proofs) */
#include "base/buf.h"
#include "base/os.h"
#include "place.h"
#include "tests/unit.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

enum { RULES = 100, REPEATS = 5, LEAF = 128 };
enum { SEEDS, NAMES, FIRST, WEIGH, RANK };

/* A file that was not written a moment ago, so that it need not be read again. */
static void write_aged(struct place *p, const char *name, const char *text)
{
    static int age = 100000;
    char *path = write_file(p, name, text);
    struct timespec then = {.tv_sec = time(NULL) - age--}, times[2] = {then, then};
    utimensat(AT_FDCWD, path, times, 0);
}

/* Lines [from, from + changed) differ from edition to edition. */
static void write_lines(struct place *p, long n, long from, long changed, long edition)
{
    struct buf b = {0};
    for (long i = 0; i < n; i++)
        if (i >= from && i < from + changed)
            buf_printf(&b, "%c%ld.%ld\n", 'a' + (int)(i % 26), i, edition);
        else
            buf_printf(&b, "%c%ld\n", 'a' + (int)(i % 26), i);
    write_aged(p, "seeds", b.data);
    buf_free(&b);
}

/* Rule 0 is of a letter that no line begins with; it differs from edition to edition. Rule 1 is of
 * the letter of one line in 26. */
static void write_rules(struct place *p, long edition, long edition_of_1)
{
    struct buf b = {0};
    for (int i = 0; i < RULES; i++)
        buf_printf(&b, "g/%c%d t%ld\n", i ? 'a' + i % 26 : 'A', i,
                   i == 0   ? RULES + edition
                   : i == 1 ? 1 + RULES * edition_of_1
                            : i);
    write_aged(p, "names", b.data);
    buf_free(&b);
}

static struct graph *build(struct place *p)
{
    struct graph *g = graph_new(p, "bench");
    graph_add(g, "seeds", "lines", "", "seeds");
    graph_add(g, "names", "names", "", "names");
    graph_add(g, "first", "first", "", "exprs=seeds");
    graph_add(g, "weigh", "weigh", "most=3", "exprs=seeds");
    graph_add(g, "rank", "rank", "", "exprs=seeds names=names");
    return g;
}

static double ms_since(uint64_t start)
{
    return (double)(os_monotonic_ns() - start) / 1e6;
}

/* One run after the store was opened anew, with the time of opening. */
static double measure(struct run_result *r, struct place *p, bool planned)
{
    struct graph *g = build(p);
    uint64_t start = os_monotonic_ns();
    place_reopen(p);
    *r = planned ? plan(p, g) : run(p, g);
    double ms = ms_since(start);
    return ms;
}

static void say(const char *name, long n, double ms)
{
    printf("%s %ld %.2f ms\n", name, n, ms);
    fflush(stdout);
}

/* The best of a few: what the machine does beside this is not the engine's. */
static double best_of(struct place *p, bool planned)
{
    struct run_result r;
    double best = measure(&r, p, planned);
    for (int i = 1; i < REPEATS; i++) {
        double ms = measure(&r, p, planned);
        best = ms < best ? ms : best;
    }
    return best;
}

static void say_run(const char *name, const struct run_result *r, long n, double ms)
{
    say(name, n, ms);
    printf("  source %.1f ms, map %.1f ms (%llu ran), task %.1f ms, proofs %.1f ms (%llu ran, %llu "
           "reused)\n",
           (double)r->nodes[SEEDS].wall_ns / 1e6, (double)r->nodes[FIRST].wall_ns / 1e6,
           (unsigned long long)r->nodes[FIRST].ran, (double)r->nodes[WEIGH].wall_ns / 1e6,
           (double)r->nodes[RANK].wall_ns / 1e6, (unsigned long long)r->nodes[RANK].ran,
           (unsigned long long)r->nodes[RANK].reused);
}

/* A place that stays, of this many elements. */
static void place_at(struct place *p, const char *keep, long n)
{
    memset(p, 0, sizeof *p);
    snprintf(p->dir, sizeof p->dir, "%s/%ld", keep, n);
    struct err e = {0};
    check(os_mkdirs(p->dir, &e), &e);
    p->store = place_open_store(p->dir);
}

static void say_memory(long n)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("memory %ld %ld MB (the most so far)\n", n, usage.ru_maxrss / 1024);
    fflush(stdout);
}

static void measure_first(struct place *p, long n)
{
    struct run_result r;
    write_lines(p, n, 0, 0, 0);
    write_rules(p, 0, 0);
    double ms = measure(&r, p, false);
    say_run("first_run", &r, n, ms);
    printf("element %ld %.2f us\n", n,
           (double)(r.nodes[FIRST].wall_ns + r.nodes[RANK].wall_ns) / 2e3 / (double)n);
    say_memory(n);
}

static void measure_edits(struct place *p, long n, long edition)
{
    struct run_result r;
    write_lines(p, n, n / 2, 1, edition);
    say("plan_one_line", n, measure(&r, p, true));
    double ms = measure(&r, p, false);
    say_run("one_line", &r, n, ms);
    write_lines(p, n, n / 3, LEAF, edition);
    ms = measure(&r, p, false);
    say_run("one_leaf", &r, n, ms);
    write_rules(p, edition, 0);
    say("plan_one_rule", n, measure(&r, p, true));
    ms = measure(&r, p, false);
    say_run("one_rule", &r, n, ms);
    write_rules(p, edition, edition);
    say("plan_rule_of_all_leaves", n, measure(&r, p, true));
    ms = measure(&r, p, false);
    say_run("rule_of_all_leaves", &r, n, ms);
}

/* Counts the times that a kept store was measured: edits are to be new each time. */
static long next_edition(struct place *p)
{
    struct span text;
    struct err e = {0};
    char *path = os_join(&p->arena, p->dir, "edition");
    long edition = 1;
    if (os_read_file(&text, &p->arena, path, 64, &e) == OK)
        edition += atol((const char *)text.data);
    write_file(p, "edition", arena_printf(&p->arena, "%ld", edition));
    return edition;
}

static void measure_size(const char *keep, bool edits, long n)
{
    struct place p;
    struct run_result r;
    if (keep)
        place_at(&p, keep, n);
    else
        place_new(&p);
    long edition = edits ? next_edition(&p) : 0;
    if (edition == 1) {
        measure_first(&p, n);
    } else if (edits) {
        write_lines(&p, n, 0, 0, 0);
        write_rules(&p, 0, 0);
        say("back", n, measure(&r, &p, false));
    }
    say("no_op", n, best_of(&p, false));
    say("plan_no_op", n, best_of(&p, true));
    if (edits)
        measure_edits(&p, n, edition);
    say_memory(n);
    if (keep)
        store_close(p.store);
    else
        place_free(&p);
}

int main(int argc, char **argv)
{
    static const long sizes[] = {1000, 10000, 100000};
    os_few_heaps(); /* as eqloom itself */
    bool edits = argc < 2 || strcmp(argv[1], "--no-op") != 0;
    int first = edits ? 1 : 2;
    const char *keep = NULL;
    if (argc > first + 1 && strcmp(argv[first], "--keep") == 0) {
        keep = argv[first + 1];
        first += 2;
    }
    bool usage = !edits && !keep; /* what runs with nothing new is what was kept */
    for (int i = first; i < argc; i++)
        usage = usage || atol(argv[i]) < 1;
    if (usage) {
        fprintf(stderr, "usage: bench_engine [[--no-op] --keep DIR] [ELEMENTS...]\n");
        return 2;
    }
    for (int i = first; i < argc; i++)
        measure_size(keep, edits, atol(argv[i]));
    for (size_t i = 0; argc <= first && i < sizeof sizes / sizeof *sizes; i++)
        measure_size(keep, edits, sizes[i]);
    return 0;
}
