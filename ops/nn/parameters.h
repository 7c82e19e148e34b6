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
    size_t at, size; /* floats within the flat vector; at is a multiple of 16 */
    enum nn_init init;
    uint32_t fan; /* NN_INIT_FAN */
};

struct nn_table {
    struct nn_param *params;
    size_t n;
    size_t total; /* floats of the flat vector, gaps included (they stay 0) */
    size_t count; /* of parameters */
};

/* One more, behind the others; `params` has room for it. The name is not copied. Returns where it
 * is; cols is 0 for a vector. */
size_t nn_table_add(struct nn_table *t, const char *name, enum nn_init init, uint32_t rows,
                    uint32_t cols);
/* The same for any rank, initialised by NN_INIT_FAN. */
size_t nn_table_add_shape(struct nn_table *t, const char *name, uint32_t rank,
                          const uint32_t shape[NN_RANK], uint32_t fan);
/* A function of the seed and the parameter's place in the table only. flat: (total), host. */
void nn_table_init(float *flat, const struct nn_table *t, uint64_t seed);
/* The first parameter of which `flat` holds a number that is not finite, or NULL. */
const struct nn_param *nn_table_not_finite(const struct nn_table *t, const float *flat);
/* table (rows, d), host: sin and cos of Vaswani et al. 2017, interleaved. */
void nn_sinusoids(float *table, uint32_t rows, uint32_t d);
