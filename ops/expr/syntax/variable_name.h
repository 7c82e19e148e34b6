/* Names of variables. In infix a letter, also a Greek one by its name, stands for itself, with
 * digits or an index (x, x12, x_max, theta_1, and mathcal_L for a letter of a font); any other name
 * is written in quotes, "speed", because xy may be a product. In a language without products every
 * name stands for itself. */
#pragma once

#include "base/buf.h"
#include "ops/expr/lang.h"

/* Whether infix reads the name as one variable without quotes. */
bool variable_is_plain(const struct language *lang, const char *name, size_t n);
/* The leaf of the variable. It is a token of the prefix syntax, where the names of operators are
 * taken: such a variable keeps its quotes, as "d". */
const char *variable_leaf(struct arena *a, const struct language *lang, const char *name, size_t n);
/* The name of a leaf, without quotes. */
const char *variable_of(size_t *n, const char *leaf);
void variable_write_infix(struct buf *out, const struct language *lang, const char *leaf);
/* How infix spells the variable of this name. */
const char *variable_infix(struct arena *a, const struct language *lang, const char *name);
/* Whether these are letters that stand with an upper index, too: L_n^k, Y_l^m, delta_a^b. */
bool variable_has_components(const char *letters, size_t n);
/* Whether this power of a variable looks like something else: C_n^k, A^T, f^(-1), delta_a^b. The
 * exponent is a leaf. */
bool variable_is_marked(const char *base, const char *exponent);
