/* Operands of matrix products, rounded to bf16 and packed into tiles.
 *
 * An operand has a free dimension (m or n) and k. It is packed in blocks of 32 free indices by 32
 * ks, all blocks of k of the first 32 free indices, then those of the next. A block is two tiles,
 * for free indices 0..15 and 16..31. A tile is 16 rows of 16 words: the rows of a left operand, and
 * the columns of a right one, are free indices. Word j of a row (or row j) holds k = j in its lower
 * half and k = j + 16 in its upper half; both operands have the same order, so sums are over the
 * same pairs. What lies beyond the operand's ends is 0. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AMX_TILE = 256 /* words */, AMX_BLOCK = 32, AMX_BLOCK_WORDS = 2 * AMX_TILE };

/* Element (f, k) is at[f * ld + k], or at[k * ld + f] if k_major. */
struct amx_operand {
    const float *at;
    size_t ld, free, k;
    bool k_major, left;
};

static inline size_t amx_blocks(size_t n)
{
    return (n + AMX_BLOCK - 1) / AMX_BLOCK;
}

/* Packs blocks first..end of the free dimension: (end - first) * amx_blocks(k) blocks. */
void amx_pack(uint32_t *out, const struct amx_operand *o, size_t first, size_t end);
