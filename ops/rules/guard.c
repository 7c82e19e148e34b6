/* The missing guard of a refuted rule: sets of conditions are tried from weak to strong, on each
 * variable alone and then on all of them. A suggestion is an observation at sampled instances, as
 * certification is. */
#include "ops/rules/check.h"

#include <string.h>

enum { MAX_VARIABLES = 4, GUARD_POINTS = 64 };

/* What can be asked of one variable, weakest first; the last one is |?a| < 1. */
enum guard { NONZERO, REAL, NONNEGATIVE, POSITIVE, INTEGER, EVEN, INSIDE };

static struct rule_condition guard_on(struct arena *a, enum guard g, const struct expr *v)
{
    static const enum rule_predicate predicates[] = {
        [NONZERO] = RULE_NONZERO,   [REAL] = RULE_REAL,       [NONNEGATIVE] = RULE_NONNEGATIVE,
        [POSITIVE] = RULE_POSITIVE, [INTEGER] = RULE_INTEGER, [EVEN] = RULE_EVEN,
        [INSIDE] = RULE_LESS,
    };
    struct rule_condition c = {.predicate = predicates[g], .args = {*v}, .n_args = 1};
    if (g == INSIDE) {
        c.args[0] = expr_apply(a, v->lang, X_ABS, v, 1);
        c.args[1] = expr_leaf(a, v->lang, X_NUM, "1");
        c.n_args = 2;
    }
    return c;
}

/* ?a * ?b < 1, for sums of arcus tangents. */
static struct rule_condition product_below_one(struct arena *a, const struct expr v[2])
{
    return (struct rule_condition){
        .predicate = RULE_LESS,
        .args = {expr_apply(a, v->lang, X_MUL, v, 2), expr_leaf(a, v->lang, X_NUM, "1")},
        .n_args = 2,
    };
}

/* The variables that a guard may be asked of: not those by which is derived. */
static size_t list_variables(struct expr *out, const struct expr *x)
{
    size_t n = 0;
    for (uint32_t i = 0; i < x->n && n < MAX_VARIABLES; i++) {
        struct expr v = expr_sub(x, i);
        bool known = v.nodes[0].op != X_VAR || (i > 0 && x->nodes[i - 1].op == X_D);
        for (size_t k = 0; k < n; k++)
            known = known || expr_equal(&out[k], &v);
        if (!known)
            out[n++] = v;
    }
    return n;
}

static const char *conditions_text(struct arena *a, const struct rule_condition *c, size_t n)
{
    const char *text = rule_condition_text(a, &c[0]);
    for (size_t i = 1; i < n; i++)
        text = arena_printf(a, "%s, %s", text, rule_condition_text(a, &c[i]));
    return text;
}

/* Whether v is an exponent in x: integers matter there, sizes do not. */
static bool is_exponent(const struct expr *x, const struct expr *v)
{
    for (uint32_t i = 0; i < x->n; i++) {
        if (x->nodes[i].op != X_POW)
            continue;
        struct expr exponent = expr_sub(x, i + 1 + x->nodes[i + 1].size);
        if (expr_equal(&exponent, v))
            return true;
    }
    return false;
}

/* Whether the guard says anything that fits the variable's place. */
static bool fits(enum guard g, const struct expr *lhs, const struct expr *v)
{
    bool exponent = is_exponent(lhs, v);
    return g == INTEGER || g == EVEN ? exponent : g != INSIDE || !exponent;
}

static const char *try_each(struct arena *a, const struct rule *r, enum guard g,
                            const struct expr *v, size_t n,
                            const struct rule_check_options *options)
{
    for (size_t i = 0; i < n; i++) {
        struct rule_condition c = guard_on(a, g, &v[i]);
        if (fits(g, &r->lhs, &v[i]) && rule_holds_if(a, r, &c, 1, options))
            return conditions_text(a, &c, 1);
    }
    return NULL;
}

/* The same guard on every variable, with the product's bound beside reality. */
static const char *try_all(struct arena *a, const struct rule *r, enum guard g,
                           const struct expr *v, size_t n, const struct rule_check_options *options)
{
    struct rule_condition c[MAX_VARIABLES + 1] = {0};
    for (size_t i = 0; i < n; i++) {
        if (!fits(g, &r->lhs, &v[i]))
            return NULL;
        c[i] = guard_on(a, g, &v[i]);
    }
    if (rule_holds_if(a, r, c, n, options))
        return conditions_text(a, c, n);
    if (n != 2 || g != REAL)
        return NULL;
    c[2] = product_below_one(a, v);
    return rule_holds_if(a, r, c, 3, options) ? conditions_text(a, c, 3) : NULL;
}

/* One variable positive, another real: powers and logarithms. */
static const char *try_positive_real(struct arena *a, const struct rule *r, const struct expr *v,
                                     size_t n, const struct rule_check_options *options)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            if (i == k)
                continue;
            struct rule_condition c[2] = {guard_on(a, POSITIVE, &v[i]), guard_on(a, REAL, &v[k])};
            if (rule_holds_if(a, r, c, 2, options))
                return conditions_text(a, c, 2);
        }
    }
    return NULL;
}

const char *rule_suggest_guard(struct arena *a, const struct rule *r,
                               const struct rule_check_options *options)
{
    struct rule_check_options fewer = {GUARD_POINTS, options->seed};
    struct expr v[MAX_VARIABLES];
    size_t n = list_variables(v, &r->lhs);
    const char *found = NULL;
    for (enum guard g = NONZERO; !found && g < INSIDE; g++)
        found = try_each(a, r, g, v, n, &fewer);
    for (enum guard g = NONZERO; !found && n > 1 && g < INSIDE; g++)
        found = try_all(a, r, g, v, n, &fewer);
    if (!found)
        found = try_positive_real(a, r, v, n, &fewer);
    if (!found)
        found = try_each(a, r, INSIDE, v, n, &fewer);
    if (!found && n > 1)
        found = try_all(a, r, INSIDE, v, n, &fewer);
    return found;
}
