/* What the losses of rows of logits share. */
#ifndef GPU_CPU_LOSS_H
#define GPU_CPU_LOSS_H

#include "gpu/gpu.h"

#include <math.h>

/* Columns that do not count become -infinity. */
static inline void loss_mask_row(float *x, const struct gpu_cross_entropy *ce, size_t row)
{
    float target = x[ce->target[row]];
    if (ce->group)
        for (size_t c = 0; c < ce->cols; c++)
            x[c] = (ce->group[c] == ce->group[row]) != ce->own ? -INFINITY : x[c];
    if (ce->self)
        x[row] = -INFINITY;
    x[ce->target[row]] = target;
}

#endif
