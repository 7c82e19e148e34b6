/* Where the value of a term may cease to be analytic: where a part of it reaches a number. */
#pragma once

#include "ops/expr/expr.h"

#include <flint/fmpq.h>

struct critical {
    struct expr part;
    /* The part minus first + k*step, k = 0 to steps, in units of 1 or of a quarter turn. */
    int first, step, steps;
    bool turns;
    bool bump; /* a function of the part is steep there, and has values that matter at the place */
};

enum { CRITICAL_MAX = 24 };

/* Lists those of the term, inner ones first. Adds to n entries. */
size_t critical_list(struct critical *all, size_t n, struct arena *a, const struct expr *x);
/* Adds the zeros of a term. */
size_t critical_add_zeros(struct critical *all, size_t n, const struct expr *x);
/* The number that the part reaches. */
void critical_target(fmpq_t out, const struct critical *c, int k);
