/* Leibniz's notation: \frac{d}{dx}, \frac{\partial^2 f}{\partial x \partial y}, d^2/dx^2. */
#pragma once

#include "ops/latex/read/latex_lists.h"

enum { LATEX_ORDER_MAX = 9 };
struct latex_derivative {
    const char *variables[LATEX_ORDER_MAX]; /* the outermost derivative's first */
    unsigned n;                             /* 0: this is no derivative */
    bool partial;
    struct latex_list of; /* what stands in the numerator; empty for an operator */
};

/* Recognises a fraction as a derivative; what can only be meant as one, but is not read, is
 * refused. */
struct latex_derivative latex_derivative_of(struct latex_reading *r, const json_t *node,
                                            struct latex_list above, struct latex_list below);
/* The same for d/dx, at the position of the list; moves past it. */
struct latex_derivative latex_derivative_at(struct latex_reading *r, struct latex_list *l);
/* Whether one of the nodes of the list from there to its position is \frac{d}{dx} alone. */
bool latex_has_derivative(struct latex_reading *r, const struct latex_list *l, size_t from);
/* SymPy writes (d/dx f) g like d/dx (f g). Whether a product with this first factor may be the
 * former: both depend on a variable of the derivative and f is no letter, d stands where \partial
 * would, or g has Max or Min, which SymPy writes last. */
bool latex_is_divided(const struct latex_reading *r, const struct latex_derivative *d,
                      struct latex_value first, struct latex_value product);
/* Applies it. Refuses what would be 0 only because it is not known to depend on the variable. */
struct latex_value latex_derive(struct latex_reading *r, const json_t *node,
                                const struct latex_derivative *d, struct latex_value x);
