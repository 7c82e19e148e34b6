/* Retrieval; see retrieval.h. Each row of the similarity matrix is an item of parallel work. */
#include "ops/eval/measure/retrieval.h"

#include "base/rng.h"
#include "ops/eval/measure/products.h"

#include <stdlib.h>

const uint32_t retrieval_cuts[RETRIEVAL_CUTS] = {1, 5, 10, 15, 20};

struct query_result {
    double precision[RETRIEVAL_CUTS], reciprocal;
    double triples, wrong;
    uint32_t positives;
};

struct work {
    const struct vectors *v;
    struct retrieval_relation relation;
    enum retrieval_divisor divisor;
    struct sparse x;              /* the vectors, as queries */
    struct tiles all;             /* the vectors, as results */
    struct query_result *results; /* by query */
    float *rows;                  /* (workers, row_size): similarities */
    float *positives;             /* (workers, row_size): those of positives */
    uint8_t *standing;            /* (workers, row_size) */
    size_t row_size;
    bool (*cancelled)(void *);
    void *arg;
};

static bool before(const float *similarity, uint32_t i, uint32_t j)
{
    if (similarity[i] != similarity[j])
        return similarity[i] > similarity[j];
    return rng_mix(i) < rng_mix(j);
}

/* Finds the nearest RETRIEVAL_DEPTH other vectors, in order, by insertion. */
static uint32_t find_top(uint32_t *top, const float *similarity, const uint8_t *standing,
                         uint32_t n)
{
    uint32_t n_top = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (standing[i] == RETRIEVAL_LEFT_OUT ||
            (n_top == RETRIEVAL_DEPTH && !before(similarity, i, top[n_top - 1])))
            continue;
        uint32_t at = n_top < RETRIEVAL_DEPTH ? n_top++ : n_top - 1;
        for (; at > 0 && before(similarity, i, top[at - 1]); at--)
            top[at] = top[at - 1];
        top[at] = i;
    }
    return n_top;
}

static double reciprocal_rank(const float *similarity, const uint8_t *standing, uint32_t n)
{
    uint32_t best = n, rank = 1;
    for (uint32_t i = 0; i < n; i++)
        if (standing[i] == RETRIEVAL_POSITIVE && (best == n || before(similarity, i, best)))
            best = i;
    for (uint32_t i = 0; i < n; i++)
        rank += standing[i] != RETRIEVAL_LEFT_OUT && before(similarity, i, best);
    return 1.0 / rank;
}

static int compare_floats(const void *x, const void *y)
{
    float a = *(const float *)x, b = *(const float *)y;
    return (a > b) - (a < b);
}

/* The number of the n ascending values that are below x; equal ones count half. */
static double count_below(const float *sorted, size_t n, float x)
{
    size_t low = 0, high = n, equal = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + equal < n && sorted[low + equal] == x)
        equal++;
    return (double)low + 0.5 * (double)equal;
}

/* Counts the query's triples and those in the wrong order. `positives` is scratch space for the
 * similarities of positives. */
static void count_triples(struct query_result *out, const float *similarity,
                          const uint8_t *standing, uint32_t size, float *positives)
{
    size_t n = 0;
    for (uint32_t i = 0; i < size; i++)
        if (standing[i] == RETRIEVAL_POSITIVE)
            positives[n++] = similarity[i];
    qsort(positives, n, sizeof *positives, compare_floats);
    for (uint32_t i = 0; i < size; i++)
        if (standing[i] == RETRIEVAL_NEGATIVE) {
            out->wrong += count_below(positives, n, similarity[i]);
            out->triples += (double)n;
        }
}

static void mark_cluster(uint8_t *standing, const void *of, uint32_t query)
{
    const struct vectors *v = of;
    for (uint32_t i = 0; i < v->n; i++)
        standing[i] = v->cluster[i] == v->cluster[query] ? RETRIEVAL_POSITIVE : RETRIEVAL_NEGATIVE;
}

static uint32_t divisor(const struct work *w, uint32_t k, uint32_t others)
{
    switch (w->divisor) {
    case RETRIEVAL_OTHERS: return others < k ? others : k;
    case RETRIEVAL_CLUSTER: return others + 1 < k ? others + 1 : k;
    case RETRIEVAL_K: return k;
    }
    return k;
}

static void ask(void *arg, size_t item, unsigned worker)
{
    struct work *w = arg;
    const struct vectors *v = w->v;
    uint32_t query = (uint32_t)item, top[RETRIEVAL_DEPTH];
    struct query_result *r = &w->results[query];
    uint8_t *standing = w->standing + worker * w->row_size;
    w->relation.mark(standing, w->relation.of, query);
    standing[query] = RETRIEVAL_LEFT_OUT;
    for (uint32_t i = 0; i < v->n; i++)
        r->positives += standing[i] == RETRIEVAL_POSITIVE;
    if (r->positives == 0 || (w->cancelled && w->cancelled(w->arg)))
        return;
    float *similarity = w->rows + worker * w->row_size;
    for (uint32_t i = 0; i < v->n; i += TILE)
        products(similarity + i, &w->x, query, &w->all, i);
    uint32_t n_top = find_top(top, similarity, standing, v->n), hits = 0;
    for (uint32_t k = 0, cut = 0; cut < RETRIEVAL_CUTS; k++) {
        if (k < n_top)
            hits += standing[top[k]] == RETRIEVAL_POSITIVE;
        if (k + 1 < retrieval_cuts[cut])
            continue;
        r->precision[cut] = (double)hits / divisor(w, retrieval_cuts[cut], r->positives);
        cut++;
    }
    r->reciprocal = reciprocal_rank(similarity, standing, v->n);
    count_triples(r, similarity, standing, v->n, w->positives + worker * w->row_size);
}

enum err_code retrieval_measure(struct retrieval *out, struct arena *a, const struct vectors *v,
                                const struct retrieval_options *options, struct pool *pool,
                                bool (*cancelled)(void *), void *arg, struct err *e)
{
    uint32_t queries = options && options->queries ? options->queries : v->n;
    struct work w = {.v = v,
                     .relation = options && options->relation
                                     ? *options->relation
                                     : (struct retrieval_relation){mark_cluster, v},
                     .row_size = ((size_t)v->n + TILE - 1) / TILE * TILE,
                     .divisor = options ? options->divisor : RETRIEVAL_OTHERS,
                     .cancelled = cancelled,
                     .arg = arg};
    enum err_code code;
    if ((code = sparse_make(&w.x, a, v, e)) || (code = tiles_make(&w.all, a, v->n, v->dim, e)))
        return err_up(e, code);
    for (uint32_t i = 0; i < v->n; i++)
        tiles_set(&w.all, i, vectors_at(v, i));
    w.results = arena_array(a, struct query_result, queries);
    w.rows = arena_array(a, float, pool_threads(pool) * w.row_size);
    w.positives = arena_array(a, float, pool_threads(pool) * w.row_size);
    w.standing = arena_array(a, uint8_t, pool_threads(pool) * w.row_size);
    pool_for(pool, queries, ask, &w);
    double triples = 0;
    *out = (struct retrieval){0};
    for (uint32_t i = 0; i < queries; i++) {
        if (w.results[i].positives == 0)
            continue;
        out->queries++;
        out->mrr += w.results[i].reciprocal;
        triples += w.results[i].triples;
        out->ranking_error += w.results[i].wrong;
        for (int k = 0; k < RETRIEVAL_CUTS; k++)
            out->precision[k] += w.results[i].precision[k];
    }
    double n = out->queries ? out->queries : 1;
    out->mrr /= n;
    out->ranking_error /= triples > 0 ? triples : 1;
    for (int k = 0; k < RETRIEVAL_CUTS; k++)
        out->precision[k] /= n;
    return OK;
}
