/* Vectors by GCC's vector extensions, as wide as a register of the instruction set. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX2__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif

typedef float vf __attribute__((vector_size(4 * LANES)));
typedef int32_t vi __attribute__((vector_size(4 * LANES)));
typedef float vf_any __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

static inline size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static inline vf vf_set(float x)
{
    return x - (vf){0};
}

/* Returns the lane numbers. */
static inline vi vi_lane(void)
{
#if defined(__AVX512F__)
    return (vi){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif defined(__AVX2__)
    return (vi){0, 1, 2, 3, 4, 5, 6, 7};
#else
    return (vi){0, 1, 2, 3};
#endif
}

static inline vf vf_load(const float *p)
{
    return *(const vf_any *)p;
}

static inline void vf_store(float *p, vf x)
{
    *(vf_any *)p = x;
}

static inline vf vf_select(vi mask, vf yes, vf no)
{
    return (vf)((mask & (vi)yes) | (~mask & (vi)no));
}

/* Loads the first n < LANES lanes; sets the rest to `other`. */
static inline vf vf_load_part(const float *p, size_t n, float other)
{
#if defined(__AVX512F__)
    return (vf)_mm512_mask_loadu_ps((__m512)vf_set(other), (__mmask16)((1u << n) - 1), p);
#elif defined(__AVX2__)
    vi mask = vi_lane() < (int32_t)n;
    return vf_select(mask, (vf)_mm256_maskload_ps(p, (__m256i)mask), vf_set(other));
#else
    vf x = vf_set(other);
    memcpy(&x, p, n * sizeof *p);
    return x;
#endif
}

static inline void vf_store_part(float *p, vf x, size_t n)
{
#if defined(__AVX512F__)
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)x);
#elif defined(__AVX2__)
    _mm256_maskstore_ps(p, (__m256i)(vi_lane() < (int32_t)n), (__m256)x);
#else
    memcpy(p, &x, n * sizeof *p);
#endif
}

/* Load or store the first n lanes, or all if n >= LANES; loading sets the rest to 0. */
static inline vf vf_load_some(const float *p, size_t n)
{
    return n >= LANES ? vf_load(p) : vf_load_part(p, n, 0);
}

static inline void vf_store_some(float *p, vf x, size_t n)
{
    if (n >= LANES)
        vf_store(p, x);
    else
        vf_store_part(p, x, n);
}

/* a < b ? b : a and a > b ? b : a: NaN in a is kept. */
static inline vf vf_max(vf a, vf b)
{
#if defined(__AVX512F__)
    return (vf)_mm512_max_ps((__m512)b, (__m512)a);
#elif defined(__AVX2__)
    return (vf)_mm256_max_ps((__m256)b, (__m256)a);
#else
    return vf_select(a < b, b, a);
#endif
}

static inline vf vf_min(vf a, vf b)
{
#if defined(__AVX512F__)
    return (vf)_mm512_min_ps((__m512)b, (__m512)a);
#elif defined(__AVX2__)
    return (vf)_mm256_min_ps((__m256)b, (__m256)a);
#else
    return vf_select(a > b, b, a);
#endif
}

typedef float vf8 __attribute__((vector_size(32)));
typedef float vf4 __attribute__((vector_size(16)));

/* Returns the sum of the lanes, by halves. */
static inline float vf_sum(vf x)
{
#if defined(__AVX512F__)
    vf8 a = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
            __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
#elif defined(__AVX2__)
    vf8 a = x;
#endif
#ifdef __AVX2__
    vf4 b = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
#else
    vf4 b = x;
#endif
    return (b[0] + b[2]) + (b[1] + b[3]);
}

/* Returns the maximum; unspecified if a lane is NaN. */
static inline float vf_max_lane(vf x)
{
    float top = x[0];
    for (int i = 1; i < LANES; i++)
        top = x[i] > top ? x[i] : top;
    return top;
}

/* Transposes: pairs, then pairs of pairs, and so on. */
#if defined(__AVX512F__)
static inline void vf_transpose(vf r[LANES])
{
    vf t[LANES];
    for (int i = 0; i < LANES; i += 2) {
        t[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12,
                                       28, 13, 29);
        t[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11,
                                           27, 14, 30, 15, 31);
    }
    for (int i = 0; i < LANES; i += 4)
        for (int j = 0; j < 2; j++) {
            vf a = t[i + j], b = t[i + j + 2];
            r[i + 2 * j] = __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25,
                                                   12, 13, 28, 29);
            r[i + 2 * j + 1] = __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26,
                                                       27, 14, 15, 30, 31);
        }
    for (int i = 0; i < LANES; i += 8)
        for (int j = 0; j < 4; j++) {
            vf a = r[i + j], b = r[i + j + 4];
            t[i + j] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24,
                                               25, 26, 27);
            t[i + j + 4] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23,
                                                   28, 29, 30, 31);
        }
    for (int j = 0; j < 8; j++) {
        vf a = t[j], b = t[j + 8];
        r[j] =
            __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
        r[j + 8] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29,
                                           30, 31);
    }
}
#elif defined(__AVX2__)
static inline void vf_transpose(vf r[LANES])
{
    vf t[LANES];
    for (int i = 0; i < LANES; i += 2) {
        t[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        t[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int i = 0; i < LANES; i += 4)
        for (int j = 0; j < 2; j++) {
            vf a = t[i + j], b = t[i + j + 2];
            r[i + 2 * j] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
            r[i + 2 * j + 1] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int j = 0; j < 4; j++) {
        vf a = r[j], b = r[j + 4];
        r[j] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
        r[j + 4] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    }
}
#else
static inline void vf_transpose(vf r[LANES])
{
    vf a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5);
    vf b = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
    vf c = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
    vf d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
    r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    r[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}
#endif

/* e^x to 2e-7 relative for |x| <= 87; beyond, e^-87 (about 1e-38) and e^88. NaN stays NaN.
 * x = n ln 2 + r, |r| <= ln 2 / 2; e^r by its Taylor polynomial of degree 7, 2^n by its bits. */
static inline vf vf_exp(vf x)
{
    x = vf_min(vf_max(x, vf_set(-87.0f)), vf_set(88.0f));
    const vf magic = vf_set(0x1.8p23f);
    vf t = x * 1.44269504088896341f + magic;
    vf n = t - magic;
    vf r = x - n * 0.693359375f;
    r = r - n * -2.12194440e-4f;
    vf p = vf_set(1.9841270e-4f);
    p = p * r + 1.3888889e-3f;
    p = p * r + 8.3333333e-3f;
    p = p * r + 4.1666668e-2f;
    p = p * r + 1.6666667e-1f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    vi scale = ((vi)t - (vi)magic + 127) << 23;
    return p * (vf)scale;
}

/* 2^x to 2e-7 relative for -126 <= x <= 127; below, no more than 2^-126, from 128 on infinity. NaN
 * stays NaN.
 * x = n + f, |f| <= 1/2; 2^f by the minimax polynomial of degree 5, relative error 9.2e-8. */
static inline vf vf_exp2(vf x)
{
#ifndef __AVX512F__
    x = vf_min(vf_max(x, vf_set(-126.0f)), vf_set(128.0f));
#endif
    const vf magic = vf_set(0x1.8p23f);
    vf t = x + magic, n = t - magic, f = x - n;
    vf p = vf_set(0x1.5bba14p-10f);
    p = p * f + 0x1.3cea88p-7f;
    p = p * f + 0x1.c6b752p-5f;
    p = p * f + 0x1.ebf9bcp-3f;
    p = p * f + 0x1.62e42ap-1f;
    p = p * f + 1.0f;
#ifdef __AVX512F__
    return (vf)_mm512_scalef_ps((__m512)p, (__m512)n);
#else
    return p * (vf)(((vi)t << 23) + 0x3f800000);
#endif
}

/* ln x to 2e-7 of max(1, result), for x that is positive, normal and finite; NaN
 * stays NaN. x = 2^n (1 + f), 1 + f from sqrt(1/2) on; ln(1 + f) by Moshier's polynomial. */
static inline vf vf_log(vf x)
{
    vi n = ((vi)x - 0x3f3504f3) >> 23;
    vf f = (vf)((vi)x - (n << 23)) - 1.0f, e = __builtin_convertvector(n, vf), square = f * f;
    vf p = vf_set(7.0376836292e-2f);
    p = p * f - 1.1514610310e-1f;
    p = p * f + 1.1676998740e-1f;
    p = p * f - 1.2420140846e-1f;
    p = p * f + 1.4249322787e-1f;
    p = p * f - 1.6668057665e-1f;
    p = p * f + 2.0000714765e-1f;
    p = p * f - 2.4999993993e-1f;
    p = p * f + 3.3333331174e-1f;
    p = p * f * square - e * 2.12194440e-4f - square * 0.5f;
    return f + p + e * 0.693359375f + (x - x);
}
