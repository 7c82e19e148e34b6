/* See ranking_bound.h. */
#include "ops/latex/study/ranking_bound.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct classes {
    uint32_t *size, *paper; /* (classes) */
    uint32_t *first;        /* (classes + 1) */
    uint32_t *member;       /* of class c: member[first[c]] .. */
};

static struct classes classes_of(struct arena *a, const struct ranking_blocks *x)
{
    const struct vectors *v = x->v;
    struct classes c = {
        arena_array(a, uint32_t, v->n_clusters + 1), arena_array(a, uint32_t, v->n_clusters + 1),
        arena_array(a, uint32_t, v->n_clusters + 2), arena_array(a, uint32_t, v->n + 1)};
    for (uint32_t i = 0; i < v->n; i++) {
        c.size[v->cluster[i]]++;
        c.paper[v->cluster[i]] = x->paper[i];
    }
    for (uint32_t k = 0; k < v->n_clusters; k++)
        c.first[k + 2] = c.first[k + 1] + c.size[k];
    for (uint32_t i = 0; i < v->n; i++)
        c.member[c.first[v->cluster[i] + 1]++] = i;
    return c;
}

static double pairs(double n)
{
    return n * (n - 1);
}

static double margin(double delta, double chi, double n)
{
    return sqrt(log(1 / delta) * chi / (2 * n));
}

void ranking_bound_find(struct ranking_bound *out, struct arena *a, const struct ranking_blocks *x,
                        double delta)
{
    struct classes c = classes_of(a, x);
    double n = x->v->n, all_pairs = 0, most = 0, next = 0;
    double *size = arena_array(a, double, x->n_papers + 1);
    double *of_pairs = arena_array(a, double, x->n_papers + 1); /* pairs x, x+ in the paper */
    double *touched = arena_array(a, double, x->n_papers + 1);  /* their triples, then all */
    *out = (struct ranking_bound){0};
    for (uint32_t i = 0; i < x->v->n; i++)
        size[x->paper[i]]++;
    for (uint32_t k = 0; k < x->v->n_clusters; k++) {
        double m = c.size[k], p = pairs(m);
        all_pairs += p;
        of_pairs[c.paper[k]] += p;
        touched[c.paper[k]] += p * (n - m);
        out->triples += p * (n - m);
    }
    for (uint32_t i = 0; i < x->n_papers; i++) {
        touched[i] += (all_pairs - of_pairs[i]) * size[i];
        out->largest = fmax(out->largest, size[i]);
        next = fmax(next, fmin(most, touched[i]));
        most = fmax(most, touched[i]);
    }
    out->by_size = 3 * margin(delta, out->largest, n);
    out->by_triples =
        out->triples > 0 ? margin(delta, fmin(most + next, out->triples), out->triples) : INFINITY;
}

/* ---- samples ---- */

/* The colours in use at each paper, as sets of bits. */
struct colours {
    uint64_t **used; /* (papers) */
    size_t *words;   /* (papers): what is behind that is not in use */
};

static void make_room(struct colours *c, uint32_t paper, size_t n)
{
    size_t cap = c->words[paper];
    if (cap >= n)
        return;
    c->used[paper] = vec_grow(c->used[paper], &cap, n, sizeof(uint64_t));
    memset(c->used[paper] + c->words[paper], 0, (cap - c->words[paper]) * sizeof(uint64_t));
    c->words[paper] = cap;
}

/* The first colour that no triple of either paper has; now this one has it. */
static size_t color(struct colours *c, uint32_t p, uint32_t q)
{
    size_t w = 0;
    uint64_t taken = UINT64_MAX;
    for (;; w++) {
        make_room(c, p, w + 1);
        make_room(c, q, w + 1);
        taken = c->used[p][w] | c->used[q][w];
        if (taken != UINT64_MAX)
            break;
    }
    uint64_t bit = ~taken & (taken + 1);
    c->used[p][w] |= bit;
    c->used[q][w] |= bit;
    return w * 64 + (size_t)__builtin_ctzll(bit);
}

/* The class at which the running sum of triples passes `at`. */
static uint32_t class_at(const double *sum, uint32_t n, double at)
{
    uint32_t low = 0, high = n - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sum[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void ranking_sample_draw(struct ranking_sample *out, struct arena *a,
                         const struct ranking_blocks *x, uint32_t n, double delta, struct rng *rng)
{
    const struct vectors *v = x->v;
    struct classes c = classes_of(a, x);
    struct colours colours = {arena_array(a, uint64_t *, x->n_papers),
                              arena_array(a, size_t, x->n_papers)};
    double *sum = arena_array(a, double, v->n_clusters), triples = 0, wrong = 0;
    size_t chi = 0;
    for (uint32_t k = 0; k < v->n_clusters; k++)
        sum[k] = triples += pairs(c.size[k]) * (v->n - c.size[k]);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = class_at(sum, v->n_clusters, rng_double(rng) * triples);
        const uint32_t *member = c.member + c.first[k];
        uint32_t at = (uint32_t)rng_below(rng, c.size[k]), anchor = member[at];
        uint32_t with = (uint32_t)rng_below(rng, c.size[k] - 1), other;
        with = member[with + (with >= at)];
        do
            other = (uint32_t)rng_below(rng, v->n);
        while (v->cluster[other] == k);
        float near = vector_dot(vectors_at(v, anchor), vectors_at(v, with), v->stride);
        float far = vector_dot(vectors_at(v, anchor), vectors_at(v, other), v->stride);
        wrong += far > near ? 1 : far == near ? 0.5 : 0;
        size_t mine = color(&colours, x->paper[anchor], x->paper[other]) + 1;
        chi = mine > chi ? mine : chi;
    }
    for (uint32_t p = 0; p < x->n_papers; p++)
        free(colours.used[p]);
    *out = (struct ranking_sample){wrong / n, (double)chi, margin(delta, (double)chi, n)};
}
