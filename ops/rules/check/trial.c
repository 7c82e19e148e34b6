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
    DEEP_PRECISION = 4096,
    FINEST_PRECISION = 1 << 19, /* to distinguish narrow balls */
    MAX_SYMBOLS = SAMPLE_MAX_VARIABLES + 8
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
    slong precision; /* at which a comparison starts */
    bool real_values;
    uint32_t instance; /* its number: symbols have different values in each */
};

/* Variables are real and positive; their values depend on the order in which they occur. */
static const acb_struct *look_up(void *arg, uint16_t op, const char *name)
{
    static const struct design_variable moderate = {
        .op = X_SYM, .kind = DESIGN_REAL, .low = "1/16", .high = "8"};
    struct trial *c = arg;
    if (op != X_SYM)
        return NULL;
    size_t i = 0;
    while (i < c->n_symbols && strcmp(c->symbols[i].name, name) != 0)
        i++;
    if (i == MAX_SYMBOLS)
        return NULL;
    if (i == c->n_symbols) {
        struct design_number value;
        design_number_init(&value);
        uint32_t k = c->instance + c->instance / 3; /* no short numbers: steps may be there */
        design_level(&value, &moderate, (unsigned)i + 1, c->sampler.salt, k);
        arb_set_fmpq(acb_realref(&c->symbols[i].ball), &value.re, FIRST_PRECISION);
        c->symbols[c->n_symbols++].name = name;
        c->symbols[i].value = arf_get_d(arb_midref(acb_realref(&c->symbols[i].ball)), ARF_RND_NEAR);
        design_number_clear(&value);
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
    for (slong p = c->precision; p == c->precision || p <= (left && right ? FINEST_PRECISION : LAST_PRECISION);
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
        if (c->sampler.variables[i].op == X_SYM)
            continue;
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

static void give_symbols(struct trial *c, const struct instance *values)
{
    c->n_symbols = values->n_symbols;
    for (size_t i = 0; i < c->n_symbols; i++) {
        c->symbols[i].name = values->symbols[i].name;
        c->symbols[i].value = values->symbols[i].value;
        acb_set_d(&c->symbols[i].ball, c->symbols[i].value);
    }
}

/* Tries one instance. */
static void try(struct trial_result *out, struct trial *c, struct arena *a, struct arena *work,
                const struct rule *r, const struct instance *values)
{
    give_symbols(c, values);
    if (!admits(c, work, r, values))
        return;
    out->admitted++;
    struct expr lhs = sampler_substitute(work, &c->sampler, &r->lhs, values);
    struct expr rhs = sampler_substitute(work, &c->sampler, &r->rhs, values);
    enum comparison verdict = compare(c, &lhs, &rhs);
    out->points += verdict == AGREE;
    if ((verdict == ONLY_LEFT || verdict == ONLY_RIGHT) && !out->one_sided &&
        is_moderate(&c->sampler, values))
        out->one_sided = arena_printf(a, "only the %s side has a value at %s",
                                      verdict == ONLY_LEFT ? "left" : "right",
                                      describe_place(c, a, values));
    if (verdict == DIFFER)
        out->witness = describe(c, a, values);
}

/* Special instances, all of them, then levels. */
static void try_levels(struct trial_result *out, struct trial *c, struct arena *a,
                       const struct rule *r, uint32_t points)
{
    struct arena work = {0};
    uint32_t special = sampler_count_special(&c->sampler);
    uint32_t limit = special + (c->sampler.n ? TRIES_PER_POINT * points : 0);
    for (uint32_t k = 0; k < limit && !out->witness && (k < special || out->points < points); k++) {
        struct instance values;
        arena_reset(&work);
        c->instance = k;
        if (k < special)
            sampler_special(&values, &work, &c->sampler, k);
        else
            sampler_level(&values, &work, &c->sampler, k - special);
        char *one_sided = out->one_sided;
        try(out, c, a, &work, r, &values);
        if (k >= special) /* such values may only need more precision */
            out->one_sided = one_sided;
    }
    arena_free(&work);
}

static void try_cells(struct trial_result *out, struct trial *c, struct arena *a,
                      const struct rule *r)
{
    struct arena work = {0}, borders = {0};
    struct instance values;
    size_t n = sampler_find_cells(&c->sampler, &borders);
    c->precision = DEEP_PRECISION; /* once: agreement at the first precision shows less */
    sampler_level(&values, &work, &c->sampler, 0);
    out->points -= c->sampler.n == 0 && out->points; /* the only point */
    try(out, c, a, &work, r, &values);
    c->precision = FIRST_PRECISION;
    for (size_t k = 0; k < n && !out->witness; k++) {
        arena_reset(&work);
        c->instance = (uint32_t)k;
        char *one_sided = out->one_sided;
        sampler_cell(&values, &work, &c->sampler, k);
        try(out, c, a, &work, r, &values);
        out->one_sided = one_sided;
    }
    design_points_free(&c->sampler.cells);
    arena_free(&borders);
    arena_free(&work);
}

enum err_code trial_run(struct trial_result *out, struct arena *a, const struct rule *r,
                        const struct rule_check_options *options, enum trial_points points,
                        struct err *e)
{
    struct trial c = {.precision = FIRST_PRECISION, .real_values = options->real_values};
    enum err_code code = sampler_init(&c.sampler, a, r, e);
    if (code)
        return err_up(e, code);
    trial_open(&c);
    if (points == TRIAL_LEVELS)
        try_levels(out, &c, a, r, options->points);
    else
        try_cells(out, &c, a, r);
    trial_close(&c);
    return OK;
}
