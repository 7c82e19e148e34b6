/* Applications foreseen; see foresee.h. All matches go through the same rounds: in each, what was
 * asked for in the round before is read, and what follows from it is asked for. */
#include "ops/egraph/foresee.h"

#include "ops/egraph/graph_key.h"

enum { MAX_VALUES = 24 };

#define NOT_YET (UINT32_MAX - 1) /* of a value; NO_NODE: the graph has none */

struct sight {
    const struct build *build;
    uint32_t n_values;
    uint32_t values[MAX_VALUES]; /* classes of the variables, then of what is built */
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

static bool take_match(struct sight *s, const struct machine *m, const struct machine_match *match)
{
    const struct build *b = &m->set->rules[match->rule].rhs;
    const uint32_t *record = m->records.items + match->record;
    s->build = b;
    s->n_values = (uint32_t)b->n_vars + b->n;
    if (s->n_values > MAX_VALUES)
        return false;
    expect_class(m->g, record[0]);
    for (uint32_t v = 0; v < b->n_vars; v++) {
        s->values[v] = record[1 + v];
        expect_class(m->g, s->values[v]);
    }
    for (uint32_t v = b->n_vars; v < s->n_values; v++)
        s->values[v] = NOT_YET;
    return true;
}

static void settle_variables(struct sight *s, struct egraph *g)
{
    for (uint32_t v = 0; v < s->build->n_vars; v++) {
        s->values[v] = graph_find(g, s->values[v]);
        expect_parents(g, s->values[v]);
    }
}

/* Asks for the places of the nodes of which all arguments are known. */
static size_t ask(struct query *queries, struct sight *s, struct egraph *g, const uint32_t *leaf)
{
    const struct build *b = s->build;
    size_t n = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct build_node *node = &b->nodes[i];
        uint32_t *value = &s->values[b->n_vars + i];
        if (*value != NOT_YET)
            continue;
        if (node->is_leaf) {
            uint32_t l = g->leaves[leaf[node->op]].node;
            *value = l == NO_NODE ? NO_NODE : graph_find(g, l);
            continue;
        }
        uint32_t first = s->values[node->first[0]];
        uint32_t second = node->arity > 1 ? s->values[node->first[1]] : 0;
        if (first == NO_NODE || second == NO_NODE || node->arity == 0 || node->arity > 2) {
            *value = NO_NODE;
            continue;
        }
        if (first == NOT_YET || second == NOT_YET)
            continue;
        struct query *q = &queries[n++];
        *q = (struct query){.value = value, .op = node->op, .candidate = NO_NODE};
        q->pair = (uint64_t)second << 32 | first;
        q->hash = hash_pair(q->op, q->pair);
        hashcons_expect(&g->cons, q->hash);
    }
    return n;
}

static void find_candidate(struct query *q, const struct egraph *g)
{
    struct hashcons_probe p = hashcons_probe(&g->cons, q->hash);
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
    struct sight sights[FORESEE_MATCHES];
    struct query queries[FORESEE_MATCHES * MAX_VALUES];
    size_t n_sights = 0, n_queries, left = m->n_matches - from;
    size_t end = from + (left < FORESEE_MATCHES ? left : FORESEE_MATCHES);
    for (size_t i = from; i < end; i++)
        n_sights += take_match(&sights[n_sights], m, &m->matches[i]);
    for (size_t i = 0; i < n_sights; i++)
        settle_variables(&sights[i], g);
    do {
        n_queries = 0;
        for (size_t i = 0; i < n_sights; i++)
            n_queries += ask(queries + n_queries, &sights[i], g, m->leaf);
        for (size_t i = 0; i < n_queries; i++)
            find_candidate(&queries[i], g);
        for (size_t i = 0; i < n_queries; i++)
            answer(&queries[i], g);
    } while (n_queries);
}
