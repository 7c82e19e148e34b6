/* Exact rational constants; see constant.h. */
#include "ops/egraph/facts/constant.h"

#include "base/buf.h"
#include "ops/expr/lang.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_BITS = 213 }; /* of CONSTANT_MAX_DIGITS decimal digits */

void constant_free(struct constants *t)
{
    for (size_t i = 0; i < t->n; i++) {
        mpq_clear(t->values[i]);
        free(t->texts[i]);
    }
    free(t->values);
    free(t->texts);
    name_map_free(&t->by_text);
    *t = (struct constants){0};
}

/* Interns a canonical value, which is copied. */
static uint32_t intern(struct constants *t, mpq_srcptr value)
{
    char *text = mpq_get_str(NULL, 10, value);
    bool added;
    uint64_t *id = name_map_put(&t->by_text, text, t->n, &added);
    if (!added) {
        free(text);
        return (uint32_t)*id;
    }
    t->values = vec_grow(t->values, &t->values_cap, t->n + 1, sizeof *t->values);
    t->texts = vec_grow(t->texts, &t->texts_cap, t->n + 1, sizeof *t->texts);
    mpq_init(t->values[t->n]);
    mpq_set(t->values[t->n], value);
    t->texts[t->n] = text;
    return (uint32_t)t->n++;
}

uint32_t constant_parse(struct constants *t, const char *text)
{
    uint64_t *known = name_map_get(&t->by_text, text);
    if (known)
        return (uint32_t)*known;
    mpq_t value;
    mpq_init(value);
    uint32_t id = NO_CONSTANT;
    if (mpq_set_str(value, text, 10) == 0 && mpz_sgn(mpq_denref(value)) != 0) {
        mpq_canonicalize(value);
        id = intern(t, value);
    }
    mpq_clear(value);
    return id;
}

const char *constant_text(const struct constants *t, uint32_t id)
{
    return t->texts[id];
}

static bool fits(mpq_srcptr v)
{
    return mpz_sizeinbase(mpq_numref(v), 10) <= CONSTANT_MAX_DIGITS &&
           mpz_sizeinbase(mpq_denref(v), 10) <= CONSTANT_MAX_DIGITS;
}

static size_t bits(mpq_srcptr v)
{
    size_t p = mpz_sizeinbase(mpq_numref(v), 2), q = mpz_sizeinbase(mpq_denref(v), 2);
    return p > q ? p : q;
}

/* out = a^n; a != 0 unless n > 0. Returns false if the result would be too long. */
static bool power(mpq_ptr out, mpq_srcptr a, long n)
{
    unsigned long k = n < 0 ? (unsigned long)-n : (unsigned long)n;
    bool unit = mpz_cmpabs_ui(mpq_numref(a), 1) <= 0 && mpz_cmp_ui(mpq_denref(a), 1) == 0;
    /* the numerator or denominator of |a| is at least 2^(bits-1) */
    if (!unit && (k > MAX_BITS + 1 || (bits(a) - 1) * k > MAX_BITS))
        return false;
    if (unit)
        k = k ? 2 - k % 2 : 0; /* it only matters whether it is zero, odd or even */
    mpz_pow_ui(mpq_numref(out), mpq_numref(a), k);
    mpz_pow_ui(mpq_denref(out), mpq_denref(a), k);
    if (n < 0)
        mpq_inv(out, out);
    return true;
}

/* Returns the rational square root of a nonnegative value, if it has one. */
static bool square_root(mpq_ptr out, mpq_srcptr a)
{
    if (mpq_sgn(a) < 0 || !mpz_perfect_square_p(mpq_numref(a)) ||
        !mpz_perfect_square_p(mpq_denref(a)))
        return false;
    mpz_sqrt(mpq_numref(out), mpq_numref(a));
    mpz_sqrt(mpq_denref(out), mpq_denref(a));
    return true;
}

static bool fold_power(mpq_ptr out, mpq_srcptr a, mpq_srcptr b)
{
    if (!mpz_fits_slong_p(mpq_numref(b)))
        return false;
    long n = mpz_get_si(mpq_numref(b));
    if (n == 0 ? mpq_sgn(a) == 0 : n < 0 && mpq_sgn(a) == 0)
        return false; /* 0^0 and 1/0 */
    if (labs(n) > 1L << 30)
        return false;
    if (mpz_cmp_ui(mpq_denref(b), 1) == 0)
        return power(out, a, n);
    if (mpz_cmp_ui(mpq_denref(b), 2) != 0)
        return false;
    mpq_t root;
    mpq_init(root);
    bool ok = square_root(root, a) && power(out, root, n);
    mpq_clear(root);
    return ok;
}

static bool fold_into(mpq_ptr out, unsigned op, mpq_srcptr a, mpq_srcptr b)
{
    switch (op) {
    case X_ADD: mpq_add(out, a, b); return true;
    case X_SUB: mpq_sub(out, a, b); return true;
    case X_MUL: mpq_mul(out, a, b); return true;
    case X_DIV:
        if (mpq_sgn(b) == 0)
            return false;
        mpq_div(out, a, b);
        return true;
    case X_POW: return fold_power(out, a, b);
    case X_SQRT: return square_root(out, a);
    case X_ABS: mpq_abs(out, a); return true;
    }
    return false;
}

uint32_t constant_fold(struct constants *t, unsigned op, uint32_t a, uint32_t b)
{
    mpq_srcptr x = t->values[a], y = b == NO_CONSTANT ? x : t->values[b];
    if (!fits(x) || !fits(y))
        return NO_CONSTANT; /* constants in terms may have any length */
    mpq_t value;
    mpq_init(value);
    uint32_t id = NO_CONSTANT;
    if (fold_into(value, op, x, y) && fits(value))
        id = intern(t, value);
    mpq_clear(value);
    return id;
}

void constant_bounds(double *lo, double *hi, const struct constants *t, uint32_t id)
{
    mpq_srcptr v = t->values[id];
    if (bits(v) > 1000) { /* may be outside the range of doubles */
        bool integer = mpz_cmp_ui(mpq_denref(v), 1) == 0;
        *lo = mpq_sgn(v) < 0 ? -INFINITY : integer ? 1 : 0;
        *hi = mpq_sgn(v) > 0 ? INFINITY : integer ? -1 : 0;
        return;
    }
    double d = mpq_get_d(v); /* truncates towards zero */
    mpq_t back;
    mpq_init(back);
    mpq_set_d(back, d);
    int above = mpq_cmp(v, back);
    mpq_clear(back);
    *lo = above < 0 ? nextafter(d, -INFINITY) : d;
    *hi = above > 0 ? nextafter(d, INFINITY) : d;
}

int constant_sign(const struct constants *t, uint32_t id)
{
    return mpq_sgn(t->values[id]);
}

bool constant_is_integer(const struct constants *t, uint32_t id)
{
    return mpz_cmp_ui(mpq_denref(t->values[id]), 1) == 0;
}

bool constant_is_even(const struct constants *t, uint32_t id)
{
    return constant_is_integer(t, id) && mpz_even_p(mpq_numref(t->values[id]));
}

bool constant_small(long *out, const struct constants *t, uint32_t id)
{
    mpq_srcptr v = t->values[id];
    if (!constant_is_integer(t, id) || !mpz_fits_sint_p(mpq_numref(v)))
        return false;
    *out = mpz_get_si(mpq_numref(v));
    return true;
}

uint32_t constant_part(struct constants *t, uint32_t id, bool denominator)
{
    mpq_t value;
    mpq_init(value);
    mpq_set_z(value, denominator ? mpq_denref(t->values[id]) : mpq_numref(t->values[id]));
    uint32_t part = intern(t, value);
    mpq_clear(value);
    return part;
}
