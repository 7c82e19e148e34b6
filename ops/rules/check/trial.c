/* Tries a rule at instances that satisfy its conditions, by ball arithmetic on principal branches.
 * Disjoint balls refute it. One instance suffices: since a pattern variable may be a constant, a
 * rule that fails at a single value fails for two terms that differ everywhere. Precision is raised
 * until the balls are narrow. An instance whose balls are still wide at the last precision (a pole,
 * an argument that may be on either side of a cut) does not count. */
#include "ops/rules/check/trial.h"

#include "ops/expr/ball/ball_eval.h"
#include "ops/expr/rational.h"
#include "ops/rules/check/sampler.h"

#include <string.h>

enum {
    TRIES_PER_POINT = 24, /* maximal number of instances drawn per requested point */
    MODERATE_DIGITS = 9,
    FIRST_PRECISION = 96,
    LAST_PRECISION = 800,
    FINEST_PRECISION = 1 << 19, /* to distinguish narrow balls */
    MAX_SYMBOLS = 8
};

struct trial {
    struct sampler sampler;
    struct ball_evaluator left, right; /* each keeps its last value */
    struct {
        const char *name;
        double value;
        acb_struct ball;
    } symbols[MAX_SYMBOLS];
    size_t n_symbols;
    uint64_t seed;
    bool real_values;
    uint32_t instance; /* its number: symbols have different values in each */
};

/* Variables are real and positive. */
static double symbol_value(uint64_t seed, const char *name, uint32_t instance)
{
    uint64_t stream = 0;
    for (const char *c = name; *c; c++)
        stream = rng_mix(stream ^ (unsigned char)*c);
    uint64_t u = rng_at(seed, stream, instance);
    double unit = (double)(u % 4095 + 1) / 4096;
    return (u >> 60) < 4 ? unit / 4 : (u >> 60) < 12 ? 4 * unit : 16 * unit;
}

static const acb_struct *look_up(void *arg, uint16_t op, const char *name)
{
    struct trial *c = arg;
    if (op != X_SYM)
        return NULL;
    size_t i = 0;
    while (i < c->n_symbols && strcmp(c->symbols[i].name, name) != 0)
        i++;
    if (i == MAX_SYMBOLS)
        return NULL;
    if (i == c->n_symbols) {
        c->symbols[c->n_symbols++].name = name;
        c->symbols[i].value = symbol_value(c->seed, name, c->instance);
        acb_set_d(&c->symbols[i].ball, c->symbols[i].value);
    }
    return &c->symbols[i].ball;
}

static void trial_open(struct trial *c)
{
    for (size_t i = 0; i < MAX_SYMBOLS; i++)
        acb_init(&c->symbols[i].ball);
    c->left.lookup = c->right.lookup = look_up;
    c->left.lookup_arg = c->right.lookup_arg = c;
}

static void trial_close(struct trial *c)
{
    for (size_t i = 0; i < MAX_SYMBOLS; i++)
        acb_clear(&c->symbols[i].ball);
    ball_evaluator_free(&c->left);
    ball_evaluator_free(&c->right);
}

/* ---- conditions ---- */

/* Conditions on sign and order are decided by balls of rising precision, those on form by the terms
 * themselves. A condition that is undecided at the last precision is not satisfied. */
enum answer { NO, YES, OPEN }; /* OPEN: undecided at this precision */

static enum answer decide(bool yes, bool no)
{
    return yes ? YES : no ? NO : OPEN;
}

/* Whether x consists of numbers and + - * /. */
static bool is_rational(const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op != X_NUM && (x->nodes[i].op < X_ADD || x->nodes[i].op > X_DIV))
            return false;
    return true;
}

static bool is_symbol(const struct expr *x)
{
    return x->nodes[0].op == X_SYM && !lang_is_constant(x->nodes[0].leaf);
}

static bool is_free_of(const struct expr *x, const struct expr *of)
{
    for (uint32_t i = 0; i < of->n; i++)
        if (of->nodes[i].op == X_SYM && !lang_is_constant(of->nodes[i].leaf) &&
            expr_has(x, X_SYM, of->nodes[i].leaf))
            return false;
    return true;
}

static enum answer compare_order(struct trial *c, enum rule_predicate p, const struct expr args[2],
                                 const acb_struct *x, slong precision)
{
    if (args[0].nodes[0].op == X_NUM && args[1].nodes[0].op == X_NUM) { /* 1/3 has no exact ball */
        int order = number_compare(args[0].nodes[0].leaf, args[1].nodes[0].leaf);
        return order < 0 || (order == 0 && p == RULE_LESS_EQUAL) ? YES : NO;
    }
    const acb_struct *y = ball_evaluate(&c->right, &args[1], precision);
    if (!acb_is_finite(y))
        return c->right.hopeless ? NO : OPEN;
    if (!ball_is_real(x) || !ball_is_real(y))
        return NO;
    const arb_struct *u = acb_realref(x), *v = acb_realref(y);
    return p == RULE_LESS ? decide(arb_lt(u, v), arb_ge(u, v)) : decide(arb_le(u, v), arb_gt(u, v));
}

static enum answer ask(struct trial *c, enum rule_predicate p, const struct expr args[2],
                       slong precision)
{
    if (p == RULE_CONSTANT)
        return decide(is_rational(&args[0]), true);
    if (p == RULE_SYMBOL)
        return decide(is_symbol(&args[0]), true);
    if (p == RULE_FREE_OF)
        return decide(is_free_of(&args[0], &args[1]), true);
    if (p == RULE_CONSTANT_OR_OTHER_SYMBOL)
        return decide(is_rational(&args[0]) ||
                          (args[0].nodes[0].op == X_SYM && is_free_of(&args[0], &args[1])),
                      true);
    const acb_struct *z = ball_evaluate(&c->left, &args[0], precision);
    const arb_struct *x = acb_realref(z);
    if (!acb_is_finite(z))
        return c->left.hopeless ? NO : OPEN;
    if (p == RULE_NONZERO || p == RULE_MAYBE_NONZERO)
        return decide(!acb_contains_zero(z), acb_is_zero(z));
    if (p == RULE_LESS || p == RULE_LESS_EQUAL)
        return compare_order(c, p, args, z, precision);
    if (!ball_is_real(z))
        return NO;
    switch (p) {
    case RULE_POSITIVE: return decide(arb_is_positive(x), arb_is_nonpositive(x));
    case RULE_NONNEGATIVE: return decide(arb_is_nonnegative(x), arb_is_negative(x));
    case RULE_NEGATIVE: return decide(arb_is_negative(x), arb_is_nonnegative(x));
    case RULE_NONPOSITIVE: return decide(arb_is_nonpositive(x), arb_is_positive(x));
    case RULE_REAL: return YES;
    case RULE_INTEGER: return decide(arb_is_int(x), true);
    case RULE_EVEN: return decide(arb_is_int_2exp_si(x, 1), true);
    case RULE_ODD: return decide(arb_is_int(x) && !arb_is_int_2exp_si(x, 1), true);
    case RULE_NONZERO:
    case RULE_MAYBE_NONZERO:
    case RULE_CONSTANT:
    case RULE_SYMBOL:
    case RULE_FREE_OF:
    case RULE_CONSTANT_OR_OTHER_SYMBOL:
    case RULE_LESS:
    case RULE_LESS_EQUAL:
    case RULE_N_PREDICATES: break;
    }
    return NO;
}

static bool condition_holds(struct trial *c, struct arena *a, const struct rule_condition *cond,
                            const struct instance *values)
{
    struct expr args[2];
    for (unsigned i = 0; i < cond->n_args; i++)
        args[i] = sampler_substitute(a, &c->sampler, &cond->args[i], values);
    enum answer answer = OPEN;
    for (slong p = FIRST_PRECISION; answer == OPEN && p <= LAST_PRECISION; p *= 2)
        answer = ask(c, cond->predicate, args, p);
    return answer == YES;
}

static bool admits(struct trial *c, struct arena *a, const struct rule *r,
                   const struct instance *values)
{
    for (size_t i = 0; i < r->n_conditions; i++)
        if (!condition_holds(c, a, &r->conditions[i], values))
            return false;
    return true;
}

/* ---- one instance ---- */

enum comparison { AGREE, DIFFER, ONLY_LEFT, ONLY_RIGHT, NOWHERE };

static enum comparison compare(struct trial *c, const struct expr *lhs, const struct expr *rhs)
{
    bool left = false, right = false;
    slong next;
    for (slong p = FIRST_PRECISION; p <= (left && right ? FINEST_PRECISION : LAST_PRECISION);
         p = next) {
        const acb_struct *x = ball_evaluate(&c->left, lhs, p);
        const acb_struct *y = ball_evaluate(&c->right, rhs, p);
        left = ball_is_narrow(x);
        right = ball_is_narrow(y);
        bool finite = acb_is_finite(x) && acb_is_finite(y);
        if (finite && c->real_values && !(ball_is_real(x) && ball_is_real(y)))
            return NOWHERE;
        if (finite && !acb_overlaps(x, y))
            return DIFFER;
        slong span = ball_span(&c->left);
        span = span > ball_span(&c->right) ? span : ball_span(&c->right);
        if (left && right && ball_agrees(x, y, span))
            return AGREE;
        next = left && right && span + FIRST_PRECISION > 2 * p ? span + FIRST_PRECISION : 2 * p;
        if ((c->left.hopeless && (right || c->right.hopeless)) || (c->right.hopeless && left))
            break;
    }
    return left && !right ? ONLY_LEFT : right && !left ? ONLY_RIGHT : NOWHERE;
}

/* "?a = -1, x = 0.5", for the last instance compared. */
static char *describe_place(struct trial *c, struct arena *a, const struct instance *values)
{
    struct buf b = {0};
    for (size_t i = 0; i < c->sampler.n; i++) {
        buf_printf(&b, "%s?%s = ", b.len ? ", " : "", c->sampler.variables[i].name);
        expr_write_infix(&b, &values->values[i]);
    }
    for (size_t i = 0; i < c->n_symbols; i++)
        buf_printf(&b, "%s%s = %.10g", b.len ? ", " : "", c->symbols[i].name, c->symbols[i].value);
    return buf_text(&b, a);
}

/* The place and both values: "?a = -1: 0 against 6.2831853*i". */
static char *describe(struct trial *c, struct arena *a, const struct instance *values)
{
    struct buf b = {0};
    char *place = describe_place(c, a, values);
    buf_printf(&b, "%s%s", place, *place ? ": " : "");
    ball_write_against(&b, &c->left.slots[0], &c->right.slots[0]);
    return buf_text(&b, a);
}

/* Whether x has values so extreme that a side that seems undefined may only need more precision. */
static bool is_extreme(const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op == X_NUM && strlen(x->nodes[i].leaf) > MODERATE_DIGITS)
            return true;
    return false;
}

static bool is_moderate(const struct sampler *s, const struct instance *values)
{
    for (size_t i = 0; i < s->n; i++)
        if (is_extreme(&values->values[i]))
            return false;
    return true;
}

enum err_code trial_run(struct trial_result *out, struct arena *a, const struct rule *r,
                        const struct rule_check_options *options, struct err *e)
{
    struct trial c = {.seed = options->seed, .real_values = options->real_values};
    *out = (struct trial_result){0};
    enum err_code code = sampler_init(&c.sampler, a, r, options->seed, e);
    if (code)
        return err_up(e, code);
    trial_open(&c);
    uint32_t least = sampler_min_instances(&c.sampler);
    uint32_t limit = least + TRIES_PER_POINT * options->points;
    if (c.sampler.n == 0 && !c.sampler.symbolic)
        limit = 1;
    struct arena work = {0};
    for (uint32_t k = 0; k < limit && (k < least || out->points < options->points); k++) {
        arena_reset(&work);
        struct instance values;
        c.instance = k;
        c.n_symbols = 0;
        sampler_draw(&values, &work, &c.sampler, k);
        if (!admits(&c, &work, r, &values))
            continue;
        out->admitted++;
        struct expr lhs = sampler_substitute(&work, &c.sampler, &r->lhs, &values);
        struct expr rhs = sampler_substitute(&work, &c.sampler, &r->rhs, &values);
        enum comparison verdict = compare(&c, &lhs, &rhs);
        out->points += verdict == AGREE;
        if ((verdict == ONLY_LEFT || verdict == ONLY_RIGHT) && !out->one_sided &&
            is_moderate(&c.sampler, &values))
            out->one_sided = arena_printf(a, "only the %s side has a value at %s",
                                          verdict == ONLY_LEFT ? "left" : "right",
                                          describe_place(&c, a, &values));
        if (verdict == DIFFER) {
            out->witness = describe(&c, a, &values);
            break;
        }
    }
    arena_free(&work);
    trial_close(&c);
    return OK;
}
