/* Losses of rows of logits, and their gradients in place: cross entropy; hinges between the target
 * and the negatives (triplet), or between each of them and a bound (siamese); histograms of both. A
 * NaN propagates to every loss. */
#include "gpu/cpu/cpu_queue.h"
#include "gpu/cpu/vec.h"

#include <math.h>

/* Sets columns that do not count to -infinity. */
static void mask_row(float *x, const struct gpu_loss *how, size_t row)
{
    float target = x[how->target[row]];
    if (how->group)
        for (size_t c = 0; c < how->cols; c++)
            x[c] = (how->group[c] == how->group[row]) != how->own ? -INFINITY : x[c];
    if (how->self)
        x[row] = -INFINITY;
    x[how->target[row]] = target;
}

/* ---- cross entropy ---- */

static inline vf load(const float *p, size_t n)
{
    return n >= LANES ? vf_load(p) : vf_load_part(p, n, -INFINITY);
}

/* Returns the target's share of the maximum; ties share it. */
static float share(const float *x, float max, size_t cols)
{
    size_t equals = 0;
    for (size_t c = 0; c < cols; c++)
        equals += x[c] == max;
    return 1.0f / (float)equals;
}

static float row_sum(const float *x, size_t cols)
{
    vf sum = {0};
    for (size_t c = 0; c < cols; c += LANES)
        sum += vf_load_some(x + c, cols - c);
    return vf_sum(sum);
}

static void row_loss(float *x, const struct gpu_loss *how, size_t row, float *loss, float *correct)
{
    size_t cols = how->cols, target = how->target[row];
    mask_row(x, how, row);
    vf top = vf_set(-INFINITY);
    for (size_t c = 0; c < cols; c += LANES)
        top = vf_max(top, load(x + c, cols - c));
    float max = vf_max_lane(top), at_target = x[target];
    float smooth = how->smoothing / (float)cols, smoothed = 0;
    if (how->smoothing > 0)
        smoothed = how->smoothing * (at_target - row_sum(x, cols) / (float)cols);
    *correct = at_target == max ? share(x, max, cols) : 0.0f;
    vf sum = {0};
    for (size_t c = 0; c < cols; c += LANES) {
        vf v = load(x + c, cols - c);
        vf p = vf_select(v == -INFINITY, vf_set(0), vf_exp(v - max));
        sum += p;
        vf_store_some(x + c, p, cols - c);
    }
    float total = vf_sum(sum), by = how->scale / total;
    for (size_t c = 0; c < cols; c++)
        x[c] = x[c] * by - smooth * how->scale;
    x[target] -= (1 - how->smoothing) * how->scale;
    *loss = logf(total) - (at_target - max) + smoothed;
}

static void cross_entropy(struct gpu_queue *q, float *logits, const struct gpu_loss *how)
{
    for (size_t r = 0; r < how->rows; r++)
        row_loss(logits + r * how->cols, how, how->first_row + r, how->loss + r, how->correct + r);
}

/* ---- hinges ---- */

struct row {
    const struct gpu_loss *how;
    float *x; /* the logits; those that do not count are -infinity */
    size_t target;
    float at_target; /* its logit */
};

static struct row row_of(float *logits, const struct gpu_loss *how, size_t r)
{
    float *x = logits + r * how->cols;
    size_t target = how->target[how->first_row + r];
    mask_row(x, how, how->first_row + r);
    return (struct row){how, x, target, x[target]};
}

/* Returns whether column c is a negative. */
static bool counts(const struct row *row, size_t c)
{
    return c != row->target && row->x[c] != -INFINITY;
}

static size_t count(const struct row *row)
{
    size_t n = 0;
    for (size_t c = 0; c < row->how->cols; c++)
        n += counts(row, c);
    return n;
}

/* Returns the fraction of the n negatives that are below the target; ties count a half. */
static float share_below(const struct row *row, size_t n)
{
    float below = 0;
    for (size_t c = 0; c < row->how->cols; c++)
        if (counts(row, c))
            below += row->x[c] < row->at_target ? 1.0f : row->x[c] == row->at_target ? 0.5f : 0.0f;
    return n ? below / (float)n : 1;
}

/* Adds max(0, over) or its square to *sum and returns its slope. */
static float hinge(float *sum, float over, bool squared)
{
    if (over <= 0)
        return 0;
    *sum += squared ? over * over : over;
    return squared ? 2 * over : 1;
}

static void row_triplet(struct row *row, float *y, float *loss, float *correct)
{
    const struct gpu_loss *how = row->how;
    size_t n = count(row);
    float *x = row->x, by = how->scale / (float)n, sum = 0, pull = 0;
    *correct = share_below(row, n);
    for (size_t c = 0; c < how->cols; c++) {
        bool counted = counts(row, c), swapped = y && y[c] > x[c];
        float slope = 0;
        if (counted)
            slope = by * hinge(&sum, how->margin + (swapped ? y[c] : x[c]) - row->at_target,
                               how->squared);
        x[c] = swapped ? 0 : slope;
        if (y)
            y[c] = swapped ? slope : 0;
        pull += slope;
    }
    x[row->target] = -pull;
    *loss = sum / (float)n;
}

static void triplet_loss(struct gpu_queue *q, float *logits, const struct gpu_loss *how)
{
    for (size_t r = 0; r < how->rows; r++) {
        struct row row = row_of(logits, how, r);
        row_triplet(&row, how->swapped ? how->swapped + r * how->cols : NULL, how->loss + r,
                    how->correct + r);
    }
}

/* Adds a pair's term to *sum; returns its slope. */
static float pair(float *sum, float x, bool equal, const struct gpu_loss *how)
{
    if (!how->euclidean)
        return equal ? -hinge(sum, how->margin - x, how->squared)
                     : hinge(sum, how->margin + x, how->squared);
    float d = sqrtf(fmaxf(2 - 2 * x, 1e-8f)); /* bounds the slope, 1 / d */
    if (!equal)
        return hinge(sum, how->margin - d, true) / d;
    *sum += 2 - 2 * x;
    return -2;
}

static void row_siamese(struct row *row, float *loss, float *correct)
{
    const struct gpu_loss *how = row->how;
    size_t n = count(row);
    float *x = row->x, by = how->scale / (float)(n + 1), sum = 0;
    *correct = share_below(row, n);
    for (size_t c = 0; c < how->cols; c++)
        x[c] = counts(row, c) ? by * pair(&sum, x[c], false, how) : 0;
    x[row->target] = by * pair(&sum, row->at_target, true, how);
    *loss = sum / (float)(n + 1);
}

static void siamese_loss(struct gpu_queue *q, float *logits, const struct gpu_loss *how)
{
    for (size_t r = 0; r < how->rows; r++) {
        struct row row = row_of(logits, how, r);
        row_siamese(&row, how->loss + r, how->correct + r);
    }
}

/* ---- histograms ---- */

static const float bins_per_unit = (GPU_BINS - 1) / 2.0f;

/* Returns the bin below the logit; *part is the fraction of the way to the next one. Rounding may
 * take a cosine beyond the last bin: the weight of the one below is then slightly negative. */
static size_t bin_of(float *part, float x)
{
    float place = (x + 1) * bins_per_unit;
    size_t bin = place >= GPU_BINS - 1 ? GPU_BINS - 2 : place >= 0 ? (size_t)place : 0;
    *part = place - (float)bin;
    return bin;
}

static void add_to_bins(double *bins, float x)
{
    float part;
    size_t bin = bin_of(&part, x);
    bins[bin] += 1.0 - (double)part;
    bins[bin + 1] += (double)part;
}

static void histogram(struct gpu_queue *q, double *bins, float *logits, const struct gpu_loss *how)
{
    for (size_t i = 0; i < 2 * GPU_BINS; i++)
        bins[i] = 0;
    for (size_t r = 0; r < how->rows; r++) {
        struct row row = row_of(logits, how, r);
        how->correct[r] = share_below(&row, count(&row));
        add_to_bins(bins, row.at_target);
        for (size_t c = 0; c < how->cols; c++)
            if (counts(&row, c))
                add_to_bins(bins + GPU_BINS, row.x[c]);
    }
}

static void histogram_back(struct gpu_queue *q, float *logits, const double *dbins,
                           const struct gpu_loss *how)
{
    for (size_t r = 0; r < how->rows; r++) {
        float *x = logits + r * how->cols;
        for (size_t c = 0; c < how->cols; c++) {
            const double *d = c == how->target[how->first_row + r] ? dbins : dbins + GPU_BINS;
            float part;
            size_t bin = bin_of(&part, x[c]);
            x[c] =
                x[c] == -INFINITY ? 0 : (float)(d[bin + 1] - d[bin]) * bins_per_unit * how->scale;
        }
    }
}

void CPU(fill_loss)(struct gpu_ops *t)
{
    t->cross_entropy = cross_entropy;
    t->triplet_loss = triplet_loss;
    t->siamese_loss = siamese_loss;
    t->histogram = histogram;
    t->histogram_back = histogram_back;
}
