/* Matrix products on tile units (Intel AMX): they multiply 16 rows of 64 bytes by 64 bytes of 16
 * columns, in the time of one vector instruction for each row.
 *
 * GPU_BF16 rounds each operand to bf16: a tile has 32 values a row, sums are f32.
 *
 * GPU_F32 multiplies integers of 24 bits, in digits of 8 (block fixed point: Ozaki, Ogita, Oishi
 * and Rump, "Error-free transformations of matrix multiplication by using fast routines", 2012; on
 * units for integers Ootomo, Ozaki and Yokota, "DGEMM on integer matrix multiplication unit",
 * 2024). AMX_RUN blocks of 64 ks are a run. The values of a run in a row of the left operand, or in
 * a column of the right one, become q units each, the unit being the greatest of them by 0x7f7f00;
 * q is rounded to the nearest and written as d1 2^16 + d2 2^8 + d3 with digits of -128..127. Of the
 * products of two such numbers d1 e1, d1 e2 + d2 e1 and d1 e3 + d2 e2 + d3 e1 are summed up,
 * exactly, in three tiles of 32 bits; d2 e3, d3 e2 and d3 e3 are left out. A run's three sums
 * become one f32, runs are added up in f32. These are six products of bytes; of three bf16 parts of
 * each value, which give f32 as well, it would be six of half the depth.
 *
 * What is guaranteed goes by the greatest values: with max|a| and max|b| of a run of n ks, its sum
 * is off by less than 2^-21 n max|a| max|b|, and by some 2^-24 sqrt(n) max|a| max|b| on average,
 * besides a rounding or two of the sum. Of operands without outliers (Gaussian ones, outputs of
 * norms and ReLUs) that was 0.9 to 1.7 and 1.3 to 2.3 times dnnl_sgemm's error (root mean square, k
 * from 2048 down to 64), of values that are all positive 0.3 to 0.6 times. A run's outlier makes
 * all that is small beside it coarse: with one value of a thousand times the others' size, 2.7 to 4
 * times sgemm's.
 * - Each row and column has its own unit: where its values are small, so is its error. A small
 *   value among large ones of its run has an absolute error, no relative one.
 * - A run whose values are all below 2^-96 is taken in units of 2^-119.
 * - If 2 n max|a| is not a float, the result may be infinite even where b is small.
 * - A NaN or an infinity makes its whole row or column of the result NaN.
 * An element of the result depends on nothing but its row and its column. */
#ifndef GPU_CPU_AMX_H
#define GPU_CPU_AMX_H

#include "gpu/gpu.h"

enum { AMX_TILE = 256 /* words of 32 bits */, AMX_TILE_ROWS = 16, AMX_DIGITS = 3 };

/* An operand as it is in memory: element (f, k) at at[f * ld + k], or at[k * ld + f] if k_major. */
struct amx_operand {
    const float *at;
    size_t ld, free, k;
    bool k_major, left;
    enum gpu_precision precision;
};

/* How an operand is packed: by blocks along its free dimension (m or n) and along k. The blocks of
 * one f are one after another, `run` of them behind a head.
 *
 * GPU_BF16: two tiles a block, free indices 0..15 and 16..31. Tile of a left operand: row i is free
 * index i, of a right one column i. The 32-bit word j of a row (or row j) holds k = j in its lower
 * half and k = j + 16 in its upper.
 * GPU_F32: three tiles a block, of the digits from the highest on; word j holds k = j, j + 16,
 * j + 32 and j + 48 from its lowest byte on. The head is 16 floats: the scales of the sums, or NaN.
 * So that both operands share an order of k, and packing need not shuffle across lanes. */
struct amx_form {
    size_t free, k; /* of a block */
    size_t block_words, head_words, run;
};

enum { AMX_RUN = 4 /* 256 ks: three products of digits for each stay below 2^24, exact as f32 */ };

static inline struct amx_form amx_form_of(enum gpu_precision precision)
{
    struct amx_form f = {0};
    switch (precision) {
    case GPU_F32: f = (struct amx_form){16, 64, AMX_DIGITS * AMX_TILE, 16, AMX_RUN}; break;
    case GPU_BF16: f = (struct amx_form){32, 32, 2 * AMX_TILE, 0, 48}; break;
    }
    return f;
}

static inline size_t amx_blocks(size_t n, size_t of)
{
    return (n + of - 1) / of;
}

/* Where the head of block (f, k) is, a run's first, of `all_k`. */
static inline size_t amx_words_before(const struct amx_form *form, size_t all_k, size_t f, size_t k)
{
    size_t heads = amx_blocks(all_k, form->run);
    return f * (all_k * form->block_words + heads * form->head_words) + k * form->block_words +
           k / form->run * form->head_words;
}

/* Words that the whole operand takes. */
static inline size_t amx_words(const struct amx_operand *o)
{
    struct amx_form form = amx_form_of(o->precision);
    return amx_words_before(&form, amx_blocks(o->k, form.k), amx_blocks(o->free, form.free), 0);
}

/* Packs all blocks, those of one f one after another. */
typedef void amx_packer(uint32_t *out, const struct amx_operand *o);
amx_packer amx_pack;
/* A run of f is packed in so many pieces, in order; each is some 300 instructions. */
size_t amx_pieces(const struct amx_operand *o, size_t blocks);
/* Piece `piece` of blocks k0..k1 of f, which begin with their head at `out`. It also fetches what
 * the same piece of the f after will read. */
void amx_pack_piece(uint32_t *out, const struct amx_operand *o, size_t f, size_t k0, size_t k1,
                    size_t piece);

void amx_matmul(struct gpu_queue *q, const struct gpu_matmul *mm);

#endif
