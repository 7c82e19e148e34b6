/* Finds the two derivations that collide when rules contradict each other. A class is contradictory
 * when two facts about it exclude each other. The first pair of its nodes whose own facts collide
 * is used, preferably two numbers; if no pair collides, the two nodes at which the contradiction
 * arose. The proofs begin at the class's oldest node, which is usually a part of the expression
 * that the run began with. */
#include "ops/egraph/explain/explanation.h"
#include "ops/egraph/match/ruleset.h"
#include "ops/egraph/record/least_terms.h"

#include <stdlib.h>

enum { MAX_NODES = 300 };

struct collision {
    uint32_t oldest, node[2], fact[2];
};

static int compare_nodes(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return (a > b) - (a < b);
}

static bool is_number(const struct egraph *g, uint32_t fact)
{
    return g->facts.items[fact].constant != NO_CONSTANT;
}

static void find_collision(struct collision *out, struct egraph *g)
{
    uint32_t nodes[MAX_NODES], facts[MAX_NODES], n = 0, met, best = 0;
    uint32_t class = graph_find(g, g->conflict_a), at = class;
    *out = (struct collision){.node = {g->conflict_a, g->conflict_b},
                              .fact = {g->conflict_fact_a, g->conflict_fact_b}};
    do {
        if (graph_is_live(g, at) && n < MAX_NODES)
            nodes[n++] = at;
        at = graph_next(g, at);
    } while (at != class);
    qsort(nodes, n, sizeof *nodes, compare_nodes);
    uint32_t first = 0;
    while (first + 1 < n && g->kind[nodes[first]] == MASK_NUMBER)
        first++;
    out->oldest = n ? nodes[first] : class;
    for (uint32_t i = 0; i < n; i++)
        facts[i] = graph_node_fact(g, nodes[i]);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++) {
            uint32_t rank = 1u + is_number(g, facts[i]) + is_number(g, facts[k]);
            if (rank <= best || facts_meet(&met, &g->facts, facts[i], facts[k]))
                continue;
            best = rank;
            *out = (struct collision){out->oldest, {nodes[i], nodes[k]}, {facts[i], facts[k]}};
        }
}

static bool write_derivation(struct buf *out, struct arena *a, struct egraph *g,
                             const struct ruleset *set, const struct expr *from,
                             const struct expr *to, uint32_t fact)
{
    struct explanation proof;
    struct buf value = {0};
    size_t step;
    if (egraph_explain(&proof, a, g, set, from, to, NULL) ||
        explanation_check(&proof, from, to, set->source, NULL))
        return false;
    if (!explanation_check_values(&step, &proof, from, g->domains, g->n_domains, NULL))
        step = SIZE_MAX;
    buf_printf(out, "      %s\n", expr_infix(a, from));
    explanation_write(out, a, &proof, expr_infix, "  ", step);
    fact_write(&value, &g->facts, fact);
    buf_printf(out, "    its value: %s%s\n", value.data + (value.data[0] == '='),
               g->facts.items[fact].flags & FACT_VARIES ? " (not constant)" : "");
    buf_free(&value);
    return true;
}

bool egraph_contradicts(const struct egraph *g)
{
    return g->conflict;
}

static void describe(struct err *e, struct arena *a, struct egraph *g, const struct ruleset *rules)
{
    struct collision c;
    struct expr from, to[2];
    egraph_rebuild(g);
    if (!e || graph_find(g, g->conflict_a) != graph_find(g, g->conflict_b))
        return;
    find_collision(&c, g);
    if (!explanation_node_term(&from, a, g, c.oldest) ||
        !explanation_node_term(&to[0], a, g, c.node[0]) ||
        !explanation_node_term(&to[1], a, g, c.node[1]))
        return;
    struct buf text = {0};
    buf_puts(&text, "  one derivation\n");
    bool ok = write_derivation(&text, a, g, rules, &from, &to[0], c.fact[0]);
    buf_puts(&text, "  another derivation from the same term\n");
    ok = ok && write_derivation(&text, a, g, rules, &from, &to[1], c.fact[1]);
    if (ok) {
        text.data[--text.len] = '\0'; /* drop the last newline */
        err_detail(e, text.data);
    }
    buf_free(&text);
}

enum err_code contradiction_fail(struct arena *a, struct egraph *g, const struct ruleset *rules,
                                 const struct rule *rule, struct err *e)
{
    struct buf x = {0}, y = {0}, fx = {0}, fy = {0};
    size_t pending = g->pending.n;
    g->pending.n = g->stale.n = 0; /* the graph is only read from here on, not rebuilt */
    least_terms_write_node(&x, g, g->conflict_a);
    least_terms_write_node(&y, g, g->conflict_b);
    fact_write(&fx, &g->facts, g->conflict_fact_a);
    fact_write(&fy, &g->facts, g->conflict_fact_b);
    enum err_code code = err_fail(
        e, ERR_FAILED, "contradiction: %.120s (%.60s) and %.120s (%.60s) would be equal%s%s%s%s",
        x.data, fx.data, y.data, fy.data, rule ? " by rule " : "", rule ? rule->group : "",
        rule ? "/" : "", rule ? rule->name : "");
    buf_free(&x);
    buf_free(&y);
    buf_free(&fx);
    buf_free(&fy);
    g->pending.n = pending;
    if (g->proofs)
        describe(e, a, g, rules);
    return code;
}
