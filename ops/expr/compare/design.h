/* The points at which two sides are compared. They are designed and not drawn: a function of the
 * terms and the domains alone, whatever the variables are called.
 *
 * Levels: each variable takes values of several signs and orders of magnitude; an orthogonal array
 * combines them, so that any two variables meet in every combination.
 *
 * Cells: a term is analytic but where the argument of a root, a logarithm, an absolute value or the
 * like reaches certain values. On a line on which one variable moves, these places are isolated,
 * and the points lie between any two that follow each other, beyond the last ones, and far out.
 * From each of them lines in the directions of the other variables start again. */
#pragma once

#include "ops/expr/expr.h"

#include <flint/fmpq.h>

enum design_kind { DESIGN_REAL, DESIGN_INTEGER, DESIGN_COMPLEX };

struct design_variable {
    uint16_t op; /* X_SYM or X_VAR */
    const char *name;
    enum design_kind kind;
    const char *low, *high; /* numbers between which it is, or NULL */
};

struct design_number {
    fmpq re, im;
};

/* n points of n_variables numbers each. */
struct design_points {
    struct design_number *at;
    size_t n, n_variables, cap;
};
void design_points_free(struct design_points *p);
const struct design_number *design_point(const struct design_points *p, size_t k);
void design_number_init(struct design_number *x);
void design_number_clear(struct design_number *x);
void design_number_set(struct design_number *out, const struct design_number *x);

/* Adds the variables of x that are missing, in the order in which they occur, as `kind`, and returns
 * their number. */
size_t design_add_variables(struct design_variable *all, size_t n, size_t max, const struct expr *x,
                            enum design_kind kind);

/* The value of variable `index` at point k of the levels; `salt` varies its last digits. */
void design_level(struct design_number *out, const struct design_variable *v, unsigned index,
                  uint64_t salt, uint32_t k);
/* A hash of the term that does not depend on the names of its variables. */
uint64_t design_salt(const struct expr *x, const struct design_variable *all, size_t n);

struct design_limits {
    uint32_t points; /* at most */
    uint64_t salt;
    bool exact; /* also the places themselves, where they are rational */
};
/* The points of the cells of the terms; `more` are terms whose zeros also separate cells. */
void design_cells(struct design_points *out, const struct design_variable *all, size_t n,
                  const struct expr *terms, size_t n_terms, const struct expr *more, size_t n_more,
                  const struct design_limits *limits);
