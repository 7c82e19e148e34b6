/* Images, stored channels-last: patches under a filter, and maxima of windows. */
#include "gpu/cuda/launch.h"

/* ---- patches: a convolution as a product, where cuDNN has none ---- */

__device__ static inline size_t out_rows(const struct gpu_convolution *c)
{
    return c->height - c->filter_height + 1;
}
__device__ static inline size_t out_columns(const struct gpu_convolution *c)
{
    return c->width - c->filter_width + 1;
}

/* One thread per element of the patches. */
__global__ static void patches_kernel(float *patches, const float *x, size_t n,
                                      struct gpu_convolution how)
{
    size_t i = ELEMENT, channel = i % how.in;
    size_t column = (i /= how.in) % how.filter_width,
           row = (i /= how.filter_width) % how.filter_height;
    size_t w = (i /= how.filter_height) % out_columns(&how),
           h = (i /= out_columns(&how)) % out_rows(&how);
    size_t image = i / out_rows(&how);
    if (image < n)
        patches[ELEMENT] =
            x[((image * how.height + h + row) * how.width + w + column) * how.in + channel];
}

static size_t patch_of(const struct gpu_convolution *how)
{
    return how->filter_height * how->filter_width * how->in;
}

void cuda_patches(struct gpu_queue *q, float *patches, const float *x, size_t first, size_t n,
                  const struct gpu_convolution *how)
{
    size_t image = how->height * how->width * how->in;
    size_t places = (how->height - how->filter_height + 1) * (how->width - how->filter_width + 1);
    LAUNCH_FLAT(q, patches_kernel, cuda_cover(n * places * patch_of(how)), THREADS, patches,
                x + first * image, n, *how);
}

/* One thread per element of the images: each filter position covers it at most once. */
__global__ static void patches_back_kernel(float *dx, const float *dpatches, size_t n,
                                           struct gpu_convolution how)
{
    size_t i = ELEMENT, channel = i % how.in, w = (i /= how.in) % how.width;
    size_t h = (i /= how.width) % how.height, image = i / how.height;
    float sum = 0;
    if (image >= n)
        return;
    for (size_t r = 0; r < how.filter_height && r <= h; r++)
        for (size_t c = 0; c < how.filter_width && c <= w; c++) {
            size_t row = h - r, column = w - c;
            if (row < out_rows(&how) && column < out_columns(&how))
                sum += dpatches[((((image * out_rows(&how) + row) * out_columns(&how) + column) *
                                      how.filter_height +
                                  r) *
                                     how.filter_width +
                                 c) *
                                    how.in +
                                channel];
        }
    dx[ELEMENT] = sum;
}

void cuda_patches_back(struct gpu_queue *q, float *dx, const float *dpatches, size_t first,
                       size_t n, const struct gpu_convolution *how)
{
    size_t image = how->height * how->width * how->in;
    LAUNCH_FLAT(q, patches_back_kernel, cuda_cover(n * image), THREADS, dx + first * image,
                dpatches, n, *how);
}

__global__ static void round_floats_kernel(float *y, const float *x, size_t n)
{
    if (ELEMENT < n)
        y[ELEMENT] = bf16_value(bf16_bits(x[ELEMENT]));
}

void cuda_round_floats(struct gpu_queue *q, float *y, const float *x, size_t n)
{
    LAUNCH_FLAT(q, round_floats_kernel, cuda_cover(n), THREADS, y, x, n);
}

/* ---- maxima of windows ---- */

/* One thread per result. */
__global__ static void max_pool_kernel(float *y, uint8_t *at, const float *x,
                                       struct gpu_max_pool how)
{
    size_t rows = how.height / how.window_height, columns = how.width / how.window_width;
    size_t i = ELEMENT, channel = i % how.channels, w = (i /= how.channels) % columns;
    size_t h = (i /= columns) % rows, image = i / rows;
    if (image >= how.images)
        return;
    const float *first =
        x +
        ((image * how.height + h * how.window_height) * how.width + w * how.window_width) *
            how.channels +
        channel;
    float best = *first;
    size_t place = 0;
    for (size_t r = 0; r < how.window_height; r++)
        for (size_t c = 0; c < how.window_width; c++) {
            float v = first[(r * how.width + c) * how.channels];
            if (v > best) {
                best = v;
                place = r * how.window_width + c;
            }
        }
    y[ELEMENT] = best;
    if (at)
        at[ELEMENT] = (uint8_t)place;
}

static size_t maxima(const struct gpu_max_pool *how)
{
    return how->images * (how->height / how->window_height) * (how->width / how->window_width) *
           how->channels;
}

static void max_pool(struct gpu_queue *q, float *y, uint8_t *at, const float *x,
                     const struct gpu_max_pool *how)
{
    LAUNCH_FLAT(q, max_pool_kernel, cuda_cover(maxima(how)), THREADS, y, at, x, *how);
}

/* One thread per element of the images: each is in one window, or in none. */
__global__ static void max_pool_back_kernel(float *dx, const float *dy, const uint8_t *at,
                                            struct gpu_max_pool how)
{
    size_t rows = how.height / how.window_height, columns = how.width / how.window_width;
    size_t i = ELEMENT, channel = i % how.channels, w = (i /= how.channels) % how.width;
    size_t h = (i /= how.width) % how.height, image = i / how.height;
    if (image >= how.images)
        return;
    size_t row = h / how.window_height, column = w / how.window_width;
    size_t place = h % how.window_height * how.window_width + w % how.window_width;
    size_t y = ((image * rows + row) * columns + column) * how.channels + channel;
    dx[ELEMENT] = row < rows && column < columns && at[y] == place ? dy[y] : 0;
}

static void max_pool_back(struct gpu_queue *q, float *dx, const float *dy, const uint8_t *at,
                          const struct gpu_max_pool *how)
{
    LAUNCH_FLAT(q, max_pool_back_kernel,
                cuda_cover(how->images * how->height * how->width * how->channels), THREADS, dx, dy,
                at, *how);
}

void cuda_fill_pools(struct gpu_ops *t)
{
    t->max_pool = max_pool;
    t->max_pool_back = max_pool_back;
}
