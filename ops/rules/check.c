/* Certification: a rule is tried at instances that meet its conditions, by ball arithmetic on
 * principal branches. Disjoint balls refute it. One instance is enough: since a pattern variable
 * may stand for a constant, what fails at a single value fails for two terms that differ
 * everywhere. Values are computed to rising precision until the balls are narrow; what stays wide
 * at the last precision (a pole, an argument that may lie on either side of a cut) does not count.
 */
#include "ops/rules/check.h"
#include "ops/expr/ball.h"
#include "ops/expr/ball_eval.h"
#include "ops/expr/exact.h"
#include "ops/expr/number.h"
#include "ops/rules/range.h"
#include "ops/rules/sample.h"

#include <string.h>

enum {
    FIRST_PRECISION = 96,
    LAST_PRECISION = 800,
    NARROW_BITS = 40,
    TRIES_PER_POINT = 24, /* instances drawn at most for each point wanted */
    MIN_POINTS = 3,       /* fewer certify nothing, unless there is nothing to vary */
    MAX_SYMBOLS = 8,
    MODERATE_DIGITS = 9,
};

struct checker {
    struct sampler sampler;
    struct ball_evaluator left, right; /* each keeps its last value */
    struct {
        const char *name;
        double value;
        acb_struct ball;
    } symbols[MAX_SYMBOLS];
    size_t n_symbols;
    uint64_t seed;
    uint32_t instance; /* its number: symbols have other values in each */
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
    struct checker *c = arg;
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

static void checker_open(struct checker *c)
{
    for (size_t i = 0; i < MAX_SYMBOLS; i++)
        acb_init(&c->symbols[i].ball);
    c->left.lookup = c->right.lookup = look_up;
    c->left.lookup_arg = c->right.lookup_arg = c;
}

static void checker_close(struct checker *c)
{
    for (size_t i = 0; i < MAX_SYMBOLS; i++)
        acb_clear(&c->symbols[i].ball);
    ball_evaluator_free(&c->left);
    ball_evaluator_free(&c->right);
}

static bool is_narrow(const acb_struct *z)
{
    return acb_is_finite(z) && (acb_rel_accuracy_bits(z) >= NARROW_BITS ||
                                (mag_cmp_2exp_si(arb_radref(acb_realref(z)), -NARROW_BITS) <= 0 &&
                                 mag_cmp_2exp_si(arb_radref(acb_imagref(z)), -NARROW_BITS) <= 0));
}

/* ---- conditions at an instance ---- */

enum answer { NO, YES, OPEN }; /* OPEN: more precision may tell */

static enum answer decide(bool yes, bool no)
{
    return yes ? YES : no ? NO : OPEN;
}

/* A sign question about a real ball. */
static enum answer ask_sign(enum rule_predicate p, const acb_struct *z)
{
    const arb_struct *x = acb_realref(z);
    if (!ball_is_real(z))
        return NO;
    switch (p) {
    case RULE_POSITIVE: return decide(arb_is_positive(x), arb_is_nonpositive(x));
    case RULE_NONNEGATIVE: return decide(arb_is_nonnegative(x), arb_is_negative(x));
    case RULE_NEGATIVE: return decide(arb_is_negative(x), arb_is_nonnegative(x));
    case RULE_NONPOSITIVE: return decide(arb_is_nonpositive(x), arb_is_positive(x));
    case RULE_REAL: return YES;
    case RULE_NONZERO:
    case RULE_MAYBE_NONZERO:
    case RULE_INTEGER:
    case RULE_EVEN:
    case RULE_ODD:
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

static enum answer ask_integer(const acb_struct *z, bool any, bool odd)
{
    if (!ball_is_real(z) || !arb_is_int(acb_realref(z)))
        return NO;
    return any || (arb_is_int_2exp_si(acb_realref(z), 1) == 0) == odd ? YES : NO;
}

/* Built of numbers by + - * / alone. */
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

static bool occurs_in(const char *symbol, const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op == X_SYM && strcmp(x->nodes[i].leaf, symbol) == 0)
            return true;
    return false;
}

static bool is_free_of(const struct expr *x, const struct expr *of)
{
    for (uint32_t i = 0; i < of->n; i++)
        if (of->nodes[i].op == X_SYM && !lang_is_constant(of->nodes[i].leaf) &&
            occurs_in(of->nodes[i].leaf, x))
            return false;
    return true;
}

static enum answer ask(struct checker *c, enum rule_predicate p, const struct expr args[2],
                       slong precision)
{
    switch (p) {
    case RULE_CONSTANT: return is_rational(&args[0]) ? YES : NO;
    case RULE_SYMBOL: return is_symbol(&args[0]) ? YES : NO;
    case RULE_FREE_OF: return is_free_of(&args[0], &args[1]) ? YES : NO;
    case RULE_CONSTANT_OR_OTHER_SYMBOL:
        return is_rational(&args[0]) ||
                       (args[0].nodes[0].op == X_SYM && is_free_of(&args[0], &args[1]))
                   ? YES
                   : NO;
    case RULE_POSITIVE:
    case RULE_NONNEGATIVE:
    case RULE_NEGATIVE:
    case RULE_NONPOSITIVE:
    case RULE_NONZERO:
    case RULE_MAYBE_NONZERO:
    case RULE_REAL:
    case RULE_INTEGER:
    case RULE_EVEN:
    case RULE_ODD:
    case RULE_LESS:
    case RULE_LESS_EQUAL:
    case RULE_N_PREDICATES: break;
    }
    const acb_struct *x = ball_evaluate(&c->left, &args[0], precision);
    if (!acb_is_finite(x))
        return c->left.hopeless ? NO : OPEN;
    if (p == RULE_INTEGER || p == RULE_EVEN || p == RULE_ODD)
        return ask_integer(x, p == RULE_INTEGER, p == RULE_ODD);
    if (p == RULE_NONZERO || p == RULE_MAYBE_NONZERO)
        return decide(!acb_contains_zero(x), acb_is_zero(x));
    if (p != RULE_LESS && p != RULE_LESS_EQUAL)
        return ask_sign(p, x);
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

static bool condition_holds(struct checker *c, struct arena *a, const struct rule_condition *cond,
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

static bool all_hold(struct checker *c, struct arena *a, const struct rule_condition *conditions,
                     size_t n, const struct instance *values)
{
    for (size_t i = 0; i < n; i++)
        if (!condition_holds(c, a, &conditions[i], values))
            return false;
    return true;
}

/* ---- one instance ---- */

enum comparison { AGREE, DIFFER, ONLY_LEFT, ONLY_RIGHT, NOWHERE };

static enum comparison compare(struct checker *c, const struct expr *lhs, const struct expr *rhs)
{
    bool left = false, right = false;
    for (slong p = FIRST_PRECISION; p <= LAST_PRECISION; p *= 2) {
        const acb_struct *x = ball_evaluate(&c->left, lhs, p);
        const acb_struct *y = ball_evaluate(&c->right, rhs, p);
        left = is_narrow(x);
        right = is_narrow(y);
        if (acb_is_finite(x) && acb_is_finite(y) && !acb_overlaps(x, y))
            return DIFFER;
        if (left && right)
            return AGREE;
        if ((c->left.hopeless && (right || c->right.hopeless)) || (c->right.hopeless && left))
            break;
    }
    return left ? ONLY_LEFT : right ? ONLY_RIGHT : NOWHERE;
}

/* "1.5", "-2*i", "1.5 - 2*i": a part that may be zero is left out. */
static void add_value(struct buf *b, const acb_struct *z)
{
    bool imaginary = !arb_contains_zero(acb_imagref(z));
    bool real = !imaginary || !arb_contains_zero(acb_realref(z));
    if (real) {
        char *re = arb_get_str(acb_realref(z), 8, ARB_STR_NO_RADIUS);
        buf_puts(b, re);
        flint_free(re);
    }
    if (imaginary) {
        char *im = arb_get_str(acb_imagref(z), 8, ARB_STR_NO_RADIUS);
        bool minus = *im == '-';
        buf_printf(b, "%s%s*i", !real ? (minus ? "-" : "") : minus ? " - " : " + ", im + minus);
        flint_free(im);
    }
}

/* "?a = -1, x = 0.5", of the instance just compared. */
static char *describe_place(struct checker *c, struct arena *a, const struct instance *values)
{
    struct buf b = {0};
    for (size_t i = 0; i < c->sampler.n; i++) {
        buf_printf(&b, "%s?%s = ", b.len ? ", " : "", c->sampler.variables[i].name);
        expr_write_infix(&b, &values->values[i]);
    }
    for (size_t i = 0; i < c->n_symbols; i++)
        buf_printf(&b, "%s%s = %.10g", b.len ? ", " : "", c->symbols[i].name, c->symbols[i].value);
    char *text = arena_strndup(a, b.len ? b.data : "", b.len);
    buf_free(&b);
    return text;
}

/* The place and both values: "?a = -1: 0 against 6.2831853*i". */
static char *describe(struct checker *c, struct arena *a, const struct instance *values)
{
    struct buf b = {0};
    char *place = describe_place(c, a, values);
    buf_printf(&b, "%s%s", place, *place ? ": " : "");
    add_value(&b, &c->left.slots[0]);
    buf_puts(&b, " against ");
    add_value(&b, &c->right.slots[0]);
    char *text = arena_strndup(a, b.data, b.len);
    buf_free(&b);
    return text;
}

/* ---- the rule ---- */

/* Values at which a side that seems to have none may only need more precision. */
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

struct outcome {
    uint32_t points;
    uint32_t admitted; /* instances that met the conditions */
    char *refuted;     /* the witness */
    char *stray;       /* a place at which only one side is defined, and which */
};

/* Tries instances until `points` of them could be compared or one refutes the rule. */
static enum err_code try_rule(struct outcome *out, struct arena *a, const struct rule *r,
                              const struct rule_condition *more, size_t n_more,
                              const struct rule_check_options *options, struct err *e)
{
    struct checker c = {.seed = options->seed};
    *out = (struct outcome){0};
    if (err_up(e, sampler_init(&c.sampler, a, r, more, n_more, options->seed, e)))
        return ERR_LIMIT;
    checker_open(&c);
    uint32_t rounds = sampler_rounds(&c.sampler);
    uint32_t limit = rounds + TRIES_PER_POINT * options->points;
    if (c.sampler.n == 0 && !c.sampler.symbolic)
        limit = 1;
    struct arena work = {0};
    for (uint32_t k = 0; k < limit && (k < rounds || out->points < options->points); k++) {
        arena_reset(&work);
        struct instance values;
        c.instance = k;
        c.n_symbols = 0;
        sampler_draw(&values, &work, &c.sampler, k);
        if (!all_hold(&c, &work, r->conditions, r->n_conditions, &values) ||
            !all_hold(&c, &work, more, n_more, &values))
            continue;
        out->admitted++;
        struct expr lhs = sampler_substitute(&work, &c.sampler, &r->lhs, &values);
        struct expr rhs = sampler_substitute(&work, &c.sampler, &r->rhs, &values);
        enum comparison verdict = compare(&c, &lhs, &rhs);
        out->points += verdict == AGREE;
        if ((verdict == ONLY_LEFT || verdict == ONLY_RIGHT) && !out->stray &&
            is_moderate(&c.sampler, &values))
            out->stray = arena_printf(a, "only the %s side has a value at %s",
                                      verdict == ONLY_LEFT ? "left" : "right",
                                      describe_place(&c, a, &values));
        if (verdict == DIFFER) {
            out->refuted = describe(&c, a, &values);
            break;
        }
    }
    arena_free(&work);
    checker_close(&c);
    return OK;
}

static bool is_uninterpreted(const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op >= X_ADD && !x->lang->ops[x->nodes[i].op].interpreted)
            return true;
    return false;
}

static bool is_unchecked(const struct rule *r)
{
    bool found = is_uninterpreted(&r->lhs) || is_uninterpreted(&r->rhs);
    for (size_t i = 0; i < r->n_conditions; i++)
        for (unsigned k = 0; k < r->conditions[i].n_args; k++)
            found = found || is_uninterpreted(&r->conditions[i].args[k]);
    return found;
}

static bool asks_maybe(const struct rule *r)
{
    for (size_t i = 0; i < r->n_conditions; i++)
        if (r->conditions[i].predicate == RULE_MAYBE_NONZERO)
            return true;
    return false;
}

bool rule_holds_if(struct arena *a, const struct rule *r, const struct rule_condition *more,
                   size_t n_more, const struct rule_check_options *options)
{
    struct outcome o;
    return !try_rule(&o, a, r, more, n_more, options, NULL) && !o.refuted &&
           o.points >= options->points / 4;
}

/* Languages with normal forms need no instances: the verdict is a proof either way. */
static void check_exactly(Eqloom__Certificate *out, struct arena *a, const struct rule *r)
{
    struct exact_result result;
    struct err e = {0};
    if (exact_compare(&result, a, &r->lhs, &r->rhs, &e)) {
        out->verdict = EQLOOM__VERDICT__UNDECIDED;
        out->remark = arena_strdup(a, e.message);
        return;
    }
    out->points = (uint32_t)result.points;
    out->verdict = result.equal ? EQLOOM__VERDICT__CERTIFIED : EQLOOM__VERDICT__REFUTED;
    if (!result.equal)
        out->witness = arena_strdup(a, result.witness);
}

enum err_code rule_check(Eqloom__Certificate *out, struct arena *a, const struct rule *r,
                         const struct rule_check_options *options, struct err *e)
{
    eqloom__certificate__init(out);
    struct outcome o;
    if (is_unchecked(r)) {
        out->verdict = EQLOOM__VERDICT__UNCHECKED;
        return OK;
    }
    if (exact_applies(r->lhs.lang)) {
        check_exactly(out, a, r);
        return OK;
    }
    const char *why = rule_conditions_contradict(a, r);
    if (why) {
        out->verdict = EQLOOM__VERDICT__VACUOUS;
        out->remark = arena_strdup(a, why);
        return OK;
    }
    enum err_code code = try_rule(&o, a, r, NULL, 0, options, e);
    if (code)
        return err_up(e, code);
    out->points = o.points;
    if (o.refuted) {
        out->verdict = EQLOOM__VERDICT__REFUTED;
        const char *guard = rule_suggest_guard(a, r, options);
        out->witness = o.refuted;
        if (guard)
            out->guard = arena_strdup(a, guard);
    } else if (o.points == 0 && o.admitted) {
        out->verdict = EQLOOM__VERDICT__VACUOUS;
        out->remark = "its sides are nowhere both defined";
    } else if (o.points == 0) {
        out->verdict = EQLOOM__VERDICT__UNDECIDED;
        out->remark = "no instance was found that meets its conditions";
    } else if (asks_maybe(r)) {
        out->verdict = EQLOOM__VERDICT__UNCHECKED;
    } else if (o.points < MIN_POINTS && options->points >= MIN_POINTS && rule_has_variables(r)) {
        out->verdict = EQLOOM__VERDICT__UNDECIDED;
    } else {
        out->verdict = EQLOOM__VERDICT__CERTIFIED;
        if (o.stray)
            out->remark = o.stray;
    }
    return OK;
}

static const char *list_conditions(struct arena *a, const struct rule *r)
{
    const char *text = "no value meets ";
    for (size_t i = 0; i < r->n_conditions; i++)
        text = arena_printf(a, "%s%s%s", text, i ? ", " : "",
                            rule_condition_text(a, &r->conditions[i]));
    return text;
}

const char *rule_conditions_contradict(struct arena *a, const struct rule *r)
{
    struct range_conditions all = {r->conditions, r->n_conditions};
    for (size_t i = 0; i < r->n_conditions; i++) {
        const struct rule_condition *c = &r->conditions[i];
        if (c->predicate == RULE_LESS && expr_equal(&c->args[0], &c->args[1]))
            return list_conditions(a, r);
        for (unsigned k = 0; k < c->n_args; k++) {
            struct range range;
            range_of_term(&range, &all, &c->args[k]);
            if (range_is_empty(&range))
                return list_conditions(a, r);
        }
    }
    return NULL;
}

bool rule_has_variables(const struct rule *r)
{
    for (uint32_t i = 0; i < r->lhs.n; i++)
        if (r->lhs.nodes[i].op == X_VAR || is_symbol(&(struct expr){.nodes = &r->lhs.nodes[i]}))
            return true;
    return false;
}
