/* Vectors of 16 floats by GCC's vector extensions: the compiler makes one, two or four registers
 * of each, and sums have the same order on every instruction set. */
#ifndef GPU_CPU_VEC_H
#define GPU_CPU_VEC_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

enum { LANES = 16 };

typedef float vf __attribute__((vector_size(64)));
typedef int32_t vi __attribute__((vector_size(64)));
typedef uint32_t vu __attribute__((vector_size(64)));
typedef float vf_any __attribute__((vector_size(64), aligned(4), may_alias));

static inline size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static inline vf vf_set(float x)
{
    return (vf){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
}

static inline vf vf_load(const float *p)
{
    return *(const vf_any *)p;
}

static inline void vf_store(float *p, vf x)
{
    *(vf_any *)p = x;
}

/* The first n < 16 lanes, the rest `other`. */
static inline vf vf_load_part(const float *p, size_t n, float other)
{
    vf x = vf_set(other);
    memcpy(&x, p, n * sizeof *p);
    return x;
}

static inline void vf_store_part(float *p, vf x, size_t n)
{
    memcpy(p, &x, n * sizeof *p);
}

static inline vf vf_select(vi mask, vf yes, vf no)
{
    return (vf)((mask & (vi)yes) | (~mask & (vi)no));
}

/* a < b ? b : a and a > b ? b : a: where a is NaN it stays. The compiler does not find the
 * instruction for 16 lanes by itself. */
static inline vf vf_max(vf a, vf b)
{
#ifdef __AVX512F__
    return (vf)_mm512_max_ps((__m512)b, (__m512)a);
#else
    return vf_select(a < b, b, a);
#endif
}

static inline vf vf_min(vf a, vf b)
{
#ifdef __AVX512F__
    return (vf)_mm512_min_ps((__m512)b, (__m512)a);
#else
    return vf_select(a > b, b, a);
#endif
}

static inline float vf_sum(vf x)
{
    float t[LANES];
    memcpy(t, &x, sizeof t);
    for (int step = LANES / 2; step > 0; step /= 2)
        for (int i = 0; i < step; i++)
            t[i] += t[i + step];
    return t[0];
}

static inline float vf_greatest(vf x)
{
    float best = x[0];
    for (int i = 1; i < LANES; i++)
        best = best < x[i] ? x[i] : best;
    return best;
}

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

#endif
