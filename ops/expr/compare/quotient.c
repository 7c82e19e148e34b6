/* See quotient.h. */
#include "ops/expr/compare/quotient.h"

#include "ops/expr/rational.h"

#include <stdlib.h>
#include <string.h>

void quotient_init(struct quotient *q)
{
    fmpq_poly_init(q->top);
    fmpq_poly_init(q->bottom);
}

void quotient_clear(struct quotient *q)
{
    fmpq_poly_clear(q->top);
    fmpq_poly_clear(q->bottom);
}

static bool is_small(const fmpq_poly_t f)
{
    return fmpq_poly_degree(f) <= QUOTIENT_MAX_DEGREE &&
           labs(_fmpz_vec_max_bits(f->coeffs, f->length)) <= QUOTIENT_MAX_BITS;
}

static void invert(struct quotient *q)
{
    fmpq_poly_swap(q->top, q->bottom);
}

static void multiply(struct quotient *x, const struct quotient *y)
{
    fmpq_poly_mul(x->top, x->top, y->top);
    fmpq_poly_mul(x->bottom, x->bottom, y->bottom);
}

static void add(struct quotient *x, struct quotient *y, bool minus)
{
    fmpq_poly_mul(x->top, x->top, y->bottom);
    fmpq_poly_mul(y->top, y->top, x->bottom);
    if (minus)
        fmpq_poly_sub(x->top, x->top, y->top);
    else
        fmpq_poly_add(x->top, x->top, y->top);
    fmpq_poly_mul(x->bottom, x->bottom, y->bottom);
}

static bool raise_to(struct quotient *q, const struct expr *exponent)
{
    const struct expr_node *e = exponent->nodes;
    if (e->op != X_NUM || !number_is_integer(e->leaf))
        return false;
    long n = strtol(e->leaf, NULL, 10);
    slong degree = fmpq_poly_degree(q->top) + fmpq_poly_degree(q->bottom);
    if (labs(n) > QUOTIENT_MAX_DEGREE || labs(n) * degree > 2 * QUOTIENT_MAX_DEGREE)
        return false;
    fmpq_poly_pow(q->top, q->top, (ulong)labs(n));
    fmpq_poly_pow(q->bottom, q->bottom, (ulong)labs(n));
    if (n < 0)
        invert(q);
    return true;
}

static bool read_binary(struct quotient *out, struct quotient_reader *r, const struct expr *x)
{
    struct expr left = expr_child(x, 0), right = expr_child(x, 1);
    if (!quotient_read(out, r, &left))
        return false;
    if (x->nodes->op == X_POW)
        return raise_to(out, &right);
    struct quotient other;
    quotient_init(&other);
    bool read = quotient_read(&other, r, &right);
    if (read && x->nodes->op == X_DIV)
        invert(&other);
    if (read && (x->nodes->op == X_ADD || x->nodes->op == X_SUB))
        add(out, &other, x->nodes->op == X_SUB);
    else if (read)
        multiply(out, &other);
    quotient_clear(&other);
    return read;
}

static bool read_absolute(struct quotient *out, struct quotient_reader *r, const struct expr *x)
{
    struct expr argument = expr_child(x, 0);
    bool minus = r->signs >> r->n_signs & 1;
    if (r->n_signs++ == QUOTIENT_MAX_SIGNS || !quotient_read(out, r, &argument))
        return false;
    if (minus)
        fmpq_poly_neg(out->top, out->top);
    return true;
}

bool quotient_read(struct quotient *out, struct quotient_reader *r, const struct expr *x)
{
    const struct expr_node *node = x->nodes;
    bool read = false;
    fmpq_poly_one(out->bottom);
    if (node->op == r->op && strcmp(node->leaf, r->name) == 0) {
        fmpq_poly_zero(out->top);
        fmpq_poly_set_coeff_si(out->top, 1, 1);
        return true;
    }
    if (!expr_has(x, r->op, r->name)) {
        fmpq_t value;
        fmpq_init(value);
        read = r->number(value, r->arg, x);
        fmpq_poly_set_fmpq(out->top, value);
        fmpq_clear(value);
    } else if (node->op >= X_ADD && node->op <= X_POW) {
        read = read_binary(out, r, x);
    } else if (node->op == X_ABS) {
        read = read_absolute(out, r, x);
    }
    return read && is_small(out->top) && is_small(out->bottom) && !fmpq_poly_is_zero(out->bottom);
}
