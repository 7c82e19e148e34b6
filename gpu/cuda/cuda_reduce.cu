/* Sums over rows and over whole vectors, in an order that depends only on the sizes. */
#include "gpu/cuda/launch.h"

/* ---- by columns: a thread sums a column of a chunk of rows ---- */

template <class T>
__global__ static void column_chunks_kernel(float *part, const T *x, size_t rows, size_t cols,
                                            size_t chunk)
{
    size_t c = ELEMENT, first = blockIdx.y * chunk, end = first + chunk;
    if (c >= cols)
        return;
    float sum = 0;
    for (size_t r = first; r < end && r < rows; r++)
        sum += value_of(x[r * cols + c]);
    part[blockIdx.y * cols + c] = sum;
}

__global__ static void add_chunks_kernel(float *y, const float *part, size_t chunks, size_t n)
{
    if (ELEMENT >= n)
        return;
    float sum = 0;
    for (size_t i = 0; i < chunks; i++)
        sum += part[i * n + ELEMENT];
    y[ELEMENT] += sum;
}

static void add_columns(struct gpu_queue *q, float *sum, enum gpu_type type, const void *x,
                        size_t rows, size_t cols)
{
    struct cuda_chunks k = cuda_chunks_of(rows);
    float *part = (float *)cuda_scratch(q, k.n * cols * sizeof *part);
    if (!part)
        return;
    dim3 grid = cuda_cover(cols, 128);
    grid.y = (unsigned)k.n;
    BY_TYPE(
        type, T,
        LAUNCH_FLAT(q, column_chunks_kernel<T>, grid, 128, part, (const T *)x, rows, cols, k.rows));
    LAUNCH_FLAT(q, add_chunks_kernel, cuda_cover(cols), THREADS, sum, part, k.n, cols);
}

/* ---- to one number ---- */

enum { SQUARE_BLOCKS = 128, SQUARE_EACH = 4 * THREADS };

__global__ static void squares_kernel(double *part, const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = ELEMENT; i < n; i += (size_t)gridDim.x * THREADS)
        sum += (double)x[i] * x[i];
    sum = warp_sum(sum);
    if (LANE == 0)
        part[ELEMENT / WARP] = sum;
}

/* One block. EQLOOM_PLANT: faults for mutation tests. */
__global__ static void sum_kernel(double *out, const double *part, unsigned n)
{
    __shared__ double sums[THREADS];
    double sum = 0;
    for (unsigned i = threadIdx.x; i < n; i += THREADS)
        sum += part[i];
    sums[threadIdx.x] = sum;
#if EQLOOM_PLANT != 1
    __syncthreads();
#endif
    for (unsigned half = THREADS / 2; half; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *out = sums[0];
}

void cuda_sum_squares(struct gpu_queue *q, double *out, const float *x, size_t n)
{
    size_t blocks = (n + SQUARE_EACH - 1) / SQUARE_EACH;
    blocks = blocks < 1 ? 1 : blocks > SQUARE_BLOCKS ? (size_t)SQUARE_BLOCKS : blocks;
    unsigned parts = (unsigned)blocks * THREADS / WARP;
    double *part = (double *)cuda_scratch(q, parts * sizeof *part);
    if (!part)
        return;
    LAUNCH(q, squares_kernel, (unsigned)blocks, THREADS, part, x, n);
    LAUNCH(q, sum_kernel, 1, THREADS, out, (const double *)part, parts);
}

void cuda_fill_reduce(struct gpu_ops *t)
{
    t->add_columns = add_columns;
    t->sum_squares = cuda_sum_squares;
}
