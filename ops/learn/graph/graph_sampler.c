#include "ops/learn/graph/graph_sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first ones are those of the ways. */
enum stream { STREAM_TURN, STREAM_WAY = GRAPH_WAYS + 1, STREAM_POSITIVE, STREAM_CITED };

/* ---- which equations can serve ---- */

/* Returns true if its section has another graph: members of a section are adjacent. */
static bool has_neighbour(const struct graph_corpus *c, uint32_t paper, uint32_t i)
{
    const uint32_t *m = c->member;
    return (i > c->member_first[paper] && c->graph[m[i - 1]].section == c->graph[m[i]].section) ||
           (i + 1 < c->member_first[paper + 1] &&
            c->graph[m[i + 1]].section == c->graph[m[i]].section);
}

/* Returns true if member i of a paper can be an anchor, or a negative. */
static bool serves(const struct graph_corpus *c, uint32_t paper, uint32_t i, enum graph_way way)
{
    switch (way) {
    case GRAPH_SAME_SECTION: return has_neighbour(c, paper, i);
    case GRAPH_SAME_PAPER: return c->member_first[paper + 1] - c->member_first[paper] > 1;
    case GRAPH_CITED: return c->cited_first[paper] < c->cited_first[paper + 1];
    case GRAPH_WAYS: break;
    }
    return true; /* as a negative */
}

enum err_code graph_sampler_init(struct graph_sampler *x, const struct graph_corpus *c,
                                 const double shares[GRAPH_WAYS], uint64_t seed, const char *role,
                                 struct err *e)
{
    *x = (struct graph_sampler){.corpus = c, .seed = seed};
    double sum = 0;
    for (enum graph_way w = 0; w <= GRAPH_WAYS; w++) {
        struct epoch_order *t = &x->ways[w];
        for (uint32_t i = 0; i < c->graphs; i++)
            if (serves(c, c->graph[c->member[i]].paper, i, w))
                epoch_order_add(t, c->member[i]);
        if (w < GRAPH_WAYS)
            x->up_to[w] = sum += t->n ? shares[w] : 0;
    }
    if (c->papers < 2)
        return err_fail(e, ERR_INPUT, "equations of at least two papers are needed; %s has %zu",
                        role, c->papers);
    if (sum <= 0)
        return err_fail(e, ERR_INPUT,
                        "no two equations of %s are related in a way that has a share", role);
    for (size_t w = 0; w < GRAPH_WAYS; w++)
        x->up_to[w] /= sum;
    return OK;
}

void graph_sampler_free(struct graph_sampler *x)
{
    for (size_t w = 0; w <= GRAPH_WAYS; w++)
        epoch_order_free(&x->ways[w]);
    *x = (struct graph_sampler){0};
}

/* ---- turns ---- */

static uint64_t key_of(const void *corpus, uint64_t of_epoch, uint32_t graph)
{
    const struct graph_corpus *c = corpus;
    return rng_mix(of_epoch ^ rng_mix(c->graph[graph].mark) ^ c->paper_mark[c->graph[graph].paper]);
}

/* Returns the graph whose turn it is at k, or the one `further` places on in its epoch. */
static uint32_t in_turn(struct graph_sampler *x, size_t way, uint64_t k, size_t further)
{
    struct epoch_order *t = &x->ways[way];
    uint64_t epoch = k / t->n;
    return epoch_order_item(t, epoch, rng_at(x->seed, STREAM_TURN + way, epoch),
                            (k + further) % t->n, key_of, x->corpus);
}

/* ---- draws ---- */

static enum graph_way draw_way(const struct graph_sampler *x, uint64_t k)
{
    double u = (double)(rng_at(x->seed, STREAM_WAY, k) >> 11) * 0x1p-53;
    enum graph_way w = 0;
    while (w + 1 < GRAPH_WAYS && u >= x->up_to[w])
        w++;
    while (!x->ways[w].n) /* rounding exceeded the last way that occurs */
        w--;
    return w;
}

/* Returns the graph with the smallest hash among a paper's, except `but`, and only of `section`
 * unless that is NULL. There must be one. */
static uint32_t draw_graph(const struct graph_corpus *c, uint32_t paper, uint64_t key, uint32_t but,
                           const uint32_t *section)
{
    uint64_t least = 0;
    uint32_t best = UINT32_MAX;
    for (uint32_t i = c->member_first[paper]; i < c->member_first[paper + 1]; i++) {
        uint32_t g = c->member[i];
        uint64_t hash = rng_mix(key ^ c->graph[g].mark);
        if (g == but || (section && c->graph[g].section != *section))
            continue;
        if (best == UINT32_MAX || hash < least) {
            least = hash;
            best = g;
        }
    }
    return best;
}

static uint32_t draw_cited(const struct graph_corpus *c, uint32_t paper, uint64_t key)
{
    uint32_t first = c->cited_first[paper], best = first;
    for (uint32_t i = first + 1; i < c->cited_first[paper + 1]; i++)
        if (rng_mix(key ^ c->paper_mark[c->cites[i][1]]) <
            rng_mix(key ^ c->paper_mark[c->cites[best][1]]))
            best = i;
    return c->cites[best][1];
}

struct graph_triplet graph_sampler_draw(struct graph_sampler *x, uint64_t k)
{
    const struct graph_corpus *c = x->corpus;
    enum graph_way way = draw_way(x, k);
    uint32_t anchor = in_turn(x, way, k, 0), paper = c->graph[anchor].paper, with = paper;
    struct graph_triplet t = {anchor, anchor, in_turn(x, GRAPH_WAYS, k, 0), way};
    if (way == GRAPH_CITED)
        with = draw_cited(c, paper, rng_at(x->seed, STREAM_CITED, k));
    t.positive = draw_graph(c, with, rng_at(x->seed, STREAM_POSITIVE, k), anchor,
                            way == GRAPH_SAME_SECTION ? &c->graph[anchor].section : NULL);
    for (size_t i = 1; c->graph[t.negative].paper == paper; i++)
        t.negative = in_turn(x, GRAPH_WAYS, k, i);
    return t;
}

/* ---- batches ---- */

enum example_stream { STREAM_SWAPS = 1, STREAM_HIDDEN };

/* Knuth's algorithm; the mean is at most a few hundred. */
static unsigned poisson(struct rng *r, double mean)
{
    double least = exp(-mean), product = rng_double(r);
    unsigned n = 0;
    for (; product > least; n++)
        product *= rng_double(r);
    return n;
}

/* Renames identifiers by a permutation of all characters, a product of that many transpositions. */
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
        paper[i] = corpus->graph[graph[i]].paper;
    for (size_t i = 0; i < 3 * n; i++)
        first[i + 1] = first[i] + (uint32_t)(corpus->graph[graph[i] + 1].first -
                                             corpus->graph[graph[i]].first);
    struct graph_vertex *vertices = arena_array(a, struct graph_vertex, first[3 * n]);
    for (size_t i = 0; i < 3 * n; i++) {
        size_t nodes = first[i + 1] - first[i];
        uint64_t number = index * 3 * n + i;
        struct graph_vertex *v = vertices + at;
        memcpy(v, corpus->vertices + corpus->graph[graph[i]].first, nodes * sizeof *v);
        at += nodes;
        if (c->swaps > 0)
            swap_names(v, nodes, c, rng_new(rng_at(c->seed, STREAM_SWAPS, number), 0));
        if (c->hidden > 0)
            graph_hide(v, nodes, c->hidden, rng_new(rng_at(c->seed, STREAM_HIDDEN, number), 0));
    }
    *out = (struct graph_set){vertices, first, 3 * n, paper};
}
