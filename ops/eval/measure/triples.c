/* Losses over triples; see triples.h. Vectors are processed in blocks. For a block, each cluster is
 * an item of parallel work: it computes the cosines of its members with the block, then the losses
 * of each pair of members with the block. The block size is limited by the room for cosines. */
#include "ops/eval/measure/triples.h"

#include "base/isa.h"

enum { MAX_BLOCK = 2048 };

/* Replaces cosines with vectors of the same cluster, and pads rows: too low to violate any
 * margin. */
static const float APART = -8;

struct sums {
    double negatives;          /* of the block */
    double hinge;              /* of a pair and a negative, the same for either order */
    double positive, negative; /* hinges of pairs; of members with negatives */
};

struct work {
    const struct vectors *v;
    const uint32_t *first;  /* (clusters + 1) */
    const uint32_t *member; /* of cluster c: member[first[c]] .. */
    size_t block;           /* vectors in a block */
    uint32_t from;          /* the first vector of the current block */
    struct sums *sums;      /* by cluster */
    float *cosines;         /* (workers, max_members, block) */
    size_t max_members;
    bool (*cancelled)(void *);
    void *arg;
};

static float at_least_0(float x)
{
    return x > 0 ? x : 0;
}

/* Computes n cosines and pads them with APART to a multiple of VECTOR_LANES. */
static void find_cosines(float *out, const struct vectors *v, uint32_t x, uint32_t from, size_t n)
{
    size_t i = 0;
    for (; i < n; i++)
        out[i] = v->cluster[from + i] == v->cluster[x]
                     ? APART
                     : vector_dot(vectors_at(v, x), vectors_at(v, from + i), v->stride);
    for (; i % VECTOR_LANES; i++)
        out[i] = APART;
}

/* Adds two members with cosine s, whose cosines with n vectors are x and y. */
EQL_CLONES static void add_pair(struct sums *to, const float *x, const float *y, size_t n, float s)
{
    float hinge[VECTOR_LANES] = {0};
    for (size_t i = 0; i < n; i += VECTOR_LANES)
        for (size_t l = 0; l < VECTOR_LANES; l++) {
            float a = x[i + l], b = y[i + l], over = 1 - s + (a > b ? a : b);
            hinge[l] += over > 0 ? over : 0;
        }
    for (size_t l = 0; l < VECTOR_LANES; l++)
        to->hinge += (double)hinge[l];
}

static void measure(void *arg, size_t item, unsigned worker)
{
    const struct work *w = arg;
    const struct vectors *v = w->v;
    uint32_t cluster = (uint32_t)item, from = w->from;
    const uint32_t *member = w->member + w->first[cluster];
    uint32_t m = w->first[cluster + 1] - w->first[cluster];
    size_t n = v->n - from < w->block ? v->n - from : w->block;
    float *cosines = w->cosines + worker * w->max_members * w->block;
    struct sums *to = &w->sums[item];
    *to = (struct sums){0};
    if (m < 2 || (w->cancelled && w->cancelled(w->arg)))
        return;
    for (size_t i = 0; i < n; i++)
        to->negatives += v->cluster[from + i] != cluster;
    for (uint32_t i = 0; i < m; i++) {
        float *row = cosines + i * w->block;
        find_cosines(row, v, member[i], from, n);
        for (size_t k = 0; k < n; k++)
            to->negative += (double)at_least_0(1 + row[k]);
    }
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < i; j++) {
            float s = vector_dot(vectors_at(v, member[i]), vectors_at(v, member[j]), v->stride);
            to->positive += (double)at_least_0(1 - s);
            add_pair(to, cosines + i * w->block, cosines + j * w->block, n, s);
        }
}

static void sort_members(struct work *w, struct arena *a)
{
    const struct vectors *v = w->v;
    uint32_t *first = arena_array(a, uint32_t, v->n_clusters + 2);
    uint32_t *member = arena_array(a, uint32_t, v->n);
    for (uint32_t i = 0; i < v->n; i++)
        first[v->cluster[i] + 2]++;
    for (uint32_t c = 0; c < v->n_clusters; c++) {
        w->max_members = first[c + 2] > w->max_members ? first[c + 2] : w->max_members;
        first[c + 2] += first[c + 1];
    }
    for (uint32_t i = 0; i < v->n; i++)
        member[first[v->cluster[i] + 1]++] = i;
    w->first = first;
    w->member = member;
}

static size_t block_for(size_t members, size_t room)
{
    size_t n = room / (members ? members : 1) / VECTOR_LANES * VECTOR_LANES;
    return n < VECTOR_LANES ? VECTOR_LANES : n > MAX_BLOCK ? MAX_BLOCK : n;
}

/* Sums the clusters; the caller divides by the count. */
static void add_up(struct triples *out, const struct work *w)
{
    for (uint32_t c = 0; c < w->v->n_clusters; c++) {
        const struct sums *s = &w->sums[c];
        double members = w->first[c + 1] - w->first[c], others = members - 1;
        out->count += members * others * s->negatives;
        out->hinge += 2 * s->hinge;
        out->siamese += s->positive * s->negatives + others * s->negative / 2;
    }
}

void triples_measure(struct triples *out, struct arena *a, const struct vectors *v, size_t room,
                     struct pool *pool, bool (*cancelled)(void *), void *arg)
{
    struct work w = {.v = v, .cancelled = cancelled, .arg = arg};
    sort_members(&w, a);
    w.block = block_for(w.max_members, room);
    w.sums = arena_array(a, struct sums, v->n_clusters);
    w.cosines = arena_array(a, float, pool_threads(pool) * w.max_members * w.block);
    *out = (struct triples){0};
    for (size_t from = 0; from < v->n; from += w.block) {
        w.from = (uint32_t)from;
        pool_for(pool, v->n_clusters, measure, &w);
        add_up(out, &w);
    }
    double n = out->count > 0 ? out->count : 1;
    out->hinge /= n;
    out->siamese /= n;
}
