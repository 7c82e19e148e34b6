#include "ops/latex/study/ranking/ranking_bound.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct groups groups_of(struct arena *a, const uint32_t *group, uint32_t n, uint32_t n_groups)
{
    struct groups g = {arena_array(a, uint32_t, n_groups + 2), arena_array(a, uint32_t, n + 1)};
    for (uint32_t i = 0; i < n; i++)
        g.first[group[i] + 2]++;
    for (uint32_t k = 0; k < n_groups; k++)
        g.first[k + 2] += g.first[k + 1];
    for (uint32_t i = 0; i < n; i++)
        g.member[g.first[group[i] + 1]++] = i;
    return g;
}

static uint32_t size_of(const struct groups *g, uint32_t k)
{
    return g->first[k + 1] - g->first[k];
}

static double pairs(double n)
{
    return n * (n - 1);
}

static double margin(double delta, double chi, double n)
{
    return sqrt(log(1 / delta) * chi / (2 * n));
}

/* ---- all triples ---- */

static double *sizes_of(struct arena *a, const struct ranking_blocks *x)
{
    double *size = arena_array(a, double, x->n_papers + 1);
    for (uint32_t i = 0; i < x->v->n; i++)
        size[x->paper[i]]++;
    return size;
}

/* Returns the number of equations of the papers that this one cites. */
static double cited_by(const struct ranking_blocks *x, const double *size, uint32_t paper)
{
    double n = 0;
    for (uint32_t k = x->cites_first[paper]; k < x->cites_first[paper + 1]; k++)
        n += size[x->cites[k][1]];
    return n;
}

/* Counts the triples that touch each paper, and all triples. */
static double *touched_by_cites(double *triples, struct arena *a, const struct ranking_blocks *x,
                                const double *size)
{
    double *touched = arena_array(a, double, x->n_papers + 1), all = 0;
    for (uint32_t p = 0; p < x->n_papers; p++) {
        double cited = cited_by(x, size, p), others = x->v->n - size[p] - cited;
        double pairs = size[p] * cited;
        *triples += pairs * others;
        touched[p] += pairs * (others - size[p]); /* an equation is not its own negative */
        all += pairs;
        for (uint32_t k = x->cites_first[p]; k < x->cites_first[p + 1]; k++) {
            double n = size[x->cites[k][1]];
            touched[x->cites[k][1]] += size[p] * n * others - pairs * n;
        }
    }
    for (uint32_t p = 0; p < x->n_papers; p++)
        touched[p] += all * size[p];
    return touched;
}

static double *touched_by_classes(double *triples, struct arena *a, const struct ranking_blocks *x,
                                  const double *size)
{
    struct groups c = groups_of(a, x->v->cluster, x->v->n, x->v->n_clusters);
    double n = x->v->n, all_pairs = 0;
    double *of_pairs = arena_array(a, double, x->n_papers + 1); /* pairs x, x+ in each paper */
    double *touched = arena_array(a, double, x->n_papers + 1);
    for (uint32_t k = 0; k < x->v->n_clusters; k++) {
        double m = size_of(&c, k), p = pairs(m);
        uint32_t paper = x->paper[c.member[c.first[k]]];
        all_pairs += p;
        of_pairs[paper] += p;
        touched[paper] += p * (n - m);
        *triples += p * (n - m);
    }
    for (uint32_t i = 0; i < x->n_papers; i++)
        touched[i] += (all_pairs - of_pairs[i]) * size[i];
    return touched;
}

static int descending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

void ranking_bound_find(struct ranking_bound *out, struct arena *a, const struct ranking_blocks *x,
                        double delta)
{
    uint32_t papers = x->cites ? 3 : 2; /* of a triple */
    double *size = sizes_of(a, x), chi = 0;
    *out = (struct ranking_bound){0};
    double *touched = x->cites ? touched_by_cites(&out->triples, a, x, size)
                               : touched_by_classes(&out->triples, a, x, size);
    for (uint32_t i = 0; i < x->n_papers; i++)
        out->largest = fmax(out->largest, size[i]);
    qsort(touched, x->n_papers, sizeof *touched, descending);
    for (uint32_t i = 0; i < x->n_papers && i < papers; i++)
        chi += touched[i];
    out->by_size = 3 * margin(delta, out->largest, x->v->n);
    out->by_triples =
        out->triples > 0 ? margin(delta, fmin(chi, out->triples), out->triples) : INFINITY;
}

/* ---- samples ---- */

/* The colours in use at each paper, as bit sets. */
struct colours {
    uint64_t **used; /* (papers) */
    size_t *words;   /* (papers): later words are empty */
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

/* Assigns the first colour that is unused at all of these papers. */
static size_t color(struct colours *c, const uint32_t papers[3])
{
    size_t w = 0;
    uint64_t taken = UINT64_MAX;
    for (;; w++) {
        taken = 0;
        for (int i = 0; i < 3; i++) {
            make_room(c, papers[i], w + 1);
            taken |= c->used[papers[i]][w];
        }
        if (taken != UINT64_MAX)
            break;
    }
    uint64_t bit = ~taken & (taken + 1);
    for (int i = 0; i < 3; i++)
        c->used[papers[i]][w] |= bit;
    return w * 64 + (size_t)__builtin_ctzll(bit);
}

/* Returns the index at which a running sum exceeds `at`. */
static uint32_t place_at(const double *sum, uint32_t n, double at)
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

/* The distribution that triples are drawn from: sum[k] over the classes, or papers, up to k. */
struct urn {
    const struct ranking_blocks *x;
    struct groups classes; /* with citations: the papers */
    double *sum;
    uint32_t n;
};

static struct urn urn_of(struct arena *a, const struct ranking_blocks *x)
{
    struct urn u = {.x = x, .n = x->cites ? x->n_papers : x->v->n_clusters};
    double *size = sizes_of(a, x), triples = 0;
    u.classes = groups_of(a, x->cites ? x->paper : x->v->cluster, x->v->n, u.n);
    u.sum = arena_array(a, double, u.n + 1);
    for (uint32_t k = 0; k < u.n; k++) {
        double n = size_of(&u.classes, k), cited = x->cites ? cited_by(x, size, k) : 0;
        u.sum[k] = triples +=
            x->cites ? n * cited * (x->v->n - n - cited) : pairs(n) * (x->v->n - n);
    }
    return u;
}

static uint32_t member_of(const struct urn *u, uint32_t k, uint64_t i)
{
    return u->classes.member[u->classes.first[k] + i];
}

static bool is_cited(const struct ranking_blocks *x, uint32_t paper, uint32_t other)
{
    uint32_t k = x->cites_first[paper], end = x->cites_first[paper + 1];
    while (k < end && x->cites[k][1] != other)
        k++;
    return k < end;
}

/* Draws anchor, positive and negative. */
static void draw(uint32_t out[3], const struct urn *u, struct rng *rng)
{
    const struct ranking_blocks *x = u->x;
    const struct groups *g = &u->classes;
    uint32_t k = place_at(u->sum, u->n, rng_double(rng) * u->sum[u->n - 1]);
    uint32_t at = (uint32_t)rng_below(rng, size_of(g, k));
    out[0] = member_of(u, k, at);
    if (!x->cites) {
        uint32_t with = (uint32_t)rng_below(rng, size_of(g, k) - 1);
        out[1] = member_of(u, k, with + (with >= at));
        do
            out[2] = (uint32_t)rng_below(rng, x->v->n);
        while (x->v->cluster[out[2]] == k);
        return;
    }
    uint64_t all = 0;
    for (uint32_t i = x->cites_first[k]; i < x->cites_first[k + 1]; i++)
        all += size_of(g, x->cites[i][1]);
    uint64_t with = rng_below(rng, all);
    uint32_t i = x->cites_first[k];
    for (; with >= size_of(g, x->cites[i][1]); i++)
        with -= size_of(g, x->cites[i][1]);
    out[1] = member_of(u, x->cites[i][1], with);
    do
        out[2] = (uint32_t)rng_below(rng, x->v->n);
    while (x->paper[out[2]] == k || is_cited(x, k, x->paper[out[2]]));
}

void ranking_sample_draw(struct ranking_sample *out, struct arena *a,
                         const struct ranking_blocks *x, uint32_t n, double delta, struct rng *rng)
{
    const struct vectors *v = x->v;
    struct urn u = urn_of(a, x);
    struct colours colours = {arena_array(a, uint64_t *, x->n_papers),
                              arena_array(a, size_t, x->n_papers)};
    double wrong = 0;
    size_t chi = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t t[3];
        draw(t, &u, rng);
        const float *anchor = vectors_at(v, t[0]);
        float near = vector_dot(anchor, vectors_at(v, t[1]), v->stride);
        float far = vector_dot(anchor, vectors_at(v, t[2]), v->stride);
        wrong += far > near ? 1 : far == near ? 0.5 : 0;
        size_t mine =
            color(&colours, (uint32_t[]){x->paper[t[0]], x->paper[t[1]], x->paper[t[2]]}) + 1;
        chi = mine > chi ? mine : chi;
    }
    for (uint32_t p = 0; p < x->n_papers; p++)
        free(colours.used[p]);
    *out = (struct ranking_sample){wrong / n, (double)chi, margin(delta, (double)chi, n)};
}
