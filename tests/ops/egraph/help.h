/* What the tests of the e-graph share: terms and rules from text. */
#pragma once

#include "base/buf.h"
#include "base/os.h"
#include "base/rng.h"
#include "ops/egraph/graph/egraph_core.h"
#include "tests/ops/library.h"
#include "tests/ref/ref_egraph.h"

static inline struct rules rules_of(struct arena *a, const char *text)
{
    struct err e = {0};
    struct rules rules = {.lang = &lang_calculus};
    struct source_text source = {"<test>", text, strlen(text)};
    if (rules_parse(&rules, a, &source, &e))
        fail_msg("%d:%d: %s", e.line, e.column, e.message);
    return rules;
}

static inline void check_graph(struct egraph *g)
{
    struct err e = {0};
    if (egraph_check(g, &e))
        fail_msg("%s", e.message);
}

/* The class of a term if it is represented, else UINT32_MAX; adds nothing. */
static inline eclass_id egraph_lookup(struct egraph *g, const struct expr *x)
{
    uint32_t *nodes = malloc(x->n * sizeof *nodes);
    uint32_t root = graph_lookup_term(nodes, g, x) ? graph_find(g, nodes[0]) : UINT32_MAX;
    free(nodes);
    return root;
}

static inline bool egraph_union(struct egraph *g, eclass_id a, eclass_id b)
{
    return graph_union(g, a, b, (struct reason){REASON_GIVEN, 0});
}

static inline struct saturate_result saturate(struct egraph *g, const struct rules *rules,
                                              struct saturate_options o, struct arena *a)
{
    struct err e = {0};
    struct saturate_result r;
    struct ruleset *set = ruleset_new(rules);
    if (egraph_saturate(&r, g, set, &o, a, &e))
        fail_msg("%s", e.message);
    ruleset_free(set);
    return r;
}

/* What random terms are made of, but for + - * / ^. */
struct term_words {
    const char *leaves[10], *functions[10];
    size_t n_leaves, n_functions;
};

static inline void random_term(struct buf *b, struct rng *r, const struct term_words *w,
                               unsigned depth)
{
    if (depth == 0 || rng_below(r, 6) == 0) {
        buf_printf(b, "(%s)", w->leaves[rng_below(r, w->n_leaves)]);
        return;
    }
    if (rng_below(r, 3) == 0) {
        buf_printf(b, "%s(", w->functions[rng_below(r, w->n_functions)]);
        random_term(b, r, w, depth - 1);
        buf_puts(b, ")");
        return;
    }
    buf_puts(b, "(");
    random_term(b, r, w, depth - 1);
    buf_printf(b, " %c ", "+-*/^"[rng_below(r, 5)]);
    random_term(b, r, w, depth - 1);
    buf_puts(b, ")");
}

static const struct saturate_options generous = {.iterations = 100, .max_nodes = 1000000};
