/* Between token ids, packed rows and one vector per sequence: embedding and pooling. */
#include "gpu/cpu/cpu_queue.h"
#include "gpu/cpu/vec.h"

static void embed(struct gpu_queue *q, float *restrict x, const float *restrict table,
                  const float *restrict positions, const struct gpu_embedding *how)
{
    size_t cols = how->cols;
    float scale = how->scale;
    for (size_t s = 0; s < how->sequences; s++)
        for (size_t t = how->offset[s]; t < how->offset[s + 1]; t++) {
            const float *e = table + how->token[t] * cols;
            const float *p = positions + (t - how->offset[s]) * cols;
            for (size_t c = 0; c < cols; c++)
                x[t * cols + c] = e[c] * scale + p[c];
        }
}

static void embed_back(struct gpu_queue *q, float *restrict dtable, float *restrict dpositions,
                       const float *restrict dx, const struct gpu_embedding *how)
{
    size_t cols = how->cols;
    float scale = how->scale;
    for (size_t s = 0; s < how->sequences; s++)
        for (size_t t = how->offset[s]; t < how->offset[s + 1]; t++) {
            float *e = dtable + how->token[t] * cols;
            for (size_t c = 0; c < cols; c++)
                e[c] += dx[t * cols + c] * scale;
            if (!dpositions)
                continue;
            float *p = dpositions + (t - how->offset[s]) * cols;
            for (size_t c = 0; c < cols; c++)
                p[c] += dx[t * cols + c];
        }
}

/* The sum, times `by`. */
static void pool_sum(float *restrict y, const float *restrict x, const uint32_t *row, size_t n,
                     size_t cols, float by)
{
    enum { TOGETHER = 4 }; /* vectors of sums kept in registers */
    size_t c = 0;
    for (; c + TOGETHER * LANES <= cols; c += TOGETHER * LANES) {
        vf sum[TOGETHER] = {0};
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < TOGETHER; i++)
                sum[i] += vf_load(x + row[j] * cols + c + i * LANES);
        for (size_t i = 0; i < TOGETHER; i++)
            vf_store(y + c + i * LANES, sum[i] * by);
    }
    for (; c < cols; c++) {
        float sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += x[row[j] * cols + c];
        y[c] = sum * by;
    }
}

static void pool_max(float *restrict y, uint32_t *restrict arg, const float *restrict x,
                     const uint32_t *row, size_t n, size_t cols)
{
    memcpy(y, x + row[0] * cols, cols * sizeof *y);
    for (size_t c = 0; c < cols; c++)
        arg[c] = row[0];
    for (size_t j = 1; j < n; j++)
        for (size_t c = 0; c < cols; c++) {
            float v = x[row[j] * cols + c];
            arg[c] = v > y[c] ? row[j] : arg[c];
            y[c] = v > y[c] ? v : y[c];
        }
}

static void pool(struct gpu_queue *q, float *y, uint32_t *arg, const float *x, const uint32_t *row,
                 const uint32_t *offset, size_t segments, size_t cols, enum gpu_pooling kind)
{
    for (size_t s = 0; s < segments; s++) {
        size_t n = offset[s + 1] - offset[s];
        switch (kind) {
        case GPU_MEAN: pool_sum(y + s * cols, x, row + offset[s], n, cols, 1.0f / (float)n); break;
        case GPU_MAX: pool_max(y + s * cols, arg + s * cols, x, row + offset[s], n, cols); break;
        case GPU_SUM: pool_sum(y + s * cols, x, row + offset[s], n, cols, 1); break;
        }
    }
}

static void pool_back(struct gpu_queue *q, float *restrict dx, const float *restrict dy,
                      const uint32_t *restrict arg, const uint32_t *row, const uint32_t *offset,
                      size_t segments, size_t cols, enum gpu_pooling kind)
{
    for (size_t s = 0; s < segments; s++, dy += cols) {
        float by = kind == GPU_MEAN ? 1.0f / (float)(offset[s + 1] - offset[s]) : 1;
        switch (kind) {
        case GPU_MEAN:
        case GPU_SUM:
            for (size_t j = offset[s]; j < offset[s + 1]; j++)
                for (size_t c = 0; c < cols; c++)
                    dx[row[j] * cols + c] += dy[c] * by;
            break;
        case GPU_MAX:
            for (size_t c = 0; c < cols; c++)
                dx[arg[s * cols + c] * cols + c] += dy[c];
            break;
        }
    }
}

void CPU(fill_sequence)(struct gpu_ops *t)
{
    t->embed = embed;
    t->embed_back = embed_back;
    t->pool = pool;
    t->pool_back = pool_back;
}
