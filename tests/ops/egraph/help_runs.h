/* Random runs: of rules and terms, with conditions, limits and rests; each is checked by itself.
 * For tests of what holds of any run. */
#pragma once

#include "tests/ops/egraph/help.h"
#include "tests/ops/egraph/help_facts.h"

#include "base/buf.h"
#include "ops/egraph/reuse/saturation_reuse.h"
#include "schemas/canonical.h"

/* All conditions stay true once they are: what a run ends with does not depend on when it asked. */
static const char *const pool[] = {
    "?a + ?b -> ?b + ?a",
    "?a * ?b -> ?b * ?a",
    "?a + (?b + ?c) -> (?a + ?b) + ?c",
    "?a * (?b + ?c) -> ?a * ?b + ?a * ?c",
    "?a + 0 -> ?a",
    "?a -> ?a + 0",
    "?a * 1 -> ?a",
    "?a * 0 -> 0",
    "?a - ?a -> 0",
    "?a - ?a -> ?a * (1 - 1)",
    "?a / ?a -> 1 if nonzero(?a)",
    "?a - ?b -> ?a + (-1) * ?b",
    "?a + ?a -> 2 * ?a",
    "?a * ?a -> ?a^2",
    "sin(?a)^2 + cos(?a)^2 -> 1",
    "tan(?a) -> sin(?a) / cos(?a)",
    "sin(?a + (0 + cos(?b * (?c + ?a)))) -> ?b",
    "cos(?a + ?b) -> cos(?b + ?a)",
    "ln(?a * ?b) -> ln(?a) + ln(?b) if positive(?a), positive(?b)",
    "ln(?a / ?b) -> ln(?a) - ln(?b) if positive(?a / ?b), positive(?b)",
    "sqrt(?a^2) -> ?a if nonnegative(?a)",
    "sqrt(?a * ?b) -> sqrt(?a) * sqrt(?b) if nonnegative(?a * ?b), nonnegative(?b)",
    "abs(?a) -> ?a if nonnegative(?a + 0)",
    "abs(?a) -> -?a if nonpositive(?a)",
    "exp(?a) -> exp(?a - 0) if real(?a * 1)",
    "exp(?a) -> 1 + (?a - ?a) if less_equal(?a, 0), less_equal(0, ?a)",
    "?a^?b -> 1 / ?a^(0 - ?b) if constant(?b), negative(?b), nonzero(?a)",
    "tanh(?a) -> 3/2 - 1/2 if constant(?a)",
    "sinh(?a) -> tanh(?a + (3 - 3))",
    "cosh(?a) -> cosh(-?a)",
    "?a + ?b -> 0 + (?a + ?b) if symbol(?b)",
    "0 -> 1 - 1",
    "x + ?a -> ?a + (x + 0)",
    "tanh(?a) -> 1 * ?a if nonnegative(sinh(?a))",
    "sinh(?a) -> abs(sinh(?a))",
};
enum { POOL = sizeof pool / sizeof *pool, SET_MAX = 16, GUARDED = POOL - 2, REVEALING };

static const struct term_words words = {
    .leaves = {"x", "y", "0", "1", "2", "-3", "pi", "1/2"},
    .functions = {"sin", "cos", "tan", "ln", "sqrt", "tanh", "sinh", "exp", "abs", "cosh"},
    .n_leaves = 8,
    .n_functions = 10,
};

static inline struct expr some_term(struct arena *a, const struct rules *rules, struct rng *r)
{
    struct buf b = {0};
    random_term(&b, r, &words, 2 + (unsigned)rng_below(r, 4));
    struct expr x = infix_term(a, rules->lang, arena_strdup(a, b.data));
    buf_free(&b);
    return x;
}

static inline struct rules rules_in_order(struct arena *a, const uint32_t *chosen, size_t n)
{
    struct buf b = {0};
    buf_puts(&b, "group g\n");
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "r%u: %s\n", chosen[i], pool[chosen[i]]);
    struct rules rules = rules_of(a, arena_strdup(a, b.data));
    buf_free(&b);
    return rules;
}

/* Different ones, in random order. */
static inline size_t choose_rules(uint32_t *chosen, struct rng *r)
{
    uint32_t all[POOL];
    size_t n = 1 + (size_t)rng_below(r, SET_MAX);
    for (uint32_t i = 0; i < POOL; i++)
        all[i] = i;
    rng_shuffle_u32(r, all, POOL);
    memcpy(chosen, all, n * sizeof *all);
    return n;
}

/* Rules and a term. */
struct sample {
    struct arena a;
    uint32_t chosen[SET_MAX];
    size_t n;
    struct rules rules;
    struct expr x;
};

static inline void draw(struct sample *s, struct rng *r)
{
    *s = (struct sample){0};
    s->n = choose_rules(s->chosen, r);
    s->rules = rules_in_order(&s->a, s->chosen, s->n);
    s->x = some_term(&s->a, &s->rules, r);
}

struct ran {
    bool failed; /* some terms are nowhere defined, and rules contradict one another there */
    eclass_id root;
    struct saturate_result result;
    struct span record, trace;
};

static inline struct ran run(struct egraph *g, struct arena *a, const struct rules *rules,
                             const struct expr *x, const struct saturate_options *o)
{
    struct err e = {0};
    struct ran out = {0};
    struct ruleset *set = ruleset_new(rules);
    g->compact_at.dead = g->compact_at.percent = 0; /* in every iteration in which a node died */
    if (o->explain)
        egraph_keep_proofs(g);
    out.root = egraph_add_expr(g, x);
    out.failed = egraph_saturate(&out.result, g, set, o, a, &e) != OK;
    if (!out.failed) {
        Eqloom__Rule *m = arena_array(a, Eqloom__Rule, rules->n);
        const Eqloom__Rule **records = arena_array(a, const Eqloom__Rule *, rules->n);
        for (size_t i = 0; i < rules->n; i++) {
            rule_to_message(&m[i], a, rules, &rules->rules[i]);
            records[i] = &m[i];
        }
        struct reuse_rules *reuse = reuse_rules_new(rules, set, records, EQLOOM__BASIS__PROOF);
        Eqloom__EGraph message;
        check_graph(g);
        check_facts(g);
        egraph_to_message(&message, a, g, out.root);
        assert_int_equal(canonical_pack(&out.record, a, &message.base, &e), OK);
        assert_int_equal(reuse_trace(&out.trace, a, reuse, &out.result, g, &e), OK);
        reuse_rules_free(reuse);
    } else if (!egraph_contradicts(g)) {
        fail_msg("%s", e.message);
    }
    ruleset_free(set);
    return out;
}

static inline bool saturated(const struct ran *r)
{
    return !r->failed && r->result.stop == EQLOOM__STOP_REASON__SATURATED;
}

static inline struct saturate_options random_rests(struct rng *r)
{
    struct saturate_options o = {.iterations = 60, .max_nodes = 1500};
    if (rng_below(r, 2)) {
        o.match_limit = 1 + (uint32_t)rng_below(r, 12);
        o.ban_length = 1 + (uint32_t)rng_below(r, 4);
    }
    return o;
}
