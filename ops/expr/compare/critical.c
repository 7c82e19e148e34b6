/* One entry a function that is not analytic everywhere; see critical.h. Periodic functions matter
 * only within others: in asin(sin(x)) the pieces end at quarter turns of x. */
#include "ops/expr/compare/critical.h"

#include "ops/expr/ball/ball.h"
#include "ops/expr/own/own.h"
#include "ops/expr/rational.h"

#include <arb.h>
#include <string.h>

enum { TURN_PRECISION = 320 };

static bool is_whole(const struct expr_node *x)
{
    return x->op == X_NUM && number_is_integer(x->leaf);
}

/* A power is zero where its base is. */
static struct expr base_of(struct expr x)
{
    while (x.nodes->op == X_POW && is_whole(expr_node_second(x.nodes)))
        x = expr_child(&x, 0);
    return x;
}

static size_t add(struct critical *all, size_t n, const struct critical *added)
{
    struct critical simple = *added;
    const struct critical *c = &simple;
    if (c->first == 0 && c->steps == 0)
        simple.part = base_of(c->part);
    for (size_t i = 0; i < n; i++)
        if (all[i].first == c->first && all[i].steps == c->steps && all[i].turns == c->turns &&
            expr_equal(&all[i].part, &c->part))
            return n;
    bool constant = true;
    for (uint32_t i = 0; i < c->part.n && constant; i++) {
        const struct expr_node *x = &c->part.nodes[i];
        constant = x->op != X_VAR && (x->op != X_SYM || lang_is_constant(x->leaf));
    }
    if (constant || n == CRITICAL_MAX)
        return n;
    all[n] = *c;
    return n + 1;
}

static size_t add_power(struct critical *all, size_t n, const struct expr *x)
{
    struct expr base = expr_child(x, 0), exponent = expr_child(x, 1);
    if (expr_node_is(base.nodes, X_SYM, "e")) /* a bump, such as e^(-10^6*(x - 3)^2) */
        return add(all, n, &(struct critical){exponent, 0, 1, 0, .bump = true});
    if (!is_whole(exponent.nodes) || number_sign(exponent.nodes->leaf) < 0)
        n = add(all, n, &(struct critical){base, 0, 1, 0, false});
    return n;
}

static size_t add_function(struct critical *all, size_t n, const struct expr *x)
{
    const struct own_operator *own = x->lang->ops[x->nodes->op].own;
    const char *name = own && own->function ? ball_function_name(own->function) : "";
    for (unsigned k = 0; k < x->nodes->arity; k++) {
        bool sign = strcmp(name, "sign") == 0 || strcmp(name, "arg") == 0;
        n = add(all, n,
                &(struct critical){expr_child(x, k), sign ? 0 : -2, 1, sign ? 0 : 4, false});
    }
    return n;
}

/* `within`: whether a function around it is not analytic everywhere. */
static size_t add_term(struct critical *all, size_t n, const struct expr *x, bool within)
{
    struct expr argument = x->nodes->arity ? expr_child(x, 0) : *x;
    const struct critical zero = {argument, 0, 1, 0, false}, ends = {argument, -1, 2, 1, false},
                          three = {argument, -1, 1, 2, false};
    switch ((enum expr_op)x->nodes->op) {
    case X_SQRT:
    case X_ABS:
    case X_LN:
    case X_ACOT:
    case X_ACSCH: return add(all, n, &zero);
    case X_DIV: return add(all, n, &(struct critical){expr_child(x, 1), 0, 1, 0, .bump = true});
    case X_POW: return add_power(all, n, x);
    case X_ASIN:
    case X_ACOS:
    case X_ACOSH:
    case X_ATANH: return add(all, n, &ends);
    case X_ACSC:
    case X_ASEC:
    case X_ASECH:
    case X_ACOTH: return add(all, n, &three);
    case X_SIN:
    case X_COS:
    case X_TAN:
    case X_CSC:
    case X_SEC:
    case X_COT:
        return within ? add(all, n, &(struct critical){argument, -4, 1, 8, true}) : n;
    case X_SINH:
    case X_TANH:
    case X_CSCH:
    case X_COTH:
        return within ? add(all, n, &zero) : n;
    case X_NUM:
    case X_SYM:
    case X_VAR:
    case X_ADD:
    case X_SUB:
    case X_MUL:
    case X_D:
    case X_COSH:
    case X_SECH:
    case X_ATAN:
    case X_ASINH: return n;
    case X_DECLARED: break;
    }
    return add_function(all, n, x);
}

static bool has_pieces(const struct expr_node *x)
{
    return x->op == X_SQRT || x->op == X_ABS || x->op == X_LN || x->op == X_POW ||
           (x->op >= X_ASIN && x->op <= X_ACOT) || x->op >= X_ASINH;
}

size_t critical_list(struct critical *all, size_t n, struct arena *a, const struct expr *term)
{
    struct expr x;
    if (!own_expand(&x, a, term))
        x = *term;
    for (uint32_t i = x.n; i-- > 0;) {
        bool within = false;
        for (uint32_t k = 0; k < i && !within; k++)
            within = k + x.nodes[k].size > i && has_pieces(&x.nodes[k]);
        struct expr part = expr_sub(&x, i);
        n = add_term(all, n, &part, within);
    }
    return n;
}

size_t critical_add_zeros(struct critical *all, size_t n, const struct expr *x)
{
    return add(all, n, &(struct critical){*x, 0, 1, 0, false});
}

void critical_target(fmpq_t out, const struct critical *c, int k)
{
    fmpq_set_si(out, c->first + k * c->step, 1);
    if (c->turns) {
        fmpq_t quarter;
        arb_t pi;
        fmpq_init(quarter);
        arb_init(pi);
        arb_const_pi(pi, TURN_PRECISION);
        arf_get_fmpq(quarter, arb_midref(pi));
        fmpq_div_2exp(quarter, quarter, 1);
        fmpq_mul(out, out, quarter);
        arb_clear(pi);
        fmpq_clear(quarter);
    }
}
