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

/* Rules and an e-graph with a term. */
struct fixture {
    struct arena a;
    struct err e;
    struct rules *rules; /* in the arena: the set refers to them, and a fixture may be copied */
    struct ruleset *set;
    struct egraph *g;
    struct expr x;
    eclass_id root;
    struct saturate_result r;
};

static inline struct fixture fixture_of_rules(struct arena a, struct rules rules, const char *term,
                                              bool proofs)
{
    struct fixture f = {.a = a};
    f.rules = arena_memdup(&f.a, &rules, sizeof rules);
    f.set = ruleset_new(f.rules);
    f.g = egraph_new(rules.lang);
    if (proofs)
        egraph_keep_proofs(f.g);
    f.x = infix_term(&f.a, rules.lang, term);
    f.root = egraph_add_expr(f.g, &f.x);
    return f;
}

static inline struct fixture fixture_of(const char *rules, const char *term, bool proofs)
{
    struct arena a = {0};
    struct rules parsed = rules_of(&a, rules);
    return fixture_of_rules(a, parsed, term, proofs);
}

static inline enum err_code fixture_try(struct fixture *f, struct saturate_options o)
{
    return egraph_saturate(&f->r, f->g, f->set, &o, &f->a, &f->e);
}

static inline void fixture_saturate(struct fixture *f, struct saturate_options o)
{
    if (fixture_try(f, o))
        fail_msg("%s", f->e.message);
    check_graph(f->g);
}

static inline void fixture_end(struct fixture *f)
{
    ruleset_free(f->set);
    egraph_free(f->g);
    arena_free(&f->a);
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
