/* Products of many vectors with many others. Zeros of the former are skipped, since tf-idf vectors
 * are sparse. */
#pragma once

#include "ops/eval/measure/vectors.h"

/* The nonzero values of each vector, in order. */
struct sparse {
    struct sparse_value {
        uint32_t d;
        float x;
    } * values;
    size_t *first; /* (n + 1) */
};
enum err_code sparse_make(struct sparse *out, struct arena *a, const struct vectors *v,
                          struct err *e);

/* Vectors transposed in tiles: value d of TILE vectors is contiguous; unused columns are 0. */
enum { TILE = 2 * VECTOR_LANES };
struct tiles {
    uint32_t n, dim;
    float *x; /* (n / TILE rounded up, dim, TILE) */
};
/* Allocates tiles for n zero vectors. */
enum err_code tiles_make(struct tiles *out, struct arena *a, uint32_t n, uint32_t dim,
                         struct err *e);
/* The first value of vector i; the others follow at distances of TILE. */
static inline float *tiles_at(const struct tiles *t, uint32_t i)
{
    return t->x + (size_t)(i / TILE) * t->dim * TILE + i % TILE;
}
void tiles_set(struct tiles *t, uint32_t i, const float *x);

/* out (TILE) = dot products of vector i with the vectors of the tile that begins at vector `from`.
 * Each is summed in order of the dimensions, so it is the same on any machine. */
void products(float *out, const struct sparse *s, size_t i, const struct tiles *t, uint32_t from);
