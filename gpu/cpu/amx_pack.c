/* Operands of matrix products into tiles; see amx.h. */
#include "gpu/cpu/amx.h"

#include <immintrin.h>

enum { ROWS = 8 }; /* that are packed at a time: half a tile */

/* A row of a tile, 32 values: u in the lower halves of the words and v in the upper. */
static inline __attribute__((always_inline)) __m512i pair(__m512i u, __m512i v)
{
    return _mm512_mask_blend_epi16(0xaaaaaaaa, _mm512_srli_epi32(u, 16), v);
}

/* Rounded to bf16, to nearest, ties to even. */
static inline __attribute__((always_inline)) void round_row(uint32_t *out, __m512 u, __m512 v)
{
    const __m512i interleave =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    _mm512_store_si512(out,
                       _mm512_permutexvar_epi16(interleave, (__m512i)_mm512_cvtne2ps_pbh(v, u)));
}

/* Exactly, as the sum of three parts, by integer arithmetic, which takes half the time of the
 * conversions: the first is rounded to nearest (ties away from 0), the second cut off. A NaN whose
 * bits overflow so is still one in the others. */
static inline __attribute__((always_inline)) void split_row(uint32_t *out, __m512 u, __m512 v)
{
    const __m512i half = _mm512_set1_epi32(0x8000), upper = _mm512_set1_epi32((int)0xffff0000);
    __m512i a = _mm512_add_epi32((__m512i)u, half), b = _mm512_add_epi32((__m512i)v, half);
    for (int i = 0; i < AMX_MOST_PARTS; i++, out += 2 * AMX_TILE) {
        _mm512_store_si512(out, pair(a, b));
        u = _mm512_sub_ps(u, (__m512)_mm512_and_si512(a, upper));
        v = _mm512_sub_ps(v, (__m512)_mm512_and_si512(b, upper));
        a = (__m512i)u;
        b = (__m512i)v;
    }
}

/* Of 16 rows of 16 words, `ld` apart, columns 0..7 become rows. Quarters of rows i, i + 4, i + 8
 * and i + 12 are loaded side by side, which leaves half of the shuffles to do. */
static inline __attribute__((always_inline)) void transpose(float *out, const float *at, size_t ld)
{
    for (size_t q = 0; q < 2; q++) {
        __m512 r[4];
        for (size_t i = 0; i < 4; i++) {
            const float *p = at + i * ld + 4 * q;
            r[i] = _mm512_castps128_ps512(_mm_loadu_ps(p));
            r[i] = _mm512_mask_broadcast_f32x4(r[i], 0x00f0, _mm_loadu_ps(p + 4 * ld));
            r[i] = _mm512_mask_broadcast_f32x4(r[i], 0x0f00, _mm_loadu_ps(p + 8 * ld));
            r[i] = _mm512_mask_broadcast_f32x4(r[i], 0xf000, _mm_loadu_ps(p + 12 * ld));
        }
        __m512d low = (__m512d)_mm512_unpacklo_ps(r[0], r[1]),
                high = (__m512d)_mm512_unpackhi_ps(r[0], r[1]),
                low2 = (__m512d)_mm512_unpacklo_ps(r[2], r[3]),
                high2 = (__m512d)_mm512_unpackhi_ps(r[2], r[3]);
        _mm512_store_pd(out + 64 * q, _mm512_unpacklo_pd(low, low2));
        _mm512_store_pd(out + 64 * q + 16, _mm512_unpackhi_pd(low, low2));
        _mm512_store_pd(out + 64 * q + 32, _mm512_unpacklo_pd(high, high2));
        _mm512_store_pd(out + 64 * q + 48, _mm512_unpackhi_pd(high, high2));
    }
}

/* Where a tile's values are: row i of 16 at `at` + i * ld, its upper halves `upper` further on. */
struct piece {
    const float *at;
    size_t ld, upper;
};

static inline size_t left_over(size_t n, size_t from)
{
    return n <= from ? 0 : n - from < 16 ? n - from : 16;
}

/* 16 by 16 values of which only some are there, zeros for the others. */
static void copy_part(float *out, const float *at, size_t ld, size_t rows, size_t cols)
{
    for (size_t i = 0; i < 16; i++) {
        __mmask16 mask = (__mmask16)(i < rows ? (1u << cols) - 1 : 0);
        _mm512_store_ps(out + 16 * i, _mm512_maskz_loadu_ps(mask, at + i * ld));
    }
}

/* A tile's values, from `edge` where some of its 16 by 32 are not there. */
static inline __attribute__((always_inline)) struct piece
find(float *edge, const struct amx_operand *o, size_t f, size_t k)
{
    size_t nf = left_over(o->free, f), nu = left_over(o->k, k), nv = left_over(o->k, k + 16);
    const float *at = o->k_major ? o->at + k * o->ld + f : o->at + f * o->ld + k;
    size_t upper = o->k_major ? 16 * o->ld : 16;
    if (nf == 16 && nv == 16)
        return (struct piece){at, o->ld, upper};
    copy_part(edge, at, o->ld, o->k_major ? nu : nf, o->k_major ? nf : nu);
    copy_part(edge + 256, at + upper, o->ld, o->k_major ? nv : nf, o->k_major ? nf : nv);
    return (struct piece){edge, 16, 256};
}

/* Rows 8 * half .. of a tile. */
static inline __attribute__((always_inline)) void
pack_rows(uint32_t *out, const struct amx_operand *o, size_t f, size_t k, size_t half, int parts)
{
    _Alignas(64) float edge[2 * 256], turned[2 * ROWS * 16];
    struct piece p = find(edge, o, f, k);
    if (o->left == o->k_major) {
        transpose(turned, p.at + ROWS * half, p.ld);
        transpose(turned + ROWS * 16, p.at + p.upper + ROWS * half, p.ld);
        p = (struct piece){turned, 16, ROWS * 16};
    } else {
        p.at += ROWS * half * p.ld;
    }
    out += ROWS * half * 16;
    for (size_t i = 0; i < ROWS; i++, out += 16) {
        __m512 u = _mm512_loadu_ps(p.at + i * p.ld), v = _mm512_loadu_ps(p.at + i * p.ld + p.upper);
        if (parts == 1)
            round_row(out, u, v);
        else
            split_row(out, u, v);
    }
}

void amx_pack_quarter(uint32_t *out, const struct amx_operand *o, size_t f, size_t k,
                      size_t quarter)
{
    size_t tile = quarter / 2, half = quarter % 2, row = f * AMX_BLOCK + tile * 16;
    out += tile * AMX_TILE;
    if (o->parts == 1)
        pack_rows(out, o, row, k * AMX_BLOCK, half, 1);
    else
        pack_rows(out, o, row, k * AMX_BLOCK, half, AMX_MOST_PARTS);
}

/* Addresses beyond the operand do no harm. */
void amx_fetch_quarter(const struct amx_operand *o, size_t f, size_t k, size_t quarter)
{
    size_t tile = quarter / 2, half = quarter % 2;
    size_t row = f * AMX_BLOCK + tile * 16, col = k * AMX_BLOCK;
    size_t at = o->k_major ? (col + half * ROWS) * o->ld + row : (row + half * ROWS) * o->ld + col;
    size_t upper = o->k_major ? 16 * o->ld : 16;
    for (size_t i = 0; i < ROWS; i++, at += o->ld) {
        _mm_prefetch((const char *)((uintptr_t)o->at + at * sizeof(float)), _MM_HINT_T0);
        _mm_prefetch((const char *)((uintptr_t)o->at + (at + upper) * sizeof(float)), _MM_HINT_T0);
    }
}

void amx_pack(uint32_t *out, const struct amx_operand *o)
{
    for (size_t f = 0; f < amx_blocks(o->free); f++)
        for (size_t k = 0; k < amx_blocks(o->k); k++, out += amx_block_words(o->parts))
            for (size_t quarter = 0; quarter < AMX_QUARTERS; quarter++)
                amx_pack_quarter(out, o, f, k, quarter);
}
