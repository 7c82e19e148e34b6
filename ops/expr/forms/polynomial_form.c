#include "ops/expr/forms/polynomial_form.h"

#include <flint/fmpq.h>
#include <flint/fmpz_mpoly.h>
#include <flint/fmpz_mpoly_factor.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ATOMS = 16, MAX_TERMS = 200, MAX_POWER = 12, MAX_BITS = 200 };

struct atom {
    char *text;    /* prefix tokens */
    bool inverted; /* represents 1/text */
};

struct former {
    struct arena *a;
    const struct expr *x;
    enum polynomial_form form;
    fmpz_mpoly_ctx_t ring; /* in MAX_ATOMS variables */
    fmpz_mpoly_t one;
    struct atom atoms[MAX_ATOMS];
    size_t n;
};

struct ratio {
    fmpz_mpoly_t num, den;
};

static char *form_text(struct former *f, uint32_t i);

static void ratio_init(struct former *f, struct ratio *r)
{
    fmpz_mpoly_init(r->num, f->ring);
    fmpz_mpoly_init(r->den, f->ring);
    fmpz_mpoly_one(r->den, f->ring);
}

static void ratio_clear(struct former *f, struct ratio *r)
{
    fmpz_mpoly_clear(r->num, f->ring);
    fmpz_mpoly_clear(r->den, f->ring);
}

static bool is_small(struct former *f, const fmpz_mpoly_t p)
{
    slong bits = fmpz_mpoly_max_bits(p);
    return fmpz_mpoly_length(p, f->ring) <= MAX_TERMS && bits <= MAX_BITS && bits >= -MAX_BITS;
}

static bool multiply(struct former *f, fmpz_mpoly_t out, const fmpz_mpoly_t p, const fmpz_mpoly_t q)
{
    if (fmpz_mpoly_length(p, f->ring) * fmpz_mpoly_length(q, f->ring) > 4 * MAX_TERMS)
        return false;
    fmpz_mpoly_mul(out, p, q, f->ring);
    return is_small(f, out);
}

static bool set_atom(struct former *f, struct ratio *out, char *text, bool inverted)
{
    size_t i = 0;
    if (!text)
        return false;
    while (i < f->n && (f->atoms[i].inverted != inverted || strcmp(f->atoms[i].text, text) != 0))
        i++;
    if (i == MAX_ATOMS)
        return false;
    if (i == f->n)
        f->atoms[f->n++] = (struct atom){text, inverted};
    fmpz_mpoly_gen(out->num, (slong)i, f->ring);
    fmpz_mpoly_one(out->den, f->ring);
    return true;
}

static bool set_number(struct former *f, struct ratio *out, const char *leaf)
{
    fmpq_t q;
    fmpq_init(q);
    fmpq_set_str(q, leaf, 10);
    fmpz_mpoly_set_fmpz(out->num, fmpq_numref(q), f->ring);
    fmpz_mpoly_set_fmpz(out->den, fmpq_denref(q), f->ring);
    fmpq_clear(q);
    return is_small(f, out->num) && is_small(f, out->den);
}

/* The text of a polynomial as a sum; defined below. */
static char *sum_text(struct former *f, const fmpz_mpoly_t num, const fmpz_mpoly_t den);

/* x = x/y. A sum is divided term by term by a monomial; other denominators are kept as atoms. */
static bool divide(struct former *f, struct ratio *x, const struct ratio *y)
{
    struct ratio inverse;
    if (fmpz_mpoly_is_zero(y->num, f->ring))
        return false;
    ratio_init(f, &inverse);
    fmpz_mpoly_set(inverse.num, y->den, f->ring);
    fmpz_mpoly_set(inverse.den, y->num, f->ring);
    bool done = true;
    if (f->form == FORM_EXPAND && fmpz_mpoly_length(y->num, f->ring) > 1) {
        done = set_atom(f, &inverse, sum_text(f, y->num, f->one), true) &&
               multiply(f, inverse.num, y->den, inverse.num);
    }
    done = done && multiply(f, x->num, x->num, inverse.num) &&
           multiply(f, x->den, x->den, inverse.den);
    ratio_clear(f, &inverse);
    return done;
}

static bool add(struct former *f, struct ratio *x, struct ratio *y, bool minus)
{
    bool same = fmpz_mpoly_equal(x->den, y->den, f->ring);
    if (!same && !(multiply(f, x->num, x->num, y->den) && multiply(f, y->num, y->num, x->den) &&
                   multiply(f, x->den, x->den, y->den)))
        return false;
    if (minus)
        fmpz_mpoly_sub(x->num, x->num, y->num, f->ring);
    else
        fmpz_mpoly_add(x->num, x->num, y->num, f->ring);
    return is_small(f, x->num);
}

static bool ratio_of(struct former *f, struct ratio *out, uint32_t i);

static bool combine(struct former *f, struct ratio *out, uint32_t i)
{
    const struct expr_node *nodes = f->x->nodes;
    struct ratio right;
    if (!ratio_of(f, out, i + 1))
        return false;
    ratio_init(f, &right);
    bool done = ratio_of(f, &right, i + 1 + nodes[i + 1].size);
    if (done && nodes[i].op == X_MUL)
        done = multiply(f, out->num, out->num, right.num) &&
               multiply(f, out->den, out->den, right.den);
    else if (done && nodes[i].op == X_DIV)
        done = divide(f, out, &right);
    else if (done)
        done = add(f, out, &right, nodes[i].op == X_SUB);
    ratio_clear(f, &right);
    return done;
}

/* base^n */
static bool power(struct former *f, struct ratio *out, uint32_t base, long n)
{
    struct ratio x;
    ratio_init(f, &x);
    bool done = ratio_of(f, &x, base);
    fmpz_mpoly_one(out->num, f->ring);
    if (done && n < 0 && (done = divide(f, out, &x))) {
        fmpz_mpoly_swap(x.num, out->num, f->ring);
        fmpz_mpoly_swap(x.den, out->den, f->ring);
        fmpz_mpoly_one(out->num, f->ring);
    }
    fmpz_mpoly_one(out->den, f->ring);
    for (long k = n < 0 ? -n : n; k > 0 && done; k--)
        done = multiply(f, out->num, out->num, x.num) && multiply(f, out->den, out->den, x.den);
    ratio_clear(f, &x);
    return done;
}

static bool is_power(long *n, const struct expr *x, uint32_t i)
{
    const struct expr_node *exponent = &x->nodes[i + 1 + x->nodes[i + 1].size];
    if (exponent->op != X_NUM || strchr(exponent->leaf, '/') || strlen(exponent->leaf) > 3)
        return false;
    *n = strtol(exponent->leaf, NULL, 10);
    return *n && *n <= MAX_POWER && *n >= -MAX_POWER;
}

static bool ratio_of(struct former *f, struct ratio *out, uint32_t i)
{
    const struct expr_node *node = &f->x->nodes[i];
    long n;
    switch (node->op) {
    case X_NUM: return set_number(f, out, node->leaf);
    case X_SYM: return set_atom(f, out, arena_strdup(f->a, node->leaf), false);
    case X_ADD:
    case X_SUB:
    case X_MUL:
    case X_DIV: return combine(f, out, i);
    case X_POW:
        if (is_power(&n, f->x, i))
            return power(f, out, i + 1, n);
        break;
    case X_D: return false;
    default: break;
    }
    if (node->op >= X_DECLARED || node->op == X_VAR)
        return false;
    char *text = arena_strdup(f->a, f->x->lang->ops[node->op].name);
    for (uint32_t k = 0, child = i + 1; k < node->arity; k++, child += f->x->nodes[child].size) {
        /* Arguments have their own atoms. */
        struct former inner = {.a = f->a, .x = f->x, .form = f->form};
        char *argument = form_text(&inner, child);
        if (!argument)
            return false;
        text = arena_printf(f->a, "%s %s", text, argument);
    }
    return set_atom(f, out, text, false);
}

/* ---- writing ---- */

/* x times text; NULL represents 1. */
static char *times(struct former *f, char *x, char *text)
{
    return x ? arena_printf(f->a, "* %s %s", x, text) : text;
}

static char *raised(struct former *f, char *text, ulong n)
{
    return n == 1 ? text : arena_printf(f->a, "pow %s %lu", text, n);
}

/* An integer factor; NULL represents 1. */
static char *number(struct former *f, const fmpz_t c)
{
    char *digits = fmpz_get_str(NULL, 10, c), *text = arena_strdup(f->a, digits);
    flint_free(digits);
    return fmpz_is_one(c) ? NULL : text;
}

static bool is_number(const char *text)
{
    return strspn(text + (*text == '-'), "0123456789") == strlen(text + (*text == '-'));
}

/* NULL represents 1. */
static char *quotient(struct former *f, char *num, char *den)
{
    num = num ? num : "1";
    bool numbers = den && is_number(num) && is_number(den);
    return !den ? num : arena_printf(f->a, numbers ? "%s/%s" : "/ %s %s", num, den);
}

/* Term k of num over the monomial den; except for the first term, the sign is returned in *minus.
 */
static char *term_text(struct former *f, bool *minus, const fmpz_mpoly_t num, slong k,
                       const fmpz_mpoly_t den)
{
    ulong above[MAX_ATOMS], below[MAX_ATOMS];
    fmpq_t c;
    fmpq_init(c);
    fmpz_mpoly_get_term_exp_ui(above, num, k, f->ring);
    fmpz_mpoly_get_term_exp_ui(below, den, 0, f->ring);
    fmpz_mpoly_get_term_coeff_fmpz(fmpq_numref(c), num, k, f->ring);
    fmpz_mpoly_get_term_coeff_fmpz(fmpq_denref(c), den, 0, f->ring);
    fmpq_canonicalise(c);
    *minus = k > 0 && fmpq_sgn(c) < 0;
    if (*minus)
        fmpq_neg(c, c);
    char *top = number(f, fmpq_numref(c)), *bottom = number(f, fmpq_denref(c));
    for (size_t i = 0; i < f->n; i++) {
        ulong least = above[i] < below[i] ? above[i] : below[i];
        ulong up = above[i] - least, down = below[i] - least;
        bool inverted = f->atoms[i].inverted;
        if (inverted ? down : up)
            top = times(f, top, raised(f, f->atoms[i].text, inverted ? down : up));
        if (inverted ? up : down)
            bottom = times(f, bottom, raised(f, f->atoms[i].text, inverted ? up : down));
    }
    fmpq_clear(c);
    return quotient(f, top, bottom);
}

/* num over the monomial den, term by term. */
static char *sum_text(struct former *f, const fmpz_mpoly_t num, const fmpz_mpoly_t den)
{
    slong n = fmpz_mpoly_length(num, f->ring);
    char *text = n ? NULL : "0";
    for (slong k = 0; k < n; k++) {
        bool minus;
        char *term = term_text(f, &minus, num, k, den);
        text = text ? arena_printf(f->a, "%s %s %s", minus ? "-" : "+", text, term) : term;
    }
    return text;
}

/* Cancels common factors and the sign of the denominator. */
static bool reduce(struct former *f, struct ratio *r)
{
    fmpz_mpoly_t g;
    fmpz_mpoly_init(g, f->ring);
    bool done = fmpz_mpoly_gcd_cofactors(g, r->num, r->den, r->num, r->den, f->ring);
    if (done && fmpz_sgn(r->den->coeffs + 0) < 0) {
        fmpz_mpoly_neg(r->num, r->num, f->ring);
        fmpz_mpoly_neg(r->den, r->den, f->ring);
    }
    fmpz_mpoly_clear(g, f->ring);
    return done;
}

/* The product of the factors; NULL represents 1. */
static bool product_text(struct former *f, char **out, const fmpz_mpoly_t p)
{
    fmpz_mpoly_factor_t factors;
    fmpz_mpoly_factor_init(factors, f->ring);
    bool done = fmpz_mpoly_factor(factors, p, f->ring);
    *out = done ? number(f, factors->constant) : NULL;
    for (slong i = 0; done && i < fmpz_mpoly_factor_length(factors, f->ring); i++) {
        slong n = fmpz_mpoly_factor_get_exp_si(factors, i, f->ring);
        *out = times(f, *out, raised(f, sum_text(f, &factors->poly[i], f->one), (ulong)n));
    }
    fmpz_mpoly_factor_clear(factors, f->ring);
    return done;
}

static char *factored_text(struct former *f, struct ratio *r)
{
    char *num, *den;
    if (fmpz_mpoly_is_zero(r->num, f->ring))
        return "0";
    bool done = product_text(f, &num, r->num) && product_text(f, &den, r->den);
    return done ? quotient(f, num, den) : NULL;
}

static char *cancelled_text(struct former *f, struct ratio *r)
{
    bool number = fmpz_mpoly_is_fmpz(r->num, f->ring) && fmpz_mpoly_is_fmpz(r->den, f->ring);
    return number || fmpz_mpoly_is_one(r->den, f->ring)
               ? sum_text(f, r->num, r->den)
               : arena_printf(f->a, "/ %s %s", sum_text(f, r->num, f->one),
                              sum_text(f, r->den, f->one));
}

/* The form of the subterm at i, with the atoms of this former; NULL if too large. */
static char *form_text(struct former *f, uint32_t i)
{
    struct ratio r;
    char *text = NULL;
    fmpz_mpoly_ctx_init(f->ring, MAX_ATOMS, ORD_DEGLEX);
    fmpz_mpoly_init(f->one, f->ring);
    fmpz_mpoly_one(f->one, f->ring);
    ratio_init(f, &r);
    if (ratio_of(f, &r, i)) {
        if (f->form == FORM_EXPAND)
            text = sum_text(f, r.num, r.den);
        else if (reduce(f, &r))
            text = f->form == FORM_FACTOR ? factored_text(f, &r) : cancelled_text(f, &r);
    }
    ratio_clear(f, &r);
    fmpz_mpoly_clear(f->one, f->ring);
    fmpz_mpoly_ctx_clear(f->ring);
    return text;
}

bool polynomial_form(struct expr *out, struct arena *a, const struct expr *x,
                     enum polynomial_form form)
{
    struct former f = {.a = a, .x = x, .form = form};
    char *text = lang_is(x->lang, &lang_calculus) ? form_text(&f, 0) : NULL;
    return text && expr_from_prefix(out, a, x->lang, text, NULL) == OK;
}
