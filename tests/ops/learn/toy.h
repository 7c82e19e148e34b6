/* A toy corpus for tests and benchmarks: the members of a cluster are shuffles of one random bag
 * of tokens with a few of them replaced, so that they can be told apart from other clusters, and
 * no two lengths need be the same. */
#pragma once

#include "base/arena.h"
#include "base/rng.h"
#include "ops/learn/data/dataset.h"

#include <stddef.h>

enum { TOY_VOCABULARY = 59 };

/* A batch over the caller's arrays: `members` sequences, from offset[i] to offset[i + 1]. */
static inline void toy_view(Eqloom__TokenBatch *b, uint32_t *tokens, uint32_t *offset,
                            uint32_t *cluster, size_t members)
{
    eqloom__token_batch__init(b);
    b->tokens = tokens;
    b->n_tokens = offset[members];
    b->offset = offset;
    b->n_offset = members + 1;
    b->cluster = cluster;
    b->n_cluster = members;
}

/* One batch: one cluster of `members` sequences of start, least..most tokens, end. */
static inline Eqloom__TokenBatch *toy_batch(struct arena *a, uint64_t seed, uint64_t cluster,
                                            size_t members, uint32_t least, uint32_t most)
{
    struct rng r = rng_new(seed, cluster);
    uint32_t bag[64], room = most - least + 1;
    Eqloom__TokenBatch *b = arena_new(a, Eqloom__TokenBatch);
    eqloom__token_batch__init(b);
    b->tokens = arena_array(a, uint32_t, members * (most + 2));
    b->offset = arena_array(a, uint32_t, members + 1);
    b->cluster = arena_array(a, uint32_t, members);
    b->n_cluster = members;
    b->n_offset = members + 1;
    for (uint32_t i = 0; i < most; i++)
        bag[i] = 3 + (uint32_t)rng_below(&r, TOY_VOCABULARY - 3);
    for (size_t i = 0; i < members; i++) {
        uint32_t n = least + (uint32_t)rng_below(&r, room);
        rng_shuffle_u32(&r, bag, most);
        b->tokens[b->n_tokens++] = 1;
        for (uint32_t j = 0; j < n; j++)
            b->tokens[b->n_tokens++] =
                rng_below(&r, 8) ? bag[j] : 3 + (uint32_t)rng_below(&r, TOY_VOCABULARY - 3);
        b->tokens[b->n_tokens++] = 2;
        b->offset[i + 1] = (uint32_t)b->n_tokens;
    }
    return b;
}
