/* Work foreseen; see foresee.h. All matches go through the same rounds: in each, what was
 * asked for in the round before is read, and what follows from it is asked for. */
#include "ops/egraph/foresee.h"

#include "ops/egraph/graph_key.h"

enum { MAX_VALUES = 24, MAX_OPEN = 8 * FORESEE_MATCHES };

#define NOT_YET (UINT32_MAX - 1) /* of a value; NO_NODE: the graph has none */

/* A node that a match builds, while it is not known whether the graph has it. */
struct open {
    const struct build_node *node;
    uint32_t *values; /* of its match: classes of the variables, then of what is built */
    uint32_t *value;  /* its own, one of them */
};

/* What is looked up in this round. */
struct query {
    uint32_t *value;
    uint32_t op, hash, candidate;
    uint64_t pair;
};

static void expect_class(const struct egraph *g, uint32_t c)
{
    __builtin_prefetch(&g->members[c]);
    __builtin_prefetch(&g->classes[c]);
}

/* Where the parents of the class end, a new one begins. */
static void expect_parents(const struct egraph *g, uint32_t c)
{
    uint32_t last = g->classes[c].parents;
    if (last != NO_NODE)
        __builtin_prefetch(&g->cells[last >> 1], 1);
}

/* ---- matches ---- */

/* The values of a match, as far as they are known; what is not is open. */
static size_t open_match(struct open *open, uint32_t *values, struct egraph *g,
                         const struct machine *m, const struct machine_match *match)
{
    const struct build *b = &m->set->rules[match->rule].rhs;
    size_t n = 0;
    for (uint32_t v = 0; v < b->n_vars; v++) {
        values[v] = graph_find(g, values[v]);
        expect_parents(g, values[v]);
    }
    for (uint32_t i = 0; i < b->n; i++) {
        const struct build_node *node = &b->nodes[i];
        uint32_t *value = &values[b->n_vars + i];
        *value = NO_NODE;
        if (node->is_leaf) {
            uint32_t l = g->leaves[m->leaf[node->op]].node;
            if (l != NO_NODE)
                *value = graph_find(g, l);
        } else if (node->arity == 1 || node->arity == 2) {
            *value = NOT_YET;
            open[n++] = (struct open){node, values, value};
        }
    }
    return n;
}

/* Its variables are read soon. False: it is too large. */
static bool take_match(uint32_t *values, const struct machine *m, const struct machine_match *match)
{
    const struct build *b = &m->set->rules[match->rule].rhs;
    const uint32_t *record = m->records.items + match->record;
    if ((uint32_t)b->n_vars + b->n > MAX_VALUES)
        return false;
    expect_class(m->g, record[0]);
    for (uint32_t v = 0; v < b->n_vars; v++)
        expect_class(m->g, values[v] = record[1 + v]);
    return true;
}

/* Asks for the places of the nodes whose arguments are known; the others stay open, unless the
 * graph cannot have them. */
static size_t ask(struct query *queries, struct open *open, size_t *n_open, const struct egraph *g)
{
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < *n_open; i++) {
        const struct build_node *node = open[i].node;
        uint32_t first = open[i].values[node->first[0]];
        uint32_t second = node->arity > 1 ? open[i].values[node->first[1]] : 0;
        if (first == NO_NODE || second == NO_NODE) {
            *open[i].value = NO_NODE;
        } else if (first == NOT_YET || second == NOT_YET) {
            open[kept++] = open[i];
        } else {
            struct query *q = &queries[n++];
            q->value = open[i].value;
            q->op = node->op;
            q->pair = (uint64_t)second << 32 | first;
            q->hash = hash_pair(q->op, q->pair);
            hashcons_expect(&g->cons, q->hash);
        }
    }
    *n_open = kept;
    return n;
}

static void find_candidate(struct query *q, const struct egraph *g)
{
    struct hashcons_probe p = hashcons_probe(&g->cons, q->hash);
    q->candidate = NO_NODE;
    if (!hashcons_next(&p, &g->cons))
        return;
    q->candidate = p.node;
    __builtin_prefetch(&g->cells[p.node]);
    expect_class(g, p.node);
}

static void answer(const struct query *q, struct egraph *g)
{
    uint32_t n = q->candidate;
    *q->value = NO_NODE;
    if (n == NO_NODE || g->cells[n].op != q->op || graph_pair(&g->cells[n]) != q->pair)
        return;
    *q->value = graph_find(g, n);
    expect_parents(g, *q->value);
}

void foresee_matches(struct egraph *g, const struct machine *m, size_t from)
{
    uint32_t values[FORESEE_MATCHES][MAX_VALUES];
    struct open open[MAX_OPEN];
    struct query queries[MAX_OPEN];
    size_t n_open = 0, n, left = m->n_matches - from;
    size_t end = from + (left < FORESEE_MATCHES ? left : FORESEE_MATCHES);
    bool taken[FORESEE_MATCHES];
    for (size_t i = from; i < end; i++)
        taken[i - from] = take_match(values[i - from], m, &m->matches[i]);
    for (size_t i = from; i < end; i++)
        if (taken[i - from] && n_open + MAX_VALUES <= MAX_OPEN)
            n_open += open_match(open + n_open, values[i - from], g, m, &m->matches[i]);
    while ((n = ask(queries, open, &n_open, g))) {
        for (size_t i = 0; i < n; i++)
            find_candidate(&queries[i], g);
        for (size_t i = 0; i < n; i++)
            answer(&queries[i], g);
    }
}

/* ---- repairs ---- */

/* What a node is looked up as; false: it is not. */
static bool ask_again(struct query *q, struct egraph *g, uint32_t n)
{
    const struct cell *c = &g->cells[n];
    if (!graph_is_live(g, n) || c->op & OP_LEAF)
        return false;
    uint32_t arity = graph_arity(g, c->op);
    if (arity == 0 || arity > 2)
        return false;
    *q = (struct query){.op = c->op, .pair = find_pair(g, c->kid, arity)};
    q->hash = hash_pair(q->op, q->pair);
    hashcons_expect(&g->cons, q->hash);
    hashcons_expect(&g->cons, hash_pair(c->op, graph_pair(c)));
    expect_class(g, n);
    return true;
}

void foresee_repairs(struct egraph *g, size_t from)
{
    struct query queries[FORESEE_REPAIRS];
    size_t n_queries = 0, left = g->pending.n - from;
    const uint32_t *nodes = g->pending.items + from;
    size_t n = left < FORESEE_REPAIRS ? left : FORESEE_REPAIRS;
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(&g->cells[nodes[i]], 1);
    for (size_t i = 0; i < n; i++) {
        expect_class(g, g->cells[nodes[i]].kid[0]);
        expect_class(g, g->cells[nodes[i]].kid[1]);
    }
    for (size_t i = 0; i < n; i++)
        n_queries += ask_again(&queries[n_queries], g, nodes[i]);
    for (size_t i = 0; i < n_queries; i++)
        find_candidate(&queries[i], g);
}
