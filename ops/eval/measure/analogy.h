/* Analogies of vectors: x1 is to y1 as x2 is to what? To the expression whose vector is nearest to
 * y1 - x1 + x2, inputs apart (Mikolov et al. 2013; SemEmb; E-Gen). */
#pragma once

#include "ops/eval/measure/vectors.h"
#include "ops/expr/expr.h"

/* Of v's rows: the terms of one analogy, y2 being what is to be found. */
enum { ANALOGY_TERMS = 4 };
struct analogy {
    uint32_t row[ANALOGY_TERMS]; /* x1 y1 x2 y2 */
    float *target;               /* (stride) */
    bool aimless; /* there is none: y1 - x1 + x2 is 0, and nothing is nearest to it */
};

enum { ANALOGY_DEPTH = 5 };
struct analogy_answer {
    uint32_t found[ANALOGY_DEPTH]; /* rows, nearest first */
    float similarity[ANALOGY_DEPTH];
    size_t n;
    uint32_t rank; /* of the first that is equal to y2, from 1; 0: none of these */
};

/* target of length 1, from vectors as they are. */
void analogy_aim(struct analogy *x, struct arena *a, const struct vectors *v);

struct analogy_rules {
    const struct language *lang;
    uint32_t points; /* at which values are compared */
    bool text;       /* E-Gen's: right is what is written as y2 */
};
/* The nearest rows of v, whose vectors have length 1, of different texts. What is written as x1, y1
 * or x2 is not considered, nor what equals one of them and not y2; by text, nor what equals x2 or
 * y2 and is not y2 itself. ERR_INPUT names a text that is no expression of the language. Ties go by
 * row. */
enum err_code analogy_find(struct analogy_answer *out, struct arena *a, const struct analogy *x,
                           const struct vectors *v, const struct analogy_rules *how, struct err *e);
