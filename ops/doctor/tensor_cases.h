/* The cases of tensor_checks.h: buffers, and calls of ops on these. */
#pragma once

#include "gpu/gpu.h"

/* Sizes with remainders on all sides. Sequences have 1, 13, 40 and 7 rows. */
enum {
    SEQUENCES = 4,
    MANY = 17,
    ROWS = 61,
    COLS = 70,
    HEADS = 2,
    SIZE = 35,
    WIDE = 90,
    WORDS = 23,
    LONG = 64
};
/* Of products without remainders. */
enum { TOKENS = 11556, BROAD = 512, SOME = 2048 };

enum contents {
    NONE,
    NORMAL,   /* standard normal */
    STORED,   /* standard normal, rounded to and stored in the precision's type of activations */
    EMPTY,    /* 0, stored as activations are */
    POSITIVE, /* 0.5 to 1.5 */
    COSINE,   /* -1 to 1 */
    ZERO,
    DOUBLES, /* 1, 2, ... */
    OFFSETS, /* of sequences in the rows */
    EVEN,    /* of MANY sequences */
    NAMES,   /* tokens; groups */
    TARGETS, /* a column for each row */
    ORDER,   /* a permutation of the rows */
};
struct buffer {
    enum contents what;
    size_t n;
};
/* clang-format off */
#define MATRIX {NORMAL, ROWS * COLS}
#define RESULT {ZERO, ROWS * COLS}
#define ACTIVE {STORED, ROWS * COLS}
#define EMPTY_ACTIVE {EMPTY, ROWS * COLS}
/* clang-format on */

enum { BUFFERS = 13 };
struct check_case {
    const char *name;
    enum gpu_precision precision;
    double tolerance;
    void (*run)(struct gpu_queue *q, void *const *p, enum gpu_precision precision);
    struct buffer buffers[BUFFERS];
};

extern const struct check_case layer_cases[], tensor_cases[];
extern const size_t layer_cases_number, tensor_cases_number;
