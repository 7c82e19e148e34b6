/* Layer norm and L2 normalisation, a warp to each row, and backward. */
#include "gpu/cuda/launch.h"

#include <math.h>

#define EPSILON 1e-5f     /* layer norm's, as in PyTorch */
#define MIN_LENGTH 1e-12f /* L2 normalisation's */

struct normed {
    float *y, *mean, *rstd;
    const float *gamma, *beta;
    size_t rows, cols;
};

/* Row r of y from x, by a warp. EQLOOM_PLANT: faults for the tests to find. */
__device__ static inline void norm_row(const struct normed *n, const float *x, size_t r)
{
    size_t cols = n->cols;
    float sum = 0, squares = 0, *y = n->y + r * cols;
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
        y[c] = (x[c] - mu) * rs * n->gamma[c] + n->beta[c];
    if (LANE == 0) {
        n->mean[r] = mu;
        n->rstd[r] = rs;
    }
}

__global__ static void norm_kernel(struct normed n, const float *x)
{
    if (WARP_ROW < n.rows)
        norm_row(&n, x + WARP_ROW * n.cols, WARP_ROW);
}

static void norm(struct gpu_queue *q, float *y, float *mean, float *rstd, const float *x,
                 const float *gamma, const float *beta, size_t rows, size_t cols)
{
    struct normed n = {y, mean, rstd, gamma, beta, rows, cols};
    LAUNCH(q, norm_kernel, cuda_cover(rows, ROWS_PER_BLOCK), ROWS_PER_BLOCK * WARP, n, x);
}

__global__ static void residual_norm_kernel(struct normed n, float *x, const float *sum,
                                            const float *base, struct dropping drop)
{
    size_t r = WARP_ROW, from = r * n.cols;
    if (r >= n.rows)
        return;
    for (size_t i = from + LANE; i < from + n.cols; i += WARP) /* a lane reads its own again */
        x[i] = base[i] + dropped(&drop, sum[i], i);
    norm_row(&n, x + from, r);
}

static void residual_norm(struct gpu_queue *q, float *y, float *mean, float *rstd, float *x,
                          const float *sum, const float *base, const struct gpu_dropout *drop,
                          const float *gamma, const float *beta, size_t rows, size_t cols)
{
    struct normed n = {y, mean, rstd, gamma, beta, rows, cols};
    LAUNCH(q, residual_norm_kernel, cuda_cover(rows, ROWS_PER_BLOCK), ROWS_PER_BLOCK * WARP, n, x,
           sum, base, dropping_of(drop));
}

struct back {
    float *dx, *dgamma, *dbeta, *y;
    const float *dy, *x, *mean, *rstd, *gamma, *beta;
    size_t rows, cols;
    bool accumulate;
};

__global__ static void norm_back_kernel(struct back b)
{
    size_t r = WARP_ROW;
    if (r >= b.rows)
        return;
    const float *dy = b.dy + r * b.cols, *x = b.x + r * b.cols;
    float *dx = b.dx + r * b.cols, mu = b.mean[r], rs = b.rstd[r], sum = 0, dot = 0;
    for (size_t c = LANE; c < b.cols; c += WARP) {
        float d = dy[c] * b.gamma[c];
        sum += d;
        dot += d * ((x[c] - mu) * rs);
    }
    sum = warp_sum(sum) / (float)b.cols;
    dot = warp_sum(dot) / (float)b.cols;
    for (size_t c = LANE; c < b.cols; c += WARP) {
        float hat = (x[c] - mu) * rs, d = rs * (dy[c] * b.gamma[c] - sum - hat * dot);
        dx[c] = b.accumulate ? dx[c] + d : d;
        if (b.y)
            b.y[r * b.cols + c] = hat * b.gamma[c] + b.beta[c];
    }
}

/* part (chunks, 2, cols): dgamma and dbeta of a chunk of rows, a thread for each column. */
__global__ static void norm_columns_kernel(float *part, struct back b, size_t chunk)
{
    size_t c = ELEMENT, first = blockIdx.y * chunk, end = first + chunk;
    if (c >= b.cols)
        return;
    float dgamma = 0, dbeta = 0;
    for (size_t r = first; r < end && r < b.rows; r++) {
        float d = b.dy[r * b.cols + c];
        dgamma += d * ((b.x[r * b.cols + c] - b.mean[r]) * b.rstd[r]);
        dbeta += d;
    }
    part[2 * blockIdx.y * b.cols + c] = dgamma;
    part[(2 * blockIdx.y + 1) * b.cols + c] = dbeta;
}

__global__ static void norm_add_kernel(struct back b, const float *part, size_t chunks)
{
    size_t c = ELEMENT;
    if (c >= b.cols)
        return;
    float dgamma = 0, dbeta = 0;
    for (size_t i = 0; i < chunks; i++) {
        dgamma += part[2 * i * b.cols + c];
        dbeta += part[(2 * i + 1) * b.cols + c];
    }
    b.dgamma[c] += dgamma;
    b.dbeta[c] += dbeta;
}

static void norm_back(struct gpu_queue *q, float *dx, float *dgamma, float *dbeta, float *y,
                      const float *dy, const float *x, const float *mean, const float *rstd,
                      const float *gamma, const float *beta, size_t rows, size_t cols,
                      bool accumulate)
{
    struct back b = {dx, dgamma, dbeta, y, dy, x, mean, rstd, gamma, beta, rows, cols, accumulate};
    struct cuda_chunks k = cuda_chunks_of(rows);
    float *part = (float *)cuda_scratch(q, k.n * 2 * cols * sizeof *part);
    if (!part)
        return;
    dim3 grid = cuda_cover(cols, 128);
    grid.y = (unsigned)k.n;
    LAUNCH_FLAT(q, norm_columns_kernel, grid, 128, part, b, k.rows);
    LAUNCH_FLAT(q, norm_add_kernel, cuda_cover(cols), THREADS, b, (const float *)part, k.n);
    LAUNCH(q, norm_back_kernel, cuda_cover(rows, ROWS_PER_BLOCK), ROWS_PER_BLOCK * WARP, b);
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

enum { LONG_ROW = 1 << 13 }; /* too much for a warp */

static void normalize(struct gpu_queue *q, float *y, float *norms, const float *x, size_t rows,
                      size_t cols)
{
    if (rows != 1 || cols < LONG_ROW) {
        LAUNCH(q, normalize_kernel, cuda_cover(rows, ROWS_PER_BLOCK), ROWS_PER_BLOCK * WARP, y,
               norms, x, rows, cols);
        return;
    }
    /* The sum lies behind the scratch that its own op uses. */
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

/* part (chunks, 2, cols): both sums of a chunk of rows, a thread for each column. */
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
