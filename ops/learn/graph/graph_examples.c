#include "ops/learn/graph/graph_examples.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

enum stream { STREAM_SWAPS = 1, STREAM_HIDDEN };

/* Knuth's; the mean is at most a few hundred. */
static unsigned poisson(struct rng *r, double mean)
{
    double least = exp(-mean), product = rng_double(r);
    unsigned n = 0;
    for (; product > least; n++)
        product *= rng_double(r);
    return n;
}

/* Identifiers change their names by a permutation of all characters: so many times two of them are
 * exchanged. */
static void swap_names(struct graph_vertex *v, size_t n, const struct graph_examples_config *c,
                       struct rng r)
{
    uint8_t to[GRAPH_CHARACTERS];
    for (int i = 0; i < GRAPH_CHARACTERS; i++)
        to[i] = (uint8_t)(i + 1);
    for (unsigned k = poisson(&r, c->swaps); k > 0; k--) {
        uint64_t i = rng_below(&r, GRAPH_CHARACTERS), j = rng_below(&r, GRAPH_CHARACTERS);
        uint8_t kept = to[i];
        to[i] = to[j];
        to[j] = kept;
    }
    for (size_t i = 0; i < n; i++)
        if (v[i].tag == c->identifier && v[i].character)
            v[i].character = to[v[i].character - 1];
}

size_t graph_hide(struct graph_vertex *v, size_t n, double share, struct rng r)
{
    size_t all = (size_t)(share * (double)n + 0.5), left = all = all ? all : 1;
    while (left > 0) {
        struct graph_vertex *one = &v[rng_below(&r, n)];
        left -= !one->hidden;
        one->hidden = true;
    }
    return all;
}

void graph_examples_draw(struct graph_set *out, struct arena *a, struct graph_sampler *sampler,
                         const struct graph_examples_config *c, uint64_t index)
{
    const struct graph_corpus *corpus = sampler->corpus;
    size_t n = c->batch, at = 0;
    uint32_t *graph = arena_array(a, uint32_t, 3 * n), *first = arena_array(a, uint32_t, 3 * n + 1);
    uint32_t *paper = arena_array(a, uint32_t, 3 * n);
    for (size_t i = 0; i < n; i++) {
        struct graph_triplet t = graph_sampler_draw(sampler, index * n + i);
        graph[i] = t.anchor;
        graph[n + i] = t.positive;
        graph[2 * n + i] = t.negative;
    }
    for (size_t i = 0; i < 3 * n; i++)
        paper[i] = corpus->paper[graph[i]];
    for (size_t i = 0; i < 3 * n; i++)
        first[i + 1] = first[i] + (uint32_t)(corpus->first[graph[i] + 1] - corpus->first[graph[i]]);
    struct graph_vertex *vertices = arena_array(a, struct graph_vertex, first[3 * n]);
    for (size_t i = 0; i < 3 * n; i++) {
        size_t nodes = first[i + 1] - first[i];
        uint64_t number = index * 3 * n + i;
        struct graph_vertex *v = vertices + at;
        memcpy(v, corpus->vertices + corpus->first[graph[i]], nodes * sizeof *v);
        at += nodes;
        if (c->swaps > 0)
            swap_names(v, nodes, c, rng_new(rng_at(c->seed, STREAM_SWAPS, number), 0));
        if (c->hidden > 0)
            graph_hide(v, nodes, c->hidden, rng_new(rng_at(c->seed, STREAM_HIDDEN, number), 0));
    }
    *out = (struct graph_set){vertices, first, 3 * n, paper};
}
