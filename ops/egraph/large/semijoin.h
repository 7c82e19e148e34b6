/* Semijoin: a state may bind a node and then look up a second one, all of whose arguments are known
 * by then, in a class that is known already, as for the sum and the difference in
 * cosh(?a + ?b)*cosh(?a - ?b). Then the nodes of that class say which nodes need to be bound at all:
 * two lists are read, and no node is looked up in the whole graph. A node that the filter drops has
 * no match; a few that it keeps may have none either. */
#ifndef OPS_EGRAPH_LARGE_SEMIJOIN_H
#define OPS_EGRAPH_LARGE_SEMIJOIN_H

#include "ops/egraph/match/ematch.h"

enum {
    SEMIJOIN_MIN = 4, /* nodes that are bound as fast as others are read */
    SEMIJOIN_MAX = 256,
    SEMIJOIN_WORDS = 32,
    SEMIJOIN_FREE = 255,
};

struct semijoin {
    uint8_t argument[2]; /* of the node to be bound, which its partner has, or SEMIJOIN_FREE */
    uint64_t filter[SEMIJOIN_WORDS];
};

enum semijoin_found {
    SEMIJOIN_NONE,
    SEMIJOIN_SOME,
    SEMIJOIN_UNKNOWN /* nothing is known of them */
};

/* For n nodes of class c, to be bound by state s; `next` is what follows it. */
enum semijoin_found semijoin_find(struct semijoin *out, struct ematch *m, const struct state *s,
                                  const struct state *next, uint32_t c, uint32_t n);

static inline uint32_t semijoin_hash(uint32_t a, uint32_t b)
{
    return (a * 0x9e3779b1u ^ (b + 1) * 0x85ebca6bu) * 0xc2b2ae35u >> 21;
}

/* Node n may have one. */
static inline bool semijoin_has(const struct semijoin *p, struct egraph *g, uint32_t n)
{
    uint32_t value[2] = {0, 0};
    for (int k = 0; k < 2; k++)
        if (p->argument[k] != SEMIJOIN_FREE)
            value[k] = graph_find(g, g->cells[n].kid[k]);
    uint32_t h = semijoin_hash(value[0], value[1]);
    return p->filter[h / 64] >> h % 64 & 1;
}

/* Whether a semijoin filters what s binds by what `next` looks up. */
bool semijoin_applies(const struct state *s, const struct state *next);

#endif
