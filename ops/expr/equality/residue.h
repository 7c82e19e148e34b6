/* A check of identities that is independent of normal forms: evaluates both terms modulo 62-bit
 * primes at random values of the variables. Exponentials become powers: e^m is a random base for
 * each monomial m, so that e^(r m) e^(s m) = e^((r + s) m), i is a root of -1, e^(i pi) = -1. An
 * identity that follows by expansion and these laws holds here, too; a false one agrees only by
 * chance.
 *
 * Derivatives are read off Taylor series modulo the prime. A square root is either root, chosen at
 * random for each radicand, an absolute value of a real term either sign, and ln, asin, ... have
 * random values with the right derivatives. Terms that agree at 48 such points are equal on every
 * branch, including the principal one; terms that do not may be equal for principal values only, so
 * the result is unknown. */
#pragma once

#include "ops/expr/expr.h"

enum residue {
    RESIDUE_AGREES, /* at all of the points */
    RESIDUE_DIFFERS,
    RESIDUE_UNKNOWN, /* depends on branches, or is not covered */
};

/* `real`: all symbols are real. */
enum residue residue_compare(const struct expr *x, const struct expr *y, bool real);
