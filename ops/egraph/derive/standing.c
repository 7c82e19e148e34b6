/* The order of the questions; see standing.h. */
#include "ops/egraph/derive/standing.h"

#include "ops/expr/normal/normal.h"
#include "ops/expr/rational.h"

#include <string.h>

enum {
    POINTS = 16,
    FAR = 1000,
    SHORT_ITERATIONS = 4, /* of the search for a derivation where normal forms have proved */
    SHORT_NODES = 2000,
    SHORT_STEPS = 10,
    MAX_OWN_NUMBERS = 8,
    FORMS = 100, /* pairs of classes compared on the way to a derivation */
    MAX_NUMBERS = 64,
};

const char *standing_word(enum standing s)
{
    switch (s) {
    case STANDING_PROVED: return "proved";
    case STANDING_REFUTED: return "refuted";
    case STANDING_UNDECIDED: return "undecided";
    case STANDING_NO_VALUE: return "no value";
    }
    return "";
}

/* ---- by values ---- */

static bool is_undefined(const struct expr *x, const struct ball_options *points)
{
    struct ball_compare self;
    ball_compare(&self, x, x, points);
    return !self.meet;
}

static const char *undefined_of(const struct expr *x, const struct expr *y,
                                const struct ball_options *points)
{
    bool left = is_undefined(x, points), right = is_undefined(y, points);
    return left && right ? "neither expression has one"
           : left        ? "the first expression has none"
           : right       ? "the second expression has none"
                         : "the two never both have one";
}

/* Points that depend on both terms: whoever writes a term does not know them. */
static uint64_t seed_of(struct arena *a, const struct expr *x, const struct expr *y)
{
    uint64_t seed = 1;
    const char *texts[] = {expr_prefix(a, x), expr_prefix(a, y)};
    for (int i = 0; i < 2; i++)
        for (const char *c = texts[i]; *c; c++)
            seed = rng_mix(seed ^ (unsigned char)*c);
    return seed;
}

static struct ball_options point_options(struct arena *a, const struct expr *x,
                                         const struct expr *y, const struct derive_options *limits)
{
    return (struct ball_options){.points = POINTS,
                                 .seed = seed_of(a, x, y),
                                 .low = 0.0625,
                                 .high = 8,
                                 .domains = limits->domains,
                                 .n_domains = limits->n_domains,
                                 .real_values = limits->real_values};
}

static void compare_values(struct standing_result *out, struct arena *a, const struct expr *x,
                           const struct expr *y, const struct derive_options *limits)
{
    struct ball_options points = point_options(a, x, y, limits);
    ball_compare(&out->compare, x, y, &points);
    if (!out->compare.meet) {
        points.low = 0;
        points.high = FAR;
        ball_compare(&out->compare, x, y, &points);
    }
    if (!out->compare.meet && ball_can_evaluate(x) && ball_can_evaluate(y))
        out->undefined = undefined_of(x, y, &points);
    if (out->compare.verdict == BALL_DIFFERENT)
        out->witness = arena_strdup(a, out->compare.witness);
}

/* Once; NULL: it is too long. */
static void add_number(const char **all, size_t *n, const char *number)
{
    for (size_t i = 0; i < *n; i++)
        if (!number || strcmp(all[i], number) == 0)
            return;
    if (number && *n < MAX_NUMBERS)
        all[(*n)++] = number;
}

/* Numbers at which pieces of the terms may begin: their own, sums of two of them, and beyond. */
static size_t find_numbers(const char **all, struct arena *a, const struct expr *x,
                           const struct expr *y)
{
    const struct expr *terms[] = {x, y};
    size_t n = 0;
    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < terms[i]->n && n < MAX_OWN_NUMBERS; k++)
            if (terms[i]->nodes[k].op == X_NUM)
                add_number(all, &n, terms[i]->nodes[k].leaf);
    for (size_t own = n, i = 0; i < own; i++)
        for (size_t k = i + 1; k < own; k++)
            add_number(all, &n, number_combine(a, '+', all[i], all[k], EXPR_MAX_DIGITS));
    for (size_t i = n; i-- > 0;)
        add_number(all, &n, number_combine(a, '+', all[i], "1", EXPR_MAX_DIGITS));
    return n;
}

/* Where values agree, but nothing proves it: at the terms' own numbers. */
static void compare_at_numbers(struct standing_result *out, struct arena *a, const struct expr *x,
                               const struct expr *y, const struct derive_options *limits)
{
    const char *numbers[MAX_NUMBERS];
    struct ball_compare compare;
    struct ball_options points = point_options(a, x, y, limits);
    points.numbers = numbers;
    points.n_numbers = find_numbers(numbers, a, x, y);
    points.points = (uint32_t)points.n_numbers;
    if (!points.n_numbers)
        return;
    ball_compare(&compare, x, y, &points);
    if (compare.verdict == BALL_DIFFERENT)
        out->witness = arena_strdup(a, compare.witness);
}

/* Adds the symbols of a term that have no domain, as real. */
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

/* Variables without a domain that must be positive: values differ if they are real, and so are all
 * before them that are not named. */
static const char *find_positive(struct arena *a, const struct expr *x, const struct expr *y,
                                 const struct derive_options *limits)
{
    struct ball_options points = point_options(a, x, y, limits);
    size_t n = limits->n_domains;
    struct ball_domain *domains = arena_array(a, struct ball_domain, n + x->n + y->n);
    struct ball_compare compare;
    const char *text = NULL;
    if (n)
        memcpy(domains, limits->domains, n * sizeof *domains);
    add_real(domains, &n, a, x);
    add_real(domains, &n, a, y);
    points.domains = domains;
    points.n_domains = n;
    ball_compare(&compare, x, y, &points);
    if (compare.verdict != BALL_DIFFERENT)
        return NULL;
    for (size_t i = limits->n_domains; i < n; i++)
        domains[i].domain = "positive";
    for (size_t i = limits->n_domains; i < n; i++) {
        domains[i].domain = "real";
        ball_compare(&compare, x, y, &points);
        if (compare.verdict != BALL_DIFFERENT)
            continue;
        domains[i].domain = "positive";
        text = arena_printf(a, "%s%s%s>0", text ? text : "", text ? ", " : "", domains[i].name);
    }
    return text;
}

/* ---- by rules and normal forms ---- */

static enum err_code derive(struct standing_result *out, struct arena *a, const struct rules *rules,
                            const struct ruleset *set, const struct expr *x, const struct expr *y,
                            const struct derive_options *limits, struct err *e)
{
    struct err failure = {0};
    enum err_code code = derive_equality(&out->derivation, a, rules, set, x, y, limits, &failure);
    if (code && failure.detail[0]) {
        out->contradiction = arena_printf(a, "%s\n%s", failure.message, failure.detail);
        out->derivation.found = false;
        return OK;
    }
    if (code && e)
        *e = failure;
    return err_up(e, code);
}

/* A derivation that can be read is better than the one step of a normal form. */
static enum err_code explain_form(struct standing_result *out, struct arena *a,
                                  const struct rules *rules, const struct ruleset *set,
                                  const struct expr *x, const struct expr *y,
                                  const struct standing_options *options, struct err *e)
{
    struct derive_options limits = options->limits;
    struct derivation *d = &out->derivation;
    if (limits.iterations > SHORT_ITERATIONS)
        limits.iterations = SHORT_ITERATIONS;
    if (limits.max_nodes > SHORT_NODES)
        limits.max_nodes = SHORT_NODES;
    if (!options->verdict_only && (derive_equality(d, a, rules, set, x, y, &limits, NULL) ||
                                   d->refuted.code || d->proof.n > SHORT_STEPS))
        d->found = false;
    if (d->found) {
        out->way = NULL;
        return OK;
    }
    return err_up(e, derive_by_form(d, a, out->way, x, y, &options->limits, e));
}

static enum err_code decide_terms(struct standing_result *out, struct arena *a,
                                  const struct rules *rules, const struct ruleset *set,
                                  const struct expr *x, const struct expr *y,
                                  const struct standing_options *options, struct err *e)
{
    const struct derive_options *limits = &options->limits;
    compare_values(out, a, x, y, limits);
    if (out->undefined) {
        out->standing = STANDING_NO_VALUE;
        return OK;
    }
    if (out->witness && !options->own_rules) {
        out->standing = STANDING_REFUTED;
        return OK;
    }
    enum err_code code;
    if (!options->own_rules && normal_equal(&out->way, x, y, limits->domains, limits->n_domains)) {
        code = explain_form(out, a, rules, set, x, y, options, e);
    } else {
        if (!options->own_rules)
            compare_at_numbers(out, a, x, y, limits);
        if (out->witness && !options->own_rules) {
            out->standing = STANDING_REFUTED;
            return OK;
        }
        struct derive_options with_forms = *limits;
        with_forms.forms = options->own_rules ? 0 : FORMS;
        out->way = NULL;
        code = derive(out, a, rules, set, x, y, &with_forms, e);
    }
    const struct derivation *d = &out->derivation;
    out->standing = out->witness                   ? STANDING_REFUTED
                    : d->found && !d->refuted.code ? STANDING_PROVED
                                                   : STANDING_UNDECIDED;
    if (out->standing == STANDING_PROVED)
        out->positive = find_positive(a, x, y, limits);
    return err_up(e, code);
}

enum err_code standing_decide(struct standing_result *out, struct arena *a,
                              const struct rules *rules, const struct ruleset *set,
                              const struct expr *x, const struct expr *y,
                              const struct standing_options *options, struct err *e)
{
    *out = (struct standing_result){.standing = STANDING_UNDECIDED};
    if (!exact_applies(rules->lang))
        return err_up(e, decide_terms(out, a, rules, set, x, y, options, e));
    out->exact = !exact_compare(&out->table, a, x, y, NULL);
    if (out->exact)
        out->standing = out->table.equal ? STANDING_PROVED : STANDING_REFUTED;
    out->witness = out->exact && !out->table.equal ? out->table.witness : NULL;
    if (options->verdict_only || (out->witness && !options->own_rules))
        return OK;
    enum err_code code = derive(out, a, rules, set, x, y, &options->limits, e);
    if (!out->exact && out->derivation.found && !out->derivation.refuted.code)
        out->standing = STANDING_PROVED;
    return err_up(e, code);
}
