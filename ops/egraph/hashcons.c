/* The hash-consing table; see hashcons.h. */
#include "ops/egraph/hashcons.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_SIZE = 1024 };

void hashcons_free(struct hashcons *t)
{
    free(t->slots);
    *t = (struct hashcons){0};
}

static void place(struct hashcons *t, uint32_t hash, uint32_t node)
{
    size_t i = hash & (t->size - 1);
    while (t->slots[i].node != UINT32_MAX)
        i = (i + 1) & (t->size - 1);
    t->slots[i] = (struct hashcons_slot){hash, node};
}

static void grow(struct hashcons *t)
{
    struct hashcons old = *t;
    t->size = old.size ? old.size * 2 : FIRST_SIZE;
    t->slots = malloc(t->size * sizeof *t->slots);
    if (!t->slots) {
        fprintf(stderr, "eqloom: out of memory (hash table of %zu slots)\n", t->size);
        abort();
    }
    for (size_t i = 0; i < t->size; i++)
        t->slots[i].node = UINT32_MAX;
    for (size_t i = 0; i < old.size; i++)
        if (old.slots[i].node != UINT32_MAX)
            place(t, old.slots[i].hash, old.slots[i].node);
    free(old.slots);
}

void hashcons_insert(struct hashcons *t, uint32_t hash, uint32_t node)
{
    if (t->n * 4 >= t->size * 3)
        grow(t);
    place(t, hash, node);
    t->n++;
}

void hashcons_remove(struct hashcons *t, uint32_t hash, uint32_t node)
{
    size_t mask = t->size - 1, i = hash & mask;
    while (t->slots[i].node != node) {
        assert(t->slots[i].node != UINT32_MAX);
        i = (i + 1) & mask;
    }
    /* Close the gap: an entry may move back to i unless its own place lies after i. */
    for (size_t j = (i + 1) & mask; t->slots[j].node != UINT32_MAX; j = (j + 1) & mask) {
        size_t home = t->slots[j].hash & mask;
        if (((j - home) & mask) >= ((j - i) & mask)) {
            t->slots[i] = t->slots[j];
            i = j;
        }
    }
    t->slots[i].node = UINT32_MAX;
    t->n--;
}
