/* What the tests of reuse by proof share: runs under rules that become others. */
#pragma once

#include "tests/ops/egraph/help.h"

#include "ops/egraph/reuse/saturation_reuse.h"
#include "schemas/canonical.h"

/* One run: the record's bytes as the op would write them, and the trace. */
struct action_result {
    bool failed; /* rules and term contradict one another */
    struct span record, trace;
    Eqloom__EGraph message;
};

struct compiled {
    struct rules rules;
    struct ruleset *set;
    Eqloom__Rule *messages;
    const Eqloom__Rule **records;
    struct reuse_rules *reuse;
};

static inline void compile_rules(struct compiled *c, struct arena *a, struct rules rules)
{
    c->rules = rules;
    c->set = ruleset_new(&c->rules);
    c->messages = arena_array(a, Eqloom__Rule, c->rules.n);
    c->records = arena_array(a, const Eqloom__Rule *, c->rules.n);
    for (size_t i = 0; i < c->rules.n; i++) {
        rule_to_message(&c->messages[i], a, &c->rules, &c->rules.rules[i]);
        c->records[i] = &c->messages[i];
    }
    c->reuse = reuse_rules_new(&c->rules, c->set, c->records, EQLOOM__BASIS__PROOF);
}

static inline void release(struct compiled *c)
{
    reuse_rules_free(c->reuse);
    ruleset_free(c->set);
}

static inline struct action_result make(struct arena *a, const struct compiled *c, const char *text,
                                        const struct saturate_options *o)
{
    struct action_result m = {0};
    struct err e = {0};
    struct saturate_result r;
    struct egraph *g = egraph_new(c->rules.lang);
    g->compact_at.dead = g->compact_at.percent = 0; /* in every iteration in which a node died */
    g->size_order_at = 250;                         /* some go in rounds */
    struct expr x = infix_term(a, c->rules.lang, text);
    eclass_id root = egraph_add_expr(g, &x);
    m.failed = egraph_saturate(&r, g, c->set, o, a, &e) != OK;
    if (!m.failed) {
        egraph_to_message(&m.message, a, g, root);
        m.message.stop = r.stop;
        m.message.iterations = r.iterations;
        m.message.rules = arena_array(a, Eqloom__RuleStats *, c->rules.n);
        for (size_t i = 0; i < c->rules.n; i++) {
            if (!r.matched[i])
                continue;
            Eqloom__RuleStats *stats = arena_new(a, Eqloom__RuleStats);
            eqloom__rule_stats__init(stats);
            stats->rule = arena_strdup(a, c->rules.rules[i].name);
            stats->matched = r.matched[i];
            stats->applied = r.applied[i];
            m.message.rules[m.message.n_rules++] = stats;
        }
        assert_int_equal(reuse_trace(&m.trace, a, c->reuse, &r, g, &e), OK);
        assert_int_equal(canonical_pack(&m.record, a, &m.message.base, &e), OK);
    }
    egraph_free(g);
    return m;
}

/* Records of x that y has not. */
static inline size_t difference(uint64_t *positions, const Eqloom__Rule **messages,
                                const struct compiled *x, const struct compiled *y, struct arena *a)
{
    size_t n = 0;
    for (size_t i = 0; i < x->rules.n; i++) {
        struct span p, q;
        bool known = false;
        canonical_pack(&p, a, &x->records[i]->base, NULL);
        for (size_t k = 0; k < y->rules.n && !known; k++) {
            canonical_pack(&q, a, &y->records[k]->base, NULL);
            known = span_equal(p, q);
        }
        if (!known) {
            positions[n] = i;
            messages[n++] = x->records[i];
        }
    }
    return n;
}

static inline struct reuse_change *change_between(const struct compiled *before,
                                                  const struct compiled *now, struct arena *a)
{
    uint64_t *added = arena_array(a, uint64_t, now->rules.n + 1);
    uint64_t *gone = arena_array(a, uint64_t, before->rules.n + 1);
    const Eqloom__Rule **new = arena_array(a, const Eqloom__Rule *, now->rules.n + 1);
    const Eqloom__Rule **old = arena_array(a, const Eqloom__Rule *, before->rules.n + 1);
    size_t n_gone = difference(gone, old, before, now, a);
    size_t n_added = difference(added, new, now, before, a);
    return reuse_change_new(now->reuse, added, n_added, old, n_gone);
}

struct change {
    struct compiled before, now;
    struct reuse_change *change;
};

static inline void begin_change(struct change *c, struct arena *a, const struct rules *before,
                                const struct rules *now)
{
    compile_rules(&c->before, a, *before);
    compile_rules(&c->now, a, *now);
    c->change = change_between(&c->before, &c->now, a);
}

static inline void end_change(struct change *c)
{
    reuse_change_free(c->change);
    release(&c->now);
    release(&c->before);
}

struct asked {
    struct reuse_answer answer;
    bool same; /* a run from scratch gives the same record */
};

/* What is said to stand must be the same. */
static inline struct asked ask(struct arena *a, const struct change *c, struct action_result *m,
                               const char *text, const struct saturate_options *o)
{
    struct err e = {0};
    struct asked out;
    assert_int_equal(reuse_decide(&out.answer, a, m->trace, c->change, &e), OK);
    struct action_result fresh = make(a, &c->now, text, o);
    out.same = !fresh.failed && span_equal(fresh.record, m->record);
    if (out.answer.stands && !out.same)
        fail_msg("%s: said to stand, and would be another", text);
    return out;
}
