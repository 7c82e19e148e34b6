/* Taylor series modulo a prime, along the line on which one variable moves. */
#pragma once

#include <flint/nmod_vec.h>

enum { SERIES_ORDER = 4 }; /* derivatives at most three deep */

struct series {
    ulong c[SERIES_ORDER];
};

struct series series_constant(ulong c);
struct series series_add(nmod_t mod, struct series x, struct series y);
struct series series_scale(nmod_t mod, struct series x, ulong by);
struct series series_sub(nmod_t mod, struct series x, struct series y);
struct series series_mul(nmod_t mod, const struct series *x, const struct series *y);
/* x/y, y(0) not zero. */
struct series series_div(nmod_t mod, struct series x, const struct series *y);
struct series series_derivative(nmod_t mod, const struct series *x);
/* With this value and derivative. */
struct series series_integral(nmod_t mod, ulong value, const struct series *d);
/* value e^(x - x(0)) */
struct series series_exponential(nmod_t mod, ulong value, const struct series *x);
struct series series_power(nmod_t mod, struct series x, long n);
