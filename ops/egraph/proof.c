/* The proof forest; see proof.h. */
#include "ops/egraph/proof.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct proofs *proofs_new(void)
{
    struct proofs *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    return p;
}

void proofs_free(struct proofs *p)
{
    if (!p)
        return;
    free(p->to);
    free(p->why);
    free(p->backwards);
    free(p->kid);
    free(p->matches);
    free(p);
}

void proofs_grow(struct proofs *p, size_t cap)
{
    p->to = realloc(p->to, cap * sizeof *p->to);
    p->why = realloc(p->why, cap * sizeof *p->why);
    p->backwards = realloc(p->backwards, cap);
    p->kid = realloc(p->kid, 2 * cap * sizeof *p->kid);
    if (!p->to || !p->why || !p->backwards || !p->kid) {
        fprintf(stderr, "eqloom: out of memory (proofs of %zu nodes)\n", cap);
        abort();
    }
    p->cap = cap;
}

void proofs_add_node(struct proofs *p, uint32_t node, const uint32_t *kids, uint32_t arity)
{
    p->to[node] = UINT32_MAX;
    p->why[node] = (struct reason){0};
    p->backwards[node] = 0;
    if (arity)
        memcpy(&p->kid[2 * (size_t)node], kids, arity * sizeof *kids);
}

/* Turns the edges from n to its root around, so that n is the root. */
static void make_root(struct proofs *p, uint32_t n)
{
    uint32_t to = UINT32_MAX;
    struct reason why = {0};
    bool backwards = false;
    while (n != UINT32_MAX) {
        uint32_t old_to = p->to[n];
        struct reason old_why = p->why[n];
        bool old_backwards = p->backwards[n];
        p->to[n] = to;
        p->why[n] = why;
        p->backwards[n] = !backwards;
        to = n;
        why = old_why;
        backwards = old_backwards;
        n = old_to;
    }
}

void proofs_join(struct proofs *p, uint32_t a, uint32_t b, struct reason why)
{
    make_root(p, a);
    p->to[a] = b;
    p->why[a] = why;
    p->backwards[a] = false;
}
