/* The cross entropy of rows of logits, and its gradient in place. */
#include "gpu/cpu/loss.h"
#include "gpu/cpu/cpu.h"
#include "gpu/cpu/vec.h"

#include <math.h>

static inline vf load(const float *p, size_t n)
{
    return n >= LANES ? vf_load(p) : vf_load_part(p, n, -INFINITY);
}

/* How much of an answer the target is, when its logit is the greatest: all, or its share. */
static float share(const float *x, float most, size_t cols)
{
    size_t equals = 0;
    for (size_t c = 0; c < cols; c++)
        equals += x[c] == most;
    return 1.0f / (float)equals;
}

static float row_sum(const float *x, size_t cols)
{
    vf sum = {0};
    for (size_t c = 0; c < cols; c += LANES)
        sum += cols - c >= LANES ? vf_load(x + c) : vf_load_part(x + c, cols - c, 0);
    return vf_sum(sum);
}

static void row_loss(float *x, const struct gpu_cross_entropy *ce, size_t row, float *loss,
                     float *correct)
{
    size_t cols = ce->cols, target = ce->target[row];
    loss_mask_row(x, ce, row);
    vf top = vf_set(-INFINITY);
    for (size_t c = 0; c < cols; c += LANES)
        top = vf_max(top, load(x + c, cols - c));
    float most = vf_greatest(top), at_target = x[target];
    float smooth = ce->smoothing / (float)cols, smoothed = 0;
    if (ce->smoothing > 0)
        smoothed = ce->smoothing * (at_target - row_sum(x, cols) / (float)cols);
    *correct = at_target == most ? share(x, most, cols) : 0.0f;
    vf sum = {0};
    for (size_t c = 0; c < cols; c += LANES) {
        vf v = load(x + c, cols - c);
        vf p = vf_select(v == -INFINITY, vf_set(0), vf_exp(v - most));
        sum += p;
        if (cols - c >= LANES)
            vf_store(x + c, p);
        else
            vf_store_part(x + c, p, cols - c);
    }
    float total = vf_sum(sum), by = ce->scale / total;
    for (size_t c = 0; c < cols; c++)
        x[c] = x[c] * by - smooth * ce->scale;
    x[target] -= (1 - ce->smoothing) * ce->scale;
    *loss = logf(total) - (at_target - most) + smoothed;
}

static void cross_entropy(struct gpu_queue *q, float *logits, const struct gpu_cross_entropy *ce)
{
    for (size_t r = 0; r < ce->rows; r++)
        row_loss(logits + r * ce->cols, ce, ce->first_row + r, ce->loss + r, ce->correct + r);
}

void CPU(fill_loss)(struct gpu_ops *t)
{
    t->cross_entropy = cross_entropy;
}
