#include "engine/cache/witness_union.h"

/* Merges all collected witnesses into the first one. */
static void unite(struct witness_union *p, const struct op *op)
{
    struct arena fresh = {0};
    struct span all = {0};
    if (op->merge_witnesses(&all, &fresh, p->witnesses, p->n, NULL) || all.len > WITNESS_MAX)
        p->lacking = true;
    arena_free(&p->arena);
    p->arena = fresh;
    p->witnesses[0] = all;
    p->n = 1;
}

void witness_union_add(struct witness_union *p, const struct op *op, struct span witness)
{
    p->lacking = p->lacking || !witness.data;
    if (p->lacking)
        return;
    if (p->n == UNION_BATCH)
        unite(p, op);
    p->witnesses[p->n++] = span_of(arena_memdup(&p->arena, witness.data, witness.len), witness.len);
}

struct span witness_union_get(struct witness_union *p, const struct op *op)
{
    if (!p->lacking && p->n > 1)
        unite(p, op);
    return p->lacking || !p->n ? (struct span){0} : p->witnesses[0];
}

void witness_union_clear(struct witness_union *p)
{
    arena_free(&p->arena);
    *p = (struct witness_union){0};
}
