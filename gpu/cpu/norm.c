/* Layer norm and L2 normalisation by rows, and backward; the column ops of batch norm. */
#include "gpu/cpu/cpu_queue.h"
#include "gpu/cpu/vec.h"

#include <assert.h>
#include <math.h>

static const float EPSILON = 1e-5f;     /* layer norm's, as in PyTorch */
static const float MIN_LENGTH = 1e-12f; /* L2 normalisation's */

static float row_sum(const float *x, size_t n)
{
    vf a = {0}, b = {0};
    size_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        a += vf_load(x + i);
        b += vf_load(x + i + LANES);
    }
    for (; i + LANES <= n; i += LANES)
        a += vf_load(x + i);
    if (i < n)
        b += vf_load_some(x + i, n - i);
    return vf_sum(a + b);
}

/* Returns the sum of (x - mean) * (y - mean). */
static inline __attribute__((always_inline)) float products(const float *x, const float *y,
                                                            float mean, size_t n)
{
    vf a = {0}, b = {0};
    size_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        a += (vf_load(x + i) - mean) * (vf_load(y + i) - mean);
        b += (vf_load(x + i + LANES) - mean) * (vf_load(y + i + LANES) - mean);
    }
    for (; i + LANES <= n; i += LANES)
        a += (vf_load(x + i) - mean) * (vf_load(y + i) - mean);
    if (i < n)
        b += (vf_load_part(x + i, n - i, mean) - mean) * (vf_load_part(y + i, n - i, mean) - mean);
    return vf_sum(a + b);
}

static float row_dot(const float *x, const float *y, size_t n)
{
    return products(x, y, 0, n);
}

static float row_variance(const float *x, float mean, size_t n)
{
    return products(x, x, mean, n) / (float)n;
}

static void norm(struct gpu_queue *q, void *to, const struct gpu_norm *how)
{
    size_t cols = how->cols;
    float *restrict y = to;
    const float *restrict x = how->x, *restrict gamma = how->gamma, *restrict beta = how->beta;
    assert(how->type == GPU_TYPE_F32);
    for (size_t r = 0; r < how->rows; r++, x += cols, y += cols) {
        float mu = row_sum(x, cols) / (float)cols;
        float rs = 1.0f / sqrtf(row_variance(x, mu, cols) + EPSILON);
        for (size_t c = 0; c < cols; c++)
            y[c] = (x[c] - mu) * rs * gamma[c] + beta[c];
        how->mean[r] = mu;
        how->rstd[r] = rs;
    }
}

/* Rows that are read twice while they are in the L1 cache: for their sums, then by columns, whose
 * sums stay in registers. */
enum { BACK_ROWS = 8 };

struct back {
    float *dx, *dgamma, *dbeta, *y;
    const float *dy, *x, *mean, *rstd, *gamma, *beta;
    size_t cols;
    bool accumulate;
};

/* Means over row r of dy * gamma, and of that times the normalised x. */
static void back_means(float *sum, float *dot, const struct back *b, size_t r)
{
    const float *dy = b->dy + r * b->cols, *x = b->x + r * b->cols;
    vf s = {0}, t = {0};
    for (size_t c = 0; c < b->cols; c += LANES) {
        size_t n = b->cols - c < LANES ? b->cols - c : LANES;
        vf d = vf_load_some(dy + c, n) * vf_load_some(b->gamma + c, n);
        s += d;
        t += d * ((vf_load_some(x + c, n) - b->mean[r]) * b->rstd[r]);
    }
    *sum = vf_sum(s) / (float)b->cols;
    *dot = vf_sum(t) / (float)b->cols;
}

static void back_rows(const struct back *b, size_t first, size_t rows)
{
    float sum[BACK_ROWS], dot[BACK_ROWS];
    for (size_t r = 0; r < rows; r++)
        back_means(&sum[r], &dot[r], b, first + r);
    for (size_t c = 0; c < b->cols; c += LANES) {
        size_t n = b->cols - c < LANES ? b->cols - c : LANES;
        vf gamma = vf_load_some(b->gamma + c, n),
           beta = b->y ? vf_load_some(b->beta + c, n) : vf_set(0);
        vf dgamma = vf_load_some(b->dgamma + c, n), dbeta = vf_load_some(b->dbeta + c, n);
        for (size_t r = 0; r < rows; r++) {
            size_t at = (first + r) * b->cols + c;
            float rs = b->rstd[first + r];
            vf d = vf_load_some(b->dy + at, n),
               hat = (vf_load_some(b->x + at, n) - b->mean[first + r]) * rs;
            vf dx = rs * (d * gamma - sum[r] - hat * dot[r]);
            dgamma += d * hat;
            dbeta += d;
            vf_store_some(b->dx + at, b->accumulate ? vf_load_some(b->dx + at, n) + dx : dx, n);
            if (b->y)
                vf_store_some(b->y + at, hat * gamma + beta, n);
        }
        vf_store_some(b->dgamma + c, dgamma, n);
        vf_store_some(b->dbeta + c, dbeta, n);
    }
}

static void norm_back(struct gpu_queue *q, const struct gpu_norm_back *to,
                      const struct gpu_norm *how)
{
    size_t rows = how->rows;
    struct back b = {to->dx,    to->dgamma, to->dbeta,  to->y,     to->dy,    how->x,
                     how->mean, how->rstd,  how->gamma, how->beta, how->cols, to->accumulate};
    assert(how->type == GPU_TYPE_F32 && to->dy_type == GPU_TYPE_F32);
    for (size_t r = 0; r < rows; r += BACK_ROWS)
        back_rows(&b, r, rows - r < BACK_ROWS ? rows - r : BACK_ROWS);
    if (to->branch && to->drop)
        q->op->dropout(q, how->type, to->branch, to->dx, NULL, rows * how->cols, to->drop);
    else if (to->branch)
        q->op->copy(q, to->branch, to->dx, rows * how->cols);
}

static void normalize(struct gpu_queue *q, float *y, float *norms, const float *x, size_t rows,
                      size_t cols)
{
    for (size_t r = 0; r < rows; r++, x += cols, y += cols) {
        float length = sqrtf(row_dot(x, x, cols));
        norms[r] = length;
        float by = 1.0f / (length < MIN_LENGTH ? MIN_LENGTH : length);
        for (size_t c = 0; c < cols; c++)
            y[c] = x[c] * by;
    }
}

/* dx = (dy - y (y . dy)) / |x|; below MIN_LENGTH the division is by a constant. */
static void normalize_back(struct gpu_queue *q, float *dx, const float *dy, const float *restrict y,
                           const float *norms, size_t rows, size_t cols)
{
    for (size_t r = 0; r < rows; r++, dx += cols, dy += cols, y += cols) {
        float along = norms[r] < MIN_LENGTH ? 0 : row_dot(y, dy, cols);
        float by = 1.0f / (norms[r] < MIN_LENGTH ? MIN_LENGTH : norms[r]);
        for (size_t c = 0; c < cols; c++)
            dx[c] = (dy[c] - y[c] * along) * by;
    }
}

/* ---- by columns ---- */

/* Few enough rows that f32 sums are accurate; column sums stay in registers meanwhile. */
enum { SUM_ROWS = 16 };

static void column_sums(struct gpu_queue *q, double *sums, const float *x, const float *y,
                        size_t rows, size_t cols)
{
    for (size_t c = 0; c < 2 * cols; c++)
        sums[c] = 0;
    for (size_t first = 0; first < rows; first += SUM_ROWS) {
        size_t end = rows - first < SUM_ROWS ? rows : first + SUM_ROWS;
        for (size_t c = 0; c < cols; c += LANES) {
            size_t n = cols - c < LANES ? cols - c : LANES;
            vf s = {0}, t = {0};
            for (size_t r = first; r < end; r++) {
                vf v = vf_load_some(x + r * cols + c, n);
                s += v;
                t += v * vf_load_some(y + r * cols + c, n);
            }
            for (size_t i = 0; i < n; i++) {
                sums[c + i] += (double)s[i];
                sums[cols + c + i] += (double)t[i];
            }
        }
    }
}

static void affine_columns(struct gpu_queue *q, float *y, const float *x, const float *restrict a,
                           const float *z, const float *restrict b, const float *restrict c,
                           size_t rows, size_t cols)
{
    for (size_t r = 0; r < rows; r++, x += cols, y += cols)
        if (z)
            for (size_t i = 0; i < cols; i++)
                y[i] = x[i] * a[i] + z[r * cols + i] * b[i] + c[i];
        else
            for (size_t i = 0; i < cols; i++)
                y[i] = x[i] * a[i] + c[i];
}

void CPU(fill_norm)(struct gpu_ops *t)
{
    t->norm = norm;
    t->norm_back = norm_back;
    t->column_sums = column_sums;
    t->affine_columns = affine_columns;
    t->normalize = normalize;
    t->normalize_back = normalize_back;
}
