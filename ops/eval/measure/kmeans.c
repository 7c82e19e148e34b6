/* K-means (Lloyd 1982) as in scikit-learn's KMeans; see kmeans.h. Centres are seeded by greedy
 * k-means++ (Arthur and Vassilvitskii 2007): of 2 + ln k candidates, drawn by squared distance from
 * the centres so far, the one that lowers the cost most. A start ends when no label changes, or
 * when the centres together move by at most TOLERANCE of the mean variance.
 *
 * Blocks of vectors, and centres, are items of parallel work; sums over them have a fixed order, so
 * results do not depend on the threads. */
#include "ops/eval/measure/kmeans.h"

#include "base/rng.h"
#include "ops/eval/measure/products.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 64 }; /* vectors per item of work */
#define TOLERANCE 1e-6

struct work {
    const struct vectors *v;
    const struct kmeans_options *options;
    struct pool *pool;
    struct sparse x; /* the vectors */
    struct tiles centres;
    float *norm; /* squared, of each vector */
    float *centre_norm;
    double *shift;   /* squared, of each centre in the last update */
    float *distance; /* squared, to the nearest centre (of those so far, while seeding) */
    uint32_t *label, *before, *size;
    double *sum; /* (k, dim): sum of the vectors of each centre */
    double tolerance;
    /* Candidates for the next centre. */
    uint32_t trials, *trial;
    struct tiles trial_vectors;
    float *trial_distance; /* (trials, n): to the nearest centre, including the candidate */
};

static bool is_cancelled(const struct work *w)
{
    return w->options->cancelled && w->options->cancelled(w->options->arg);
}

static size_t end_of(const struct work *w, size_t block)
{
    return (block + 1) * BLOCK < w->v->n ? (block + 1) * BLOCK : w->v->n;
}

static void for_blocks(struct work *w, void (*run)(void *work, size_t block, unsigned worker))
{
    pool_for(w->pool, (w->v->n + BLOCK - 1) / BLOCK, run, w);
}

static float squared_distance(float x_norm, float y_norm, float product)
{
    float d = x_norm + y_norm - 2 * product;
    return d > 0 ? d : 0;
}

/* ---- seeding ---- */

static void try_block(void *arg, size_t block, unsigned worker)
{
    struct work *w = arg;
    for (size_t i = block * BLOCK; i < end_of(w, block); i++) {
        float product[TILE];
        products(product, &w->x, i, &w->trial_vectors, 0);
        for (uint32_t t = 0; t < w->trials; t++) {
            float d = squared_distance(w->norm[i], w->norm[w->trial[t]], product[t]);
            w->trial_distance[(size_t)t * w->v->n + i] = d < w->distance[i] ? d : w->distance[i];
        }
    }
}

static double sum_of(const float *x, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += (double)x[i];
    return sum;
}

/* Makes the candidate with the lowest cost centre c; returns that cost. */
static double choose_candidate(struct work *w, uint32_t c)
{
    uint32_t n = w->v->n, best = 0;
    double least = INFINITY;
    for (uint32_t t = 0; t < w->trials; t++)
        tiles_set(&w->trial_vectors, t, vectors_at(w->v, w->trial[t]));
    for_blocks(w, try_block);
    for (uint32_t t = 0; t < w->trials; t++) {
        double cost = sum_of(w->trial_distance + (size_t)t * n, n);
        if (cost < least) {
            least = cost;
            best = t;
        }
    }
    tiles_set(&w->centres, c, vectors_at(w->v, w->trial[best]));
    w->centre_norm[c] = w->norm[w->trial[best]];
    memcpy(w->distance, w->trial_distance + (size_t)best * n, n * sizeof *w->distance);
    return least;
}

/* Draws a vector by its squared distance from the nearest centre; `sum` is the total. */
static uint32_t draw(const struct work *w, double sum, struct rng *rng)
{
    uint32_t n = w->v->n, last = n;
    double at = rng_double(rng) * sum;
    for (uint32_t i = 0; i < n; i++) {
        if (w->distance[i] <= 0)
            continue;
        last = i;
        if ((at -= (double)w->distance[i]) < 0)
            break;
    }
    /* All distances are 0: any vector is as good. */
    return last < n ? last : (uint32_t)rng_below(rng, n);
}

static void choose_centres(struct work *w, struct rng *rng)
{
    uint32_t trials = 2 + (uint32_t)log(w->options->k), first = (uint32_t)rng_below(rng, w->v->n);
    for (uint32_t i = 0; i < w->v->n; i++)
        w->distance[i] = INFINITY;
    w->trials = 1;
    w->trial[0] = first;
    double cost = choose_candidate(w, 0);
    w->trials = trials < TILE ? trials : TILE;
    for (uint32_t c = 1; c < w->options->k && !is_cancelled(w); c++) {
        for (uint32_t t = 0; t < w->trials; t++)
            w->trial[t] = draw(w, cost, rng);
        cost = choose_candidate(w, c);
    }
}

/* ---- Lloyd's iterations ---- */

static void assign_block(void *arg, size_t block, unsigned worker)
{
    struct work *w = arg;
    uint32_t k = w->options->k;
    for (size_t i = block * BLOCK; i < end_of(w, block); i++) {
        float best = INFINITY, product[TILE];
        uint32_t label = 0;
        for (uint32_t c = 0; c < k; c += TILE) {
            products(product, &w->x, i, &w->centres, c);
            for (uint32_t q = 0; q < TILE && c + q < k; q++) {
                float d = squared_distance(w->norm[i], w->centre_norm[c + q], product[q]);
                if (d < best) {
                    best = d;
                    label = c + q;
                }
            }
        }
        w->label[i] = label;
        w->distance[i] = best;
    }
}

/* Gives each empty centre the vector that is farthest from its own centre. */
static void fill_empty(struct work *w)
{
    memset(w->size, 0, w->options->k * sizeof *w->size);
    for (uint32_t i = 0; i < w->v->n; i++)
        w->size[w->label[i]]++;
    for (uint32_t c = 0; c < w->options->k; c++) {
        if (w->size[c])
            continue;
        uint32_t far = 0;
        for (uint32_t i = 1; i < w->v->n; i++)
            if (w->distance[i] > w->distance[far])
                far = i;
        w->size[w->label[far]]--;
        w->size[c] = 1;
        w->label[far] = c;
        w->distance[far] = 0;
    }
}

static void update_centre(void *arg, size_t c, unsigned worker)
{
    struct work *w = arg;
    uint32_t dim = w->v->dim;
    float *column = tiles_at(&w->centres, (uint32_t)c);
    double *sum = w->sum + c * dim, shift = 0;
    float norm = 0;
    if (!w->size[c]) /* fewer different vectors than centres */
        return;
    memset(sum, 0, dim * sizeof *sum);
    for (uint32_t i = 0; i < w->v->n; i++)
        if (w->label[i] == c)
            for (size_t k = w->x.first[i]; k < w->x.first[i + 1]; k++)
                sum[w->x.values[k].d] += (double)w->x.values[k].x;
    for (uint32_t d = 0; d < dim; d++) {
        float *x = column + (size_t)d * TILE, mean = (float)(sum[d] / w->size[c]);
        shift += (double)((mean - *x) * (mean - *x));
        norm += mean * mean;
        *x = mean;
    }
    w->shift[c] = shift;
    w->centre_norm[c] = norm;
}

static double update(struct work *w)
{
    double shift = 0;
    pool_for(w->pool, w->options->k, update_centre, w);
    for (uint32_t c = 0; c < w->options->k; c++)
        shift += w->shift[c];
    return shift;
}

/* Returns the number of iterations. */
static uint32_t iterate(struct work *w)
{
    uint32_t n = w->v->n, iteration = 0;
    bool settled = false;
    memset(w->before, 0xff, n * sizeof *w->before);
    while (iteration < w->options->max_iterations && !settled && !is_cancelled(w)) {
        for_blocks(w, assign_block);
        iteration++;
        if (memcmp(w->before, w->label, n * sizeof *w->before) == 0)
            return iteration;
        memcpy(w->before, w->label, n * sizeof *w->before);
        fill_empty(w);
        settled = update(w) <= w->tolerance;
    }
    for_blocks(w, assign_block);
    return iteration;
}

/* TOLERANCE of the mean over dimensions of the vectors' variance. */
static double tolerance_for(const struct vectors *v)
{
    double sum = 0;
    for (uint32_t d = 0; d < v->dim; d++) {
        double mean = 0, squares = 0;
        for (uint32_t i = 0; i < v->n; i++)
            mean += (double)vectors_at(v, i)[d] / v->n;
        for (uint32_t i = 0; i < v->n; i++) {
            double x = (double)vectors_at(v, i)[d] - mean;
            squares += x * x;
        }
        sum += squares / v->n;
    }
    return TOLERANCE * sum / v->dim;
}

static enum err_code allocate(struct work *w, struct arena *a, struct err *e)
{
    uint32_t n = w->v->n, k = w->options->k, dim = w->v->dim;
    enum err_code code;
    w->norm = arena_array(a, float, n);
    w->distance = arena_array(a, float, n);
    w->label = arena_array(a, uint32_t, n);
    w->before = arena_array(a, uint32_t, n);
    w->centre_norm = arena_array(a, float, k);
    w->shift = arena_array(a, double, k);
    w->size = arena_array(a, uint32_t, k);
    w->trial = arena_array(a, uint32_t, TILE);
    w->sum = arena_try_alloc(a, (size_t)k * dim, sizeof(double));
    w->trial_distance = arena_try_alloc(a, (size_t)TILE * n, sizeof(float));
    if (!w->sum || !w->trial_distance)
        return err_fail(e, ERR_NOMEM, "no memory for %u centres of %u dimensions", k, dim);
    if ((code = sparse_make(&w->x, a, w->v, e)) || (code = tiles_make(&w->centres, a, k, dim, e)) ||
        (code = tiles_make(&w->trial_vectors, a, TILE, dim, e)))
        return err_up(e, code);
    /* Summed in the order of `products`, so that equal vectors have distance 0. */
    for (uint32_t i = 0; i < n; i++)
        for (size_t j = w->x.first[i]; j < w->x.first[i + 1]; j++)
            w->norm[i] += w->x.values[j].x * w->x.values[j].x;
    w->tolerance = tolerance_for(w->v);
    return OK;
}

enum err_code kmeans(struct kmeans *out, struct arena *a, const struct vectors *v,
                     const struct kmeans_options *options, struct pool *pool, struct err *e)
{
    struct work w = {.v = v, .options = options, .pool = pool};
    enum err_code code;
    if ((code = allocate(&w, a, e)))
        return err_up(e, code);
    *out = (struct kmeans){.label = arena_array(a, uint32_t, v->n), .cost = INFINITY};
    for (uint32_t r = 0; r < options->restarts; r++) {
        struct rng rng = rng_new(options->seed, r);
        choose_centres(&w, &rng);
        uint32_t iterations = iterate(&w);
        double cost = sum_of(w.distance, v->n);
        if (is_cancelled(&w))
            return err_fail(e, ERR_CANCELLED, "clustering was interrupted");
        if (cost < out->cost) {
            memcpy(out->label, w.label, v->n * sizeof *w.label);
            out->cost = cost;
            out->iterations = iterations;
        }
    }
    return OK;
}
