/* Work beside the tile units: they take 16 cycles a product and one instruction, so that there is
 * time for vectors to finish the block before and to pack what comes next, if that comes in pieces
 * small enough for the processor to see past. With products of digits, which leave half the time of
 * three bf16 parts, packing shows all the same (docs/benchmarks.md).
 *
 * The work is planned by columns of blocks and done in as many steps as a column has (a step is one
 * block of k), evenly. */
#ifndef GPU_CPU_AMX_SIDE_H
#define GPU_CPU_AMX_SIDE_H

#include "gpu/cpu/amx.h"

/* What becomes of a block's sums: c = act(alpha * sums + base + bias), base being c itself, another
 * matrix of its shape or nothing; 0 where there is a mask and it is not positive. */
struct amx_finish {
    float *c;
    const float *base, *bias, *mask;
    size_t ldc, rows, cols; /* of the block, at most 32; 16 with scales */
    float alpha;
    bool relu;
    const float *row_scales, *col_scales; /* the sums are integers of digits; or NULL */
};

/* Pieces of runs to be packed, k0 <= k < k1, in order. */
struct amx_packing {
    const struct amx_operand *o;
    uint32_t *at; /* of f's run */
    size_t f, k0, k1, piece;
    size_t left; /* pieces that are due in this column */
};

enum { AMX_SUMS = 1024 /* words: 32 by 32, or three times 16 by 16 */ };

struct amx_side {
    struct amx_finish finish;
    const uint32_t *sums; /* of the block that is not finished from `row` on; or NULL */
    size_t row;
    struct amx_packing right, left_rows;
    size_t due, steps; /* pieces and steps of the column */
    size_t owed;       /* below steps: pieces, in parts of as many as there are steps */
};

/* Begins a column, for which right.left and left_rows.left are set. */
void amx_side_plan(struct amx_side *s, size_t steps);
/* One step's share. */
void amx_side_step(struct amx_side *s);
/* All that is left of the block before. */
void amx_side_finish(struct amx_side *s);
/* Leaves a block's finish to the steps to come; the block before must be finished. */
static inline void amx_side_leave(struct amx_side *s, const struct amx_finish *f,
                                  const uint32_t *sums)
{
    s->finish = *f;
    s->sums = sums;
    s->row = 0;
}

#endif
