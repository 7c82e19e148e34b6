/* Matrix products on tile units (Intel AMX, bf16): the units multiply 16 rows of 32 bf16 values by
 * 32 rows of 16 and add up in f32, 16 times as fast as f32 vectors.
 *
 * GPU_BF16 rounds each operand to bf16. GPU_F32 writes each value exactly as the sum of three bf16
 * values, x = x0 + x1 + x2 with |x1| <= 2^-8 |x| and |x2| <= 2^-15 |x|, and adds up the six
 * products x_i y_j with i + j <= 2: what is left out is below 2^-22 of a product and of either
 * sign, 2^-26 on average, less than f32's own rounding. That is six times the work and still faster
 * than f32 vectors. Denormal parts count as 0; infinities may become NaN.
 *
 * An operand is first packed into tiles, by blocks of 32 along its free dimension (m or n) and 32
 * along k: block (f, k) has for each part two tiles of 1 KiB, free indices 0..15 and 16..31. Tile
 * of a left operand: row i is free index i, of a right one column i. The 32-bit word j of a row (or
 * row j) holds k = j in its lower half and k = j + 16 in its upper: a fixed order of summation that
 * both operands share and that packs without shuffling across lanes. */
#ifndef GPU_CPU_AMX_H
#define GPU_CPU_AMX_H

#include "gpu/gpu.h"

enum { AMX_BLOCK = 32, AMX_TILE = 256 /* words of 32 bits */, AMX_MOST_PARTS = 3 };

/* An operand as it is in memory: element (f, k) at at[f * ld + k], or at[k * ld + f] if k_major. */
struct amx_operand {
    const float *at;
    size_t ld, free, k;
    bool k_major, left;
    int parts;
};

static inline size_t amx_blocks(size_t n)
{
    return (n + AMX_BLOCK - 1) / AMX_BLOCK;
}

static inline size_t amx_block_words(int parts)
{
    return (size_t)parts * 2 * AMX_TILE;
}

/* Words that the whole operand takes. */
static inline size_t amx_words(const struct amx_operand *o)
{
    return amx_blocks(o->free) * amx_blocks(o->k) * amx_block_words(o->parts);
}

/* Packs all blocks, those of one f one after another. */
typedef void amx_packer(uint32_t *out, const struct amx_operand *o);
amx_packer amx_pack;
/* A quarter of block (f, k), which begins at `out`: some 200 instructions. */
enum { AMX_QUARTERS = 4 };
void amx_pack_quarter(uint32_t *out, const struct amx_operand *o, size_t f, size_t k,
                      size_t quarter);
/* Fetches what that would read. */
void amx_fetch_quarter(const struct amx_operand *o, size_t f, size_t k, size_t quarter);

void amx_matmul(struct gpu_queue *q, const struct gpu_matmul *mm);

#endif
