#include "ops/expr/equality/series.h"

#include <stdlib.h>

struct series series_constant(ulong c)
{
    return (struct series){{c}};
}

struct series series_add(nmod_t mod, struct series x, struct series y)
{
    for (int k = 0; k < SERIES_ORDER; k++)
        x.c[k] = nmod_add(x.c[k], y.c[k], mod);
    return x;
}

struct series series_scale(nmod_t mod, struct series x, ulong by)
{
    for (int k = 0; k < SERIES_ORDER; k++)
        x.c[k] = nmod_mul(x.c[k], by, mod);
    return x;
}

struct series series_sub(nmod_t mod, struct series x, struct series y)
{
    return series_add(mod, x, series_scale(mod, y, mod.n - 1));
}

struct series series_mul(nmod_t mod, const struct series *x, const struct series *y)
{
    struct series z = {{0}};
    for (int i = 0; i < SERIES_ORDER; i++)
        for (int k = 0; i + k < SERIES_ORDER; k++)
            z.c[i + k] = nmod_add(z.c[i + k], nmod_mul(x->c[i], y->c[k], mod), mod);
    return z;
}

struct series series_div(nmod_t mod, struct series x, const struct series *y)
{
    ulong inverse = nmod_inv(y->c[0], mod);
    for (int i = 0; i < SERIES_ORDER; i++) {
        for (int k = 1; k <= i; k++)
            x.c[i] = nmod_sub(x.c[i], nmod_mul(y->c[k], x.c[i - k], mod), mod);
        x.c[i] = nmod_mul(x.c[i], inverse, mod);
    }
    return x;
}

struct series series_derivative(nmod_t mod, const struct series *x)
{
    struct series d = {{0}};
    for (int k = 1; k < SERIES_ORDER; k++)
        d.c[k - 1] = nmod_mul(x->c[k], (ulong)k, mod);
    return d;
}

struct series series_integral(nmod_t mod, ulong value, const struct series *d)
{
    struct series x = series_constant(value);
    for (int k = 1; k < SERIES_ORDER; k++)
        x.c[k] = nmod_div(d->c[k - 1], (ulong)k, mod);
    return x;
}

struct series series_exponential(nmod_t mod, ulong value, const struct series *x)
{
    struct series e = series_constant(value), d = series_derivative(mod, x);
    for (int k = 1; k < SERIES_ORDER; k++) { /* k e_k = sum d_i e_(k-1-i) */
        ulong sum = 0;
        for (int i = 0; i < k; i++)
            sum = nmod_add(sum, nmod_mul(d.c[i], e.c[k - 1 - i], mod), mod);
        e.c[k] = nmod_div(sum, (ulong)k, mod);
    }
    return e;
}

struct series series_power(nmod_t mod, struct series x, long n)
{
    struct series out = series_constant(1), one = series_constant(1);
    if (n < 0)
        x = series_div(mod, one, &x);
    for (unsigned long k = (unsigned long)labs(n); k; k >>= 1) {
        if (k & 1)
            out = series_mul(mod, &out, &x);
        x = series_mul(mod, &x, &x);
    }
    return out;
}
