/* See residue.h. */
#include "ops/expr/equality/residue.h"

#include "base/rng.h"
#include "ops/expr/rational.h"

#include <flint/fmpz.h>
#include <flint/nmod_vec.h>
#include <flint/ulong_extras.h>
#include <stdlib.h>
#include <string.h>

/* LEVEL: exponents are multiples of 1/LEVEL. */
enum { POINTS = 3, LEVEL = 5040, MAX_FACTORS = 16, DIGITS = 200 };

struct point {
    ulong p, i; /* the prime; i^2 = -1 */
    ulong turn; /* e^(2 pi i/(2 LEVEL)) */
    nmod_t mod;
    uint64_t seed;
    struct arena a;
};

/* Of a text, never 0. */
static ulong random_of(const struct point *at, const char *kind, const char *name)
{
    uint64_t h = rng_mix(at->seed);
    for (; *kind; kind++)
        h = rng_mix(h ^ (unsigned char)*kind);
    for (; *name; name++)
        h = rng_mix(h ^ (unsigned char)*name);
    return 1 + h % (at->p - 1);
}

/* 2 LEVEL, whose prime factors are these. */
static bool has_order(const struct point *at)
{
    static const ulong factors[] = {2, 3, 5, 7};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        if (nmod_pow_ui(at->turn, 2 * LEVEL / factors[i], at->mod) == 1)
            return false;
    return true;
}

/* p = 1 modulo 4 LEVEL, so that i and the turn exist. */
static void point_begin(struct point *at, uint64_t seed)
{
    const ulong step = 4 * LEVEL;
    ulong p = ((ulong)1 << 61) + rng_mix(seed) % ((ulong)1 << 60);
    p -= p % step;
    do
        p += step;
    while (!n_is_prime(p + 1));
    *at = (struct point){.p = p + 1, .seed = seed};
    nmod_init(&at->mod, at->p);
    ulong g = 1;
    do
        at->turn = nmod_pow_ui(++g, p / (2 * LEVEL), at->mod);
    while (!has_order(at));
    at->i = nmod_pow_ui(at->turn, LEVEL / 2, at->mod);
}

static bool number_value(ulong *out, const struct point *at, const char *text)
{
    size_t n = strcspn(text, "/");
    char *top = strndup(text, n);
    fmpz_t p, q;
    fmpz_init(p);
    fmpz_init_set_ui(q, 1);
    bool ok = fmpz_set_str(p, top, 10) == 0 && (!text[n] || fmpz_set_str(q, text + n + 1, 10) == 0);
    ulong bottom = fmpz_fdiv_ui(q, at->p);
    ok = ok && bottom;
    *out = ok ? nmod_div(fmpz_fdiv_ui(p, at->p), bottom, at->mod) : 0;
    fmpz_clear(p);
    fmpz_clear(q);
    free(top);
    return ok;
}

/* ---- exponentials ---- */

struct monomial {
    const char *c; /* its number */
    const char *factors[MAX_FACTORS];
    size_t n;
    unsigned i; /* how many times sqrt(-1) */
};

static bool is_i(const struct expr_node *x)
{
    return x->op == X_SQRT && x[1].op == X_NUM && strcmp(x[1].leaf, "-1") == 0;
}

static const struct expr_node *second_of(const struct expr_node *x)
{
    return x + 1 + x[1].size;
}

static bool times(struct monomial *m, struct arena *a, char op, const char *number)
{
    m->c = number_combine(a, op, m->c, number, DIGITS);
    return m->c != NULL;
}

static bool multiply(struct monomial *m, struct arena *a, const struct expr_node *x)
{
    if (x->op == X_NUM)
        return times(m, a, '*', x->leaf);
    if (x->op == X_SYM || x->op == X_VAR) {
        if (m->n == MAX_FACTORS || strcmp(x->leaf, "e") == 0)
            return false;
        size_t k = m->n++;
        for (; k && strcmp(m->factors[k - 1], x->leaf) > 0; k--)
            m->factors[k] = m->factors[k - 1];
        m->factors[k] = x->leaf;
        return true;
    }
    if (is_i(x)) {
        m->i++;
        return true;
    }
    if (x->op == X_MUL)
        return multiply(m, a, x + 1) && multiply(m, a, second_of(x));
    return x->op == X_DIV && second_of(x)->op == X_NUM && multiply(m, a, x + 1) &&
           times(m, a, '/', second_of(x)->leaf);
}

/* out *= e^m */
static bool multiply_exponential(ulong *out, struct point *at, struct monomial *m)
{
    char *c = number_combine(&at->a, '*', m->c, arena_printf(&at->a, "%d", (int)LEVEL), DIGITS);
    if (m->i % 4 >= 2 && c)
        c = number_combine(&at->a, '-', "0", c, DIGITS);
    if (!c || !number_is_integer(c) || strlen(c) > 17)
        return false;
    long power = strtol(c, NULL, 10);
    bool turned = m->i % 2;
    ulong base = at->turn;
    if (!(turned && m->n == 1 && strcmp(m->factors[0], "pi") == 0)) {
        char *name = arena_strdup(&at->a, turned ? "i" : "1");
        for (size_t k = 0; k < m->n; k++)
            name = arena_printf(&at->a, "%s %s", name, m->factors[k]);
        base = random_of(at, "base", name);
    }
    base = nmod_pow_ui(power < 0 ? nmod_inv(base, at->mod) : base, (ulong)labs(power), at->mod);
    *out = nmod_mul(*out, base, at->mod);
    return true;
}

/* out *= e^(c x), of sums of monomials */
static bool exponential(ulong *out, struct point *at, const struct expr_node *x, struct monomial c)
{
    if (x->op == X_ADD || x->op == X_SUB) {
        struct monomial right = c;
        if (x->op == X_SUB && !times(&right, &at->a, '*', "-1"))
            return false;
        return exponential(out, at, x + 1, c) && exponential(out, at, second_of(x), right);
    }
    if (x->op == X_MUL && (x[1].op == X_NUM || is_i(x + 1)))
        return multiply(&c, &at->a, x + 1) && exponential(out, at, second_of(x), c);
    if ((x->op == X_DIV || x->op == X_MUL) && second_of(x)->op == X_NUM)
        return times(&c, &at->a, x->op == X_DIV ? '/' : '*', second_of(x)->leaf) &&
               exponential(out, at, x + 1, c);
    return multiply(&c, &at->a, x) && multiply_exponential(out, at, &c);
}

/* ---- terms ---- */

/* sin, ... of i x, or sinh, ... of x, from e = e^(i x) or e^x. */
static bool circular(ulong *out, const struct point *at, uint16_t op, ulong e)
{
    bool hyperbolic = op >= X_SINH;
    ulong inverse = nmod_inv(e, at->mod), half = nmod_inv(2, at->mod);
    ulong c = nmod_mul(nmod_add(e, inverse, at->mod), half, at->mod);
    ulong s = nmod_mul(nmod_sub(e, inverse, at->mod), half, at->mod), top = 1, bottom = 1;
    if (!hyperbolic)
        s = nmod_div(s, at->i, at->mod);
    switch (hyperbolic ? op - X_SINH + X_SIN : op) {
    case X_SIN: top = s; break;
    case X_COS: top = c; break;
    case X_TAN: top = s, bottom = c; break;
    case X_CSC: bottom = s; break;
    case X_SEC: bottom = c; break;
    case X_COT: top = c, bottom = s; break;
    }
    *out = bottom ? nmod_div(top, bottom, at->mod) : 0;
    return bottom != 0;
}

static bool value_of(ulong *out, struct point *at, const struct expr_node *x);

static bool power(ulong *out, struct point *at, const struct expr_node *x)
{
    const struct expr_node *exponent = second_of(x);
    if (x[1].op == X_SYM && strcmp(x[1].leaf, "e") == 0) {
        *out = 1;
        return exponential(out, at, exponent, (struct monomial){.c = "1"});
    }
    if (exponent->op != X_NUM || !number_is_integer(exponent->leaf) || strlen(exponent->leaf) > 9 ||
        !value_of(out, at, x + 1))
        return false;
    long n = strtol(exponent->leaf, NULL, 10);
    if (n <= 0 && !*out)
        return false;
    *out = nmod_pow_ui(n < 0 ? nmod_inv(*out, at->mod) : *out, (ulong)labs(n), at->mod);
    return true;
}

static bool value_of(ulong *out, struct point *at, const struct expr_node *x)
{
    ulong left, right;
    if (x->op == X_NUM)
        return number_value(out, at, x->leaf);
    if (x->op == X_SYM || x->op == X_VAR) {
        *out = 1;
        if (x->op == X_SYM && strcmp(x->leaf, "e") == 0)
            return multiply_exponential(out, at, &(struct monomial){.c = "1"});
        *out = random_of(at, "value", x->leaf);
        return true;
    }
    if (is_i(x)) {
        *out = at->i;
        return true;
    }
    if (x->op == X_POW)
        return power(out, at, x);
    if ((x->op >= X_SIN && x->op <= X_COT) || (x->op >= X_SINH && x->op <= X_COTH)) {
        ulong e = 1;
        return exponential(&e, at, x + 1, (struct monomial){.c = "1", .i = x->op < X_SINH}) &&
               circular(out, at, x->op, e);
    }
    if (x->op < X_ADD || x->op > X_DIV || !value_of(&left, at, x + 1) ||
        !value_of(&right, at, second_of(x)))
        return false;
    switch (x->op) {
    case X_ADD: *out = nmod_add(left, right, at->mod); return true;
    case X_SUB: *out = nmod_sub(left, right, at->mod); return true;
    case X_MUL: *out = nmod_mul(left, right, at->mod); return true;
    case X_DIV: *out = right ? nmod_div(left, right, at->mod) : 0; return right != 0;
    }
    return false;
}

enum residue residue_compare(const struct expr *x, const struct expr *y)
{
    enum residue result = RESIDUE_AGREES;
    for (uint64_t k = 1; k <= POINTS && result == RESIDUE_AGREES; k++) {
        struct point at;
        ulong left, right;
        point_begin(&at, k);
        if (!value_of(&left, &at, x->nodes) || !value_of(&right, &at, y->nodes))
            result = RESIDUE_UNKNOWN;
        else if (left != right)
            result = RESIDUE_DIFFERS;
        arena_free(&at.a);
    }
    return result;
}
