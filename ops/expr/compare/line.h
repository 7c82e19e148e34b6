/* A line on which one variable moves and the others rest: the places at which the parts of terms
 * reach their critical numbers. If a part is rational on the line, up to the signs of absolute values
 * and to constants, they are isolated as roots of polynomials (FLINT, Arb); else changes of sign and
 * of being real are found by bisection. */
#pragma once

#include "ops/expr/ball/ball_eval.h"
#include "ops/expr/compare/critical.h"
#include "ops/expr/compare/design.h"

enum { LINE_MAX_PLACES = 96 };

struct line {
    const struct design_variable *all;
    size_t n;
    const struct design_number *base; /* a value of each variable */
    size_t moving;                    /* the variable that moves: offset + s*direction */
    int direction_re, direction_im;   /* of a complex variable, whose offset is 0; else 1 and 0 */
    struct ball_evaluator evaluator;
    acb_struct *values; /* of the variables, as balls */
    fmpq places[LINE_MAX_PLACES]; /* sorted by line_find; all initialised */
    /* Whether it is the place, and not close to it; whether a value at the place matters. */
    bool exact[LINE_MAX_PLACES], bump[LINE_MAX_PLACES];
    size_t n_places;
};

void line_open(struct line *l, const struct design_variable *all, size_t n);
void line_close(struct line *l);
/* Finds the places for the critical parts. `base` and `moving` are set. */
void line_find(struct line *l, const struct critical *parts, size_t n_parts);
/* Sorts the places and removes those that are equal. */
void line_sort(struct line *l);
