/* The hash-consing table; see hashcons.h. */
#include "ops/egraph/graph/hashcons.h"

#include "ops/egraph/graph/egraph_memory.h"

#include <assert.h>
#include <string.h>

enum {
    FIRST_SIZE = 1024,
    SPARE_BITS = 2,
    LARGE = 1 << 16
}; /* ids may be four or more times the number of slots */

void hashcons_free(struct hashcons *t)
{
    egraph_memory_free(t->slots, t->size * sizeof *t->slots);
    *t = (struct hashcons){0};
}

void hashcons_grow(struct hashcons *t, uint32_t cells)
{
    uint32_t size = t->size ? t->size : FIRST_SIZE;
    while ((t->n + 1) * 2ull >= size)
        size *= 2;
    if (size != t->size) {
        egraph_memory_free(t->slots, t->size * sizeof *t->slots);
        t->slots = egraph_memory_resize(NULL, 0, size * sizeof *t->slots);
    }
    uint32_t id_mask = (size << SPARE_BITS) - 1;
    while (cells > id_mask - 2)
        id_mask = 2 * id_mask + 1;
    /* while it fits the caches, a low load ends most probes at the first slot */
    *t = (struct hashcons){.slots = t->slots,
                           .size = size,
                           .most = (size > LARGE ? size / 3 * 2 : size / 2) - 1,
                           .id_mask = id_mask};
    memset(t->slots, 0xff, size * sizeof *t->slots);
}

void hashcons_clear(struct hashcons *t)
{
    if (t->size > LARGE) {
        hashcons_free(t);
        return;
    }
    t->n = t->n_gaps = 0;
    if (t->size)
        memset(t->slots, 0xff, t->size * sizeof *t->slots);
}

void hashcons_remove(struct hashcons *t, uint32_t hash, uint32_t node)
{
    uint32_t mask = t->size - 1, i = hash & mask, slot = (hash & ~t->id_mask) | node;
    while (t->slots[i] != slot) {
        assert(t->slots[i] != (uint32_t)HASHCONS_EMPTY);
        i = (i + 1) & mask;
    }
    /* no gap is needed before an empty slot */
    bool last = t->slots[(i + 1) & mask] == (uint32_t)HASHCONS_EMPTY;
    t->slots[i] = last ? (uint32_t)HASHCONS_EMPTY : (uint32_t)HASHCONS_GAP;
    t->n_gaps += !last;
    t->n--;
}
