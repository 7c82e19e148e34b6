#include "ops/expr/equality/residue.h"

#include "base/rng.h"
#include "ops/expr/rational.h"

#include <flint/fmpq.h>
#include <flint/nmod_poly.h>
#include <flint/ulong_extras.h>
#include <stdlib.h>
#include <string.h>

/* Exponents are multiples of 1/LEVEL. */
enum {
    POINTS = 3,
    CHOICES = 48, /* points used if values are chosen: a false identity may agree at half of them */
    LEVEL = 5040,
    MAX_FACTORS = 16,
    DIGITS = 200,
    TRIES = 4000,
};

struct point {
    ulong p, i; /* the prime; i^2 = -1 */
    ulong turn; /* e^(2 pi i/(2 LEVEL)) */
    nmod_t mod;
    uint64_t seed;
    const char *moves; /* the variable of derivatives, or NULL if there are none */
    bool real;         /* symbols are real */
    bool chosen;       /* chose a root, or a value that is not determined algebraically */
    bool no_root;      /* a value has no root modulo p: the point is unusable */
    struct arena a;
};

/* A random residue for a text, never 0. */
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

/* Finds a prime p = 1 modulo 4 LEVEL, so that i and `turn` exist. */
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
    fmpq_t q;
    fmpq_init(q);
    bool ok = fmpq_set_str(q, text, 10) == 0;
    ulong top = fmpz_fdiv_ui(fmpq_numref(q), at->p), bottom = fmpz_fdiv_ui(fmpq_denref(q), at->p);
    ok = ok && bottom;
    *out = ok ? nmod_div(top, bottom, at->mod) : 0;
    fmpq_clear(q);
    return ok;
}

/* ---- Taylor series modulo the prime, along the line on which one variable moves ---- */

enum { ORDER = 4 }; /* derivatives are nested at most three deep */

struct series {
    ulong c[ORDER];
};

static struct series constant(ulong c)
{
    return (struct series){{c}};
}

static struct series add(nmod_t mod, struct series x, struct series y)
{
    _nmod_vec_add(x.c, x.c, y.c, ORDER, mod);
    return x;
}

static struct series subtract(nmod_t mod, struct series x, struct series y)
{
    _nmod_vec_sub(x.c, x.c, y.c, ORDER, mod);
    return x;
}

static struct series scale(nmod_t mod, struct series x, ulong by)
{
    _nmod_vec_scalar_mul_nmod(x.c, x.c, ORDER, by, mod);
    return x;
}

static struct series product(nmod_t mod, const struct series *x, const struct series *y)
{
    struct series z;
    _nmod_poly_mullow(z.c, x->c, ORDER, y->c, ORDER, ORDER, mod);
    return z;
}

/* Returns false if y(0) is zero. */
static bool quotient(struct series *out, nmod_t mod, struct series x, const struct series *y)
{
    struct series z = {{0}};
    bool defined = y->c[0];
    if (defined)
        _nmod_poly_div_series(z.c, x.c, ORDER, y->c, ORDER, ORDER, mod);
    *out = z;
    return defined;
}

static struct series derivative(nmod_t mod, const struct series *x)
{
    struct series d = {{0}};
    _nmod_poly_derivative(d.c, x->c, ORDER, mod);
    return d;
}

/* value e^(x - x(0)) */
static struct series exponential_of(nmod_t mod, ulong value, struct series x)
{
    struct series e;
    x.c[0] = 0;
    _nmod_poly_exp_series(e.c, x.c, ORDER, ORDER, mod);
    return scale(mod, e, value);
}

/* ---- exponentials ---- */

struct monomial {
    const char *c; /* its coefficient */
    const char *factors[MAX_FACTORS];
    size_t n;
    unsigned i; /* exponent of sqrt(-1) */
};

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
    if (expr_node_is_i(x)) {
        m->i++;
        return true;
    }
    if (x->op == X_MUL)
        return multiply(m, a, x + 1) && multiply(m, a, expr_node_second(x));
    if (x->op == X_POW && expr_node_second(x)->op == X_NUM) {
        long n = strtol(expr_node_second(x)->leaf, NULL, 10);
        bool ok = n > 0 && n <= MAX_FACTORS && number_is_integer(expr_node_second(x)->leaf);
        for (long k = 0; k < n && ok; k++)
            ok = multiply(m, a, x + 1);
        return ok;
    }
    return x->op == X_DIV && expr_node_second(x)->op == X_NUM && multiply(m, a, x + 1) &&
           times(m, a, '/', expr_node_second(x)->leaf);
}

static struct series variable(const struct point *at, const char *name)
{
    struct series x = constant(random_of(at, "value", name));
    x.c[1] = at->moves && strcmp(at->moves, name) == 0;
    return x;
}

/* out *= e^m */
static bool multiply_exponential(struct series *out, struct point *at, struct monomial *m)
{
    char *c = number_combine(&at->a, '*', m->c, arena_printf(&at->a, "%d", (int)LEVEL), DIGITS);
    ulong number;
    if (!c || !number_value(&number, at, m->c))
        return false;
    if (m->i % 4 >= 2) {
        c = number_combine(&at->a, '-', "0", c, DIGITS);
        number = nmod_neg(number, at->mod);
    }
    if (!c || !number_is_integer(c) || strlen(c) > 17)
        return false;
    long power = strtol(c, NULL, 10);
    bool turned = m->i % 2;
    ulong base = at->turn;
    struct series x = constant(turned ? nmod_mul(number, at->i, at->mod) : number);
    for (size_t k = 0; k < m->n; k++) {
        struct series factor = variable(at, m->factors[k]);
        x = product(at->mod, &x, &factor);
    }
    if (!(turned && m->n == 1 && strcmp(m->factors[0], "pi") == 0)) {
        char *name = arena_strdup(&at->a, turned ? "i" : "1");
        for (size_t k = 0; k < m->n; k++)
            name = arena_printf(&at->a, "%s %s", name, m->factors[k]);
        base = random_of(at, "base", name);
    }
    base = nmod_pow_ui(power < 0 ? nmod_inv(base, at->mod) : base, (ulong)labs(power), at->mod);
    x = exponential_of(at->mod, base, x);
    *out = product(at->mod, out, &x);
    return true;
}

/* out *= e^(c x) for x a sum of monomials */
static bool exponential(struct series *out, struct point *at, const struct expr_node *x,
                        struct monomial c)
{
    if (x->op == X_ADD || x->op == X_SUB) {
        struct monomial right = c;
        if (x->op == X_SUB && !times(&right, &at->a, '*', "-1"))
            return false;
        return exponential(out, at, x + 1, c) && exponential(out, at, expr_node_second(x), right);
    }
    if (x->op == X_MUL && (x[1].op == X_NUM || expr_node_is_i(x + 1)))
        return multiply(&c, &at->a, x + 1) && exponential(out, at, expr_node_second(x), c);
    if ((x->op == X_DIV || x->op == X_MUL) && expr_node_second(x)->op == X_NUM)
        return times(&c, &at->a, x->op == X_DIV ? '/' : '*', expr_node_second(x)->leaf) &&
               exponential(out, at, x + 1, c);
    return multiply(&c, &at->a, x) && multiply_exponential(out, at, &c);
}

/* ---- terms ---- */

static bool value_of(struct series *out, struct point *at, const struct expr_node *x);

/* sin, ... of i x, or sinh, ... of x, from e = e^(i x) or e^x. */
static bool circular(struct series *out, const struct point *at, uint16_t op,
                     const struct series *e)
{
    struct lang_quotient q = lang_circular(op);
    struct series one = constant(1), inverse;
    ulong half = nmod_inv(2, at->mod);
    if (!quotient(&inverse, at->mod, one, e))
        return false;
    struct series c = scale(at->mod, add(at->mod, *e, inverse), half);
    struct series s = scale(at->mod, subtract(at->mod, *e, inverse),
                            op >= X_SINH ? half : nmod_div(half, at->i, at->mod));
    const struct series *parts[] = {[LANG_ONE] = &one, [LANG_SINE] = &s, [LANG_COSINE] = &c};
    return quotient(out, at->mod, *parts[q.top], parts[q.bottom]);
}

/* Chooses a root of x, the same for equal values. */
static bool root(struct series *out, struct point *at, const struct series *square)
{
    const struct series copy = *square, *x = &copy;
    ulong r = n_sqrtmod(x->c[0], at->p);
    at->chosen = true;
    at->no_root = at->no_root || (x->c[0] && !r);
    if (!r)
        return false;
    char *name = arena_printf(&at->a, "%lu", x->c[0]);
    if (random_of(at, "sign", name) & 1)
        r = at->p - r;
    *out = constant(r);
    for (int k = 1; k < ORDER; k++) { /* x_k = sum r_i r_(k-i) */
        ulong rest = x->c[k];
        for (int i = 1; i < k; i++)
            rest = nmod_sub(rest, nmod_mul(out->c[i], out->c[k - i], at->mod), at->mod);
        out->c[k] = nmod_div(rest, nmod_add(r, r, at->mod), at->mod);
    }
    return true;
}

/* Chooses a value, the same for equal arguments, with the derivative x' / y. */
static bool choose(struct series *out, struct point *at, const char *kind, const struct series *x,
                   const struct series *y)
{
    struct series slope;
    at->chosen = true;
    if (!quotient(&slope, at->mod, derivative(at->mod, x), y))
        return false;
    _nmod_poly_integral(out->c, slope.c, ORDER, at->mod);
    out->c[0] = random_of(at, kind, arena_printf(&at->a, "%lu", x->c[0]));
    return true;
}

static bool inverse(struct series *out, struct point *at, uint16_t op, const struct series *z)
{
    struct series one = constant(1), square = product(at->mod, z, z), t, u, pi = variable(at, "pi");
    switch ((enum expr_op)op) {
    case X_ASIN:
        t = subtract(at->mod, one, square);
        return root(&u, at, &t) && choose(out, at, "asin", z, &u);
    case X_ACOS:
        if (!inverse(&t, at, X_ASIN, z))
            return false;
        *out = subtract(at->mod, scale(at->mod, pi, nmod_inv(2, at->mod)), t);
        return true;
    case X_ATAN: t = add(at->mod, one, square); return choose(out, at, "atan", z, &t);
    case X_ASINH:
        t = add(at->mod, one, square);
        return root(&u, at, &t) && choose(out, at, "asinh", z, &u);
    case X_ACOSH: {
        struct series below = subtract(at->mod, *z, one), above = add(at->mod, *z, one), v;
        if (!root(&u, at, &below) || !root(&v, at, &above))
            return false;
        t = product(at->mod, &u, &v);
        return choose(out, at, "acosh", z, &t);
    }
    case X_ATANH: t = subtract(at->mod, one, square); return choose(out, at, "atanh", z, &t);
    default: return quotient(&t, at->mod, one, z) && inverse(out, at, lang_of_reciprocal(op), &t);
    }
}

static bool power(struct series *out, struct point *at, const struct expr_node *x)
{
    const struct expr_node *exponent = expr_node_second(x);
    struct series base;
    if (expr_node_is(x + 1, X_SYM, "e")) {
        *out = constant(1);
        return exponential(out, at, exponent, (struct monomial){.c = "1"});
    }
    if (exponent->op != X_NUM || strlen(exponent->leaf) > 9 || !value_of(&base, at, x + 1))
        return false;
    const char *over = strchr(exponent->leaf, '/');
    long n = strtol(exponent->leaf, NULL, 10);
    if (n <= 0 && !base.c[0])
        return false;
    if (over && (strcmp(over, "/2") != 0 || !root(&base, at, &base)))
        return false;
    if (n < 0 && !quotient(&base, at->mod, constant(1), &base))
        return false;
    *out = constant(1);
    for (unsigned long k = (unsigned long)labs(n); k; k >>= 1) {
        if (k & 1)
            *out = product(at->mod, out, &base);
        base = product(at->mod, &base, &base);
    }
    return true;
}

static bool rational(struct series *out, struct point *at, const struct expr_node *x)
{
    struct series left, right;
    if (!value_of(&left, at, x + 1) || !value_of(&right, at, expr_node_second(x)))
        return false;
    switch (x->op) {
    case X_ADD: *out = add(at->mod, left, right); return true;
    case X_SUB: *out = subtract(at->mod, left, right); return true;
    case X_MUL: *out = product(at->mod, &left, &right); return true;
    case X_DIV: return quotient(out, at->mod, left, &right);
    }
    return false;
}

/* Whether x is known to be real: it has no roots, logarithms or inverse functions. */
static bool is_real(const struct point *at, const struct expr_node *x)
{
    if (x->op <= X_VAR)
        return x->op == X_NUM || (x->op == X_SYM && at->real);
    const struct expr_node *exponent = x->op == X_POW ? x + 1 + x[1].size : NULL;
    if (x->op == X_POW && (exponent->op != X_NUM || strchr(exponent->leaf, '/')) &&
        !expr_node_is(x + 1, X_SYM, "e"))
        return false;
    bool real = x->op <= X_POW || x->op == X_ABS || lang_is_circular(x->op);
    for (uint32_t i = 0, k = 1; i < x->arity && real; k += x[k].size, i++)
        real = is_real(at, x + k);
    return real;
}

static bool value_of(struct series *out, struct point *at, const struct expr_node *x)
{
    struct series z;
    if (x->op == X_NUM) {
        *out = constant(0);
        return number_value(&out->c[0], at, x->leaf);
    }
    if (x->op == X_SYM || x->op == X_VAR) {
        *out = constant(1);
        if (expr_node_is(x, X_SYM, "e"))
            return multiply_exponential(out, at, &(struct monomial){.c = "1"});
        *out = variable(at, x->leaf);
        return true;
    }
    if (expr_node_is_i(x)) {
        *out = constant(at->i);
        return true;
    }
    if (x->op == X_POW)
        return power(out, at, x);
    if (lang_is_circular(x->op)) {
        struct series e = constant(1);
        return exponential(&e, at, x + 1, (struct monomial){.c = "1", .i = x->op < X_SINH}) &&
               circular(out, at, x->op, &e);
    }
    if (x->op >= X_ADD && x->op <= X_DIV)
        return rational(out, at, x);
    if (x->op == X_D) {
        *out = constant(0);
        if (!value_of(&z, at, expr_node_second(x)))
            return false;
        *out = derivative(at->mod, &z);
        return true;
    }
    if (!value_of(&z, at, x + 1))
        return false;
    if (x->op == X_SQRT)
        return root(out, at, &z);
    if (x->op == X_LN)
        return z.c[0] && choose(out, at, "ln", &z, &z);
    if (x->op == X_ABS) { /* z or -z */
        if (!is_real(at, x + 1))
            return false;
        z = product(at->mod, &z, &z);
        return root(out, at, &z);
    }
    return inverse(out, at, x->op, &z);
}

/* Finds the variable of all derivatives; returns false if there are several variables or
 * derivatives are nested too deeply. */
static bool find_moving(const char **variable, const struct expr *x)
{
    int derivatives = 0;
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op == X_D) {
            const struct expr_node *by = &x->nodes[i + 1];
            if (!by->leaf || (*variable && strcmp(*variable, by->leaf) != 0) ||
                ++derivatives == ORDER)
                return false;
            *variable = by->leaf;
        }
    return true;
}

enum residue residue_compare(const struct expr *x, const struct expr *y, bool real)
{
    const char *moves = NULL;
    if (!find_moving(&moves, x) || !find_moving(&moves, y))
        return RESIDUE_UNKNOWN;
    for (uint64_t k = 1, points = 0, needed = POINTS; points < needed; k++) {
        struct point at;
        struct series left, right;
        point_begin(&at, k);
        at.moves = moves;
        at.real = real;
        bool known = value_of(&left, &at, x->nodes) && value_of(&right, &at, y->nodes);
        needed = at.chosen ? CHOICES : needed;
        arena_free(&at.a);
        if (at.no_root && k < TRIES)
            continue;
        if (!known || (at.chosen && left.c[0] != right.c[0]))
            return RESIDUE_UNKNOWN;
        if (left.c[0] != right.c[0])
            return RESIDUE_DIFFERS;
        points++;
    }
    return RESIDUE_AGREES;
}
