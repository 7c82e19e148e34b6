/* Losses of rows of similarities, and their gradients in place: margins between a target and the
 * other columns that count, or between each of these and a bound; and histograms of both. NaN goes
 * through all of them to the loss. */
#include "gpu/cpu/cpu.h"
#include "gpu/cpu/loss.h"

/* One row at work. */
struct row {
    const struct gpu_cross_entropy *ce;
    float *x; /* the logits, those that do not count being -infinity */
    size_t target;
    float at_target;
};

static struct row row_of(float *logits, const struct gpu_cross_entropy *ce, size_t r)
{
    float *x = logits + r * ce->cols;
    size_t target = ce->target[ce->first_row + r];
    loss_mask_row(x, ce, ce->first_row + r);
    return (struct row){ce, x, target, x[target]};
}

static bool counts(const struct row *row, size_t c)
{
    return c != row->target && row->x[c] != -INFINITY;
}

static size_t count(const struct row *row)
{
    size_t n = 0;
    for (size_t c = 0; c < row->ce->cols; c++)
        n += counts(row, c);
    return n;
}

/* The share of the n that count which are below the target, equals a half; of none, all are. */
static float share_below(const struct row *row, size_t n)
{
    float below = 0;
    for (size_t c = 0; c < row->ce->cols; c++)
        if (counts(row, c))
            below += row->x[c] < row->at_target ? 1.0f : row->x[c] == row->at_target ? 0.5f : 0.0f;
    return n ? below / (float)n : 1;
}

/* max(0, over) or its square is added to *sum; returns its slope. */
static float hinge(float *sum, float over, bool squared)
{
    if (over <= 0)
        return 0;
    *sum += squared ? over * over : over;
    return squared ? 2 * over : 1;
}

static void row_margin(struct row *row, float *y, float *loss, float *correct)
{
    const struct gpu_cross_entropy *ce = row->ce;
    size_t n = count(row);
    float *x = row->x, by = ce->scale / (float)n, sum = 0, pull = 0;
    *correct = share_below(row, n);
    for (size_t c = 0; c < ce->cols; c++) {
        bool counted = counts(row, c), swapped = y && y[c] > x[c];
        float slope = 0;
        if (counted)
            slope = by *
                    hinge(&sum, ce->margin + (swapped ? y[c] : x[c]) - row->at_target, ce->squared);
        x[c] = swapped ? 0 : slope;
        if (y)
            y[c] = swapped ? slope : 0;
        pull += slope;
    }
    x[row->target] = -pull;
    *loss = sum / (float)n;
}

static void margin_loss(struct gpu_queue *q, float *logits, const struct gpu_cross_entropy *ce)
{
    for (size_t r = 0; r < ce->rows; r++) {
        struct row row = row_of(logits, ce, r);
        row_margin(&row, ce->swapped ? ce->swapped + r * ce->cols : NULL, ce->loss + r,
                   ce->correct + r);
    }
}

static void row_pairs(struct row *row, float *loss, float *correct)
{
    const struct gpu_cross_entropy *ce = row->ce;
    size_t n = count(row);
    float *x = row->x, by = ce->scale / (float)(n + 1), sum = 0;
    *correct = share_below(row, n);
    for (size_t c = 0; c < ce->cols; c++)
        x[c] = counts(row, c) ? by * hinge(&sum, ce->margin + x[c], ce->squared) : 0;
    x[row->target] = -by * hinge(&sum, ce->margin - row->at_target, ce->squared);
    *loss = sum / (float)(n + 1);
}

static void pair_loss(struct gpu_queue *q, float *logits, const struct gpu_cross_entropy *ce)
{
    for (size_t r = 0; r < ce->rows; r++) {
        struct row row = row_of(logits, ce, r);
        row_pairs(&row, ce->loss + r, ce->correct + r);
    }
}

/* ---- histograms ---- */

static const float bins_by_unit = (GPU_BINS - 1) / 2.0f;

/* The bin before the logit, and how far it is on the way to the next. Rounding may take a cosine
 * beyond the last: its share is then a little less than none. */
static size_t bin_of(float *part, float x)
{
    float place = (x + 1) * bins_by_unit;
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

static void histogram(struct gpu_queue *q, double *bins, float *logits,
                      const struct gpu_cross_entropy *ce)
{
    for (size_t i = 0; i < 2 * GPU_BINS; i++)
        bins[i] = 0;
    for (size_t r = 0; r < ce->rows; r++) {
        struct row row = row_of(logits, ce, r);
        ce->correct[r] = share_below(&row, count(&row));
        add_to_bins(bins, row.at_target);
        for (size_t c = 0; c < ce->cols; c++)
            if (counts(&row, c))
                add_to_bins(bins + GPU_BINS, row.x[c]);
    }
}

static void histogram_back(struct gpu_queue *q, float *logits, const double *dbins,
                           const struct gpu_cross_entropy *ce)
{
    for (size_t r = 0; r < ce->rows; r++) {
        float *x = logits + r * ce->cols;
        for (size_t c = 0; c < ce->cols; c++) {
            const double *d = c == ce->target[ce->first_row + r] ? dbins : dbins + GPU_BINS;
            float part;
            size_t bin = bin_of(&part, x[c]);
            x[c] = x[c] == -INFINITY ? 0 : (float)(d[bin + 1] - d[bin]) * bins_by_unit * ce->scale;
        }
    }
}

void CPU(fill_margin)(struct gpu_ops *t)
{
    t->margin_loss = margin_loss;
    t->pair_loss = pair_loss;
    t->histogram = histogram;
    t->histogram_back = histogram_back;
}
