/* Kernel launches, and what kernels share: rows by warps, sums over a warp. The same sources are
 * compiled by nvcc, and by a C++ compiler with an emulator (tests/cuda). */
#pragma once

#include "gpu/cuda/cuda_queue.h"

#ifdef EQLOOM_EMULATE
#include EQLOOM_EMULATE /* the emulator, by its file name */
#define CUDA_RUN(q, barriers, kernel, grid, block, ...)                                            \
    emu::launch(cuda_stream(q), barriers, grid, block, kernel, __VA_ARGS__)
#else
#include <cuda_runtime.h>
#define CUDA_RUN(q, barriers, kernel, grid, block, ...)                                            \
    kernel<<<grid, block, 0, cuda_stream(q)>>>(__VA_ARGS__)
#endif

/* LAUNCH: a kernel whose threads cooperate; FLAT: one whose threads are independent. */
#define LAUNCH(q, kernel, grid, block, ...) CUDA_LAUNCH(q, true, kernel, grid, block, __VA_ARGS__)
#define LAUNCH_FLAT(q, kernel, grid, block, ...)                                                   \
    CUDA_LAUNCH(q, false, kernel, grid, block, __VA_ARGS__)
#define CUDA_LAUNCH(q, barriers, kernel, grid, block, ...)                                         \
    do {                                                                                           \
        dim3 grid_ = grid;                                                                         \
        if (grid_.x && grid_.y && grid_.z && cuda_begin(q)) {                                      \
            CUDA_RUN(q, barriers, kernel, grid_, block, __VA_ARGS__);                              \
            cuda_launched(q, #kernel);                                                             \
        }                                                                                          \
    } while (0)

enum { WARP = 32, THREADS = 256, ROWS_PER_BLOCK = 4 /* a warp each */ };

/* Returns the number of blocks of `per` threads, or rows, that cover n. */
static inline dim3 cuda_cover(size_t n, size_t per = THREADS)
{
    return dim3((unsigned)((n + per - 1) / per));
}

/* This thread's element; this warp's row. */
#define ELEMENT ((size_t)blockIdx.x * blockDim.x + threadIdx.x)
#define WARP_ROW ((size_t)blockIdx.x * ROWS_PER_BLOCK + threadIdx.x / WARP)
#define LANE (threadIdx.x % WARP)

/* Reduces over all lanes in a fixed order; every lane gets the result. */
#if defined EQLOOM_EMULATE && !defined EQLOOM_SHUFFLES
#define warp_sum(x) emu::warp_reduce(x, __LINE__, [](auto a, auto b) { return a + b; })
#define warp_max(x) emu::warp_reduce(x, __LINE__, [](auto a, auto b) { return fmaxf(a, b); })
#else
template <class T> __device__ static inline T warp_sum(T x)
{
    for (int o = WARP / 2; o; o /= 2)
        x += __shfl_xor_sync(~0u, x, o);
    return x;
}

__device__ static inline float warp_max(float x)
{
    for (int o = WARP / 2; o; o /= 2)
        x = fmaxf(x, __shfl_xor_sync(~0u, x, o));
    return x;
}
#endif

/* ---- bf16: rounded to nearest, ties to even; NaN stays NaN ---- */

union float_bits {
    float value;
    uint32_t bits;
};

__device__ static inline uint16_t bf16_bits(float x)
{
    union float_bits u = {x};
    uint32_t rounded = (u.bits + 0x7fff + (u.bits >> 16 & 1)) >> 16;
    bool nan = (u.bits & 0x7fffffff) > 0x7f800000;
    return (uint16_t)(nan ? u.bits >> 16 | 0x40 : rounded);
}

__device__ static inline float bf16_value(uint16_t x)
{
    union float_bits u;
    u.bits = (uint32_t)x << 16;
    return u.value;
}

/* ---- tensors of either type: kernels are templates over the element type ---- */

struct bf16 {
    uint16_t bits;
};

__device__ static inline float value_of(float x)
{
    return x;
}

__device__ static inline float value_of(struct bf16 x)
{
    return bf16_value(x.bits);
}

__device__ static inline void put(float *to, float x)
{
    *to = x;
}

__device__ static inline void put(struct bf16 *to, float x)
{
    to->bits = bf16_bits(x);
}

/* Runs the statement with T as the element type. */
#define BY_TYPE(type, T, ...)                                                                      \
    do {                                                                                           \
        if ((type) == GPU_TYPE_BF16) {                                                             \
            typedef struct bf16 T;                                                                 \
            __VA_ARGS__;                                                                           \
        } else {                                                                                   \
            typedef float T;                                                                       \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
    } while (0)

/* ---- dropout ---- */

/* SplitMix64's finaliser, as rng_mix(). */
__device__ static inline uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

struct dropping {
    float keep;
    uint32_t threshold;
    uint64_t key, first;
};
static inline struct dropping dropping_of(const struct gpu_dropout *d)
{
    struct dropping out = {1.0f / (1.0f - d->rate), (uint32_t)((double)d->rate * 4294967296.0),
                           d->key, d->first};
    return out;
}

/* Applies dropout to element i. Bit-identical to the CPU: the mask is the same on each device. */
__device__ static inline float dropped(const struct dropping *d, float value, size_t i)
{
    uint64_t at = d->first + i, mixed = mix(d->key ^ mix(at >> 32));
    uint32_t x = (uint32_t)at ^ (uint32_t)mixed;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x ^= (uint32_t)(mixed >> 32);
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x >= d->threshold ? value * d->keep : 0.0f;
}

/* Sums over rows take two launches: chunks of rows, then the chunks' sums, in order. */
constexpr size_t CHUNK_ROWS = 32, MOST_CHUNKS = 128;
struct cuda_chunks {
    size_t n, rows; /* rows: per chunk, but for the last */
};
static inline struct cuda_chunks cuda_chunks_of(size_t rows, size_t most = MOST_CHUNKS)
{
    size_t n = (rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
    n = n > most ? most : n ? n : 1;
    size_t each = (rows + n - 1) / n;
    return {each ? (rows + each - 1) / each : 1, each};
}
