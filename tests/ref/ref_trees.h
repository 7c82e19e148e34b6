/* EqNet once more: one tree at a time, by recursion, in double precision. */
#pragma once

#include "ops/nn/tree/tree_lists.h"

/* Margin loss minus `codes` times the cosines, as tree_trainer.h has it; without dropout. */
double ref_tree_loss(const struct tree_model *m, const double *w, const struct tree_set *s,
                     const uint32_t *class, const float *prior, double margin, double codes);

/* The loss of a network of functions, as tree_trainer.h has it. Expressions are of + - * sin, x and
 * numbers; their values and derivatives are found by the chain rule. */
struct ref_functions {
    struct tree_set set;
    const uint32_t *class, *from; /* as of struct tree_batch */
    size_t paired;
    const uint16_t *op; /* by token */
    const double *number;
    double values, temperature;
};
double ref_functions_loss(const struct tree_model *m, const double *w,
                          const struct ref_functions *x);
