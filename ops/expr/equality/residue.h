/* A check of identities that shares nothing with normal forms: both terms are computed modulo a
 * prime of 62 bits, at random values of the variables. Exponentials become powers: e^m is a random
 * base for each monomial m, so that e^(r m) e^(s m) = e^((r + s) m), i is a root of -1, e^(i pi) =
 * -1. An identity by expansion and these laws holds there, too; what is false agrees by chance
 * only. */
#ifndef OPS_EXPR_EQUALITY_RESIDUE_H
#define OPS_EXPR_EQUALITY_RESIDUE_H

#include "ops/expr/expr.h"

enum residue {
    RESIDUE_AGREES, /* at all of the points */
    RESIDUE_DIFFERS,
    RESIDUE_UNKNOWN, /* there are roots, logarithms, derivatives */
};

enum residue residue_compare(const struct expr *x, const struct expr *y);

#endif
