/* The proof forest; see proof_forest.h. */
#include "ops/egraph/graph/proof_forest.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

struct proof_forest *proofs_new(void)
{
    struct proof_forest *p = must_calloc(1, sizeof *p);
    return p;
}

void proofs_free(struct proof_forest *p)
{
    if (!p)
        return;
    free(p->edges);
    free(p->kid);
    free(p->matches);
    free(p);
}

void proofs_grow(struct proof_forest *p, size_t cap)
{
    p->edges = realloc(p->edges, cap * sizeof *p->edges);
    p->kid = realloc(p->kid, 2 * cap * sizeof *p->kid);
    if (!p->edges || !p->kid)
        out_of_memory(cap * (sizeof *p->edges + 2 * sizeof *p->kid));
}

void proofs_add_node(struct proof_forest *p, uint32_t node, const uint32_t *kids, uint32_t arity)
{
    p->edges[node] = (struct proof_edge){.parent = NO_PARENT};
    if (arity)
        memcpy(&p->kid[2 * (size_t)node], kids, arity * sizeof *kids);
}

/* Reverses the edges from a node up to its root, and attaches the node under `edge`. */
static void hang(struct proof_forest *p, uint32_t node, struct proof_edge edge)
{
    while (node != NO_PARENT) {
        struct proof_edge old = p->edges[node];
        p->edges[node] = edge;
        edge = (struct proof_edge){node, !old.from_parent, old.why};
        node = old.parent;
    }
}

/* Attaches the node closer to its root under the other. */
void proofs_join(struct proof_forest *p, uint32_t a, uint32_t b, struct reason why)
{
    uint32_t x = a, y = b;
    while (p->edges[x].parent != NO_PARENT && p->edges[y].parent != NO_PARENT) {
        x = p->edges[x].parent;
        y = p->edges[y].parent;
    }
    if (p->edges[x].parent == NO_PARENT)
        hang(p, a, (struct proof_edge){b, false, why});
    else
        hang(p, b, (struct proof_edge){a, true, why});
}
