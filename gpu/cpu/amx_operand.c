/* Packing into tiles; see amx_operand.h. */
#include "gpu/cpu/amx_operand.h"

#include "gpu/cpu/vec.h"

/* How many of 16 indices from `from` on are below n. */
static size_t count_from(size_t from, size_t n)
{
    return n <= from ? 0 : n - from < LANES ? n - from : LANES;
}

/* The values of 16 free indices by 16 ks, in the order of a tile. */
static void load_square(vf square[LANES], const struct amx_operand *o, size_t f, size_t k)
{
    size_t n_free = count_from(f, o->free), n_k = count_from(k, o->k);
    size_t rows = o->k_major ? n_k : n_free, cols = o->k_major ? n_free : n_k;
    for (size_t i = 0; i < LANES; i++)
        square[i] =
            i >= rows || !cols
                ? vf_set(0)
                : vf_load_some(o->at + (o->k_major ? (k + i) * o->ld + f : (f + i) * o->ld + k),
                               cols);
    if (o->left == o->k_major)
        vf_transpose(square);
}

/* The upper halves of the words, rounded to nearest, ties to even; a NaN stays one. */
static vu round_bf16(vf x)
{
    vu bits = (vu)x, rounded = bits + 0x7fff + (bits >> 16 & 1);
    vu nan = (vu)(x != x);
    return (nan & (bits | 0x400000)) | (~nan & rounded);
}

void amx_pack(uint32_t *out, const struct amx_operand *o, size_t first, size_t end)
{
    for (size_t f = first * AMX_BLOCK; f < end * AMX_BLOCK; f += AMX_BLOCK)
        for (size_t k = 0; k < o->k; k += AMX_BLOCK)
            for (size_t half = 0; half < AMX_BLOCK; half += LANES, out += AMX_TILE) {
                vf low[LANES], high[LANES];
                load_square(low, o, f + half, k);
                load_square(high, o, f + half, k + LANES);
                for (size_t i = 0; i < LANES; i++) {
                    vu words =
                        round_bf16(low[i]) >> 16 | (round_bf16(high[i]) & (uint32_t)0xffff0000);
                    memcpy(out + i * LANES, &words, sizeof words);
                }
            }
}
