/* What a proof claims, asked of numbers: a second witness, which knows nothing of facts, e-classes
 * or certificates. Both sides of a step are compared by ball arithmetic, and the conditions of its
 * rule are evaluated at points. Only what is certainly false is held against a step: a condition is
 * a fact that holds but on a nowhere dense set, so one that balls cannot decide says nothing, and
 * `nonzero` is refuted by zeros at all points only. */
#include "ops/egraph/explain/explain_check.h"
#include "ops/expr/ball/ball_eval.h"
#include "ops/expr/exact.h"

#include <math.h>
#include <string.h>

enum { POINTS = 4, PRECISION = 192, MAX_SYMBOLS = 32 };

/* A point: every variable has a value that depends on its name and the point's number. `moved` has
 * another one, to see whether a term depends on it. */
struct place {
    const struct ball_domain *domains;
    size_t n_domains;
    uint64_t number;
    const char *moved;
    const char *names[MAX_SYMBOLS];
    acb_struct values[MAX_SYMBOLS];
    size_t n;
};

static double draw(const struct place *p, const char *name)
{
    uint64_t h = p->number + (p->moved && strcmp(p->moved, name) == 0 ? 1000 : 0);
    for (const char *c = name; *c; c++)
        h = rng_mix(h ^ (unsigned char)*c);
    double u = (double)(rng_mix(h) >> 11) * 0x1p-53, positive = 0.0625 + 7 * u;
    for (size_t i = 0; i < p->n_domains; i++) {
        if (strcmp(p->domains[i].name, name) != 0)
            continue;
        if (strcmp(p->domains[i].domain, "integer") == 0)
            return nearbyint(4 * positive) - 14;
        if (strcmp(p->domains[i].domain, "positive") != 0)
            return positive - 3.5;
    }
    return positive;
}

static const acb_struct *look_up(void *arg, uint16_t op, const char *name)
{
    struct place *p = arg;
    if (op != X_SYM)
        return NULL;
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->names[i], name) == 0)
            return &p->values[i];
    if (p->n == MAX_SYMBOLS)
        return NULL;
    p->names[p->n] = name;
    acb_set_d(&p->values[p->n], draw(p, name));
    return &p->values[p->n++];
}

struct asking {
    struct place place;
    struct ball_evaluator evaluator;
};

static void asking_open(struct asking *a, const struct ball_domain *domains, size_t n_domains)
{
    *a = (struct asking){.place = {.domains = domains, .n_domains = n_domains}};
    for (size_t i = 0; i < MAX_SYMBOLS; i++)
        acb_init(&a->place.values[i]);
    a->evaluator.lookup = look_up;
    a->evaluator.lookup_arg = &a->place;
}

static void asking_close(struct asking *a)
{
    for (size_t i = 0; i < MAX_SYMBOLS; i++)
        acb_clear(&a->place.values[i]);
    ball_evaluator_free(&a->evaluator);
}

/* Into `out`; false: no value is known there. */
static bool value_of(acb_struct *out, struct asking *a, const struct expr *x, uint64_t number,
                     const char *moved)
{
    a->place.n = 0;
    a->place.number = number;
    a->place.moved = moved;
    acb_set(out, ball_evaluate(&a->evaluator, x, PRECISION));
    return acb_is_finite(out) && ball_is_narrow(out);
}

/* ---- conditions ---- */

static bool may_be_real(const acb_struct *z)
{
    return arb_contains_zero(acb_imagref(z));
}

static bool may_be_integer(const acb_struct *z, int parity)
{
    bool may = may_be_real(z);
    arb_t half;
    arb_init(half);
    if (parity < 0) {
        may = may && arb_contains_int(acb_realref(z));
    } else {
        arb_sub_si(half, acb_realref(z), parity, PRECISION);
        arb_mul_2exp_si(half, half, -1);
        may = may && arb_contains_int(half);
    }
    arb_clear(half);
    return may;
}

/* Whether x may be the same wherever `symbol` (NULL: each of its variables) is moved to. */
static bool may_ignore(struct asking *a, const struct expr *x, const char *symbol)
{
    acb_t here, there;
    bool may = true;
    acb_init(here);
    acb_init(there);
    for (uint64_t k = 0; may && k < POINTS; k++)
        for (uint32_t i = 0; may && i < x->n; i++) {
            const char *leaf = x->nodes[i].op == X_SYM ? x->nodes[i].leaf : NULL;
            if (leaf && (!symbol || strcmp(leaf, symbol) == 0) && value_of(here, a, x, k, NULL) &&
                value_of(there, a, x, k, leaf))
                may = acb_overlaps(here, there);
        }
    acb_clear(here);
    acb_clear(there);
    return may;
}

/* Whether x may be a variable, or be the same everywhere; `other`: not that variable. */
static bool may_be_symbol(struct asking *a, const struct expr *x, const char *other)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expr_node *leaf = &x->nodes[i];
        if (leaf->op != X_SYM || lang_is_constant(leaf->leaf) ||
            (other && strcmp(leaf->leaf, other) == 0))
            continue;
        acb_t z;
        bool same = true;
        acb_init(z);
        for (uint64_t k = 0; same && k < POINTS; k++)
            same = !value_of(z, a, x, k, NULL) ||
                   acb_overlaps(z, look_up(&a->place, X_SYM, leaf->leaf));
        acb_clear(z);
        if (same)
            return true;
    }
    return false;
}

/* About the value of one term at one point. */
static bool may_hold_at(enum rule_predicate p, const acb_struct *z)
{
    const arb_struct *x = acb_realref(z);
    switch (p) {
    case RULE_POSITIVE: return may_be_real(z) && !arb_is_nonpositive(x);
    case RULE_NONNEGATIVE: return may_be_real(z) && !arb_is_negative(x);
    case RULE_NEGATIVE: return may_be_real(z) && !arb_is_nonnegative(x);
    case RULE_NONPOSITIVE: return may_be_real(z) && !arb_is_positive(x);
    case RULE_REAL: return may_be_real(z);
    case RULE_INTEGER: return may_be_integer(z, -1);
    case RULE_EVEN: return may_be_integer(z, 0);
    case RULE_ODD: return may_be_integer(z, 1);
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
    return true;
}

static bool may_be_ordered(struct asking *a, const struct expr args[2], bool or_equal)
{
    acb_t x, y;
    bool may = true;
    acb_init(x);
    acb_init(y);
    for (uint64_t k = 0; may && k < POINTS; k++)
        if (value_of(x, a, &args[0], k, NULL) && value_of(y, a, &args[1], k, NULL))
            may = may_be_real(x) && may_be_real(y) &&
                  (or_equal ? !arb_gt(acb_realref(x), acb_realref(y))
                            : !arb_ge(acb_realref(x), acb_realref(y)));
    acb_clear(x);
    acb_clear(y);
    return may;
}

static bool may_hold(struct asking *a, enum rule_predicate p, const struct expr args[2])
{
    bool is_variable = args[1].n == 1 && args[1].nodes[0].op == X_SYM;
    if (p == RULE_CONSTANT)
        return may_ignore(a, &args[0], NULL);
    if (p == RULE_SYMBOL)
        return may_be_symbol(a, &args[0], NULL);
    if (p == RULE_FREE_OF)
        return !is_variable || may_ignore(a, &args[0], args[1].nodes[0].leaf);
    if (p == RULE_CONSTANT_OR_OTHER_SYMBOL)
        return may_ignore(a, &args[0], NULL) ||
               may_be_symbol(a, &args[0], is_variable ? args[1].nodes[0].leaf : NULL);
    if (p == RULE_LESS || p == RULE_LESS_EQUAL)
        return may_be_ordered(a, args, p == RULE_LESS_EQUAL);
    acb_t z;
    bool may = true, zeros = true;
    uint32_t known = 0;
    acb_init(z);
    for (uint64_t k = 0; may && k < POINTS; k++) {
        if (!value_of(z, a, &args[0], k, NULL))
            continue;
        known++;
        zeros = zeros && acb_contains_zero(z);
        may = may_hold_at(p, z);
    }
    acb_clear(z);
    return p == RULE_NONZERO ? !(known && zeros) : may;
}

static struct expr substitute(struct arena *a, const struct expr *pattern, uint32_t position,
                              const struct substitution *s)
{
    const struct expr_node *node = &pattern->nodes[position];
    for (size_t i = 0; node->op == X_VAR && i < s->n; i++)
        if (strcmp(s->name[i], node->leaf) == 0)
            return s->value[i];
    if (node->leaf)
        return expr_leaf(a, pattern->lang, node->op, node->leaf);
    struct expr kids[LANG_MAX_ARITY];
    for (uint32_t i = 0, at = position + 1; i < node->arity; i++, at += pattern->nodes[at].size)
        kids[i] = substitute(a, pattern, at, s);
    return expr_apply(a, pattern->lang, node->op, kids, node->arity);
}

static enum err_code check_conditions(struct asking *asking, struct arena *a, const struct rule *r,
                                      const struct substitution *bound, struct err *e)
{
    for (size_t i = 0; i < r->n_conditions; i++) {
        const struct rule_condition *c = &r->conditions[i];
        struct rule_condition instance = *c;
        for (unsigned k = 0; k < c->n_args; k++)
            instance.args[k] = substitute(a, &c->args[k], 0, bound);
        if (!may_hold(asking, c->predicate, instance.args))
            return err_fail(e, ERR_FAILED, "%s does not hold", rule_condition_text(a, &instance));
    }
    return OK;
}

/* ---- steps ---- */

static bool can_evaluate(const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op >= X_ADD && !x->lang->ops[x->nodes[i].op].interpreted)
            return false;
    return true;
}

static enum err_code compare_sides(struct arena *a, const struct expr *x, const struct expr *y,
                                   const struct ball_domain *domains, size_t n_domains,
                                   struct err *e)
{
    struct exact_result exact;
    if (exact_applies(x->lang))
        return exact_compare(&exact, a, x, y, NULL) || exact.equal
                   ? OK
                   : err_fail(e, ERR_FAILED, "%s", exact.witness);
    if (!can_evaluate(x) || !can_evaluate(y))
        return OK;
    struct ball_options o = {.points = POINTS,
                             .seed = 2,
                             .low = 0.0625,
                             .high = 8,
                             .domains = domains,
                             .n_domains = n_domains};
    struct ball_compare result;
    ball_compare(&result, x, y, &o);
    return result.verdict == BALL_DIFFERENT ? err_fail(e, ERR_FAILED, "%s", result.witness) : OK;
}

enum err_code explanation_check_values(size_t *step, const struct explanation *x,
                                       const struct expr *from, const struct rules *rules,
                                       const struct ball_domain *domains, size_t n_domains,
                                       struct err *e)
{
    struct asking asking;
    struct arena work = {0};
    enum err_code code = OK;
    const struct expr *before = from;
    asking_open(&asking, domains, n_domains);
    for (size_t i = 0; !code && i < x->n; before = &x->steps[i++].term) {
        struct substitution bound;
        struct expr left, right;
        const struct explain_step *s = &x->steps[i];
        const struct rule *r = explain_step_rule(&bound, s, before, rules);
        struct err reason = {0};
        explain_step_sides(&left, &right, s, before);
        arena_reset(&work);
        code = compare_sides(&work, &left, &right, domains, n_domains, &reason);
        if (!code && r && !exact_applies(r->lhs.lang))
            code = check_conditions(&asking, &work, r, &bound, &reason);
        if (code) {
            *step = i;
            err_fail(e, code, "step %zu, by %s, is false: %s", i + 1, s->rule, reason.message);
        }
    }
    asking_close(&asking);
    arena_free(&work);
    return code;
}

enum err_code explain_check_interval(const struct expr *x, double lo, double hi, bool interpreted,
                                     struct err *e)
{
    struct asking asking;
    enum err_code code = OK;
    acb_t z;
    arb_t least, most;
    if (!interpreted || !can_evaluate(x))
        return OK;
    asking_open(&asking, NULL, 0);
    acb_init(z);
    arb_init(least);
    arb_init(most);
    arb_set_d(least, lo);
    arb_set_d(most, hi);
    for (uint64_t k = 0; k < POINTS && !code; k++) {
        if (!value_of(z, &asking, x, k, NULL) ||
            (may_be_real(z) && !arb_lt(acb_realref(z), least) && !arb_gt(acb_realref(z), most)))
            continue;
        struct buf value = {0};
        ball_write(&value, z, 8);
        code = err_fail(e, ERR_FAILED, "it has the value %s", value.data);
        buf_free(&value);
    }
    acb_clear(z);
    arb_clear(least);
    arb_clear(most);
    asking_close(&asking);
    return code;
}
