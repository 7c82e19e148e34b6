/* Cross entropy of rows of logits, and its gradient in place. */
#include "gpu/cpu/cpu.h"
#include "gpu/cpu/vec.h"

#include <math.h>

/* Columns that do not count get -infinity, whose exponential is made 0 below. */
static void mask_row(float *x, const struct gpu_cross_entropy *ce, size_t row)
{
    float target = x[ce->target[row]];
    if (ce->group)
        for (size_t c = 0; c < ce->cols; c++)
            x[c] = ce->group[c] == ce->group[row] ? -INFINITY : x[c];
    if (ce->self)
        x[row] = -INFINITY;
    x[ce->target[row]] = target;
}

static inline vf load(const float *p, size_t n)
{
    return n >= LANES ? vf_load(p) : vf_load_part(p, n, -INFINITY);
}

static void row_loss(float *x, const struct gpu_cross_entropy *ce, size_t row, float *loss,
                     float *correct)
{
    size_t cols = ce->cols, target = ce->target[row];
    mask_row(x, ce, row);
    vf top = vf_set(-INFINITY);
    for (size_t c = 0; c < cols; c += LANES)
        top = vf_max(top, load(x + c, cols - c));
    float most = vf_greatest(top), at_target = x[target];
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
        x[c] *= by;
    x[target] -= ce->scale;
    *loss = logf(total) - (at_target - most);
    *correct = at_target == most ? 1.0f : 0.0f;
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
