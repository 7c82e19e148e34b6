/* Programs run by base/process/process.h: streams, limits, and what is left of them. */
#include "base/process/process.h"

#include "tests/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct err e;
static struct process_end end;

static struct process shell(const char *const *argv)
{
    return (struct process){.argv = argv, .in = -1, .out = -1};
}

#define SHELL(script) shell((const char *const[]){"sh", "-c", script, NULL})

TEST_IN_ARENA(status)
{
    struct process p = SHELL("echo trouble >&2; exit 7");
    assert_int_equal(process_run(&end, a, &p, &e), OK);
    assert_int_equal(end.status, 7);
    assert_string_equal(end.errors, "trouble\n");
    p = SHELL("kill -TERM $$");
    assert_int_equal(process_run(&end, a, &p, &e), OK);
    assert_int_equal(end.status, 128 + SIGTERM);
}

/* It reads and writes what it is given, runs where it is told, and has no file of ours. */
TEST_IN_ARENA(surroundings)
{
    char got[200] = "";
    FILE *in = tmpfile(), *out = tmpfile();
    assert_non_null(in);
    assert_non_null(out);
    fputs("given", in);
    rewind(in);
    struct process p = SHELL("cat; echo \" $NAME $HOME $PWD\"; ls /proc/self/fd | wc -l");
    p.in = fileno(in);
    p.out = fileno(out);
    p.dir = "/usr";
    p.env = (const char *const[]){"NAME=value", "PATH=/usr/bin:/bin", NULL};
    assert_int_equal(process_run(&end, a, &p, &e), OK);
    assert_string_equal(end.errors, "");
    rewind(out);
    got[fread(got, 1, sizeof got - 1, out)] = 0;
    assert_string_equal(got, "given value  /usr\n4\n"); /* the fourth is ls's own */
    fclose(in);
    fclose(out);
}

TEST_IN_ARENA(no_program)
{
    struct process p = shell((const char *const[]){"no-such-program", NULL});
    assert_int_equal(process_run(&end, a, &p, &e), ERR_NOTFOUND);
    assert_string_equal(e.message, "there is no program no-such-program");
    p = SHELL("true");
    p.dir = "/no/such/place";
    assert_int_equal(process_run(&end, a, &p, &e), ERR_NOTFOUND);
    assert_string_equal(e.message, "there is no folder /no/such/place");
}

static bool yes(void *arg)
{
    return true;
}

/* Its children end with it, also where it has closed its streams. */
TEST_IN_ARENA(killed)
{
    struct process p = SHELL("exec 2>&-; sleep 1000 & echo $!; wait");
    FILE *out = tmpfile();
    int child = 0;
    assert_non_null(out);
    p.out = fileno(out);
    p.limit_ms = 300;
    assert_int_equal(process_run(&end, a, &p, &e), ERR_LIMIT);
    assert_string_equal(e.message, "sh took longer than 0.3 s");
    rewind(out);
    assert_int_equal(fscanf(out, "%d", &child), 1);
    for (int i = 0; i < 1000 && kill(child, 0) == 0; i++) /* until init reaps it */
        usleep(10000);
    char path[64], state_of[200] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", child);
    FILE *f = fopen(path, "r");
    if (f) /* a container without init reaps nobody */
        assert_non_null(fgets(state_of, sizeof state_of, f));
    assert_true(!f || strstr(state_of, ") Z "));
    if (f)
        fclose(f);
    p = SHELL("sleep 1000");
    p.cancelled = yes;
    assert_int_equal(process_run(&end, a, &p, &e), ERR_CANCELLED);
    fclose(out);
}

/* What a program leaves: in its group, in sessions of its own, with and without a parent, deaf to
 * SIGTERM. Each writes its number. */
#define DAEMONS                                                                                    \
    "sh -c 'echo $$; exec sleep 1000' & setsid sh -c 'echo $$; exec sleep 1000' & "                \
    "(setsid sh -c 'trap \"\" TERM; echo $$; sleep 1000 & echo $!; wait; sleep 1000' &); "         \
    "(setsid setsid sh -c '(sh -c \"echo \\$\\$; exec sleep 1000\" &); echo $$; exec sleep 1000' " \
    "&);"

enum { DAEMONS_N = 6 };

/* A file to which several may write while it is read. */
static FILE *shared_file(void)
{
    FILE *f = tmpfile();
    assert_non_null(f);
    fcntl(fileno(f), F_SETFL, O_APPEND);
    return f;
}

/* Returns how many of the numbers in the file are processes, after up to five seconds. */
static int living(FILE *out, int wanted)
{
    int n = 0;
    for (int tries = 0; tries < 500; tries++) {
        int pid;
        n = 0;
        rewind(out);
        while (fscanf(out, "%d", &pid) == 1) {
            char path[64], state_of[200] = "";
            snprintf(path, sizeof path, "/proc/%d/stat", pid);
            FILE *f = fopen(path, "r");
            n += f && fgets(state_of, sizeof state_of, f) && !strstr(state_of, ") Z ");
            if (f)
                fclose(f);
        }
        if (n == wanted)
            break;
        usleep(10000);
    }
    return n;
}

TEST_IN_ARENA(trees)
{
    static const char ready[] =
        "exec 3>&1;" DAEMONS "while [ $(wc -l </proc/self/fd/3) -lt 6 ]; do sleep 0.02; done;";
    const char *const ends[] = {"exit 7", "kill -9 $$", "exec sleep 1000"};
    for (size_t i = 0; i < 3; i++) {
        FILE *out = shared_file();
        struct process p = SHELL(arena_printf(a, "%s %s", ready, ends[i]));
        p.out = fileno(out);
        p.tree = true;
        p.limit_ms = i == 2 ? 1500 : 0;
        assert_int_equal(process_run(&end, a, &p, &e), i == 2 ? ERR_LIMIT : OK);
        assert_int_equal(end.status, i == 0 ? 7 : i == 1 ? 128 + SIGKILL : 128 + SIGTERM);
        int pid, n = 0;
        for (rewind(out); fscanf(out, "%d", &pid) == 1;)
            n++;
        assert_int_equal(n, DAEMONS_N);
        assert_int_equal(living(out, 0), 0);
        fclose(out);
    }
    struct process p = shell((const char *const[]){"no-such-program", NULL});
    p.tree = true;
    assert_int_equal(process_run(&end, a, &p, &e), ERR_NOTFOUND);
}

/* Also if whoever started the program is killed. */
TEST_IN_ARENA(orphans)
{
    FILE *out = shared_file();
    struct process p = SHELL(DAEMONS " wait; exec sleep 1000");
    p.out = fileno(out);
    p.tree = true;
    pid_t starter = fork();
    if (starter == 0)
        _exit(process_run(&end, a, &p, &e));
    assert_int_equal(living(out, DAEMONS_N), DAEMONS_N);
    kill(starter, SIGKILL);
    assert_int_equal(waitpid(starter, NULL, 0), starter);
    assert_int_equal(living(out, 0), 0);
    fclose(out);
}

TEST_IN_ARENA(limits)
{
    FILE *out = tmpfile();
    assert_non_null(out);
    signal(SIGXFSZ, SIG_IGN); /* as the program does; the child does not inherit it */
    struct process p = SHELL("exec head -c 1000000 /dev/zero");
    p.out = fileno(out);
    p.limit_bytes = 10000;
    assert_int_equal(process_run(&end, a, &p, &e), OK);
    assert_int_equal(end.status, 128 + SIGXFSZ);
    fseek(out, 0, SEEK_END);
    assert_int_equal(ftell(out), 10000);
    p = SHELL("while :; do :; done");
    p.limit_cpu_s = 1;
    assert_int_equal(process_run(&end, a, &p, &e), OK);
    assert_int_equal(end.status, 128 + SIGXCPU);
    p = SHELL("i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i + 1)); done");
    assert_int_equal(process_run(&end, a, &p, &e), OK);
    assert_int_equal(strlen(end.errors), 4096);
    assert_string_equal(end.errors + 4096 - 10, "line 2999\n");
    fclose(out);
}
