/* How fast terms come out of e-graphs: reading the grammar with exact counts, drawing 100 terms,
 * and comparing them with the seed. One line of figures for each expression of a file
 * (infix, one a line), saturated with the shipped library first; nothing here passes or fails on
 * time.
 *
 *     bench_extract FILE [ITERATIONS [NODES]] */
#include "base/os.h"
#include "ops/egraph/graph/egraph.h"
#include "ops/extract/extract_cluster.h"
#include "ops/extract/extract_reads.h"
#include "ops/rules/rule.h"
#include "tests/bench/bench.h"

struct timing {
    double saturate, grammar, draw, cluster;
};

static double since(double *at)
{
    double now = cpu_seconds(CLOCK_THREAD_CPUTIME_ID), seconds = now - *at;
    *at = now;
    return seconds;
}

static const struct extract_options defaults = {
    .grammar = {.max_tokens = 25, .max_digits = 4},
    .per_cluster = 100,
    .draw = {.lengths = DRAW_LENGTHS, .shapes = DRAW_EVEN},
    .verify = true,
    .points = 5,
};

static void saturated(Eqloom__EGraph *out, struct arena *a, const struct expr *x,
                      const struct rules *rules, const struct ruleset *set,
                      const struct saturate_options *o)
{
    struct err e = {0};
    struct saturate_result r;
    struct egraph *g = egraph_new(rules->lang);
    eclass_id root = egraph_add_expr(g, x);
    must(egraph_saturate(&r, g, set, o, a, &e), &e);
    egraph_to_message(out, a, g, root);
    egraph_free(g);
    out->seed = arena_new(a, Eqloom__Expr);
    eqloom__expr__init(out->seed);
    out->seed->prefix = expr_prefix(a, x);
}

static void measure(struct timing *all, struct arena *a, const char *label, const struct expr *x,
                    const struct rules *rules, const struct ruleset *set,
                    const struct saturate_options *o)
{
    struct err e = {0};
    struct timing t = {0};
    struct grammar g;
    struct term *terms;
    uint32_t n;
    Eqloom__EGraph message;
    Eqloom__Cluster cluster;
    struct extraction extraction;
    struct rng rng = rng_new(1, 0);
    char text[48];
    double at = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    saturated(&message, a, x, rules, set, o);
    t.saturate = since(&at);
    must(grammar_init(&g, a, &message, &lang_calculus, &defaults.grammar, &e), &e);
    t.grammar = since(&at);
    grammar_draw(&terms, &n, a, &g, 100, &defaults.draw, &rng);
    t.draw = since(&at);
    if (extract_begin(&extraction, a, &message, &defaults, &e) ||
        extract_reads(a, &extraction.grammar, &message).len == 0 ||
        extract_cluster(&cluster, a, &extraction, &rng, &e))
        printf("%s: %s\n", label, e.message);
    t.cluster = since(&at);
    printf("%-28.28s %7zu nodes %8.2f ms  grammar %7.2f ms  draws %6.2f ms  cluster of %3zu %7.2f "
           "ms  %.2e terms\n",
           label, message.n_node_ops, 1e3 * t.saturate, 1e3 * t.grammar, 1e3 * t.draw,
           cluster.n_members, 1e3 * t.cluster,
           strtod(count_text(text, grammar_terms(&g), false), NULL));
    all->saturate += t.saturate;
    all->grammar += t.grammar;
    all->draw += t.draw;
    all->cluster += t.cluster;
}

int main(int argc, char **argv)
{
    struct arena a = {0}, scratch = {0};
    struct err e = {0};
    struct rules rules = {.lang = &lang_calculus};
    struct span file;
    struct timing all = {0};
    if (argc < 2)
        return 2;
    must(os_read_file(&file, &a, argv[1], 16 << 20, &e), &e);
    must(rules_parse_library(&rules, &a, &lang_calculus, &e), &e);
    must(rules_select(&rules, NULL, 0, NULL, 0, &e), &e);
    struct saturate_options o = {.iterations = argc > 2 ? (uint32_t)atoi(argv[2]) : 8,
                                 .max_nodes = argc > 3 ? (uint32_t)atoi(argv[3]) : 10000,
                                 .match_limit = 1000,
                                 .ban_length = 5};
    struct ruleset *set = ruleset_new(&rules);
    struct source_text text = {argv[1], (const char *)file.data, file.len};
    size_t n = 0;
    for (size_t begin = 0; begin < text.len;) {
        const char *end = memchr(text.text + begin, '\n', text.len - begin);
        size_t len = end ? (size_t)(end - text.text) - begin : text.len - begin;
        struct expr x;
        arena_reset(&scratch);
        if (len) {
            must(expr_parse_infix(&x, &scratch, rules.lang, &text, begin, len, false, &e), &e);
            measure(&all, &scratch, expr_infix(&scratch, &x), &x, &rules, set, &o);
            n++;
        }
        begin += len + 1;
    }
    printf("%zu expressions; means: saturate %.2f ms, grammar %.2f ms, 100 draws %.2f ms, verified "
           "cluster %.2f ms\n",
           n, 1e3 * all.saturate / (double)n, 1e3 * all.grammar / (double)n,
           1e3 * all.draw / (double)n, 1e3 * all.cluster / (double)n);
    ruleset_free(set);
    arena_free(&scratch);
    arena_free(&a);
    return 0;
}
