/* The proof graph; see proof_graph.h. */
#include "ops/egraph/graph/proof_graph.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SPARE = 40 }; /* edges of a node that joined nothing: more cost more than they help */

struct witness_counts *proofs_new(void)
{
    struct witness_counts *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    return p;
}

void proofs_free(struct witness_counts *p)
{
    if (!p)
        return;
    free(p->edges);
    free(p->first);
    free(p->spare);
    free(p->kid);
    free(p->matches);
    free(p);
}

void proofs_grow(struct witness_counts *p, size_t cap)
{
    p->first = realloc(p->first, cap * sizeof *p->first);
    p->spare = realloc(p->spare, cap);
    p->kid = realloc(p->kid, 2 * cap * sizeof *p->kid);
    if (!p->first || !p->spare || !p->kid) {
        fprintf(stderr, "eqloom: out of memory (proofs of %zu nodes)\n", cap);
        abort();
    }
}

void proofs_add_node(struct witness_counts *p, uint32_t node, const uint32_t *kids, uint32_t arity)
{
    p->first[node] = NO_EDGE;
    p->spare[node] = 0;
    if (arity)
        memcpy(&p->kid[2 * (size_t)node], kids, arity * sizeof *kids);
}

void proofs_join(struct witness_counts *p, uint32_t a, uint32_t b, struct reason why)
{
    p->edges = vec_grow(p->edges, &p->edges_cap, p->n_edges + 1, sizeof *p->edges);
    p->edges[p->n_edges] = (struct proof_edge){{a, b}, {p->first[a], p->first[b]}, why};
    p->first[a] = p->first[b] = (uint32_t)p->n_edges++;
}

/* Of rules, one reason each. */
static bool is_same_reason(const struct witness_counts *p, struct reason why, enum reason_kind kind,
                           uint32_t rule)
{
    return why.kind == kind && (kind != REASON_RULE || p->matches[why.match] == rule);
}

bool proofs_want(const struct witness_counts *p, uint32_t a, uint32_t b, enum reason_kind kind,
                 uint32_t rule)
{
    if (a == b || (p->spare[a] >= MAX_SPARE && p->spare[b] >= MAX_SPARE))
        return false;
    if (p->spare[b] < p->spare[a]) { /* the one with the shorter list */
        uint32_t t = a;
        a = b;
        b = t;
    }
    int looked = 0;
    for (uint32_t e = p->first[a]; e != NO_EDGE && looked < MAX_SPARE; looked++) {
        const struct proof_edge *edge = &p->edges[e];
        if ((edge->node[0] == b || edge->node[1] == b) && is_same_reason(p, edge->why, kind, rule))
            return false;
        e = edge->next[edge->node[0] != a];
    }
    return true;
}

void proofs_add_spare(struct witness_counts *p, uint32_t a, uint32_t b, struct reason why)
{
    p->spare[a] += p->spare[a] < UINT8_MAX;
    p->spare[b] += p->spare[b] < UINT8_MAX;
    proofs_join(p, a, b, why);
}
