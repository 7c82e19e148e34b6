/* Reads a matrix in NumPy's format, .npy 1.0 to 3.0: float32, little-endian, by rows. Other arrays
 * are refused by what they are. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/span.h"

#include <stdint.h>

enum { NPY_DIM_MAX = 1 << 20 };

struct npy_matrix {
    const float *values; /* (rows, dim), in the arena */
    uint64_t rows;
    uint32_t dim; /* 1 to NPY_DIM_MAX */
};

enum err_code npy_read(struct npy_matrix *out, struct arena *a, const struct source_text *file,
                       struct err *e);
