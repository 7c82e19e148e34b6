/* Certification: a rule is tried at instances that meet its conditions, by ball arithmetic on
 * principal branches. Disjoint balls refute it. One instance is enough: since a pattern variable
 * may stand for a constant, what fails at a single value fails for two terms that differ
 * everywhere. Values are computed to rising precision until the balls are narrow; what stays wide
 * at the last precision (a pole, an argument that may lie on either side of a cut) does not count.
 */
#include "ops/rules/check.h"
#include "ops/expr/ball/ball.h"
#include "ops/expr/exact.h"
#include "ops/rules/checker.h"
#include "ops/rules/range.h"

#include <string.h>

enum {
    NARROW_BITS = 40,
    TRIES_PER_POINT = 24, /* instances drawn at most for each point wanted */
    MIN_POINTS = 3,       /* fewer certify nothing, unless there is nothing to vary */
    MODERATE_DIGITS = 9,
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
    if (i == CHECK_MAX_SYMBOLS)
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
    for (size_t i = 0; i < CHECK_MAX_SYMBOLS; i++)
        acb_init(&c->symbols[i].ball);
    c->left.lookup = c->right.lookup = look_up;
    c->left.lookup_arg = c->right.lookup_arg = c;
}

static void checker_close(struct checker *c)
{
    for (size_t i = 0; i < CHECK_MAX_SYMBOLS; i++)
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

/* ---- one instance ---- */

enum comparison { AGREE, DIFFER, ONLY_LEFT, ONLY_RIGHT, NOWHERE };

static enum comparison compare(struct checker *c, const struct expr *lhs, const struct expr *rhs)
{
    bool left = false, right = false;
    for (slong p = CHECK_FIRST_PRECISION; p <= CHECK_LAST_PRECISION; p *= 2) {
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
    ball_write_against(&b, &c->left.slots[0], &c->right.slots[0]);
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
        if (!checker_admits(&c, &work, r->conditions, r->n_conditions, &values) ||
            !checker_admits(&c, &work, more, n_more, &values))
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

enum err_code rule_check_message(Eqloom__Certificate *out, struct arena *a,
                                 const Eqloom__Rule *message,
                                 const struct rule_check_options *options, struct err *e)
{
    const struct language *lang = NULL;
    struct rule r;
    enum err_code code = rule_from_message(&r, &lang, a, message, e);
    if (!code)
        code = rule_check(out, a, &r, options, e);
    return err_up(e, code);
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
        if (r->lhs.nodes[i].op == X_VAR ||
            checker_is_symbol(&(struct expr){.nodes = &r->lhs.nodes[i]}))
            return true;
    return false;
}
