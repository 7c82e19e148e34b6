/* A check of identities that shares nothing with normal forms: both terms are computed modulo
 * primes of 62 bits, at random values of the variables. Exponentials become powers: e^m is a random
 * base for each monomial m, so that e^(r m) e^(s m) = e^((r + s) m), i is a root of -1, e^(i pi) =
 * -1. An identity by expansion and these laws holds there, too; what is false agrees by chance
 * only.
 *
 * Derivatives are read off Taylor series modulo the prime. A square root is either root, chosen at
 * random for each value under it, an absolute value of something real either sign, and ln, asin,
 * ... have random values with the right derivatives. What agrees at 48 such points holds whatever
 * branch is taken, also for the principal one; what does not may be an identity of principal values
 * only, and is unknown. */
#pragma once

#include "ops/expr/expr.h"

enum residue {
    RESIDUE_AGREES, /* at all of the points */
    RESIDUE_DIFFERS,
    RESIDUE_UNKNOWN, /* where branches matter, or for other reasons */
};

/* `real`: all symbols are. */
enum residue residue_compare(const struct expr *x, const struct expr *y, bool real);
