/* Prefetch; see prefetch.h. All matches advance together: each pass reads what the previous pass
 * prefetched, and prefetches what follows from it. */
#include "ops/egraph/large/prefetch.h"

#include "ops/egraph/graph/enode_key.h"

enum { MAX_OPEN = 8 * PREFETCH_MATCHES };

#define NOT_YET (UINT32_MAX - 1) /* not looked up yet; NO_NODE: not found */

/* A node of a right-hand side that is not looked up yet. */
struct open {
    const struct build_node *node;
    uint32_t *values; /* of its match */
    uint32_t *value;  /* where its own goes */
};

/* A lookup of this pass. */
struct query {
    uint32_t *value;
    uint32_t op, hash, candidate;
    uint64_t pair;
};

/* A new parent is added at the end of the circle of parents. */
static void prefetch_parents(struct egraph *g, uint32_t c)
{
    uint32_t last = graph_eclass(g, graph_find(g, c))->parents;
    if (last != NO_NODE)
        __builtin_prefetch(&g->cells[last >> 1], 1);
}

struct prefetcher {
    struct egraph *g;
    const struct ematch *m;
    size_t n_open, n_queries;
    struct open open[MAX_OPEN];
    struct query queries[MAX_OPEN];
};

/* Prefetches the slot of a node in the hash table. If an argument is not looked up yet, the node
 * waits in `open`; if the graph lacks an argument, it lacks the node. */
static inline void ask(struct prefetcher *f, const struct build_node *node, uint32_t *values,
                       uint32_t *value)
{
    uint32_t first = values[node->kid[0]];
    uint32_t second = node->arity > 1 ? values[node->kid[1]] : 0;
    *value = NO_NODE;
    if (first == NO_NODE || second == NO_NODE)
        return;
    *value = NOT_YET;
    if (first == NOT_YET || second == NOT_YET) {
        f->open[f->n_open++] = (struct open){node, values, value};
        return;
    }
    struct query *q = &f->queries[f->n_queries++];
    q->value = value;
    q->op = node->op;
    q->pair = find_pair(f->g, (uint32_t[]){first, second}, node->arity);
    q->hash = hash_pair(q->op, q->pair);
    hashcons_prefetch(&f->g->cons, q->hash);
}

/* Prefetches the classes of the variables (the search has prefetched their members), and starts the
 * lookups. */
static void take_match(struct prefetcher *f, uint32_t *values, const struct build *b,
                       const uint32_t *vars)
{
    for (uint32_t v = 0; v < b->n_vars; v++)
        graph_prefetch_eclass(f->g, values[v] = vars[v]);
    for (uint32_t i = 0; i < b->n; i++) {
        const struct build_node *node = &b->nodes[i];
        uint32_t *value = &values[b->n_vars + i];
        if (node->is_leaf)
            *value = f->g->leaves[f->m->leaf[node->op]].node;
        else if (node->arity)
            ask(f, node, values, value);
        else
            *value = NO_NODE;
    }
}

static inline void find_candidate(struct query *q, const struct egraph *g)
{
    struct hashcons_probe p = hashcons_probe(&g->cons, q->hash);
    q->candidate = NO_NODE;
    if (!hashcons_next(&p, &g->cons))
        return;
    q->candidate = p.node;
    __builtin_prefetch(&g->cells[p.node]);
    __builtin_prefetch(&g->members[p.node]);
}

static inline void answer(const struct query *q, struct egraph *g)
{
    uint32_t n = q->candidate;
    *q->value = NO_NODE;
    if (n == NO_NODE || g->cells[n].op != q->op || graph_pair(&g->cells[n]) != q->pair)
        return;
    *q->value = n;
    prefetch_parents(g, n);
}

/* Reads what was prefetched, then starts the lookups that waited for it. */
static void answer_all(struct prefetcher *f)
{
    size_t n = f->n_open;
    for (size_t i = 0; i < f->n_queries; i++)
        find_candidate(&f->queries[i], f->g);
    for (size_t i = 0; i < f->n_queries; i++)
        answer(&f->queries[i], f->g);
    f->n_open = f->n_queries = 0;
    for (size_t i = 0; i < n; i++)
        ask(f, f->open[i].node, f->open[i].values, f->open[i].value);
}

void prefetch_matches(struct prefetched *out, struct egraph *g, const struct ematch *m, size_t from)
{
    struct prefetcher f;
    f.g = g;
    f.m = m;
    f.n_open = f.n_queries = 0;
    out->unions = g->n_unions;
    size_t n = m->n_matches - from;
    n = n < PREFETCH_MATCHES ? n : PREFETCH_MATCHES;
    for (size_t i = 0; i < n; i++) {
        const struct ematch_match *match = &m->matches[from + i];
        const struct build *b = &m->set->rules[match->rule].rhs;
        out->nodes[i] = NULL;
        if ((uint32_t)b->n_vars + b->n > PREFETCH_VALUES ||
            f.n_open + f.n_queries + b->n > MAX_OPEN)
            continue;
        out->nodes[i] = out->values[i] + b->n_vars;
        take_match(&f, out->values[i], b, m->records.items + match->record + 1);
    }
    for (size_t i = 0; i < n; i++)
        for (const uint32_t *v = out->values[i]; out->nodes[i] && v < out->nodes[i]; v++)
            prefetch_parents(g, *v);
    while (f.n_queries)
        answer_all(&f);
}
