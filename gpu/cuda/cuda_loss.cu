/* Losses of rows of logits, and their gradients in place, one warp per row; definitions as on the
 * CPU: a NaN propagates to every loss. */
#include "gpu/cuda/launch.h"

#include <math.h>

struct row {
    float *x;
    size_t at, target; /* row index; its target's column */
    float at_target;
};

__device__ static inline struct row row_of(float *logits, const struct gpu_loss *how, size_t r)
{
    size_t at = how->first_row + r, target = how->target[at];
    float *x = logits + r * how->cols;
    return {x, at, target, x[target]};
}

/* Returns whether column c counts: the target or a negative. */
__device__ static inline bool counts(const struct gpu_loss *how, const struct row *r, size_t c)
{
    bool in = !how->group || (how->group[c] == how->group[r->at]) == how->own;
    return c == r->target || (in && !(how->self && c == r->at));
}

__device__ static inline bool negative(const struct gpu_loss *how, const struct row *r, size_t c)
{
    return c != r->target && counts(how, r, c) && r->x[c] != -INFINITY;
}

/* ---- cross entropy ---- */

__global__ static void cross_entropy_kernel(float *logits, struct gpu_loss how)
{
    size_t n = WARP_ROW;
    if (n >= how.rows)
        return;
    struct row r = row_of(logits, &how, n);
    float max = -INFINITY, all = 0, equals = 0, total = 0;
    for (size_t c = LANE; c < how.cols; c += WARP)
        if (counts(&how, &r, c)) {
            max = fmaxf(max, r.x[c]);
            all += r.x[c];
        }
    max = warp_max(max);
    for (size_t c = LANE; c < how.cols; c += WARP) {
        bool in = counts(&how, &r, c) && r.x[c] != -INFINITY;
        float p = in ? expf(r.x[c] - max) : 0;
        equals += in && r.x[c] == max;
        total += p;
        r.x[c] = p;
    }
    total = warp_sum(total);
    equals = warp_sum(equals);
    all = warp_sum(all);
    float smooth = how.smoothing / (float)how.cols, by = how.scale / total;
    for (size_t c = LANE; c < how.cols; c += WARP)
        r.x[c] = r.x[c] * by - smooth * how.scale -
                 (c == r.target ? (1 - how.smoothing) * how.scale : 0);
    if (LANE == 0) {
        how.correct[n] = r.at_target == max ? 1.0f / equals : 0.0f;
        how.loss[n] =
            logf(total) - (r.at_target - max) +
            (how.smoothing > 0 ? how.smoothing * (r.at_target - all / (float)how.cols) : 0);
    }
}

static void cross_entropy(struct gpu_queue *q, float *logits, const struct gpu_loss *how)
{
    LAUNCH(q, cross_entropy_kernel, cuda_cover(how->rows, ROWS_PER_BLOCK), ROWS_PER_BLOCK * WARP,
           logits, *how);
}

/* ---- hinges ---- */

/* Adds max(0, over) or its square to *sum and returns its slope. */
__device__ static inline float hinge(float *sum, float over, bool squared)
{
    if (over <= 0)
        return 0;
    *sum += squared ? over * over : over;
    return squared ? 2 * over : 1;
}

/* Returns the number of negatives, in all lanes; *below: the fraction of them below the target,
 * ties counting a half. */
__device__ static inline float negatives(float *below, const struct gpu_loss *how,
                                         const struct row *r)
{
    float n = 0, less = 0;
    for (size_t c = LANE; c < how->cols; c += WARP)
        if (negative(how, r, c)) {
            n++;
            less += r->x[c] < r->at_target ? 1.0f : r->x[c] == r->at_target ? 0.5f : 0.0f;
        }
    n = warp_sum(n);
    less = warp_sum(less);
    *below = n > 0 ? less / n : 1;
    return n;
}

__global__ static void triplet_kernel(float *logits, struct gpu_loss how)
{
    size_t k = WARP_ROW;
    if (k >= how.rows)
        return;
    struct row r = row_of(logits, &how, k);
    float below, n = negatives(&below, &how, &r), by = how.scale / n, sum = 0, pull = 0;
    float *y = how.swapped ? how.swapped + k * how.cols : NULL;
    for (size_t c = LANE; c < how.cols; c += WARP) {
        bool in = negative(&how, &r, c), swapped = y && (!in || y[c] > r.x[c]);
        float slope = 0;
        if (in)
            slope =
                by * hinge(&sum, how.margin + (swapped ? y[c] : r.x[c]) - r.at_target, how.squared);
        r.x[c] = swapped ? 0 : slope;
        if (y)
            y[c] = swapped ? slope : 0;
        pull += slope;
    }
    sum = warp_sum(sum);
    pull = warp_sum(pull);
    if (LANE == r.target % WARP)
        r.x[r.target] = -pull;
    if (LANE == 0) {
        how.loss[k] = sum / n;
        how.correct[k] = below;
    }
}

static void triplet_loss(struct gpu_queue *q, float *logits, const struct gpu_loss *how)
{
    LAUNCH(q, triplet_kernel, cuda_cover(how->rows, ROWS_PER_BLOCK), ROWS_PER_BLOCK * WARP, logits,
           *how);
}

/* Adds a pair's term to *sum; returns its slope. */
__device__ static inline float pair(float *sum, float x, bool equal, const struct gpu_loss *how)
{
    if (!how->euclidean)
        return equal ? -hinge(sum, how->margin - x, how->squared)
                     : hinge(sum, how->margin + x, how->squared);
    float d = sqrtf(fmaxf(2 - 2 * x, 1e-8f));
    if (!equal)
        return hinge(sum, how->margin - d, true) / d;
    *sum += 2 - 2 * x;
    return -2;
}

__global__ static void siamese_kernel(float *logits, struct gpu_loss how)
{
    size_t k = WARP_ROW;
    if (k >= how.rows)
        return;
    struct row r = row_of(logits, &how, k);
    float below, n = negatives(&below, &how, &r), by = how.scale / (n + 1), sum = 0;
    for (size_t c = LANE; c < how.cols; c += WARP)
        if (c == r.target)
            r.x[c] = by * pair(&sum, r.at_target, true, &how);
        else
            r.x[c] = negative(&how, &r, c) ? by * pair(&sum, r.x[c], false, &how) : 0;
    sum = warp_sum(sum);
    if (LANE == 0) {
        how.loss[k] = sum / (n + 1);
        how.correct[k] = below;
    }
}

static void siamese_loss(struct gpu_queue *q, float *logits, const struct gpu_loss *how)
{
    LAUNCH(q, siamese_kernel, cuda_cover(how->rows, ROWS_PER_BLOCK), ROWS_PER_BLOCK * WARP, logits,
           *how);
}

/* ---- histograms ---- */

#define BINS_PER_UNIT ((GPU_BINS - 1) / 2.0f)
enum { BINS = 2 * GPU_BINS };

__device__ static inline int bin_of(float *part, float x)
{
    float place = (x + 1) * BINS_PER_UNIT;
    int bin = place >= GPU_BINS - 1 ? GPU_BINS - 2 : place >= 0 ? (int)place : 0;
    *part = place - (float)bin;
    return bin;
}

__global__ static void histogram_rows_kernel(float *logits, struct gpu_loss how)
{
    size_t k = WARP_ROW;
    if (k >= how.rows)
        return;
    struct row r = row_of(logits, &how, k);
    float below;
    negatives(&below, &how, &r);
    if (LANE == 0)
        how.correct[k] = below;
    for (size_t c = LANE; c < how.cols; c += WARP)
        if (!counts(&how, &r, c))
            r.x[c] = -INFINITY;
}

/* part (rows, BINS): one block per row of logits, one thread per bin. */
__global__ static void bins_kernel(double *part, const float *logits, struct gpu_loss how)
{
    size_t r = blockIdx.x, target = how.target[how.first_row + r];
    bool positive = threadIdx.x < GPU_BINS;
    int mine = (int)threadIdx.x % GPU_BINS;
    double sum = 0;
    for (size_t c = 0; c < how.cols; c++) {
        float x = logits[r * how.cols + c], share;
        if ((c == target) != positive || (x == -INFINITY && !positive))
            continue;
        int bin = bin_of(&share, x);
        sum += bin == mine ? 1.0 - (double)share : bin + 1 == mine ? (double)share : 0.0;
    }
    part[r * BINS + threadIdx.x] = sum;
}

__global__ static void sum_bins_kernel(double *bins, const double *part, size_t rows)
{
    double sum = 0;
    for (size_t r = 0; r < rows; r++)
        sum += part[r * BINS + threadIdx.x];
    bins[threadIdx.x] = sum;
}

static void histogram(struct gpu_queue *q, double *bins, float *logits, const struct gpu_loss *how)
{
    double *part = (double *)cuda_scratch(q, (how->rows + 1) * BINS * sizeof *part);
    if (!part)
        return;
    LAUNCH(q, histogram_rows_kernel, cuda_cover(how->rows, ROWS_PER_BLOCK), ROWS_PER_BLOCK * WARP,
           logits, *how);
    LAUNCH_FLAT(q, bins_kernel, (unsigned)how->rows, BINS, part, (const float *)logits, *how);
    LAUNCH_FLAT(q, sum_bins_kernel, 1, BINS, bins, (const double *)part, how->rows);
}

__global__ static void histogram_back_kernel(float *logits, const double *dbins,
                                             struct gpu_loss how)
{
    size_t r = ELEMENT / how.cols, c = ELEMENT % how.cols;
    if (r >= how.rows)
        return;
    const double *d = c == how.target[how.first_row + r] ? dbins : dbins + GPU_BINS;
    float part, x = logits[ELEMENT];
    int bin = bin_of(&part, x);
    logits[ELEMENT] = x == -INFINITY ? 0 : (float)(d[bin + 1] - d[bin]) * BINS_PER_UNIT * how.scale;
}

static void histogram_back(struct gpu_queue *q, float *logits, const double *dbins,
                           const struct gpu_loss *how)
{
    LAUNCH_FLAT(q, histogram_back_kernel, cuda_cover(how->rows * how->cols), THREADS, logits, dbins,
                *how);
}

void cuda_fill_loss(struct gpu_ops *t)
{
    t->cross_entropy = cross_entropy;
    t->triplet_loss = triplet_loss;
    t->siamese_loss = siamese_loss;
    t->histogram = histogram;
    t->histogram_back = histogram_back;
}
