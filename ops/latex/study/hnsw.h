/* An approximate index of vectors by their products (hnswlib, the only C++): for more vectors than
 * a query should pass through. It is built on one thread with a fixed seed, so equal vectors give
 * equal answers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hnsw;
typedef float hnsw_product(const float *x, const float *y, uint32_t dim);
/* Of n vectors of `dim` values, which are copied, compared by their products. NULL: no memory, or
 * `cancelled`, which is asked now and then, returned nonzero. */
struct hnsw *hnsw_new(const float *x, size_t n, uint32_t dim, hnsw_product *product,
                      bool (*cancelled)(void *), void *arg);
void hnsw_free(struct hnsw *h); /* NULL is fine */
/* Up to k rows that are nearest, in no order; returns how many. Thread-safe. */
size_t hnsw_nearest(uint32_t *rows, size_t k, const struct hnsw *h, const float *query);

#ifdef __cplusplus
}
#endif
