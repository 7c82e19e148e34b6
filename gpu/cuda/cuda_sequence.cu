/* Between token ids, packed rows and one vector per sequence: embedding and pooling. */
#include "gpu/cuda/launch.h"

/* One block per sequence. */
__global__ static void embed_kernel(float *x, const float *table, const float *positions,
                                    struct gpu_embedding how)
{
    size_t first = how.offset[blockIdx.x], n = how.offset[blockIdx.x + 1] - first;
    for (size_t i = threadIdx.x; i < n * how.cols; i += blockDim.x) {
        size_t t = first + i / how.cols, c = i % how.cols;
        x[t * how.cols + c] = table[how.token[t] * how.cols + c] * how.scale + positions[i];
    }
}

static void embed(struct gpu_queue *q, float *x, const float *table, const float *positions,
                  const struct gpu_embedding *how)
{
    LAUNCH_FLAT(q, embed_kernel, (unsigned)how->sequences, 128, x, table, positions, *how);
}

/* part (chunks, vocabulary, cols), zeroed: sums of a chunk of tokens, one thread per column. */
__global__ static void table_chunks_kernel(float *part, const float *dx, struct gpu_embedding how,
                                           size_t chunk)
{
    size_t c = ELEMENT, first = blockIdx.y * chunk, end = first + chunk;
    if (c >= how.cols)
        return;
    part += blockIdx.y * how.vocabulary * how.cols;
    for (size_t t = first; t < end && t < how.tokens; t++)
        part[how.token[t] * how.cols + c] += dx[t * how.cols + c];
}

__global__ static void table_add_kernel(float *dtable, const float *part, size_t chunks, size_t n,
                                        float scale)
{
    if (ELEMENT >= n)
        return;
    float sum = 0;
    for (size_t i = 0; i < chunks; i++)
        sum += part[i * n + ELEMENT];
    dtable[ELEMENT] += sum * scale;
}

__global__ static void positions_back_kernel(float *dpositions, const float *dx,
                                             struct gpu_embedding how, size_t places)
{
    size_t place = ELEMENT / how.cols, c = ELEMENT % how.cols;
    if (place >= places)
        return;
    float sum = 0;
    for (size_t s = 0; s < how.sequences; s++)
        if (place < how.offset[s + 1] - how.offset[s])
            sum += dx[(how.offset[s] + place) * how.cols + c];
    dpositions[ELEMENT] += sum;
}

static void embed_back(struct gpu_queue *q, float *dtable, float *dpositions, const float *dx,
                       const struct gpu_embedding *how)
{
    enum { PARTS_BYTES = 16 << 20 };
    size_t n = how->vocabulary * how->cols, most = PARTS_BYTES / (n * sizeof(float));
    struct cuda_chunks k = cuda_chunks_of(how->tokens, most < 1             ? 1
                                                       : most < MOST_CHUNKS ? most
                                                                            : MOST_CHUNKS);
    float *part = (float *)cuda_scratch(q, k.n * n * sizeof *part);
    if (!part)
        return;
    q->op->fill(q, part, k.n * n, 0);
    dim3 grid = cuda_cover(how->cols, 128);
    grid.y = (unsigned)k.n;
    LAUNCH_FLAT(q, table_chunks_kernel, grid, 128, part, dx, *how, k.rows);
    LAUNCH_FLAT(q, table_add_kernel, cuda_cover(n), THREADS, dtable, (const float *)part, k.n, n,
                how->scale);
    size_t places = how->places < how->tokens ? how->places : how->tokens;
    if (dpositions)
        LAUNCH_FLAT(q, positions_back_kernel, cuda_cover(places * how->cols), THREADS, dpositions,
                    dx, *how, places);
}

/* One block per segment. */
struct pooling {
    const uint32_t *row, *offset;
    size_t cols;
    enum gpu_pooling kind;
};

__global__ static void pool_kernel(float *y, uint32_t *arg, const float *x, struct pooling p)
{
    size_t s = blockIdx.x, first = p.offset[s], end = p.offset[s + 1];
    for (size_t c = threadIdx.x; c < p.cols; c += blockDim.x) {
        uint32_t best = first < end ? p.row[first] : 0;
        float v = first < end ? x[best * p.cols + c] : 0;
        for (size_t j = first + 1; j < end; j++) {
            float next = x[p.row[j] * p.cols + c];
            if (p.kind != GPU_MAX) {
                v += next;
            } else if (next > v) {
                v = next;
                best = p.row[j];
            }
        }
        y[s * p.cols + c] = p.kind == GPU_MEAN ? v * (1.0f / (float)(end - first)) : v;
        if (p.kind == GPU_MAX)
            arg[s * p.cols + c] = best;
    }
}

static void pool(struct gpu_queue *q, float *y, uint32_t *arg, const float *x, const uint32_t *row,
                 const uint32_t *offset, size_t segments, size_t cols, enum gpu_pooling kind)
{
    struct pooling p = {row, offset, cols, kind};
    LAUNCH_FLAT(q, pool_kernel, (unsigned)segments, 128, y, arg, x, p);
}

__global__ static void pool_back_kernel(float *dx, const float *dy, const uint32_t *arg,
                                        struct pooling p)
{
    size_t s = blockIdx.x, first = p.offset[s], end = p.offset[s + 1];
    float by = p.kind == GPU_MEAN ? 1.0f / (float)(end - first) : 1;
    for (size_t c = threadIdx.x; c < p.cols; c += blockDim.x) {
        float d = dy[s * p.cols + c];
        if (p.kind == GPU_MAX)
            dx[arg[s * p.cols + c] * p.cols + c] += d;
        else
            for (size_t j = first; j < end; j++)
                dx[p.row[j] * p.cols + c] += d * by;
    }
}

static void pool_back(struct gpu_queue *q, float *dx, const float *dy, const uint32_t *arg,
                      const uint32_t *row, const uint32_t *offset, size_t segments, size_t cols,
                      enum gpu_pooling kind)
{
    struct pooling p = {row, offset, cols, kind};
    LAUNCH_FLAT(q, pool_back_kernel, (unsigned)segments, 128, dx, dy, arg, p);
}

void cuda_fill_sequence(struct gpu_ops *t)
{
    t->embed = embed;
    t->embed_back = embed_back;
    t->pool = pool;
    t->pool_back = pool_back;
}
