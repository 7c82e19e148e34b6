/* Layer norm and L2 normalisation, one warp per row, and their backward passes. */
#include "gpu/cuda/launch.h"

#include <math.h>

#define EPSILON 1e-5f     /* layer norm's, as in PyTorch */
#define MIN_LENGTH 1e-12f /* L2 normalisation's */

/* Row r of y (rows, cols), by a warp. EQLOOM_PLANT: faults for mutation tests. */
template <class T> __device__ static inline void norm_row(T *y, const struct gpu_norm *n, size_t r)
{
    size_t cols = n->cols;
    const float *x = n->x + r * cols;
    float sum = 0, squares = 0;
    y += r * cols;
#if EQLOOM_PLANT == 3
    if (LANE == WARP - 1)
        return;
#endif
    for (size_t c = LANE; c < cols; c += WARP)
        sum += x[c];
    float mu = warp_sum(sum) / (float)cols;
    for (size_t c = LANE; c < cols; c += WARP)
        squares += (x[c] - mu) * (x[c] - mu);
    float rs = 1.0f / sqrtf(warp_sum(squares) / (float)cols + EPSILON);
#if EQLOOM_PLANT == 2
    for (size_t c = LANE; c <= cols; c += WARP)
#else
    for (size_t c = LANE; c < cols; c += WARP)
#endif
        put(y + c, (x[c] - mu) * rs * n->gamma[c] + n->beta[c]);
    if (LANE == 0) {
        n->mean[r] = mu;
        n->rstd[r] = rs;
    }
}

template <class T> __global__ static void norm_kernel(T *y, struct gpu_norm n)
{
    if (WARP_ROW < n.rows)
        norm_row(y, &n, WARP_ROW);
}

static void norm(struct gpu_queue *q, void *y, const struct gpu_norm *how)
{
    BY_TYPE(how->type, T,
            LAUNCH(q, norm_kernel<T>, cuda_cover(how->rows, ROWS_PER_BLOCK), ROWS_PER_BLOCK * WARP,
                   (T *)y, *how));
}

template <class T, class S>
__global__ static void residual_norm_kernel(T *y, struct gpu_norm n, const S *sum,
                                            const float *base, struct dropping drop)
{
    size_t r = WARP_ROW, from = r * n.cols;
    if (r >= n.rows)
        return;
    for (size_t i = from + LANE; i < from + n.cols; i += WARP) /* a lane reads its own again */
        n.x[i] = base[i] + dropped(&drop, value_of(sum[i]), i);
    norm_row(y, &n, r);
}

static void residual_norm(struct gpu_queue *q, void *y, enum gpu_type sum_type, const void *sum,
                          const float *base, const struct gpu_dropout *drop,
                          const struct gpu_norm *how)
{
    BY_TYPE(how->type, T,
            BY_TYPE(sum_type, S,
                    LAUNCH(q, (residual_norm_kernel<T, S>), cuda_cover(how->rows, ROWS_PER_BLOCK),
                           ROWS_PER_BLOCK * WARP, (T *)y, *how, (const S *)sum, base,
                           dropping_of(drop))));
}

/* T: of y and branch, D: of dy. */
template <class T, class D>
__global__ static void norm_back_kernel(struct gpu_norm n, struct gpu_norm_back b,
                                        struct dropping drop)
{
    size_t r = WARP_ROW, from = r * n.cols;
    if (r >= n.rows)
        return;
    const D *dy = (const D *)b.dy + from;
    const float *x = n.x + from;
    float *dx = b.dx + from, mu = n.mean[r], rs = n.rstd[r], sum = 0, dot = 0;
    for (size_t c = LANE; c < n.cols; c += WARP) {
        float d = value_of(dy[c]) * n.gamma[c];
        sum += d;
        dot += d * ((x[c] - mu) * rs);
    }
    sum = warp_sum(sum) / (float)n.cols;
    dot = warp_sum(dot) / (float)n.cols;
    for (size_t c = LANE; c < n.cols; c += WARP) {
        float hat = (x[c] - mu) * rs, d = rs * (value_of(dy[c]) * n.gamma[c] - sum - hat * dot);
        d = b.accumulate ? dx[c] + d : d;
        dx[c] = d;
        if (b.y)
            put((T *)b.y + from + c, hat * n.gamma[c] + n.beta[c]);
        if (b.branch)
            put((T *)b.branch + from + c, b.drop ? dropped(&drop, d, from + c) : d);
    }
}

/* part (chunks, 2, cols): dgamma and dbeta of a chunk of rows, one thread per column. */
template <class D>
__global__ static void norm_columns_kernel(float *part, struct gpu_norm n, const D *dy,
                                           size_t chunk)
{
    size_t c = ELEMENT, first = blockIdx.y * chunk, end = first + chunk;
    if (c >= n.cols)
        return;
    float dgamma = 0, dbeta = 0;
    for (size_t r = first; r < end && r < n.rows; r++) {
        float d = value_of(dy[r * n.cols + c]);
        dgamma += d * ((n.x[r * n.cols + c] - n.mean[r]) * n.rstd[r]);
        dbeta += d;
    }
    part[2 * blockIdx.y * n.cols + c] = dgamma;
    part[(2 * blockIdx.y + 1) * n.cols + c] = dbeta;
}

__global__ static void norm_add_kernel(struct gpu_norm_back b, const float *part, size_t chunks,
                                       size_t cols)
{
    size_t c = ELEMENT;
    if (c >= cols)
        return;
    float dgamma = 0, dbeta = 0;
    for (size_t i = 0; i < chunks; i++) {
        dgamma += part[2 * i * cols + c];
        dbeta += part[(2 * i + 1) * cols + c];
    }
    b.dgamma[c] += dgamma;
    b.dbeta[c] += dbeta;
}

static void norm_back(struct gpu_queue *q, const struct gpu_norm_back *to,
                      const struct gpu_norm *how)
{
    static const struct gpu_dropout none = {};
    size_t cols = how->cols;
    struct cuda_chunks k = cuda_chunks_of(how->rows);
    float *part = (float *)cuda_scratch(q, k.n * 2 * cols * sizeof *part);
    if (!part)
        return;
    dim3 grid = cuda_cover(cols, 128);
    grid.y = (unsigned)k.n;
    BY_TYPE(
        to->dy_type, D,
        LAUNCH_FLAT(q, norm_columns_kernel<D>, grid, 128, part, *how, (const D *)to->dy, k.rows));
    LAUNCH_FLAT(q, norm_add_kernel, cuda_cover(cols), THREADS, *to, (const float *)part, k.n, cols);
    BY_TYPE(how->type, T,
            BY_TYPE(to->dy_type, D,
                    LAUNCH(q, (norm_back_kernel<T, D>), cuda_cover(how->rows, ROWS_PER_BLOCK),
                           ROWS_PER_BLOCK * WARP, *how, *to,
                           dropping_of(to->drop ? to->drop : &none))));
}

/* ---- L2 ---- */

__global__ static void normalize_kernel(float *y, float *norms, const float *x, size_t rows,
                                        size_t cols)
{
    size_t r = WARP_ROW;
    if (r >= rows)
        return;
    float sum = 0;
    for (size_t c = LANE; c < cols; c += WARP)
        sum += x[r * cols + c] * x[r * cols + c];
    float length = sqrtf(warp_sum(sum));
    float by = 1.0f / (length < MIN_LENGTH ? MIN_LENGTH : length);
    for (size_t c = LANE; c < cols; c += WARP)
        y[r * cols + c] = x[r * cols + c] * by;
    if (LANE == 0)
        norms[r] = length;
}

__global__ static void divide_kernel(float *y, float *norms, const float *x, const double *squares,
                                     size_t cols)
{
    float length = (float)sqrt(*squares);
    if (ELEMENT < cols)
        y[ELEMENT] = x[ELEMENT] * (1.0f / (length < MIN_LENGTH ? MIN_LENGTH : length));
    if (ELEMENT == 0)
        *norms = length;
}

enum { LONG_ROW = 1 << 13 }; /* too long for a warp */

static void normalize(struct gpu_queue *q, float *y, float *norms, const float *x, size_t rows,
                      size_t cols)
{
    if (rows != 1 || cols < LONG_ROW) {
        LAUNCH(q, normalize_kernel, cuda_cover(rows, ROWS_PER_BLOCK), ROWS_PER_BLOCK * WARP, y,
               norms, x, rows, cols);
        return;
    }
    /* The sum is stored after the scratch that its own op uses. */
    enum { BEHIND = 1 << 16 };
    char *scratch = (char *)cuda_scratch(q, BEHIND + sizeof(double));
    if (!scratch)
        return;
    double *squares = (double *)(scratch + BEHIND);
    cuda_sum_squares(q, squares, x, cols);
    LAUNCH_FLAT(q, divide_kernel, cuda_cover(cols), THREADS, y, norms, x, (const double *)squares,
                cols);
}

__global__ static void normalize_back_kernel(float *dx, const float *dy, const float *y,
                                             const float *norms, size_t rows, size_t cols)
{
    size_t r = WARP_ROW;
    if (r >= rows)
        return;
    bool tiny = norms[r] < MIN_LENGTH;
    float dot = 0, by = 1.0f / (tiny ? MIN_LENGTH : norms[r]);
    for (size_t c = LANE; c < cols; c += WARP)
        dot += y[r * cols + c] * dy[r * cols + c];
    float along = tiny ? 0 : warp_sum(dot);
    for (size_t c = LANE; c < cols; c += WARP)
        dx[r * cols + c] = (dy[r * cols + c] - y[r * cols + c] * along) * by;
}

static void normalize_back(struct gpu_queue *q, float *dx, const float *dy, const float *y,
                           const float *norms, size_t rows, size_t cols)
{
    LAUNCH(q, normalize_back_kernel, cuda_cover(rows, ROWS_PER_BLOCK), ROWS_PER_BLOCK * WARP, dx,
           dy, y, norms, rows, cols);
}

/* ---- by columns ---- */

/* part (chunks, 2, cols): both sums of a chunk of rows, one thread per column. */
__global__ static void column_sums_kernel(double *part, const float *x, const float *y, size_t rows,
                                          size_t cols, size_t chunk)
{
    size_t c = ELEMENT, first = blockIdx.y * chunk, end = first + chunk;
    if (c >= cols)
        return;
    double sum = 0, products = 0;
    for (size_t r = first; r < end && r < rows; r++) {
        sum += (double)x[r * cols + c];
        products += (double)x[r * cols + c] * y[r * cols + c];
    }
    part[2 * blockIdx.y * cols + c] = sum;
    part[(2 * blockIdx.y + 1) * cols + c] = products;
}

__global__ static void join_sums_kernel(double *sums, const double *part, size_t chunks, size_t n)
{
    if (ELEMENT >= n)
        return;
    double sum = 0;
    for (size_t i = 0; i < chunks; i++)
        sum += part[i * n + ELEMENT];
    sums[ELEMENT] = sum;
}

static void column_sums(struct gpu_queue *q, double *sums, const float *x, const float *y,
                        size_t rows, size_t cols)
{
    struct cuda_chunks k = cuda_chunks_of(rows);
    double *part = (double *)cuda_scratch(q, k.n * 2 * cols * sizeof *part);
    if (!part)
        return;
    dim3 grid = cuda_cover(cols, 128);
    grid.y = (unsigned)k.n;
    LAUNCH_FLAT(q, column_sums_kernel, grid, 128, part, x, y, rows, cols, k.rows);
    LAUNCH_FLAT(q, join_sums_kernel, cuda_cover(2 * cols), THREADS, sums, (const double *)part, k.n,
                2 * cols);
}

struct affine {
    const float *x, *a, *z, *b, *c;
    size_t n, cols;
};

__global__ static void affine_columns_kernel(float *y, struct affine f)
{
    size_t i = ELEMENT, c = i % f.cols;
    if (i < f.n)
        y[i] = f.x[i] * f.a[c] + (f.z ? f.z[i] * f.b[c] : 0) + f.c[c];
}

static void affine_columns(struct gpu_queue *q, float *y, const float *x, const float *a,
                           const float *z, const float *b, const float *c, size_t rows, size_t cols)
{
    struct affine f = {x, a, z, b, c, rows * cols, cols};
    LAUNCH_FLAT(q, affine_columns_kernel, cuda_cover(f.n), THREADS, y, f);
}

void cuda_fill_norm(struct gpu_ops *t)
{
    t->norm = norm;
    t->residual_norm = residual_norm;
    t->norm_back = norm_back;
    t->column_sums = column_sums;
    t->affine_columns = affine_columns;
    t->normalize = normalize;
    t->normalize_back = normalize_back;
}
