/* Semijoin. A state binds a node; the next state binds one more, in a class that is bound already,
 * with all arguments determined, as in cosh(?a + ?b)*cosh(?a - ?b) after the sum. The nodes of that
 * class then tell which candidates of the first state can match at all: two lists are read, instead
 * of a lookup in the whole graph for each candidate. The filter may let through a few candidates
 * that do not match. */
#ifndef OPS_EGRAPH_LARGE_SEMIJOIN_H
#define OPS_EGRAPH_LARGE_SEMIJOIN_H

#include "ops/egraph/match/ematch.h"

enum {
    SEMIJOIN_MIN = 4, /* so few nodes are bound as fast as the others are read */
    SEMIJOIN_MAX = 256,
    SEMIJOIN_WORDS = 32,
    SEMIJOIN_FREE = 255,
};

struct semijoin {
    uint8_t argument[2]; /* which arguments of the node to be bound the filter tests; others are
                            SEMIJOIN_FREE */
    uint64_t filter[SEMIJOIN_WORDS];
};

enum semijoin_found {
    SEMIJOIN_NONE,
    SEMIJOIN_SOME,
    SEMIJOIN_UNKNOWN /* no filter: all are candidates */
};

/* For n nodes of class c that state s may bind; `next` is the state after it. */
enum semijoin_found semijoin_find(struct semijoin *out, struct ematch *m, const struct state *s,
                                  const struct state *next, uint32_t c, uint32_t n);

static inline uint32_t semijoin_hash(uint32_t a, uint32_t b)
{
    return (a * 0x9e3779b1u ^ (b + 1) * 0x85ebca6bu) * 0xc2b2ae35u >> 21;
}

/* Node n passes the filter. */
static inline bool semijoin_has(const struct semijoin *p, struct egraph *g, uint32_t n)
{
    uint32_t value[2] = {0, 0};
    for (int k = 0; k < 2; k++)
        if (p->argument[k] != SEMIJOIN_FREE)
            value[k] = graph_find(g, g->cells[n].kid[k]);
    uint32_t h = semijoin_hash(value[0], value[1]);
    return p->filter[h / 64] >> h % 64 & 1;
}

/* Whether a semijoin of s with `next` is possible. */
bool semijoin_applies(const struct state *s, const struct state *next);

#endif
