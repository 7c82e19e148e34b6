/* Evaluation of a tree: a traversal in prefix order with one slot per pending argument. Slots are
 * kept between evaluations; at up to 128 bits an acb needs no heap memory, so that the common case
 * allocates nothing. */
#include "ops/expr/ball/ball_eval.h"

#include "ops/expr/own/own.h"

#include <stdlib.h>
#include <string.h>

/* For user-defined operators: maximal nesting of evaluators, and applications per evaluation. */
enum { MAX_INNER = 24, MAX_STEPS = 10000 };
enum { MAX_EXPONENT_BITS = 20 }; /* beyond, exponentials count for nothing at any precision */

/* A straight line through the point: these variables move at these speeds, all others are constant.
 */
struct direction {
    const struct expr_node *variable; /* X_SYM or X_VAR */
    slong speed;                      /* positive; a variable may occur more than once */
    const struct direction *next;
};

/* Parameters of the evaluation of a series. */
struct along {
    const struct direction *direction;
    slong order;
    bool real;      /* all moving variables are real */
    unsigned mixed; /* enclosing derivatives that needed several lines */
};

void ball_evaluator_free(struct ball_evaluator *v)
{
    for (size_t i = 0; i < v->n_slots; i++)
        acb_clear(&v->slots[i]);
    for (size_t i = 0; i < v->n_series; i++)
        acb_poly_clear(&v->series[i]);
    free(v->slots);
    free(v->series);
    if (v->inner)
        ball_evaluator_free(v->inner);
    free(v->inner);
    *v = (struct ball_evaluator){0};
}

static slong bound_size(slong size)
{
    return size < -BALL_MAX_SIZE ? -BALL_MAX_SIZE : size > BALL_MAX_SIZE ? BALL_MAX_SIZE : size;
}

static void note_size(struct ball_evaluator *v, slong size)
{
    size = bound_size(size);
    v->smallest = size < v->smallest ? size : v->smallest;
    v->largest = size > v->largest ? size : v->largest;
}

/* Ignores values that are only rounding error. */
static void note_part(struct ball_evaluator *v, const arb_struct *x)
{
    if (arf_is_special(arb_midref(x)))
        return;
    slong size = bound_size(arf_abs_bound_lt_2exp_si(arb_midref(x)));
    if ((size < v->smallest || size > v->largest) && mag_cmp_2exp_si(arb_radref(x), size - 2) < 0)
        note_size(v, size);
}

/* tanh(z) is 1 but for e^(-2 z). */
static void note_exponentials(struct ball_evaluator *v, const arb_struct *x)
{
    mag_t size;
    mag_init(size);
    arb_get_mag(size, x);
    if (mag_cmp_2exp_si(size, MAX_EXPONENT_BITS) < 0)
        note_size(v, -(slong)(2.89 * mag_get_d(size)));
    mag_clear(size);
}

/* Sets z to the value of a leaf; returns false if the variable has none. */
static bool set_leaf(acb_struct *z, struct ball_evaluator *v, const struct expr_node *node)
{
    if (node->op == X_NUM) {
        const char *slash = strchr(node->leaf, '/');
        ball_set_number(z, node->leaf, v->precision);
        if (slash) /* (10^80 + 1)/10^80 has large parts, but differs little from 1 */
            note_size(v, -(slong)(3.33 * (double)strlen(slash)));
        return true;
    }
    if (node->op == X_SYM && lang_is_constant(node->leaf)) {
        arb_zero(acb_imagref(z));
        if (node->leaf[0] == 'e')
            arb_const_e(acb_realref(z), v->precision);
        else
            arb_const_pi(acb_realref(z), v->precision);
        return true;
    }
    const acb_struct *value = v->lookup(v->lookup_arg, node->op, node->leaf);
    if (value)
        acb_set(z, value);
    return value != NULL;
}

static bool evaluate_series(struct ball_evaluator *v, const struct expr_node *node, size_t slot,
                            const struct along *along);
static bool derive(struct ball_evaluator *v, const struct expr_node *d, size_t slot,
                   const struct along *outer);

static bool evaluate_node(struct ball_evaluator *v, const struct expr_node *node, size_t slot);
static void reserve(struct ball_evaluator *v, const struct expr *x, bool series);

static bool evaluate(struct ball_evaluator *v, const struct expr_node *node, size_t slot)
{
    bool done = evaluate_node(v, node, slot);
    note_part(v, acb_realref(&v->slots[slot]));
    note_part(v, acb_imagref(&v->slots[slot]));
    return done;
}

/* ---- user-defined operators ---- */

static const acb_struct *look_up_argument(void *arg, uint16_t op, const char *name)
{
    const acb_struct *arguments = arg;
    return op == X_SYM ? &arguments[own_argument_number(name)] : NULL;
}

/* Returns the evaluator for a term over arguments with these values and series, or NULL beyond the
 * limits. */
static struct ball_evaluator *enter(struct ball_evaluator *v, const struct expr *term,
                                    acb_struct *values, const acb_poly_struct *series)
{
    if (v->depth == MAX_INNER || ++*v->steps > MAX_STEPS)
        return NULL;
    if (!v->inner)
        v->inner = must_calloc(1, sizeof *v->inner);
    struct ball_evaluator *in = v->inner;
    in->depth = v->depth + 1;
    in->steps = v->steps;
    in->precision = v->precision;
    in->lang = term->lang;
    in->lookup = look_up_argument;
    in->lookup_arg = values;
    in->arguments = series;
    in->smallest = in->largest = 0;
    reserve(in, term, series != NULL);
    return in;
}

static void leave(struct ball_evaluator *v)
{
    note_size(v, v->inner->smallest);
    note_size(v, v->inner->largest);
}

/* z holds the arguments and receives the result. */
static bool apply_own(struct ball_evaluator *v, acb_struct *z, uint16_t op)
{
    const struct op_info *info = &v->lang->ops[op];
    const struct own_operator *own = info->own;
    if (!own)
        return false;
    for (unsigned i = 0; i < info->arity; i++) {
        bool unsure = false;
        if (own->domain[i].name && !ball_in_domain(&unsure, z + i, &own->domain[i], v->precision))
            return false;
        if (unsure) {
            acb_indeterminate(z);
            return true;
        }
    }
    if (own->function)
        return ++*v->steps <= MAX_STEPS && ball_function_apply(z, own->function, v->precision);
    struct ball_evaluator *in = own->value.n ? enter(v, &own->value, z, NULL) : NULL;
    if (!in || !evaluate(in, own->value.nodes, 0))
        return false;
    leave(v);
    acb_set(z, &in->slots[0]);
    return true;
}

static bool apply(struct ball_evaluator *v, acb_struct *z, uint16_t op)
{
    if (op == X_TANH || op == X_COTH)
        note_exponentials(v, acb_realref(z));
    return op < X_DECLARED ? ball_apply(z, op, v->precision) : apply_own(v, z, op);
}

static bool evaluate_node(struct ball_evaluator *v, const struct expr_node *node, size_t slot)
{
    acb_struct *z = &v->slots[slot];
    if (node->op <= X_VAR)
        return set_leaf(z, v, node);
    if (node->op == X_D) {
        if (!derive(v, node, slot, NULL))
            return false;
        acb_poly_get_coeff_acb(z, &v->series[slot], 0);
        return true;
    }
    if (node->op == X_POW && expr_node_is(node + 1, X_SYM, "e")) {
        if (!evaluate(v, node + 2, slot))
            return false;
        acb_exp(z, z, v->precision);
        return true;
    }
    const struct expr_node *child = node + 1;
    for (unsigned i = 0; i < node->arity; i++, child += child->size)
        if (!evaluate(v, child, slot + i))
            return false;
    return apply(v, z, node->op);
}

static slong speed_of(const struct direction *d, const struct expr_node *variable)
{
    slong speed = 0;
    for (; d; d = d->next)
        if (expr_node_same(d->variable, variable))
            speed += d->speed;
    return speed;
}

static bool moves_alone(const struct direction *d, const struct expr_node *variable)
{
    while (d && expr_node_same(d->variable, variable))
        d = d->next;
    return d == NULL;
}

/* At a singular point the value may be finite and the series not; then the result is undefined. */
static bool settle(acb_poly_struct *f)
{
    for (slong i = 0; i < acb_poly_length(f); i++)
        if (!acb_is_finite(acb_poly_get_coeff_ptr(f, i))) {
            acb_poly_one(f);
            acb_indeterminate(acb_poly_get_coeff_ptr(f, 0));
            return false;
        }
    return true;
}

static void scale(acb_poly_struct *f, slong by, slong over, slong precision)
{
    for (slong i = 0; i < f->length; i++) {
        acb_mul_si(f->coeffs + i, f->coeffs + i, by, precision);
        acb_div_si(f->coeffs + i, f->coeffs + i, over, precision);
    }
}

/* Derivative with respect to the only variable that moves, at `speed`, from the series. */
static bool derive_alone(struct ball_evaluator *v, const struct expr_node *f, size_t slot,
                         const struct along *along, slong speed)
{
    acb_poly_struct *out = &v->series[slot];
    if (!evaluate_series(v, f, slot, along))
        return false;
    if (settle(out)) {
        acb_poly_derivative(out, out, v->precision);
        if (speed != 1)
            scale(out, 1, speed, v->precision);
    }
    return true;
}

/* Derivative of f with respect to y along a line c on which other variables move. The coefficient
 * of t^(k+1) of f(p + t (c + s y)) is a polynomial in s of degree k + 1, whose linear coefficient
 * is that of t^k of df/dy along c. It is computed exactly from the values at s = 0, 1, ..., n: the
 * derivative at 0 of a polynomial of degree n is the sum over m > 0 of (-1)^(m+1) binomial(n, m)/m
 * (P(m) - P(0)). */
static bool derive_mixed(struct ball_evaluator *v, const struct expr_node *f, size_t slot,
                         const struct along *outer, struct along *along, struct direction *more)
{
    slong n = outer->order, binomial = 1;
    acb_poly_struct *out = &v->series[slot];
    acb_poly_t sum, first;
    acb_poly_init(sum);
    acb_poly_init(first);
    bool ok = true;
    for (slong m = 0; m <= n && ok; m++) {
        more->speed = m;
        along->direction = m ? more : outer->direction;
        ok = evaluate_series(v, f, slot, along);
        if (ok && m == 0) {
            acb_poly_set(first, out);
        } else if (ok) {
            binomial = binomial * (n - m + 1) / m;
            acb_poly_sub(out, out, first, v->precision);
            scale(out, m % 2 ? binomial : -binomial, m, v->precision);
            acb_poly_add(sum, sum, out, v->precision);
        }
    }
    if (settle(sum))
        acb_poly_shift_right(sum, sum, 1);
    acb_poly_swap(out, sum);
    acb_poly_clear(sum);
    acb_poly_clear(first);
    return ok;
}

/* Computes the series of the derivative d(x, f) into slot `slot`, with the length that the context
 * needs. */
static bool derive(struct ball_evaluator *v, const struct expr_node *d, size_t slot,
                   const struct along *outer)
{
    const struct expr_node *variable = d + 1;
    const struct direction *moving = outer ? outer->direction : NULL;
    struct direction more = {variable, 1, moving};
    if (variable->op != X_SYM && variable->op != X_VAR)
        return false;
    const acb_struct *value = v->lookup(v->lookup_arg, variable->op, variable->leaf);
    struct along along = {
        .direction = &more,
        .order = outer ? outer->order + 1 : 2,
        .real = value && ball_is_real(value) && (!outer || outer->real) &&
                !(v->is_complex && v->is_complex(v->lookup_arg, variable->op, variable->leaf)),
        .mixed = outer ? outer->mixed : 0};
    if (!value || along.order > BALL_MAX_ORDER)
        return false;
    if (moves_alone(moving, variable)) {
        if (moving)
            along.direction = moving;
        return derive_alone(v, d + 2, slot, &along, speed_of(along.direction, variable));
    }
    return along.mixed++ < BALL_MAX_MIXED && derive_mixed(v, d + 2, slot, outer, &along, &more);
}

/* Series of the derivative of an operator with respect to argument k along the line, one order
 * shorter. */
static bool partial_series(acb_poly_t out, struct ball_evaluator *v, const struct expr *term,
                           acb_struct *values, const acb_poly_struct *f, const struct along *along)
{
    const struct along less = {.order = along->order - 1, .real = along->real};
    struct ball_evaluator *in = term->n ? enter(v, term, values, f) : NULL;
    if (!in)
        return false;
    if (less.order == 1) {
        if (!evaluate(in, term->nodes, 0))
            return false;
        acb_poly_set_acb(out, &in->slots[0]);
    } else {
        if (!evaluate_series(in, term->nodes, 0, &less))
            return false;
        acb_poly_set(out, &in->series[0]);
    }
    leave(v);
    return true;
}

/* h(f)' is the sum over the arguments of (dh/df_k)(f) f_k'; the constant term is the value. */
static bool function_series(struct ball_evaluator *v, const struct own_operator *own,
                            unsigned arity, acb_struct *values, acb_poly_struct *f,
                            const acb_t value, const struct along *along)
{
    acb_poly_t sum, part, moved;
    bool ok = true;
    if (ball_function_series(&ok, f, own->function, along->order, along->real, v->precision))
        return ok;
    acb_poly_init(sum);
    acb_poly_init(part);
    acb_poly_init(moved);
    for (unsigned k = 0; k < arity && ok; k++) {
        if (acb_poly_length(f + k) <= 1)
            continue;
        ok = partial_series(part, v, &own->derivative[k], values, f, along);
        acb_poly_derivative(moved, f + k, v->precision);
        acb_poly_mullow(part, part, moved, along->order - 1, v->precision);
        acb_poly_add(sum, sum, part, v->precision);
    }
    if (ok) {
        acb_poly_integral(f, sum, v->precision);
        acb_poly_set_coeff_acb(f, 0, value);
    }
    acb_poly_clear(sum);
    acb_poly_clear(part);
    acb_poly_clear(moved);
    return ok;
}

/* f holds the series of the arguments, one of which is not constant, and receives the result. */
static bool own_series(struct ball_evaluator *v, acb_poly_struct *f, uint16_t op,
                       const struct along *along)
{
    const struct op_info *info = &v->lang->ops[op];
    acb_struct values[LANG_MAX_ARITY], value[LANG_MAX_ARITY];
    bool ok;
    for (unsigned k = 0; k < LANG_MAX_ARITY; k++) {
        acb_init(&values[k]);
        acb_init(&value[k]);
        if (k < info->arity)
            acb_poly_get_coeff_acb(&values[k], f + k, 0);
        acb_set(&value[k], &values[k]);
    }
    ok = apply_own(v, value, op);
    if (ok && info->own->function) {
        ok = function_series(v, info->own, info->arity, values, f, value, along);
    } else if (ok) {
        struct ball_evaluator *in = enter(v, &info->own->value, values, f);
        ok = in && evaluate_series(in, info->own->value.nodes, 0, along);
        if (ok) {
            leave(v);
            acb_poly_swap(f, &in->series[0]);
        }
    }
    for (unsigned k = 0; k < LANG_MAX_ARITY; k++) {
        acb_clear(&values[k]);
        acb_clear(&value[k]);
    }
    return ok;
}

static bool evaluate_series(struct ball_evaluator *v, const struct expr_node *node, size_t slot,
                            const struct along *along)
{
    acb_poly_struct *f = &v->series[slot];
    if (v->arguments && node->op == X_SYM && !lang_is_constant(node->leaf)) {
        acb_poly_set(f, &v->arguments[own_argument_number(node->leaf)]);
        return true;
    }
    if (node->op <= X_VAR) {
        acb_struct *z = &v->slots[slot];
        if (!evaluate(v, node, slot))
            return false;
        acb_poly_set_acb(f, z);
        if (node->op != X_NUM)
            acb_poly_set_coeff_si(f, 1, speed_of(along->direction, node));
        return true;
    }
    if (node->op == X_D)
        return derive(v, node, slot, along);
    if (node->op == X_POW && expr_node_is(node + 1, X_SYM, "e")) {
        if (!evaluate_series(v, node + 2, slot, along))
            return false;
        acb_poly_exp_series(f, f, along->order, v->precision);
        return true;
    }
    const struct expr_node *child = node + 1;
    bool constant = true;
    for (unsigned i = 0; i < node->arity; i++, child += child->size) {
        if (!evaluate_series(v, child, slot + i, along))
            return false;
        constant = constant && acb_poly_length(f + i) <= 1;
    }
    if (!constant)
        return node->op < X_DECLARED
                   ? ball_apply_series(f, node->op, along->order, along->real, v->precision)
                   : own_series(v, f, node->op, along);
    acb_struct *z = &v->slots[slot];
    for (unsigned i = 0; i < node->arity; i++)
        acb_poly_get_coeff_acb(z + i, f + i, 0);
    if (!apply(v, z, node->op))
        return false;
    note_part(v, acb_realref(z));
    note_part(v, acb_imagref(z));
    acb_poly_zero(f);
    acb_poly_set_coeff_acb(f, 0, z);
    return true;
}

static void reserve(struct ball_evaluator *v, const struct expr *x, bool series)
{
    for (uint32_t i = 0; i < x->n; i++)
        series = series || x->nodes[i].op == X_D;
    /* At most x->n arguments are pending at once; a binary operator needs two slots even in the
     * smallest tree. */
    size_t need = x->n + 2u;
    if (v->n_slots < need) {
        v->slots = vec_grow(v->slots, &(size_t){v->n_slots}, need, sizeof *v->slots);
        for (; v->n_slots < need; v->n_slots++)
            acb_init(&v->slots[v->n_slots]);
    }
    if (series && v->n_series < need) {
        v->series = vec_grow(v->series, &(size_t){v->n_series}, need, sizeof *v->series);
        for (; v->n_series < need; v->n_series++)
            acb_poly_init(&v->series[v->n_series]);
    }
}

const acb_struct *ball_evaluate(struct ball_evaluator *v, const struct expr *x, slong precision)
{
    reserve(v, x, false);
    v->lang = x->lang;
    v->own_steps = 0;
    v->steps = &v->own_steps;
    v->precision = precision;
    v->smallest = v->largest = 0;
    v->hopeless = !evaluate(v, x->nodes, 0);
    if (v->hopeless)
        acb_indeterminate(&v->slots[0]);
    return &v->slots[0];
}
