/* Exact rationals on FLINT's fmpq. Arguments and results are text: a number is stored in an
 * expression as the text of its reduced form, so equality of numbers is equality of text. */
#include "ops/expr/rational.h"

#include "ops/expr/expr.h"

#include <arb.h>
#include <flint/fmpq.h>
#include <string.h>

static char *to_text(struct arena *a, const fmpq_t q, size_t max_digits)
{
    size_t digits = fmpz_sizeinbase(fmpq_numref(q), 10) + fmpz_sizeinbase(fmpq_denref(q), 10);
    if (digits >
        max_digits + 3) /* each may be one digit too large, and a denominator of 1 is not written */
        return NULL;
    char *text = arena_alloc(a, digits + 4);
    fmpq_get_str(text, 10, q);
    size_t written = strlen(text) - (*text == '-') - (strchr(text, '/') != NULL);
    return written > max_digits ? NULL : text;
}

/* Requires a reduced number. */
static void set(fmpq_t q, const char *number)
{
    int bad = fmpq_set_str(q, number, 10);
    if (bad)
        flint_abort();
}

static size_t digits_at(const char *s, const char *end)
{
    size_t n = 0;
    while (s + n < end && s[n] >= '0' && s[n] <= '9')
        n++;
    return n;
}

char *number_read(struct arena *a, const char *text, size_t n)
{
    char digits[EXPR_MAX_DIGITS + 8], *out = NULL;
    if (n == 0 || n > EXPR_MAX_DIGITS + 3)
        return NULL;
    const char *s = text + (*text == '-'), *end = text + n;
    size_t whole = digits_at(s, end), part = 0;
    s += whole;
    char sign = s < end ? *s : 0;
    if (sign == '/' || sign == '.') {
        part = digits_at(s + 1, end);
        s += 1 + part;
    }
    if (s != end || whole == 0 || (sign && part == 0) || whole + part > EXPR_MAX_DIGITS)
        return NULL;
    memcpy(digits, text, n);
    digits[n] = 0;
    fmpq_t q;
    fmpq_init(q);
    if (sign == '.') { /* 0.25 is 025 / 10^2 */
        memmove(digits + n - part - 1, digits + n - part, part + 1);
        fmpz_ui_pow_ui(fmpq_denref(q), 10, part);
    } else if (sign) {
        digits[n - part - 1] = 0;
        fmpz_set_str(fmpq_denref(q), digits + n - part, 10);
    }
    fmpz_set_str(fmpq_numref(q), digits, 10);
    if (!fmpz_is_zero(fmpq_denref(q))) {
        fmpq_canonicalise(q);
        out = to_text(a, q, EXPR_MAX_DIGITS);
    }
    fmpq_clear(q);
    return out;
}

bool number_is_integer(const char *number)
{
    return !strchr(number, '/');
}

static bool power(fmpq_t r, const fmpq_t x, const fmpq_t y, size_t max_digits)
{
    if (!fmpz_is_one(fmpq_denref(y)) || (fmpq_is_zero(x) && fmpq_sgn(y) <= 0))
        return false;
    if (fmpq_is_zero(x) || fmpq_is_one(x)) {
        fmpq_set(r, x);
        return true;
    }
    /* |x| has at least one bit in numerator or denominator, so a larger exponent makes the result
     * too long. */
    if (fmpz_cmpabs(fmpq_numref(y), (fmpz[]){(fmpz)(4 * max_digits)}) > 0) {
        if (!fmpz_is_pm1(fmpq_numref(x)) || !fmpz_is_one(fmpq_denref(x)))
            return false;
        fmpq_set_si(r, fmpz_is_odd(fmpq_numref(y)) ? -1 : 1, 1); /* x is -1 here */
        return true;
    }
    slong n = fmpz_get_si(fmpq_numref(y));
    size_t bits = fmpz_bits(fmpq_numref(x)) + fmpz_bits(fmpq_denref(x));
    if (bits > 2 && (bits - 2) * (size_t)(n < 0 ? -n : n) > 8 * max_digits)
        return false;
    fmpq_pow_si(r, x, n);
    return true;
}

char *number_combine(struct arena *a, char op, const char *x, const char *y, size_t max_digits)
{
    fmpq_t p, q, r;
    fmpq_init(p);
    fmpq_init(q);
    fmpq_init(r);
    set(p, x);
    set(q, y);
    bool defined = true;
    switch (op) {
    case '+': fmpq_add(r, p, q); break;
    case '-': fmpq_sub(r, p, q); break;
    case '*': fmpq_mul(r, p, q); break;
    case '/':
        defined = !fmpq_is_zero(q);
        if (defined)
            fmpq_div(r, p, q);
        break;
    case '^': defined = power(r, p, q, max_digits); break;
    default: defined = false;
    }
    char *out = defined ? to_text(a, r, max_digits) : NULL;
    fmpq_clear(p);
    fmpq_clear(q);
    fmpq_clear(r);
    return out;
}

char *number_of_term(struct arena *a, const struct expr *x, size_t max_digits)
{
    static const char signs[] = {
        [X_ADD] = '+', [X_SUB] = '-', [X_MUL] = '*', [X_DIV] = '/', [X_POW] = '^'};
    uint16_t op = x->nodes[0].op;
    if (op == X_NUM)
        return arena_strdup(a, x->nodes[0].leaf);
    if (op < X_ADD || op > X_POW)
        return NULL;
    struct expr left = expr_child(x, 0), right = expr_child(x, 1);
    const char *p = number_of_term(a, &left, max_digits);
    const char *q = p ? number_of_term(a, &right, max_digits) : NULL;
    return q ? number_combine(a, signs[op], p, q, max_digits) : NULL;
}

double number_double(const char *number)
{
    fmpq_t q;
    arb_t b;
    fmpq_init(q);
    arb_init(b);
    set(q, number);
    arb_set_fmpq(b, q, 128);
    double d = arf_get_d(arb_midref(b), ARF_RND_NEAR);
    arb_clear(b);
    fmpq_clear(q);
    return d;
}

int number_sign(const char *number)
{
    return number[0] == '-' ? -1 : strcmp(number, "0") != 0;
}

int number_compare(const char *x, const char *y)
{
    fmpq_t p, q;
    fmpq_init(p);
    fmpq_init(q);
    set(p, x);
    set(q, y);
    int c = fmpq_cmp(p, q);
    fmpq_clear(p);
    fmpq_clear(q);
    return (c > 0) - (c < 0);
}
