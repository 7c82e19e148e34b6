/* The engine over a map of many trivial elements: first run, no-op, one element changed. One line a
 * figure: NAME VALUE UNIT. The number of elements is the argument (100,000). */
#include "place.h"

#include "base/buf.h"
#include "base/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void write_lines(struct place *p, long n, long changed)
{
    struct buf b = {0};
    for (long i = 0; i < n; i++)
        buf_printf(&b, "x%ld\n", i == changed ? n : i);
    write_file(p, "seeds", b.data);
    buf_free(&b);
}

static void measure(struct place *p, const char *name)
{
    struct graph g;
    graph_init(&g, "bench");
    graph_add(&g, "seeds", "lines", "", os_join(&g.arena, p->dir, "seeds"));
    graph_add(&g, "first", "first", "", "exprs=seeds");
    place_reopen(p);
    uint64_t start = os_monotonic_ns();
    struct run_result r = run(p, &g);
    printf("%s %.1f ms (%llu of %llu elements ran; the map %.1f ms)\n", name,
           (double)(os_monotonic_ns() - start) / 1e6, (unsigned long long)r.nodes[1].ran,
           (unsigned long long)r.nodes[1].elements, (double)r.nodes[1].wall_ns / 1e6);
    graph_free(&g);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 100000;
    struct place p;
    place_new(&p);
    write_lines(&p, n, -1);
    measure(&p, "first_run");
    measure(&p, "no_op");
    write_lines(&p, n, n / 2);
    measure(&p, "one_changed");
    measure(&p, "no_op_again");
    place_free(&p);
    return 0;
}
