/* A model's parameters as one flat f32 vector, with a table of their names and shapes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum nn_init {
    NN_INIT_XAVIER, /* uniform in +-sqrt(6 / (rows + cols)) */
    NN_INIT_ZERO,
    NN_INIT_ONE,
    NN_INIT_UNIT, /* uniform, of variance 1 */
    NN_INIT_FAN,  /* uniform in +-fan^-1/2 */
};

enum { NN_RANK = 4 };
struct nn_param {
    const char *name;
    uint32_t rank, shape[NN_RANK];
    size_t at, size; /* floats of the flat vector; at is a multiple of 16 */
    enum nn_init init;
    uint32_t fan;     /* for NN_INIT_FAN */
    uint32_t stacked; /* matrices of a layer, one above another, for Muon; 0: none */
};

struct nn_table {
    struct nn_param *params;
    size_t n;
    size_t total; /* floats of the flat vector, including gaps (always 0) */
    size_t count; /* parameters, without gaps */
};

/* Appends a parameter; `params` must have room for it. Does not copy the name. Returns the offset;
 * cols is 0 for a vector. */
size_t nn_table_add(struct nn_table *t, const char *name, enum nn_init init, uint32_t rows,
                    uint32_t cols);
/* The same for any rank, initialised by NN_INIT_FAN. */
size_t nn_table_add_shape(struct nn_table *t, const char *name, uint32_t rank,
                          const uint32_t shape[NN_RANK], uint32_t fan);
/* Initialises flat (total) on the host; depends only on the seed and the order of the table. */
void nn_table_init(float *flat, const struct nn_table *t, uint64_t seed);
/* Returns the first parameter with a value in `flat` that is not finite, or NULL. */
const struct nn_param *nn_table_not_finite(const struct nn_table *t, const float *flat);
/* Fills table (rows, d) on the host: interleaved sin and cos of Vaswani et al. 2017. */
void nn_sinusoids(float *table, uint32_t rows, uint32_t d);
