/* An approximate nearest-neighbour index by inner product (hnswlib, the only C++), for corpora too
 * large to scan for each query. It is built on one thread with a fixed seed, so equal vectors yield
 * equal results. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hnsw;
typedef float hnsw_product(const float *x, const float *y, uint32_t dim);
/* Indexes n vectors of `dim` values, which are copied. Returns NULL if there is no memory, or if
 * `cancelled`, which is polled, returned true. */
struct hnsw *hnsw_new(const float *x, size_t n, uint32_t dim, hnsw_product *product,
                      bool (*cancelled)(void *), void *arg);
void hnsw_free(struct hnsw *h); /* accepts NULL */
/* Finds up to k nearest rows, unordered, and returns their number. Thread-safe. */
size_t hnsw_nearest(uint32_t *rows, size_t k, const struct hnsw *h, const float *query);

#ifdef __cplusplus
}
#endif
