/* K-means (Lloyd 1982) from greedy k-means++ centres (Arthur and Vassilvitskii 2007): of 2 + ln k
 * candidates for each centre, drawn by squared distance, the one that lowers the cost most, as
 * scikit-learn does; see kmeans.h. Then local search (Lattanzi and Sohler 2019): a vector drawn by
 * its squared distance takes the place of the centre that can best be spared, if that lowers the
 * cost. It undoes what Lloyd's steps cannot: two centres in one cluster, one for two others.
 * Vectors are assigned in parallel by item; centres are summed each by one item in the order of the
 * vectors, and costs in that order too: nothing depends on the threads. A centre that loses all its
 * vectors takes the vector farthest from its own. */
#include "ops/eval/measure/kmeans.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 64 }; /* vectors per item of work */
#define NONE UINT32_MAX
#define LEAST_GAIN 1e-9 /* of the cost: less is rounding */

struct work {
    const struct vectors *v;
    const struct kmeans_options *options;
    struct pool *pool;
    struct vectors centres; /* n rounded up to a multiple of 4 */
    float *norm;            /* squared, of each vector */
    float *centre_norm;
    float *distance; /* squared, to the own centre (k-means++: the nearest so far) */
    uint32_t *label, *size;
    uint32_t *second_label;  /* the nearest centre but one, in local search only */
    float *second;           /* squared distance to it */
    double *spared;          /* what the cost rises by without a centre */
    uint32_t trials, *trial; /* candidates for the next centre */
    float *trial_distance;   /* (trials, n) */
    double *trial_sum;
};

static size_t end_of(const struct work *w, size_t block)
{
    return (block + 1) * BLOCK < w->v->n ? (block + 1) * BLOCK : w->v->n;
}

static void for_blocks(struct work *w, void (*run)(void *work, size_t block, unsigned worker))
{
    pool_for(w->pool, (w->v->n + BLOCK - 1) / BLOCK, run, w);
}

static double cost_of(const struct work *w)
{
    double cost = 0;
    for (uint32_t i = 0; i < w->v->n; i++)
        cost += (double)w->distance[i];
    return cost;
}

/* Squared, from vector i to x. */
static float distance_to(const struct work *w, size_t i, const float *x, float norm)
{
    float d = w->norm[i] + norm - 2 * vector_dot(vectors_at(w->v, i), x, w->v->stride);
    return d > 0 ? d : 0;
}

static void assign_block(void *arg, size_t block, unsigned worker)
{
    struct work *w = arg;
    uint32_t stride = w->v->stride, k = w->options->k;
    for (size_t i = block * BLOCK; i < end_of(w, block); i++) {
        float best = INFINITY, dot[4];
        uint32_t label = 0;
        for (uint32_t c = 0; c < k; c += 4) {
            vector_dot4(dot, vectors_at(w->v, i), vectors_at(&w->centres, c), stride);
            for (uint32_t q = 0; q < 4 && c + q < k; q++) {
                float d = w->norm[i] + w->centre_norm[c + q] - 2 * dot[q];
                if (d < best) {
                    best = d;
                    label = c + q;
                }
            }
        }
        w->label[i] = label;
        w->distance[i] = best > 0 ? best : 0;
    }
}

static void update_centre(void *arg, size_t c, unsigned worker)
{
    struct work *w = arg;
    float *centre = vectors_at(&w->centres, c);
    uint32_t n = 0;
    double scale;
    memset(centre, 0, w->v->stride * sizeof *centre);
    for (uint32_t i = 0; i < w->v->n; i++)
        if (w->label[i] == c) {
            const float *x = vectors_at(w->v, i);
            for (uint32_t d = 0; d < w->v->dim; d++)
                centre[d] += x[d];
            n++;
        }
    w->size[c] = n;
    scale = n;
    if (w->options->spherical)
        scale = sqrt((double)vector_dot(centre, centre, w->v->stride));
    for (uint32_t d = 0; scale > 0 && d < w->v->dim; d++)
        centre[d] = (float)(centre[d] / scale);
    w->centre_norm[c] = vector_dot(centre, centre, w->v->stride);
}

static void set_centre(struct work *w, uint32_t c, uint32_t i)
{
    memcpy(vectors_at(&w->centres, c), vectors_at(w->v, i), w->v->stride * sizeof(float));
    w->centre_norm[c] = w->norm[i];
}

/* Distances to the nearest centre if vector trial[t] became one, and their sum. */
static void try_centre(void *arg, size_t t, unsigned worker)
{
    struct work *w = arg;
    const struct vectors *v = w->v;
    const float *x = vectors_at(v, w->trial[t]);
    float *distance = w->trial_distance + t * v->n, norm = w->norm[w->trial[t]];
    double sum = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        float d = distance_to(w, i, x, norm);
        distance[i] = d < w->distance[i] ? d : w->distance[i];
        sum += (double)distance[i];
    }
    w->trial_sum[t] = sum;
}

/* One vector, drawn by its squared distance from the nearest centre. */
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
    /* All vectors are centres already: any will do. */
    return last < n ? last : (uint32_t)rng_below(rng, n);
}

static void choose_centres(struct work *w, struct rng *rng)
{
    uint32_t n = w->v->n;
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        w->distance[i] = INFINITY;
    for (uint32_t c = 0; c < w->options->k; c++) {
        uint32_t trials = c ? w->trials : 1, best = 0;
        for (uint32_t t = 0; t < trials; t++)
            w->trial[t] = c ? draw(w, sum, rng) : (uint32_t)rng_below(rng, n);
        pool_for(w->pool, trials, try_centre, w);
        for (uint32_t t = 1; t < trials; t++)
            if (w->trial_sum[t] < w->trial_sum[best])
                best = t;
        set_centre(w, c, w->trial[best]);
        sum = w->trial_sum[best];
        memcpy(w->distance, w->trial_distance + (size_t)best * n, n * sizeof *w->distance);
    }
}

/* Notes that centre c is at squared distance d of vector i. */
static void offer_centre(struct work *w, size_t i, uint32_t c, float d)
{
    if (d < w->distance[i]) {
        w->second[i] = w->distance[i];
        w->second_label[i] = w->label[i];
        w->distance[i] = d;
        w->label[i] = c;
    } else if (d < w->second[i]) {
        w->second[i] = d;
        w->second_label[i] = c;
    }
}

/* The two nearest centres of the vectors of a block that do not know them. */
static void find_nearest_two(void *arg, size_t block, unsigned worker)
{
    struct work *w = arg;
    for (size_t i = block * BLOCK; i < end_of(w, block); i++) {
        if (w->label[i] != NONE && w->second_label[i] != NONE)
            continue;
        w->distance[i] = w->second[i] = INFINITY;
        for (uint32_t c = 0; c < w->options->k; c++)
            offer_centre(w, i, c, distance_to(w, i, vectors_at(&w->centres, c), w->centre_norm[c]));
    }
}

/* Squared distances to vector trial[0]. */
static void measure_block(void *arg, size_t block, unsigned worker)
{
    struct work *w = arg;
    uint32_t vector = w->trial[0];
    for (size_t i = block * BLOCK; i < end_of(w, block); i++)
        w->trial_distance[i] = distance_to(w, i, vectors_at(w->v, vector), w->norm[vector]);
}

/* The centre that costs least to give up for the vector at trial[0]; what the cost falls by. */
static double spare_centre(const struct work *w, uint32_t *centre)
{
    double gain = 0;
    memset(w->spared, 0, w->options->k * sizeof *w->spared);
    for (uint32_t i = 0; i < w->v->n; i++) {
        float d = w->trial_distance[i];
        float with = d < w->distance[i] ? d : w->distance[i];
        float without = d < w->second[i] ? d : w->second[i];
        gain += (double)w->distance[i] - (double)with;
        w->spared[w->label[i]] += (double)without - (double)with;
    }
    *centre = 0;
    for (uint32_t c = 1; c < w->options->k; c++)
        if (w->spared[c] < w->spared[*centre])
            *centre = c;
    return gain - w->spared[*centre];
}

static void exchange_centre(struct work *w, uint32_t c, uint32_t vector)
{
    set_centre(w, c, vector);
    for (uint32_t i = 0; i < w->v->n; i++)
        if (w->label[i] == c || w->second_label[i] == c)
            w->label[i] = NONE;
        else
            offer_centre(w, i, c, w->trial_distance[i]);
    for_blocks(w, find_nearest_two);
}

static void search_locally(struct work *w, struct rng *rng)
{
    if (w->options->k < 2 || w->options->swaps == 0)
        return;
    memset(w->label, 0xff, w->v->n * sizeof *w->label);
    for_blocks(w, find_nearest_two);
    for (uint32_t s = 0; s < w->options->swaps; s++) {
        uint32_t centre;
        double cost = cost_of(w);
        if (w->options->cancelled && w->options->cancelled(w->options->arg))
            return;
        w->trial[0] = draw(w, cost, rng);
        for_blocks(w, measure_block);
        if (spare_centre(w, &centre) > LEAST_GAIN * cost)
            exchange_centre(w, centre, w->trial[0]);
    }
}

static void refill_empty(struct work *w)
{
    for (uint32_t c = 0; c < w->options->k; c++) {
        if (w->size[c])
            continue;
        uint32_t far = 0;
        for (uint32_t i = 1; i < w->v->n; i++)
            if (w->distance[i] > w->distance[far])
                far = i;
        set_centre(w, c, far);
        w->distance[far] = 0;
        w->size[c] = 1;
    }
}

static uint32_t run_once(struct work *w, struct rng *rng, uint32_t *before)
{
    uint32_t n = w->v->n, iteration = 0;
    choose_centres(w, rng);
    search_locally(w, rng);
    memset(before, 0xff, n * sizeof *before);
    while (iteration < w->options->max_iterations) {
        for_blocks(w, assign_block);
        iteration++;
        if (memcmp(before, w->label, n * sizeof *before) == 0)
            break;
        memcpy(before, w->label, n * sizeof *before);
        pool_for(w->pool, w->options->k, update_centre, w);
        refill_empty(w);
        if (w->options->cancelled && w->options->cancelled(w->options->arg))
            break;
    }
    return iteration;
}

enum err_code kmeans(struct kmeans *out, struct arena *a, const struct vectors *v,
                     const struct kmeans_options *options, struct pool *pool, struct err *e)
{
    struct work w = {.v = v, .options = options, .pool = pool};
    uint32_t k4 = (options->k + 3) & ~3u;
    w.centres = (struct vectors){.n = k4, .dim = v->dim, .stride = v->stride};
    w.centres.x = arena_array(a, float, (size_t)k4 * v->stride);
    w.norm = arena_array(a, float, v->n);
    w.centre_norm = arena_array(a, float, k4);
    w.distance = arena_array(a, float, v->n);
    w.label = arena_array(a, uint32_t, v->n);
    w.size = arena_array(a, uint32_t, k4);
    w.trials = 2 + (uint32_t)log(options->k);
    w.trial = arena_array(a, uint32_t, w.trials);
    w.trial_sum = arena_array(a, double, w.trials);
    w.trial_distance = arena_try_alloc(a, (size_t)w.trials * v->n, sizeof(float));
    if (!w.trial_distance)
        return err_fail(e, ERR_NOMEM, "no memory to choose %u centres", options->k);
    w.second_label = arena_array(a, uint32_t, v->n);
    w.second = arena_array(a, float, v->n);
    w.spared = arena_array(a, double, options->k);
    uint32_t *before = arena_array(a, uint32_t, v->n);
    *out = (struct kmeans){.label = arena_array(a, uint32_t, v->n), .cost = INFINITY};
    for (uint32_t i = 0; i < v->n; i++)
        w.norm[i] = vector_dot(vectors_at(v, i), vectors_at(v, i), v->stride);
    for (uint32_t r = 0; r < options->restarts; r++) {
        struct rng rng = rng_new(options->seed, r);
        uint32_t iterations = run_once(&w, &rng, before);
        double cost = cost_of(&w);
        if (options->cancelled && options->cancelled(options->arg))
            return err_fail(e, ERR_CANCELLED, "clustering was interrupted");
        if (cost < out->cost) {
            memcpy(out->label, w.label, v->n * sizeof *w.label);
            out->cost = cost;
            out->iterations = iterations;
            out->restart = r;
        }
    }
    return OK;
}
