/* The order of the checks; see standing.h. */
#include "ops/egraph/derive/standing.h"

#include "ops/expr/normal/normal.h"

#include <string.h>

enum {
    SHORT_ITERATIONS = 4, /* for the search for a derivation of what normal forms have proved */
    SHORT_NODES = 2000,
    SHORT_STEPS = 10,
    FORMS = 100, /* pairs of classes compared during a derivation */
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

static struct decide_options decide_options(const struct question *q)
{
    const struct derive_options *limits = &q->options->limits;
    return (struct decide_options){limits->domains, limits->n_domains, limits->real_values,
                                   q->options->own_rules};
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
    struct decide_options o = decide_options(q);
    size_t given = o.n_domains;
    struct ball_domain *domains = arena_array(q->a, struct ball_domain, given + q->x->n + q->y->n);
    const char *text = NULL;
    if (given)
        memcpy(domains, o.domains, given * sizeof *domains);
    o.domains = domains;
    add_real(domains, &o.n_domains, q->a, q->x);
    add_real(domains, &o.n_domains, q->a, q->y);
    if (!decide_differ(q->x, q->y, &o))
        return NULL;
    for (size_t i = given; i < o.n_domains; i++)
        domains[i].domain = "positive";
    for (size_t i = given; i < o.n_domains; i++) {
        domains[i].domain = "real";
        if (!decide_differ(q->x, q->y, &o))
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
    const struct rule_check_options options = {RULE_POINTS, q->options->limits.real_values};
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

static enum err_code decide_terms(struct standing_result *out, const struct question *q,
                                  struct err *e)
{
    const struct decide_options options = decide_options(q);
    bool own_rules = q->options->own_rules;
    const struct derive_options *limits = &q->options->limits;
    struct decided decided;
    enum err_code code = OK;
    decide_equality(&decided, q->a, q->x, q->y, &options);
    out->compare = decided.compare;
    out->witness = decided.witness;
    out->undefined = decided.undefined;
    out->way = decided.way;
    if (out->undefined) {
        out->standing = STANDING_NO_VALUE;
        return OK;
    }
    if (decided.outside)
        return OK;
    if (own_rules) {
        if (!(code = derive(out, q, 0, e)) && out->derivation.found)
            code = find_basis(out, q, e);
    } else if (out->way) {
        explain_form(out, q);
    } else if (!out->witness) {
        code = derive(out, q, FORMS, e);
    }
    const struct derivation *d = &out->derivation;
    Eqloom__Basis accepted = q->options->sampled ? EQLOOM__BASIS__SAMPLE : EQLOOM__BASIS__CLAIM;
    bool proved = d->found && !d->refuted.code && out->basis <= accepted;
    /* Rules and classes may be about a part of the domain only. */
    out->partial = proved && !out->witness &&
                   !(normal_has_values(q->x, limits->domains, limits->n_domains) &&
                     normal_has_values(q->y, limits->domains, limits->n_domains));
    proved = proved && !out->partial;
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
    const struct decide_options forms = decide_options(&q);
    struct decided decided;
    decide_equality(&decided, a, x, y, &forms);
    out->exact = decided.exact;
    out->table = decided.table;
    out->witness = decided.witness;
    if (out->exact)
        out->standing = out->witness ? STANDING_REFUTED : STANDING_PROVED;
    if (options->verdict_only || (out->witness && !options->own_rules))
        return OK;
    enum err_code code = derive(out, &q, options->limits.forms, e);
    if (!out->exact && out->derivation.found && !out->derivation.refuted.code)
        out->standing = STANDING_PROVED;
    return err_up(e, code);
}
