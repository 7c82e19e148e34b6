/* Terms as elements, and derivatives by the chain rule on generators; see normal.h. */
#include "ops/expr/normal/normal.h"

#include "ops/expr/normal/normal_conjugate.h"
#include "ops/expr/normal/normal_derive.h"
#include "ops/expr/normal/normal_exp.h"
#include "ops/expr/normal/normal_sign.h"
#include "ops/expr/rational.h"

#include <flint/fmpq.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INTEGER_POWER = 60, MAX_NODES = 600 };

static const element *translate(struct field *f, const struct expr_node *x);

static const element *integer(struct field *f, slong n)
{
    return field_rational(f, n, 1);
}

/* ---- leaves ---- */

static struct ball_domain domain_of(const struct field *f, const struct expr_node *x)
{
    for (size_t i = 0; i < f->n_domains; i++) {
        const char *name = f->domains[i].name;
        bool pattern = *name == '?';
        if (pattern == (x->op == X_VAR) && strcmp(name + pattern, x->leaf) == 0)
            return f->domains[i];
    }
    return (struct ball_domain){x->leaf, x->op == X_VAR ? "complex" : "positive", NULL, NULL};
}

static const element *variable(struct field *f, const struct expr_node *x)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->g[i].kind == GENERATOR_VARIABLE && f->g[i].variable->op == x->op &&
            strcmp(f->g[i].variable->leaf, x->leaf) == 0)
            return field_generator(f, i);
    struct ball_domain d = domain_of(f, x);
    const char *domain = d.domain;
    bool is_complex = strcmp(domain, "complex") == 0 || strcmp(domain, "nonzero") == 0;
    struct generator g = {.kind = GENERATOR_VARIABLE,
                          .variable = x,
                          .real = !is_complex,
                          .low = d.low,
                          .high = d.high,
                          .integer = strcmp(domain, "integer") == 0,
                          .smooth = true};
    g.positive = strcmp(domain, "positive") == 0 || strcmp(domain, "nonnegative") == 0;
    return field_generator(f, field_add_generator(f, &g));
}

/* ---- functions by exponentials and logarithms ---- */

static const element *times_i(struct field *f, const element *x)
{
    return field_mul(f, field_generator(f, 0), x);
}

/* cos and i sin of x/i, which are cosh and sinh of x, from E = e^x. */
static const element *even(struct field *f, const element *x)
{
    const element *e = normal_exp(f, x);
    return field_mul(f, field_add(f, e, field_power(f, e, -1)), field_rational(f, 1, 2));
}

static const element *odd(struct field *f, const element *x)
{
    const element *e = normal_exp(f, x);
    return field_mul(f, field_sub(f, e, field_power(f, e, -1)), field_rational(f, 1, 2));
}

/* Of a function and its reciprocal: op is that of the function among sin, cos, tan, ... */
static const element *circular(struct field *f, uint16_t op, const element *x)
{
    bool hyperbolic = op >= X_SINH;
    const element *u = hyperbolic ? x : times_i(f, x), *out = NULL;
    switch (hyperbolic ? op - X_SINH + X_SIN : op) {
    case X_COS:
    case X_SEC: out = even(f, u); break;
    case X_SIN:
    case X_CSC: out = odd(f, u); break;
    case X_TAN:
    case X_COT: out = field_div(f, odd(f, u), even(f, u)); break;
    }
    bool is_odd = op != X_COS && op != X_SEC && !hyperbolic;
    if (is_odd) /* sin x = sinh(i x)/i */
        out = field_div(f, out, field_generator(f, 0));
    bool reciprocal = op == X_CSC || op == X_SEC || op == X_COT || op == X_CSCH || op == X_SECH ||
                      op == X_COTH;
    return reciprocal ? field_power(f, out, -1) : out;
}

static const element *root(struct field *f, const element *x)
{
    if (!x || field_is_zero(f, x))
        return x;
    return normal_exp(f, field_mul(f, normal_ln(f, x), field_rational(f, 1, 2)));
}

static const element *add_integer(struct field *f, const element *x, slong n)
{
    return field_add(f, x, integer(f, n));
}

/* ln(z + sqrt(z^2 + 1)) */
static const element *area_sine(struct field *f, const element *z)
{
    return normal_ln(f, field_add(f, z, root(f, add_integer(f, field_mul(f, z, z), 1))));
}

/* (ln(1 + z) - ln(1 - z))/2 */
static const element *area_tangent(struct field *f, const element *z)
{
    const element *d = field_sub(f, normal_ln(f, add_integer(f, z, 1)),
                                 normal_ln(f, field_sub(f, integer(f, 1), z)));
    return field_mul(f, d, field_rational(f, 1, 2));
}

static const element *inverse(struct field *f, uint16_t op, const element *z)
{
    const element *minus_i = field_sub(f, integer(f, 0), field_generator(f, 0));
    switch ((enum expr_op)op) {
    case X_ASIN: return field_mul(f, minus_i, area_sine(f, times_i(f, z)));
    case X_ACOS:
        return field_sub(f, field_mul(f, field_named(f, 'p'), field_rational(f, 1, 2)),
                         inverse(f, X_ASIN, z));
    case X_ATAN: return field_mul(f, minus_i, area_tangent(f, times_i(f, z)));
    case X_ASINH: return area_sine(f, z);
    case X_ACOSH:
        return normal_ln(f, field_add(f, z,
                                      field_mul(f, root(f, add_integer(f, z, -1)),
                                                root(f, add_integer(f, z, 1)))));
    case X_ATANH: return area_tangent(f, z);
    default: return inverse(f, lang_of_reciprocal(op), field_power(f, z, -1));
    }
}

/* ---- powers ---- */

static bool as_integer(slong *n, const struct field *f, const element *x)
{
    if (!x || !fmpz_mpoly_q_is_fmpq(x, f->ring) ||
        !fmpz_mpoly_is_one(fmpz_mpoly_q_denref(x), f->ring))
        return false;
    fmpz_t c;
    fmpz_init(c);
    fmpz_mpoly_get_fmpz(c, fmpz_mpoly_q_numref(x), f->ring);
    bool small = fmpz_cmpabs(c, (fmpz[]){MAX_INTEGER_POWER}) <= 0;
    *n = small ? fmpz_get_si(c) : 0;
    fmpz_clear(c);
    return small;
}

static bool is_e(const struct expr_node *x)
{
    return x->op == X_SYM && strcmp(x->leaf, "e") == 0;
}

static const element *power(struct field *f, const struct expr_node *base,
                            const struct expr_node *exponent)
{
    slong n;
    const element *y = translate(f, exponent);
    if (is_e(base))
        return normal_exp(f, y);
    const element *x = translate(f, base);
    if (as_integer(&n, f, y))
        return x && (n > 0 || !field_is_zero(f, x)) ? field_power(f, x, n) : NULL;
    if (x && field_is_zero(f, x)) /* 0^y */
        return y && field_is_constant(f, y) && sign_of(f, y) > 0 ? x : NULL;
    return normal_exp(f, field_mul(f, y, normal_ln(f, x)));
}

/* ---- derivatives ---- */

static const element *derivative(struct field *f, const struct expr_node *by,
                                 const struct expr_node *x)
{
    if ((by->op != X_SYM && by->op != X_VAR) || !variable(f, by))
        return NULL;
    size_t i = 0;
    while (f->g[i].kind != GENERATOR_VARIABLE || f->g[i].variable->op != by->op ||
           strcmp(f->g[i].variable->leaf, by->leaf) != 0)
        i++;
    return normal_derive(f, field_reduce(f, translate(f, x)), i);
}

/* ---- terms ---- */

static const element *apply(struct field *f, uint16_t op, const element *x, const element *y)
{
    switch ((enum expr_op)op) {
    case X_ADD: return field_add(f, x, y);
    case X_SUB: return field_sub(f, x, y);
    case X_MUL: return field_mul(f, x, y);
    case X_DIV: return field_div(f, x, y);
    case X_SQRT: return root(f, x);
    case X_ABS: return x ? normal_abs(f, x) : NULL;
    case X_LN: return normal_ln(f, x);
    default: return op >= X_SINH && op <= X_COTH   ? circular(f, op, x)
                    : op >= X_SIN && op <= X_COT   ? circular(f, op, x)
                    : op >= X_ASIN && op <= X_ACOTH ? inverse(f, op, x)
                                                   : NULL;
    }
}

static const element *translate(struct field *f, const struct expr_node *x)
{
    if (x->op == X_NUM)
        return field_number(f, x->leaf);
    if (x->op <= X_VAR)
        return x->op == X_SYM && lang_is_constant(x->leaf) ? field_named(f, x->leaf[0])
                                                           : variable(f, x);
    const struct expr_node *first = x + 1, *second = first + first->size;
    if (x->op == X_POW)
        return power(f, first, second);
    if (x->op == X_D)
        return derivative(f, first, second);
    const element *left = translate(f, first);
    return left ? apply(f, x->op, left, x->arity == 2 ? translate(f, second) : NULL) : NULL;
}

static const char *way_of(const struct field *f)
{
    bool numbers = false, functions = false, variables = false;
    for (size_t i = 1; i < f->n; i++) {
        variables = variables || f->g[i].kind == GENERATOR_VARIABLE;
        functions = functions || f->g[i].kind > GENERATOR_CONSTANT;
        numbers = numbers || f->g[i].kind == GENERATOR_CONSTANT;
    }
    return variables && functions ? "exponentials" : numbers ? "exact numbers" : "expansion";
}

static bool contains(const struct expr *x, uint16_t op)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op == op)
            return true;
    return false;
}

static struct expr with_number(struct arena *a, const struct expr *x,
                               const struct expr_node *variable, const char *value)
{
    struct expr_node *nodes = arena_memdup(a, x->nodes, x->n * sizeof *nodes);
    for (uint32_t i = 0; i < x->n; i++)
        if (nodes[i].op == variable->op && strcmp(nodes[i].leaf, variable->leaf) == 0)
            nodes[i] = (struct expr_node){X_NUM, 0, 1, value};
    return (struct expr){x->lang, nodes, x->n};
}

/* A number in the domain of a real variable. */
static const char *number_within(struct arena *a, const struct generator *g)
{
    if (g->low && g->high)
        return number_combine(a, '/', number_combine(a, '+', g->low, g->high, EXPR_MAX_DIGITS), "2",
                              EXPR_MAX_DIGITS);
    return g->low    ? number_combine(a, '+', g->low, "1", EXPR_MAX_DIGITS)
           : g->high ? number_combine(a, '-', g->high, "1", EXPR_MAX_DIGITS)
                     : "1";
}

static bool equal_terms(const char **way, const struct expr *x, const struct expr *y,
                        const struct ball_domain *domains, size_t n_domains);

/* Whether a difference does not depend on a real variable, and is zero where that has one value. */
static bool equal_by_constancy(struct field *f, const element *difference, const struct expr *x,
                               const struct expr *y)
{
    if (!difference || contains(x, X_D) || contains(y, X_D) || !sign_is_meromorphic(f, difference))
        return false;
    for (size_t i = 1, n = f->n; i < n; i++) {
        const struct generator g = f->g[i];
        if (g.kind != GENERATOR_VARIABLE || !g.real || g.integer ||
            !field_is_zero(f, normal_derive(f, difference, i)))
            continue;
        struct arena a = {0};
        const char *way, *value = number_within(&a, &g);
        struct expr left = with_number(&a, x, g.variable, value);
        struct expr right = with_number(&a, y, g.variable, value);
        bool equal = equal_terms(&way, &left, &right, f->domains, f->n_domains);
        arena_free(&a);
        return equal;
    }
    return false;
}

static bool equal_terms(const char **way, const struct expr *x, const struct expr *y,
                        const struct ball_domain *domains, size_t n_domains)
{
    struct field *f = calloc(1, sizeof *f);
    if (!f)
        abort();
    f->domains = domains;
    f->n_domains = n_domains;
    field_init(f);
    const element *left = translate(f, x->nodes), *right = left ? translate(f, y->nodes) : NULL;
    bool equal = field_equal(f, left, right);
    *way = way_of(f);
    if (!equal && right && equal_by_constancy(f, field_sub(f, left, right), x, y)) {
        *way = "derivatives";
        equal = true;
    }
    field_clear(f);
    free(f);
    return equal;
}

bool normal_equal(const char **way, const struct expr *x, const struct expr *y,
                  const struct ball_domain *domains, size_t n_domains)
{
    return x->n + y->n <= MAX_NODES && expr_is_interpreted(x) && expr_is_interpreted(y) &&
           equal_terms(way, x, y, domains, n_domains);
}
