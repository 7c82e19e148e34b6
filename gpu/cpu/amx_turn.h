/* What packing into tiles shares: 16 by 16 words turned, and places where an operand ends. */
#ifndef GPU_CPU_AMX_TURN_H
#define GPU_CPU_AMX_TURN_H

#include <immintrin.h>
#include <stddef.h>

/* Of 16 rows of 16 words, `ld` apart, columns 0..7. Quarters of rows i, i + 4, i + 8 and i + 12 are
 * loaded side by side, which leaves half of the shuffles to do. */
static inline __attribute__((always_inline)) void amx_turn_half(__m512d rows[8], const float *at,
                                                                size_t ld)
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
        rows[4 * q] = _mm512_unpacklo_pd(low, low2);
        rows[4 * q + 1] = _mm512_unpackhi_pd(low, low2);
        rows[4 * q + 2] = _mm512_unpacklo_pd(high, high2);
        rows[4 * q + 3] = _mm512_unpackhi_pd(high, high2);
    }
}

/* How many of 16 from `from` on are below n. */
static inline size_t amx_left_over(size_t n, size_t from)
{
    return n <= from ? 0 : n - from < 16 ? n - from : 16;
}

static inline __mmask16 amx_first(size_t n)
{
    return (__mmask16)((1u << n) - 1);
}

/* 16 by 16 values of which only some are there, zeros for the others. */
static inline void amx_copy_part(float *out, const float *at, size_t ld, size_t rows, size_t cols)
{
    for (size_t i = 0; i < 16; i++) {
        __mmask16 mask = i < rows ? amx_first(cols) : 0;
        _mm512_store_ps(out + 16 * i, _mm512_maskz_loadu_ps(mask, at + i * ld));
    }
}

#endif
