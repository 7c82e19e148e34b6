/* The hash-consing table, from (operator, canonical arguments) to node. A slot takes four bytes:
 * the id of a node, and above it as many bits of its hash as fit (11 for a million nodes), so that
 * probes rarely read other nodes. The graph owns the nodes and refills the table after it has
 * grown. Uses linear probing; a removed node leaves a gap until the next refill. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HASHCONS_EMPTY = -1, HASHCONS_GAP = -2 };

struct hashcons {
    uint32_t *slots;    /* a node and its tag, or HASHCONS_EMPTY or HASHCONS_GAP */
    uint32_t size;      /* a power of two */
    uint32_t n, n_gaps; /* nodes; gaps */
    uint32_t most;      /* maximum of n + n_gaps */
    uint32_t id_mask;   /* the bits of a slot that hold the node's id */
};

/* A hash starts with the operator and mixes in two arguments at a time (0 for a missing one). */
static inline uint64_t hashcons_begin(uint32_t op)
{
    return op * 0x9e3779b97f4a7c15u;
}

static inline uint64_t hashcons_mix(uint64_t h, uint64_t kids)
{
    h = (h ^ kids) * 0xbf58476d1ce4e5b9u;
    return (h ^ (h >> 32)) * 0x94d049bb133111ebu;
}

static inline uint32_t hashcons_end(uint64_t h)
{
    return (uint32_t)(h >> 29);
}

/* Iterates over the nodes that may have this hash. */
struct hashcons_probe {
    uint32_t at, tag, node;
};

static inline struct hashcons_probe hashcons_probe(const struct hashcons *t, uint32_t hash)
{
    return (struct hashcons_probe){.at = hash, .tag = hash & ~t->id_mask};
}

/* Returns false at the end. */
static inline bool hashcons_next(struct hashcons_probe *p, const struct hashcons *t)
{
    if (!t->size)
        return false;
    for (;;) {
        uint32_t slot = t->slots[p->at++ & (t->size - 1)];
        if (slot == (uint32_t)HASHCONS_EMPTY)
            return false;
        if ((slot & ~t->id_mask) == p->tag && slot != (uint32_t)HASHCONS_GAP) {
            p->node = slot & t->id_mask;
            return true;
        }
    }
}

void hashcons_free(struct hashcons *t);
/* Returns whether one more node fits, in a graph of this many cells. */
static inline bool hashcons_has_room(const struct hashcons *t, uint32_t cells)
{
    return t->n + t->n_gaps < t->most && cells <= t->id_mask - 2;
}

/* Empties the table and makes room for twice as many nodes as it held. */
void hashcons_grow(struct hashcons *t, uint32_t cells);
/* Empties the table; frees its memory if it is large. */
void hashcons_clear(struct hashcons *t);
static inline void hashcons_insert(struct hashcons *t, uint32_t hash, uint32_t node)
{
    uint32_t mask = t->size - 1, i = hash & mask;
    while (t->slots[i] < (uint32_t)HASHCONS_GAP)
        i = (i + 1) & mask;
    t->n_gaps -= t->slots[i] == (uint32_t)HASHCONS_GAP;
    t->slots[i] = (hash & ~t->id_mask) | node;
    t->n++;
}

/* Inserts at the end of the probe, if nothing was inserted or removed since. */
static inline void hashcons_insert_at(struct hashcons *t, const struct hashcons_probe *p,
                                      uint32_t node)
{
    t->slots[(p->at - 1) & (t->size - 1)] = p->tag | node;
    t->n++;
}

/* The node must be in the table. */
void hashcons_remove(struct hashcons *t, uint32_t hash, uint32_t node);
