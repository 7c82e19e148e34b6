/* The order of the checks; see standing.h. */
#include "ops/egraph/derive/standing.h"

#include "ops/expr/normal/normal.h"
#include "ops/expr/own/own.h"
#include "ops/expr/undefined/undefined.h"
#include "ops/expr/rational.h"

#include <string.h>

enum {
    POINTS = 16,
    FAR = 1000,
    SHORT_ITERATIONS = 4, /* for the search for a derivation of what normal forms have proved */
    SHORT_NODES = 2000,
    SHORT_STEPS = 10,
    MAX_OWN_NUMBERS = 8,
    FORMS = 100, /* pairs of classes compared during a derivation */
    MAX_NUMBERS = 64,
    RULE_POINTS = 64, /* at which a user's rule is tried */
};

struct question {
    struct arena *a;
    const struct rules *rules;
    const struct ruleset *set;
    const struct expr *x, *y;
    const struct standing_options *options;
};

const char *standing_word(enum standing s)
{
    static const char *const words[] = {[STANDING_PROVED] = "proved",
                                        [STANDING_REFUTED] = "refuted",
                                        [STANDING_UNDECIDED] = "undecided",
                                        [STANDING_NO_VALUE] = "no value"};
    return words[s];
}

/* ---- by values ---- */

/* Which of the two is shown to have no value, and why; NULL if neither is. */
static const char *undefined_of(const struct question *q)
{
    const struct derive_options *o = &q->options->limits;
    const char *left, *right;
    bool first = expr_is_undefined(&left, q->a, q->x, o->domains, o->n_domains);
    if (expr_is_undefined(&right, q->a, q->y, o->domains, o->n_domains))
        return first ? arena_printf(q->a, "neither expression has one: %s", left)
                     : arena_printf(q->a, "the second expression has none: %s", right);
    return first ? arena_printf(q->a, "the first expression has none: %s", left) : NULL;
}

/* Points depend on both terms, so that whoever writes a term cannot predict them. */
static struct ball_options point_options(const struct question *q)
{
    const struct derive_options *limits = &q->options->limits;
    uint64_t seed = 1;
    const char *texts[] = {expr_prefix(q->a, q->x), expr_prefix(q->a, q->y)};
    for (int i = 0; i < 2; i++)
        for (const char *c = texts[i]; *c; c++)
            seed = rng_mix(seed ^ (unsigned char)*c);
    return (struct ball_options){.points = POINTS,
                                 .seed = seed,
                                 .low = 0.0625,
                                 .high = 8,
                                 .domains = limits->domains,
                                 .n_domains = limits->n_domains,
                                 .real_values = limits->real_values};
}

static void compare_values(struct standing_result *out, const struct question *q)
{
    struct ball_options points = point_options(q);
    ball_compare(&out->compare, q->x, q->y, &points);
    if (!out->compare.meet) {
        points.low = 0;
        points.high = FAR;
        ball_compare(&out->compare, q->x, q->y, &points);
    }
    if (!out->compare.meet)
        out->undefined = undefined_of(q);
    if (out->compare.verdict == BALL_DIFFERENT)
        out->witness = arena_strdup(q->a, out->compare.witness);
}

/* Adds a number unless it was added before. Ignores NULL, the result of a sum that is too long. */
static void add_number(const char **all, size_t *n, const char *number)
{
    for (size_t i = 0; i < *n; i++)
        if (!number || strcmp(all[i], number) == 0)
            return;
    if (number && *n < MAX_NUMBERS)
        all[(*n)++] = number;
}

/* Finds numbers at which pieces of the terms may begin: numbers in the terms, sums of two of them,
 * and larger ones. */
static size_t find_numbers(const char **all, const struct question *q)
{
    const struct expr *terms[] = {q->x, q->y};
    size_t n = 0;
    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < terms[i]->n && n < MAX_OWN_NUMBERS; k++)
            if (terms[i]->nodes[k].op == X_NUM)
                add_number(all, &n, terms[i]->nodes[k].leaf);
    for (size_t own = n, i = 0; i < own; i++)
        for (size_t k = i + 1; k < own; k++)
            add_number(all, &n, number_combine(q->a, '+', all[i], all[k], EXPR_MAX_DIGITS));
    for (size_t i = n; i-- > 0;)
        add_number(all, &n, number_combine(q->a, '+', all[i], "1", EXPR_MAX_DIGITS));
    return n;
}

/* If values agree but nothing proves equality, compares at the terms' own numbers. */
static void compare_at_numbers(struct standing_result *out, const struct question *q)
{
    const char *numbers[MAX_NUMBERS];
    struct ball_compare compare;
    struct ball_options points = point_options(q);
    points.numbers = numbers;
    points.n_numbers = find_numbers(numbers, q);
    points.points = (uint32_t)points.n_numbers;
    if (!points.n_numbers)
        return;
    ball_compare(&compare, q->x, q->y, &points);
    if (compare.verdict == BALL_DIFFERENT)
        out->witness = arena_strdup(q->a, compare.witness);
}

/* Adds the symbols of a term that have no domain, as real variables. */
static void add_real(struct ball_domain *domains, size_t *n, struct arena *a, const struct expr *x)
{
    const char **names;
    for (size_t i = 0, n_names = expr_variables(&names, a, x); i < n_names; i++) {
        bool known = false;
        for (size_t k = 0; k < *n; k++)
            known = known || strcmp(domains[k].name, names[i]) == 0;
        if (!known)
            domains[(*n)++] = (struct ball_domain){names[i], "real", NULL, NULL};
    }
}

/* Returns the variables without a domain that must be positive: values differ if they and all
 * earlier unlisted variables are real. */
static const char *find_positive(const struct question *q)
{
    struct ball_options points = point_options(q);
    size_t given = points.n_domains;
    struct ball_domain *domains = arena_array(q->a, struct ball_domain, given + q->x->n + q->y->n);
    struct ball_compare compare;
    const char *text = NULL;
    if (given)
        memcpy(domains, points.domains, given * sizeof *domains);
    points.domains = domains;
    add_real(domains, &points.n_domains, q->a, q->x);
    add_real(domains, &points.n_domains, q->a, q->y);
    ball_compare(&compare, q->x, q->y, &points);
    if (compare.verdict != BALL_DIFFERENT)
        return NULL;
    for (size_t i = given; i < points.n_domains; i++)
        domains[i].domain = "positive";
    for (size_t i = given; i < points.n_domains; i++) {
        domains[i].domain = "real";
        ball_compare(&compare, q->x, q->y, &points);
        if (compare.verdict != BALL_DIFFERENT)
            continue;
        domains[i].domain = "positive";
        text = arena_printf(q->a, "%s%s%s>0", text ? text : "", text ? ", " : "", domains[i].name);
    }
    return text;
}

/* ---- by rules and normal forms ---- */

static enum err_code derive(struct standing_result *out, const struct question *q, uint32_t forms,
                            struct err *e)
{
    struct err failure = {0};
    struct derive_options limits = q->options->limits;
    limits.forms = forms;
    enum err_code code =
        derive_equality(&out->derivation, q->a, q->rules, q->set, q->x, q->y, &limits, &failure);
    if (code && failure.detail[0]) {
        out->contradiction = arena_printf(q->a, "%s\n%s", failure.message, failure.detail);
        out->derivation.found = false;
        return OK;
    }
    if (code && e)
        *e = failure;
    return err_up(e, code);
}

/* Checks the rules of the derivation, as `certify` does. */
static enum err_code find_basis(struct standing_result *out, const struct question *q,
                                struct err *e)
{
    const struct rule_check_options options = {RULE_POINTS, 1, q->options->limits.real_values};
    const struct explanation *proof = &out->derivation.proof;
    for (size_t i = 0; i < q->rules->n; i++) {
        const struct rule *r = &q->rules->rules[i];
        const char *name = arena_printf(q->a, "%s/%s", r->group, r->name);
        Eqloom__Certificate c;
        bool used = false;
        for (size_t k = 0; k < proof->n && !used; k++)
            used = strcmp(proof->steps[k].rule, name) == 0;
        enum err_code code = used ? rule_check(&c, q->a, r, &options, e) : OK;
        if (code)
            return err_up(e, code);
        if (used && c.basis > out->basis) {
            out->basis = c.basis;
            out->rests_on = rule_basis_text(q->a, r, &c);
        }
    }
    return OK;
}

/* Prefers a readable derivation to the single step of a normal form. */
static void explain_form(struct standing_result *out, const struct question *q)
{
    struct derive_options limits = q->options->limits;
    struct derivation *d = &out->derivation;
    if (limits.iterations > SHORT_ITERATIONS)
        limits.iterations = SHORT_ITERATIONS;
    if (limits.max_nodes > SHORT_NODES)
        limits.max_nodes = SHORT_NODES;
    if (!q->options->verdict_only &&
        (derive_equality(d, q->a, q->rules, q->set, q->x, q->y, &limits, NULL) || d->refuted.code ||
         d->proof.n > SHORT_STEPS))
        d->found = false;
    if (d->found)
        out->way = NULL;
    else
        derive_by_form(d, q->a, out->way, q->x, q->y, &q->options->limits);
}

/* Whether some operator has a value for certain arguments only: definitions and rules do not say
 * so, and would prove max(z, w) equal to max(w, z) for complex z. */
static bool has_domain(const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct op_info *op = &x->lang->ops[x->nodes[i].op];
        for (unsigned k = 0; op->own && k < op->arity; k++)
            if (op->own->domain[k].name && strcmp(op->own->domain[k].domain, "complex") != 0)
                return true;
    }
    return false;
}

static enum err_code decide_terms(struct standing_result *out, const struct question *q,
                                  struct err *e)
{
    const struct derive_options *limits = &q->options->limits;
    bool own_rules = q->options->own_rules;
    enum err_code code = OK;
    compare_values(out, q);
    if (out->undefined) {
        out->standing = STANDING_NO_VALUE;
        return OK;
    }
    if (!out->compare.meet && (has_domain(q->x) || has_domain(q->y)))
        return OK;
    if (own_rules) {
        if (!(code = derive(out, q, 0, e)) && out->derivation.found)
            code = find_basis(out, q, e);
    } else if (!out->witness &&
               normal_equal(&out->way, q->x, q->y, limits->domains, limits->n_domains)) {
        explain_form(out, q);
    } else {
        out->way = NULL;
        if (!out->witness)
            compare_at_numbers(out, q);
        if (!out->witness)
            code = derive(out, q, FORMS, e);
    }
    const struct derivation *d = &out->derivation;
    Eqloom__Basis accepted = q->options->sampled ? EQLOOM__BASIS__SAMPLE : EQLOOM__BASIS__CLAIM;
    bool proved = d->found && !d->refuted.code && out->basis <= accepted;
    out->standing = out->witness ? STANDING_REFUTED : proved ? STANDING_PROVED : STANDING_UNDECIDED;
    if (out->standing == STANDING_PROVED)
        out->positive = find_positive(q);
    return err_up(e, code);
}

enum err_code standing_decide(struct standing_result *out, struct arena *a,
                              const struct rules *rules, const struct ruleset *set,
                              const struct expr *x, const struct expr *y,
                              const struct standing_options *options, struct err *e)
{
    const struct question q = {a, rules, set, x, y, options};
    *out = (struct standing_result){.standing = STANDING_UNDECIDED};
    if (!exact_applies(rules->lang))
        return err_up(e, decide_terms(out, &q, e));
    out->exact = !exact_compare(&out->table, a, x, y, NULL);
    if (out->exact)
        out->standing = out->table.equal ? STANDING_PROVED : STANDING_REFUTED;
    out->witness = out->exact && !out->table.equal ? out->table.witness : NULL;
    if (options->verdict_only || (out->witness && !options->own_rules))
        return OK;
    enum err_code code = derive(out, &q, options->limits.forms, e);
    if (!out->exact && out->derivation.found && !out->derivation.refuted.code)
        out->standing = STANDING_PROVED;
    return err_up(e, code);
}
