/* Exercises with the vectors of their terms, as made by `tokenize-exercises` and then `embed`. */
#pragma once

#include "engine/op.h"
#include "exercise.pb-c.h"
#include "ops/eval/measure/vectors.h"

struct examined {
    const Eqloom__Exercise **exercises;
    uint32_t *first; /* row of each exercise's first term; the others follow */
    size_t n;
    struct vectors v; /* of length 1 */
};

/* Reads two inputs into the ctx's arena. ERR_INPUT if they do not belong together. */
enum err_code examined_load(struct examined *out, struct op_ctx *ctx, const char *exercises,
                            const char *embeddings, struct err *e);
char *examined_infix(struct arena *a, const Eqloom__Exercise *x, size_t term);
/* Cosine of two terms of exercise k. */
static inline float examined_similarity(const struct examined *x, size_t k, size_t i, size_t j)
{
    const struct vectors *v = &x->v;
    return vector_dot(vectors_at(v, x->first[k] + i), vectors_at(v, x->first[k] + j), v->stride);
}
