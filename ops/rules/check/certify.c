/* The verdict on a rule; see certify.h. */
#include "ops/rules/check/certify.h"
#include "ops/expr/equality/exact.h"
#include "ops/rules/check/proof.h"
#include "ops/rules/check/range.h"
#include "ops/rules/check/trial.h"
#include "ops/rules/parse_condition.h"

#include <string.h>

enum { MIN_POINTS = 3 }; /* with fewer a rule is not certified, unless it has no variables */

static bool is_interpreted(const struct rule *r)
{
    bool all = expr_is_interpreted(&r->lhs) && expr_is_interpreted(&r->rhs);
    for (size_t i = 0; i < r->n_conditions; i++)
        for (unsigned k = 0; k < r->conditions[i].n_args; k++)
            all = all && expr_is_interpreted(&r->conditions[i].args[k]);
    return all;
}

static bool asks_maybe(const struct rule *r)
{
    for (size_t i = 0; i < r->n_conditions; i++)
        if (r->conditions[i].predicate == RULE_MAYBE_NONZERO)
            return true;
    return false;
}

static char *list_conditions(struct arena *a, const struct rule *r)
{
    char *text = arena_strdup(a, "no value meets ");
    for (size_t i = 0; i < r->n_conditions; i++)
        text = arena_printf(a, "%s%s%s", text, i ? ", " : "",
                            rule_condition_text(a, &r->conditions[i]));
    return text;
}

static bool conditions_contradict(struct arena *a, const struct rule *r)
{
    for (size_t i = 0; i < r->n_conditions; i++) {
        const struct rule_condition *c = &r->conditions[i];
        if (c->predicate == RULE_LESS && expr_equal(&c->args[0], &c->args[1]))
            return true;
        for (unsigned k = 0; k < c->n_args; k++) {
            struct range range;
            range_of_term(&range, a, r, &c->args[k]);
            if (range_is_empty(&range))
                return true;
        }
    }
    return false;
}

static bool has_variables(const struct rule *r)
{
    for (uint32_t i = 0; i < r->lhs.n; i++) {
        const struct expr_node *x = &r->lhs.nodes[i];
        if (x->op == X_VAR || (x->op == X_SYM && !lang_is_constant(x->leaf)))
            return true;
    }
    return false;
}

/* Languages with normal forms need no instances: the verdict is proved either way. */
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
    else
        out->proof = lang_is(r->lhs.lang, &lang_boolean) ? "truth table" : "expansion";
}

/* ---- the missing guard of a refuted rule ---- */

/* Candidates are tried from weak to strong, on one variable, on two, on all. As many are tried, one
 * may fit by chance; a suggestion is therefore confirmed at many more instances. */
enum { MAX_VARIABLES = 4, GUARD_POINTS = 64, CONFIRM_POINTS = 1024 };

enum extent {
    ONE,  /* some variable */
    TWO,  /* two variables, in either order */
    BOTH, /* the two variables, if there are only two */
    ALL,  /* each of several variables, all at once */
};
enum place {
    ANYWHERE,
    EXPONENT, /* candidates on integers, not on sizes */
    ELSEWHERE,
};

/* # and % are two different variables. Guards on one variable come first, then the weakest. */
static const struct guard {
    enum extent extent;
    enum place place;
    const char *conditions;
} guards[] = {
    {ONE, ANYWHERE, "nonzero(#)"},
    {ONE, ANYWHERE, "real(#)"},
    {ONE, ANYWHERE, "nonnegative(#)"},
    {ONE, ANYWHERE, "positive(#)"},
    {ONE, EXPONENT, "integer(#)"},
    {ONE, EXPONENT, "even(#)"},
    {ALL, ANYWHERE, "nonzero(#)"},
    {ALL, ANYWHERE, "real(#)"},
    /* Sums and differences of arctangents and arccotangents. */
    {BOTH, ELSEWHERE, "real(#), real(%), less(-1, # * %)"},
    {BOTH, ELSEWHERE, "real(#), real(%), less(# * %, 1)"},
    {BOTH, ELSEWHERE, "real(#), real(%), positive(# * %)"},
    {BOTH, ELSEWHERE, "real(#), real(%), less(1, # * %)"},
    /* Powers and their logarithms. */
    {TWO, ANYWHERE, "positive(#), real(%)"},
    {ALL, ANYWHERE, "nonnegative(#)"},
    {ALL, ANYWHERE, "positive(#)"},
    {ALL, EXPONENT, "integer(#)"},
    {ALL, EXPONENT, "even(#)"},
    /* Inverses and half arguments of periodic functions. */
    {ONE, ELSEWHERE, "nonnegative(#), less_equal(#, 2 * pi)"},
    {ONE, ELSEWHERE, "nonnegative(#), less_equal(#, pi)"},
    {ONE, ELSEWHERE, "nonnegative(#), less(#, pi)"},
    {ONE, ELSEWHERE, "less_equal(abs(#), pi / 2)"},
    {ONE, ELSEWHERE, "less(abs(#), pi / 2)"},
    {ONE, ELSEWHERE, "less(abs(#), 1)"},
    {ONE, ELSEWHERE, "real(#), less(abs(#), 1)"},
    {ONE, ELSEWHERE, "less_equal(1, #)"},
    {ONE, ELSEWHERE, "real(#), less_equal(1, abs(#))"},
    {ALL, ELSEWHERE, "less(abs(#), 1)"},
    {ALL, ELSEWHERE, "real(#), less(abs(#), 1)"},
    {ALL, ELSEWHERE, "less_equal(1, #)"},
};
enum { N_GUARDS = sizeof guards / sizeof *guards };

struct search {
    struct arena *a;
    const struct rule *rule;
    struct rule_check_options options, confirm;
    struct expr variables[MAX_VARIABLES]; /* those that a guard may restrict */
    size_t n;
};

/* Lists all variables except those of derivatives. */
static void list_variables(struct search *s)
{
    const struct expr *x = &s->rule->lhs;
    for (uint32_t i = 0; i < x->n && s->n < MAX_VARIABLES; i++) {
        struct expr v = expr_sub(x, i);
        bool skip = v.nodes[0].op != X_VAR || (i > 0 && x->nodes[i - 1].op == X_D);
        for (size_t k = 0; k < s->n; k++)
            skip = skip || expr_equal(&s->variables[k], &v);
        if (!skip)
            s->variables[s->n++] = v;
    }
}

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

static bool fits(const struct search *s, const struct guard *g, size_t variable)
{
    return g->place == ANYWHERE ||
           (g->place == EXPONENT) == is_exponent(&s->rule->lhs, &s->variables[variable]);
}

/* Appends the conditions of the guard on these variables, named as in a rule. */
static void write_conditions(struct buf *out, struct search *s, const struct guard *g, size_t first,
                             size_t second)
{
    buf_puts(out, out->len ? ", " : "");
    for (const char *p = g->conditions; *p; p++)
        if (*p == '#' || *p == '%')
            buf_puts(out, expr_infix(s->a, &s->variables[*p == '#' ? first : second]));
        else
            buf_putc(out, *p);
}

/* Whether the rule holds at enough instances with these additional conditions. */
static bool holds_if(struct search *s, const struct rule_condition *more, size_t n,
                     const struct rule_check_options *options)
{
    struct rule r = *s->rule;
    struct trial_result result = {0};
    struct rule_condition *all = arena_array(s->a, struct rule_condition, r.n_conditions + n);
    if (r.n_conditions)
        memcpy(all, r.conditions, r.n_conditions * sizeof *all);
    memcpy(all + r.n_conditions, more, n * sizeof *all);
    r.conditions = all;
    r.n_conditions += n;
    return !trial_run(&result, s->a, &r, options, TRIAL_LEVELS, NULL) && !result.witness &&
           !trial_run(&result, s->a, &r, options, TRIAL_CELLS, NULL) && !result.witness &&
           result.points >= options->points / 4;
}

/* Returns the conditions if the rule holds under them, else NULL; frees the text. */
static const char *try_conditions(struct search *s, struct buf *text)
{
    struct source_text source = {"guard", text->data, text->len};
    struct pattern_reader reader = {s->a, s->rule->lhs.lang, &source, NULL};
    const struct rule_condition *c;
    size_t n;
    char *found = NULL;
    if (!conditions_parse(&c, &n, &reader, 0, source.len, NULL) && holds_if(s, c, n, &s->options) &&
        holds_if(s, c, n, &s->confirm)) {
        found = rule_condition_text(s->a, &c[0]);
        for (size_t i = 1; i < n; i++)
            found = arena_printf(s->a, "%s, %s", found, rule_condition_text(s->a, &c[i]));
    }
    buf_free(text);
    return found;
}

/* Tries the guard on variables `first` and `second`, or on each of all. */
static const char *try_on(struct search *s, const struct guard *g, size_t first, size_t second)
{
    struct buf text = {0};
    bool all = g->extent == ALL;
    for (size_t i = all ? 0 : first; i < (all ? s->n : first + 1); i++) {
        size_t other = all ? i : second;
        if (!fits(s, g, i) || !fits(s, g, other)) {
            buf_free(&text);
            return NULL;
        }
        write_conditions(&text, s, g, i, other);
    }
    return try_conditions(s, &text);
}

static const char *try_guard(struct search *s, const struct guard *g)
{
    const char *found = NULL;
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->n && !found; k++) {
            bool asked[] = {[ONE] = i == k,
                            [TWO] = i != k,
                            [BOTH] = s->n == 2 && i<k, [ALL] = s->n> 1 && i + k == 0};
            found = asked[g->extent] ? try_on(s, g, i, k) : NULL;
        }
    return found;
}

/* Returns conditions under which a refuted rule holds, as text ("positive(?a), real(?b)"): the
 * weakest of the candidates, or NULL if none suffices. */
static const char *suggest_guard(struct arena *a, const struct rule *r,
                                 const struct rule_check_options *options)
{
    uint32_t confirm = options->points > CONFIRM_POINTS ? options->points : CONFIRM_POINTS;
    struct search s = {
        .a = a,
        .rule = r,
        .options = {GUARD_POINTS, options->real_values},
        .confirm = {confirm, options->real_values},
    };
    const char *found = NULL;
    list_variables(&s);
    for (size_t i = 0; !found && i < N_GUARDS; i++)
        found = try_guard(&s, &guards[i]);
    return found;
}

/* ---- the verdict ---- */

char *rule_basis_text(struct arena *a, const struct rule *r, const Eqloom__Certificate *c)
{
    switch (c->basis) {
    case EQLOOM__BASIS__FALSEHOOD:
        return arena_printf(a, "%s/%s is false: %s%s%s", r->group, r->name, c->witness,
                            c->guard[0] ? "; holds if " : "", c->guard);
    case EQLOOM__BASIS__SAMPLE:
        return c->verdict == EQLOOM__VERDICT__CERTIFIED
                   ? arena_printf(a, "%s/%s is not proved: it holds at %u points", r->group,
                                  r->name, c->points)
                   : arena_printf(a, "%s/%s is undecided%s%s", r->group, r->name,
                                  c->remark[0] ? ": " : "", c->remark);
    default: return arena_printf(a, "%s/%s is a claim", r->group, r->name);
    }
}

static Eqloom__Basis basis_of(const Eqloom__Certificate *c)
{
    switch (c->verdict) {
    case EQLOOM__VERDICT__REFUTED: return EQLOOM__BASIS__FALSEHOOD;
    case EQLOOM__VERDICT__UNCHECKED: return EQLOOM__BASIS__CLAIM;
    case EQLOOM__VERDICT__VACUOUS: return EQLOOM__BASIS__PROOF;
    default: return c->proof[0] ? EQLOOM__BASIS__PROOF : EQLOOM__BASIS__SAMPLE;
    }
}

static enum err_code check(Eqloom__Certificate *out, struct arena *a, const struct rule *r,
                           const struct rule_check_options *options, struct err *e)
{
    eqloom__certificate__init(out);
    struct trial_result o = {0};
    if (!is_interpreted(r)) {
        out->verdict = EQLOOM__VERDICT__UNCHECKED;
        return OK;
    }
    if (exact_applies(r->lhs.lang)) {
        check_exactly(out, a, r);
        return OK;
    }
    if (conditions_contradict(a, r)) {
        out->verdict = EQLOOM__VERDICT__VACUOUS;
        out->remark = list_conditions(a, r);
        return OK;
    }
    const char *way = NULL;
    enum err_code code = trial_run(&o, a, r, options, TRIAL_LEVELS, e);
    bool proved = !code && !o.witness && o.points && rule_prove(&way, a, r);
    if (!code && !o.witness && !proved) /* only what is not proved needs all of them */
        code = trial_run(&o, a, r, options, TRIAL_CELLS, e);
    if (code)
        return err_up(e, code);
    out->points = o.points;
    if (o.witness) {
        out->verdict = EQLOOM__VERDICT__REFUTED;
        const char *guard = suggest_guard(a, r, options);
        out->witness = o.witness;
        if (guard)
            out->guard = arena_strdup(a, guard);
    } else if (o.points == 0 && o.admitted) {
        out->verdict = EQLOOM__VERDICT__UNDECIDED;
        out->remark = "no instance was found at which both sides have a value";
    } else if (o.points == 0) {
        out->verdict = EQLOOM__VERDICT__UNDECIDED;
        out->remark = "no instance was found that meets its conditions";
    } else if (asks_maybe(r)) {
        out->verdict = EQLOOM__VERDICT__UNDECIDED;
        out->remark = "maybe_nonzero holds for terms that are zero";
    } else if (o.points < MIN_POINTS && options->points >= MIN_POINTS && has_variables(r)) {
        out->verdict = EQLOOM__VERDICT__UNDECIDED;
    } else {
        out->verdict = EQLOOM__VERDICT__CERTIFIED;
        if (proved)
            out->proof = arena_strdup(a, way);
        if (o.one_sided)
            out->remark = o.one_sided;
    }
    return OK;
}

enum err_code rule_check(Eqloom__Certificate *out, struct arena *a, const struct rule *r,
                         const struct rule_check_options *options, struct err *e)
{
    enum err_code code = check(out, a, r, options, e);
    out->basis = code ? EQLOOM__BASIS__SAMPLE : basis_of(out);
    return err_up(e, code);
}
