/* Applying matches; see apply.h. */
#include "ops/egraph/run/apply.h"

#include <string.h>

static inline uint32_t add_leaf(struct applier *x, const struct build_node *node)
{
    uint32_t leaf = x->leaf[node->op], n = x->g->leaves[leaf].node;
    return n != NO_NODE ? n : graph_add_leaf(x->g, leaf);
}

static inline uint32_t add(struct applier *x, const struct build_node *node)
{
    return node->is_leaf ? add_leaf(x, node)
                         : graph_add_small(x->g, node->op, node->arity, x->values[node->kid[0]],
                                           x->values[node->kid[1]]);
}

/* Builds the right-hand side and stores its nodes in `values` after the variables. Returns the
 * root, which is built last. A new root is put into the class of the match; the caller must then
 * call graph_settle. */
static inline uint32_t instantiate(bool *placed, struct applier *x, size_t rule,
                                   const uint32_t *record)
{
    const struct compiled_rhs *b = &x->rules->rhs[rule];
    uint32_t *values = x->values, *out = values + b->n_vars;
    const struct build_node *node = b->nodes, *last = node + b->n - 1;
    *placed = false;
    if (!b->n)
        return record[1 + b->root];
    for (uint32_t v = 0; v < RULE_FIRST_VARS; v++) /* records have this padding */
        values[v] = record[1 + v];
    for (uint32_t v = RULE_FIRST_VARS; v < b->n_vars; v++)
        values[v] = record[1 + v];
    for (; node < last; node++, out++)
        *out = add(x, node);
    if (node->is_leaf)
        return *out = add_leaf(x, node);
    return *out = graph_add_into(placed, x->g, node->op, node->arity, values[node->kid[0]],
                                 values[node->kid[1]], record[0]);
}

static struct reason record_proof(struct applier *x, size_t rule, const uint32_t *record)
{
    struct proof_forest *p = x->g->proofs;
    if (!p)
        return (struct reason){REASON_RULE, 0};
    const struct compiled_rule *r = &x->rules->rules[rule];
    size_t size = ematch_record(x->g, &r->lhs), n = 1 + size + r->rhs.n;
    p->matches = vec_grow(p->matches, &p->matches_cap, p->n_matches + n, sizeof *p->matches);
    uint32_t *m = p->matches + p->n_matches;
    m[0] = (uint32_t)rule;
    memcpy(m + 1, record, size * sizeof *m);
    memcpy(m + 1 + size, x->values + r->rhs.n_vars, r->rhs.n * sizeof *m);
    struct reason why = {REASON_RULE, (uint32_t)p->n_matches};
    p->n_matches += n;
    return why;
}

bool apply_conditions_hold(struct applier *x, size_t rule, const uint32_t *record)
{
    const struct compiled_rhs *a = &x->rules->rhs[rule];
    for (uint32_t i = 0; i < a->n_conditions; i++)
        if (!graph_condition_holds(x->g, &a->conditions[i], record + 1, x->leaf))
            return false;
    return true;
}

/* Keeps a match for later. */
static void wait_for_conditions(struct applier *x, size_t rule, const uint32_t *record)
{
    struct u32_list *w = &x->waiting;
    size_t size = ematch_record(x->g, &x->rules->rules[rule].lhs);
    w->items =
        egraph_memory_grow(w->items, &w->cap, w->n + 1 + size + RULE_FIRST_VARS, sizeof *w->items);
    w->items[w->n] = (uint32_t)rule;
    memcpy(w->items + w->n + 1, record, size * sizeof *record);
    w->n += 1 + size;
}

bool apply_match(struct applier *x, size_t rule, const uint32_t *record)
{
    const struct compiled_rhs *a = &x->rules->rhs[rule];
    if (a->n_conditions && !apply_conditions_hold(x, rule, record)) {
        if (a->waits)
            wait_for_conditions(x, rule, record);
        return false;
    }
    bool placed;
    uint32_t root = instantiate(&placed, x, rule, record);
    struct proof_forest *p = x->g->proofs;
    if (placed) {
        if (p)
            proofs_join(p, record[0], root, record_proof(x, rule, record));
        graph_settle(x->g, root);
        return true;
    }
    if (graph_find(x->g, root) == graph_find(x->g, record[0]))
        return false;
    return graph_union(x->g, record[0], root, record_proof(x, rule, record));
}
