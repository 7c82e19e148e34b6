/* How fast e-graphs grow and how much memory they take: the common calculus workload, sums under
 * associativity and commutativity, and single expressions under the shipped library. Prints one
 * line of figures for each run; nothing here passes or fails on time. Bytes are the peak of what
 * the process has in memory, above what it had before the run.
 *
 *     bench_egraph [FOLDER of workloads [library|sums|calculus|iterations [LABEL]]]
 *
 * With a LABEL, only runs whose label contains it.
 * `iterations` prints a table (CSV) of a search-bound run instead: for each iteration its time, the
 * nodes with which it began, and those at which something might be new. */
#include "base/os.h"
#include "ops/egraph/graph/egraph.h"
#include "ops/rules/rule.h"
#include "tests/bench/bench.h"

#include <malloc.h>

static const char *wanted; /* LABEL, or NULL */

static double seconds_now(void)
{
    return cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
}

static struct source_text read_text(struct arena *a, const char *folder, const char *name)
{
    struct err e = {0};
    struct span text;
    char *path = os_join(a, folder, name);
    must(os_read_file(&text, a, path, 1 << 20, &e), &e);
    return (struct source_text){path, (const char *)text.data, text.len};
}

static struct rules rules_of(struct arena *a, const struct source_text *text)
{
    struct err e = {0};
    struct rules rules = {.lang = &lang_calculus};
    must(rules_parse(&rules, a, text, &e), &e);
    return rules;
}

/* Line `only` of the expressions, or all of them if it is negative, into one graph. */
static void add_lines(struct egraph *g, struct arena *a, const struct language *lang,
                      const struct source_text *text, int only)
{
    struct err e = {0};
    int line = 0;
    for (size_t at = 0; at < text->len; line++) {
        const char *end = memchr(text->text + at, '\n', text->len - at);
        size_t len = end ? (size_t)(end - text->text) - at : text->len - at;
        struct expr x;
        if (len && (only < 0 || only == line)) {
            must(expr_parse_infix(&x, a, lang, text, at, len, false, &e), &e);
            egraph_add_expr(g, &x);
        }
        at += len + 1;
    }
    egraph_rebuild(g);
}

struct figures {
    double seconds;
    size_t bytes;
    uint32_t nodes, classes, iterations;
    uint64_t matched, applied;
};

/* In a graph that has served before, as in the op; or, if *g is NULL, in a new one. */
static struct figures run_once(struct egraph **g_out, const struct rules *rules,
                               const struct ruleset *set, const struct source_text *exprs, int only,
                               const struct saturate_options *o)
{
    struct arena a = {0};
    struct err e = {0};
    struct saturate_result r;
    struct figures f = {0};
    size_t before = 0;
    if (!*g_out) {
        malloc_trim(0);
        restart_peak();
        before = status_bytes("VmRSS");
    }
    double begin = seconds_now();
    if (*g_out)
        egraph_clear(*g_out);
    else
        *g_out = egraph_new(rules->lang);
    struct egraph *g = *g_out;
    if (o->explain)
        egraph_keep_proofs(g);
    add_lines(g, &a, rules->lang, exprs, only);
    must(egraph_saturate(&r, g, set, o, &a, &e), &e);
    f.seconds = seconds_now() - begin;
    f.bytes = status_bytes("VmHWM") - before;
    for (size_t i = 0; i < rules->n; i++) {
        f.applied += r.applied[i];
        f.matched += r.matched[i];
    }
    f.nodes = egraph_count_nodes(g);
    f.classes = egraph_count_classes(g);
    f.iterations = r.iterations;
    arena_free(&a);
    return f;
}

static int by_seconds(const void *x, const void *y)
{
    const struct figures *a = x, *b = y;
    return (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

/* The median of several runs, where they are short; and the best, for machines with other work. The
 * first is in a new graph and counts for memory; the time is that of the others, if there are any.
 */
static void run(const char *label, const struct rules *rules, const struct ruleset *set,
                const struct source_text *exprs, int only, struct saturate_options o)
{
    if (wanted && !strstr(label, wanted))
        return;
    struct figures f[16];
    struct egraph *g = NULL;
    size_t n = 1;
    double total = 0;
    f[0] = run_once(&g, rules, set, exprs, only, &o);
    size_t bytes = f[0].bytes;
    double first = f[0].seconds;
    double enough = first < 0.2 ? 0.5 : 1.5;
    for (; n < sizeof f / sizeof *f && first < 1 && total < enough; n++) {
        f[n] = run_once(&g, rules, set, exprs, only, &o);
        total += f[n].seconds;
    }
    egraph_free(g);
    size_t begin = n > 1;
    qsort(f + begin, n - begin, sizeof *f, by_seconds);
    const struct figures *m = &f[begin + (n - begin) / 2];
    printf("%-26s %8u nodes %7u classes %3u iterations  %8.4f s (best %8.4f) %6.2f M nodes/s "
           "%6.1f B/node  %llu matched %llu applied, first %.4f s\n",
           label, m->nodes, m->classes, m->iterations, m->seconds, f[begin].seconds,
           m->nodes / m->seconds * 1e-6, (double)bytes / m->nodes, (unsigned long long)m->matched,
           (unsigned long long)m->applied, first);
}

/* Growth-bound: a rule rests only when it explodes, as all do that apply to zero in its many forms.
 * Search-bound: rules rest early, so that most of the work is to find what is left; only up to
 * `most` nodes, if no label is wanted. */
static void run_sizes(const char *what, const struct rules *rules, const struct ruleset *set,
                      const struct source_text *exprs, int only, struct saturate_options o,
                      uint32_t most)
{
    for (o.max_nodes = 10000; o.max_nodes <= 1000000; o.max_nodes *= 10) {
        char label[64];
        o.match_limit = 100000;
        snprintf(label, sizeof label, "%s %uk growth", what, o.max_nodes / 1000);
        run(label, rules, set, exprs, only, o);
        if (o.max_nodes > most && !wanted)
            continue;
        o.match_limit = 1000;
        snprintf(label, sizeof label, "%s %uk search", what, o.max_nodes / 1000);
        run(label, rules, set, exprs, only, o);
    }
}

struct table {
    double begun;
};

static void print_iteration(void *arg, const struct saturate_iteration *i)
{
    struct table *t = arg;
    double now = seconds_now();
    printf("%.6f,%u,%u,%llu\n", now - t->begun, i->nodes, i->searched,
           (unsigned long long)i->matches);
    t->begun = now;
}

/* With `table` one search-bound run, iteration by iteration. */
static void bench_calculus(const char *folder, bool table)
{
    struct arena a = {0};
    struct source_text text = read_text(&a, folder, "calculus.rules");
    struct source_text exprs = read_text(&a, folder, "calculus.exprs");
    struct rules rules = rules_of(&a, &text);
    struct ruleset *set = ruleset_new(&rules);
    struct saturate_options o = {.iterations = 100, .ban_length = 5};
    if (table) {
        struct table t = {seconds_now()};
        struct egraph *g = NULL;
        o.max_nodes = 1000000;
        o.match_limit = 1000;
        o.observe = print_iteration;
        o.observe_arg = &t;
        printf("seconds,nodes,visited,matches\n");
        run_once(&g, &rules, set, &exprs, -1, &o);
        egraph_free(g);
    } else {
        run_sizes("calculus", &rules, set, &exprs, -1, o, UINT32_MAX);
    }
    ruleset_free(set);
    arena_free(&a);
}

static void bench_sums(const char *folder)
{
    static const char ac[] = "group ac\n"
                             "comm: ?a + ?b -> ?b + ?a\n"
                             "assoc: ?a + (?b + ?c) -> (?a + ?b) + ?c\n";
    struct arena a = {0};
    struct source_text text = {"ac", ac, strlen(ac)}, exprs = read_text(&a, folder, "ac.exprs");
    struct rules rules = rules_of(&a, &text);
    struct ruleset *set = ruleset_new(&rules);
    struct saturate_options o = {.iterations = 100, .max_nodes = 1000000};
    for (int line = 0; line < 3; line++) {
        char label[64];
        snprintf(label, sizeof label, "sum %d", line);
        run(label, &rules, set, &exprs, line, o);
    }
    static const char large[] =
        "a + (b + (c + (f + (g + (h + (k + (m + (n + (p + (q + (r + (s + t))))))))))))\n";
    exprs = (struct source_text){"large", large, strlen(large)};
    for (uint32_t max = 10000; max <= 1000000; max *= 10) {
        char label[64];
        o.max_nodes = max;
        snprintf(label, sizeof label, "14 terms, %uk nodes", max / 1000);
        run(label, &rules, set, &exprs, 0, o);
    }
    ruleset_free(set);
    arena_free(&a);
}

static void bench_library(void)
{
    static const char lines[] = "sin(2*x+5)^(-8)\n"
                                "cosh(3*x)^2 - 4\n"
                                "d(x, cot(5*x))\n"
                                "(2*x+3)^4\n"
                                "ln(x^2 - 3*x)\n"
                                "asech(1)\n"
                                "x/(x - x + 2)\n"
                                "cos(0)\n";
    struct arena a = {0};
    struct err e = {0};
    struct rules rules;
    must(rules_parse_library(&rules, &a, &lang_calculus, &e), &e);
    must(rules_select(&rules, NULL, 0, NULL, 0, &e), &e);
    struct source_text text = {"library", lines, strlen(lines)};
    double begin = seconds_now();
    struct ruleset *set = ruleset_new(&rules);
    printf("compiling %zu rules: %.3f ms\n", rules.n, (seconds_now() - begin) * 1e3);
    for (int line = 0; line < 5; line++) {
        char label[64];
        struct saturate_options o = {
            .iterations = 30, .max_nodes = 10000, .match_limit = 1000, .ban_length = 5};
        snprintf(label, sizeof label, "library, expression %d", line);
        run(label, &rules, set, &text, line, o);
        o.explain = true;
        run("  the same with proofs", &rules, set, &text, line, o);
    }
    /* Beyond, nodes of large classes come in pairs: most of a minute. */
    run_sizes("library", &rules, set, &text, 0,
              (struct saturate_options){.iterations = 30, .ban_length = 5}, 100000);
    ruleset_free(set);
    arena_free(&a);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *folder = argc > 1 ? argv[1] : "tests/bench/workloads";
    const char *part = argc > 2 ? argv[2] : "";
    wanted = argc > 3 ? argv[3] : NULL;
    if (!*part || strcmp(part, "library") == 0)
        bench_library();
    if (!*part || strcmp(part, "sums") == 0)
        bench_sums(folder);
    if (!*part || strcmp(part, "calculus") == 0)
        bench_calculus(folder, false);
    if (strcmp(part, "iterations") == 0)
        bench_calculus(folder, true);
    return 0;
}
