/* See evaluation_step.h. Derivatives are written as text, in prefix tokens; later steps remove
 * their zeros and ones. */
#include "ops/expr/forms/evaluation_step.h"

#include "base/buf.h"
#include "ops/expr/forms/polynomial_form.h"

#include <string.h>

static struct expr kid(const struct expr *x, unsigned k)
{
    return expr_sub(x, k ? 1 + x->nodes[1].size : 1);
}

static bool has(const struct expr *x, const char *variable)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op == X_SYM && strcmp(x->nodes[i].leaf, variable) == 0)
            return true;
    return false;
}

static bool is_leaf(const struct expr *x, uint16_t op, const char *leaf)
{
    return x->nodes[0].op == op && strcmp(x->nodes[0].leaf, leaf) == 0;
}

/* ---- derivatives ---- */

/* Derivatives of functions; ? is the argument. */
static const struct {
    uint16_t op;
    const char *slope;
} slopes[] = {
    {X_SQRT, "/ 1 * 2 sqrt ?"},
    {X_LN, "/ 1 ?"},
    {X_SIN, "cos ?"},
    {X_COS, "* -1 sin ?"},
    {X_TAN, "pow sec ? 2"},
    {X_CSC, "* -1 * csc ? cot ?"},
    {X_SEC, "* sec ? tan ?"},
    {X_COT, "* -1 pow csc ? 2"},
    {X_ASIN, "/ 1 sqrt - 1 pow ? 2"},
    {X_ACOS, "/ -1 sqrt - 1 pow ? 2"},
    {X_ATAN, "/ 1 + 1 pow ? 2"},
    {X_ACOT, "/ -1 + 1 pow ? 2"},
    {X_SINH, "cosh ?"},
    {X_COSH, "sinh ?"},
    {X_TANH, "pow sech ? 2"},
    {X_CSCH, "* -1 * csch ? coth ?"},
    {X_SECH, "* -1 * sech ? tanh ?"},
    {X_COTH, "* -1 pow csch ? 2"},
    {X_ASINH, "/ 1 sqrt + 1 pow ? 2"},
    {X_ACOSH, "/ 1 * sqrt - ? 1 sqrt + ? 1"},
    {X_ATANH, "/ 1 - 1 pow ? 2"},
    {X_ACOTH, "/ 1 - 1 pow ? 2"},
};

/* NULL if unknown. */
static char *slope_of(struct arena *a, uint16_t op, const char *argument)
{
    for (size_t i = 0; i < sizeof slopes / sizeof *slopes; i++) {
        struct buf b = {0};
        if (slopes[i].op != op)
            continue;
        for (const char *at = slopes[i].slope; *at; at++)
            if (*at == '?')
                buf_puts(&b, argument);
            else
                buf_putc(&b, *at);
        return buf_text(&b, a);
    }
    return NULL;
}

static char *derivative(struct arena *a, const struct expr *x, const char *by);

static char *derivative_of_two(struct arena *a, const struct expr *x, const char *by)
{
    struct expr u = kid(x, 0), v = kid(x, 1);
    const char *s = expr_prefix(a, &u), *t = expr_prefix(a, &v);
    const char *ds = derivative(a, &u, by), *dt = derivative(a, &v, by);
    if (!ds || !dt)
        return NULL;
    switch (x->nodes[0].op) {
    case X_ADD: return arena_printf(a, "+ %s %s", ds, dt);
    case X_SUB: return arena_printf(a, "- %s %s", ds, dt);
    case X_MUL: return arena_printf(a, "+ * %s %s * %s %s", ds, t, s, dt);
    case X_DIV: return arena_printf(a, "/ - * %s %s * %s %s pow %s 2", ds, t, s, dt, t);
    case X_POW:
        if (!has(&v, by))
            return arena_printf(a, "* * %s pow %s - %s 1 %s", t, s, t, ds);
        return has(&u, by)               ? NULL
               : is_leaf(&u, X_SYM, "e") ? arena_printf(a, "* pow e %s %s", t, dt)
                                         : arena_printf(a, "* * pow %s %s ln %s %s", s, t, s, dt);
    }
    return NULL;
}

/* The derivative in prefix tokens; NULL if unknown. */
static char *derivative(struct arena *a, const struct expr *x, const char *by)
{
    if (!has(x, by))
        return arena_strdup(a, "0");
    if (x->n == 1)
        return arena_strdup(a, "1");
    if (x->nodes[0].arity == 2)
        return x->nodes[0].op == X_D ? NULL : derivative_of_two(a, x, by);
    struct expr u = kid(x, 0);
    const char *inner = derivative(a, &u, by);
    const char *outer = slope_of(a, x->nodes[0].op, expr_prefix(a, &u));
    return inner && outer ? arena_printf(a, "* %s %s", outer, inner) : NULL;
}

/* ---- one subterm ---- */

static bool read(struct expr *out, struct arena *a, const struct expr *x, const char *text)
{
    return text && expr_from_prefix(out, a, x->lang, text, NULL) == OK;
}

static bool evaluate_derivative(struct expr *out, struct arena *a, const struct expr *x)
{
    struct expr by = kid(x, 0), of = kid(x, 1);
    return by.nodes[0].op == X_SYM && read(out, a, x, derivative(a, &of, by.nodes[0].leaf));
}

/* Applies f(g(u)) = u, valid for all u, where g is the inverse of f. */
static bool evaluate_inverse(struct expr *out, const struct expr *x)
{
    const struct expr_node *n = x->nodes;
    bool power = n[0].op == X_POW && n[1].op == X_SYM && strcmp(n[1].leaf, "e") == 0;
    struct expr u = power ? kid(x, 1) : kid(x, 0);
    bool inverse = power ? u.nodes[0].op == X_LN
                         : n[0].op >= X_SIN && n[0].op <= X_ACOTH && u.n > 1 &&
                               x->lang->ops[n[0].op].inverse == u.nodes[0].op &&
                               x->lang->ops[n[0].op].name[0] != 'a';
    if (inverse)
        *out = kid(&u, 0);
    return inverse;
}

static bool evaluate_constant(struct expr *out, struct arena *a, const struct expr *x)
{
    static const struct {
        uint16_t op;
        const char *at, *value;
    } known[] = {{X_SIN, "0", "0"},  {X_COS, "0", "1"},  {X_TAN, "0", "0"},  {X_SINH, "0", "0"},
                 {X_COSH, "0", "1"}, {X_TANH, "0", "0"}, {X_ASIN, "0", "0"}, {X_ATAN, "0", "0"},
                 {X_LN, "1", "0"},   {X_SQRT, "0", "0"}, {X_SQRT, "1", "1"}, {X_SQRT, "4", "2"},
                 {X_SQRT, "9", "3"}, {X_ABS, "0", "0"},  {X_ABS, "1", "1"},  {X_SEC, "0", "1"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (x->nodes[0].op == known[i].op && x->n == 2 &&
            is_leaf(&(struct expr){x->lang, x->nodes + 1, 1}, X_NUM, known[i].at))
            return read(out, a, x, known[i].value);
    return false;
}

static bool evaluate_ring(struct expr *out, struct arena *a, const struct expr *x)
{
    static const enum polynomial_form forms[] = {FORM_EXPAND, FORM_CANCEL};
    uint32_t least = expr_tokens(x);
    bool found = false;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct expr form;
        if (!polynomial_form(&form, a, x, forms[i]) || expr_tokens(&form) >= least)
            continue;
        *out = form;
        least = expr_tokens(&form);
        found = true;
    }
    return found;
}

static const char *evaluate(struct expr *out, struct arena *a, const struct expr *x)
{
    uint16_t op = x->nodes[0].op;
    if (x->n == 1)
        return NULL;
    if (op == X_D)
        return evaluate_derivative(out, a, x) ? "derivative" : NULL;
    if (evaluate_inverse(out, x))
        return "inverse";
    if (x->nodes[0].arity == 1)
        return evaluate_constant(out, a, x) ? "constant" : NULL;
    return evaluate_ring(out, a, x) ? "polynomial" : NULL;
}

/* Replaces the subterm at node i of x. */
static struct expr replace(struct arena *a, const struct expr *x, uint32_t i, const struct expr *by)
{
    struct expr out = *x;
    struct expr_node *nodes = arena_alloc(a, (x->n + by->n) * sizeof *nodes);
    uint32_t old = x->nodes[i].size, rest = x->n - i - old;
    memcpy(nodes, x->nodes, i * sizeof *nodes);
    memcpy(nodes + i, by->nodes, by->n * sizeof *nodes);
    memcpy(nodes + i + by->n, x->nodes + i + old, rest * sizeof *nodes);
    for (uint32_t k = 0; k < i; k++)
        if (k + x->nodes[k].size > i)
            nodes[k].size += by->n - old;
    out.nodes = nodes;
    out.n = i + by->n + rest;
    return out;
}

bool evaluation_step(struct expr *out, const char **why, struct arena *a, const struct expr *x)
{
    for (uint32_t i = x->n; i-- > 0;) {
        struct expr sub = expr_sub(x, i), by;
        *why = evaluate(&by, a, &sub);
        if (!*why)
            continue;
        *out = replace(a, x, i, &by);
        return true;
    }
    return false;
}
