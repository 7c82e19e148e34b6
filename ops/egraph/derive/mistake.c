/* Derivations with mistakes; see mistake.h. A true step is a step of a proof that was replayed and
 * compared by values. The wrong one is such a step with one operator altered, so that its values
 * differ from those of the previous term at two points, or its normal form differs. */
#include "ops/egraph/derive/mistake.h"

#include "ops/expr/ball/domain_record.h"
#include "ops/expr/equality/equality.h"
#include "ops/expr/forms/evaluation_step.h"
#include "ops/expr/near_miss.h"
#include "ops/expr/own/own.h"

enum { TRIES = 8 }; /* attempts to alter a derivation before giving up */

struct drawer {
    struct arena *a, *scratch; /* scratch is reset after each member */
    const Eqloom__Cluster *cluster;
    struct rules rules; /* their language includes the cluster's operators */
    const struct ruleset *set;
    const struct mistake_options *options;
    struct derive_options derive;
    struct ball_options points;
    struct rng *rng;
};

static enum err_code check_language(struct drawer *d, struct err *e)
{
    const char *name = d->cluster->seed ? d->cluster->seed->language : "";
    return err_up(e, language_join(&d->rules.lang, d->a, name, e));
}

static void declare_domains(struct drawer *d)
{
    const Eqloom__Expr *seed = d->cluster->seed;
    struct domains domains = domains_of(d->a, seed, NULL);
    d->derive = (struct derive_options){.iterations = d->options->iterations,
                                        .max_nodes = d->options->max_nodes,
                                        .domains = domains.all,
                                        .n_domains = domains.n};
    d->points = (struct ball_options){
        .points = d->options->points, .domains = domains.all, .n_domains = domains.n};
}

/* ---- one derivation ---- */

/* The first `steps` steps of a proof; with a mistake, then the wrong term and the steps from it. */
struct drawn {
    const struct expr *from;
    struct explanation proof, tail;
    size_t steps;
    bool wrong;
    struct expr altered;
    const char *witness;
};

static size_t count_steps(const struct drawn *x)
{
    return x->steps + (x->wrong ? 1 + x->tail.n : 0);
}

static enum equality compare(const char **witness, struct drawer *d, const struct expr *x,
                             const struct expr *y)
{
    struct equality_test t;
    equality_test_begin(&t, x, &d->points);
    enum equality found = equality_test_ask(witness, d->scratch, &t, y);
    equality_test_end(&t);
    return found;
}

/* Returns the steps before the first one that is not known to be right. */
static void evaluate_within(struct explanation *out, struct drawer *d, const struct expr *from,
                            size_t steps)
{
    const struct expr *at = from;
    *out = (struct explanation){.steps = arena_array(d->scratch, struct explain_step, steps)};
    for (; out->n < steps; at = &out->steps[out->n++].term) {
        struct explain_step *s = &out->steps[out->n];
        const char *witness;
        if (!evaluation_step(&s->term, &s->rule, d->scratch, at) ||
            compare(&witness, d, at, &s->term) != EQUALITY_AGREES)
            return;
    }
}

/* Returns at most this many steps; no steps if a term is too long. */
static enum err_code derive_within(struct explanation *out, struct drawer *d,
                                   const struct expr *from, size_t steps, struct err *e)
{
    enum err_code code = OK;
    if (d->options->evaluates)
        evaluate_within(out, d, from, steps);
    else
        code = derive_least(out, d->scratch, &d->rules, d->set, from, &d->derive, e);
    out->n = out->n < steps ? out->n : steps;
    for (size_t i = 0; i < out->n; i++)
        if (expr_tokens(&out->steps[i].term) > d->options->max_tokens)
            out->n = 0;
    return err_up(e, code);
}

/* Alters step k of the proof; sets *made to false if the result cannot be used. */
static enum err_code alter(struct drawn *x, bool *made, struct drawer *d, size_t k, struct err *e)
{
    const struct expr *before = k ? &x->proof.steps[k - 1].term : x->from;
    *made = false;
    if (!near_miss_draw(&x->altered, d->scratch, &x->proof.steps[k].term, NEAR_MISS_OPERATORS,
                        d->rng) ||
        compare(&x->witness, d, before, &x->altered) != EQUALITY_REFUTED)
        return OK;
    x->steps = k;
    x->wrong = true;
    enum err_code code = derive_within(&x->tail, d, &x->altered, d->options->most_steps - k - 1, e);
    *made = count_steps(x) >= d->options->least_steps;
    return err_up(e, code);
}

static enum err_code derive(struct drawn *x, bool *made, struct drawer *d, const struct expr *from,
                            struct err *e)
{
    bool wrong = rng_double(d->rng) < d->options->wrong;
    *x = (struct drawn){.from = from};
    *made = false;
    enum err_code code = derive_within(&x->proof, d, from, d->options->most_steps, e);
    if (code || !x->proof.n)
        return err_up(e, code);
    x->steps = x->proof.n;
    if (!wrong)
        *made = count_steps(x) >= d->options->least_steps;
    for (int i = 0; wrong && i < TRIES && !*made && !code; i++)
        code = alter(x, made, d, rng_below(d->rng, x->proof.n), e);
    return err_up(e, code);
}

/* ---- conversion to an exercise ---- */

static void add(Eqloom__Exercise *x, struct arena *a, const struct expr *term, bool wrong,
                const char *reason)
{
    Eqloom__ExerciseTerm *t = arena_new(a, Eqloom__ExerciseTerm);
    eqloom__exercise_term__init(t);
    t->prefix = expr_prefix(a, term);
    t->wrong = wrong;
    t->reason = arena_strdup(a, reason);
    x->terms[x->n_terms++] = t;
}

static void add_steps(Eqloom__Exercise *x, struct arena *a, const struct explain_step *steps,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t len;
        bool other = rule_is_reverse(&len, steps[i].rule);
        add(x, a, &steps[i].term, false,
            arena_printf(a, "%.*s%s", (int)len, steps[i].rule,
                         steps[i].backwards != other ? " backwards" : ""));
    }
}

static void write_exercise(Eqloom__Exercise *out, struct drawer *d, const struct drawn *x)
{
    eqloom__exercise__init(out);
    if (d->cluster->seed)
        out->language = d->cluster->seed->language;
    out->terms = arena_array(d->a, Eqloom__ExerciseTerm *, count_steps(x) + 1);
    add(out, d->a, x->from, false, "");
    add_steps(out, d->a, x->proof.steps, x->steps);
    if (x->wrong) {
        add(out, d->a, &x->altered, true, x->witness);
        add_steps(out, d->a, x->tail.steps, x->tail.n);
    }
}

static enum err_code draw_from(Eqloom__Exercise *out, bool *made, struct drawer *d,
                               const Eqloom__Member *member, struct err *e)
{
    struct expr from;
    struct drawn x;
    *made = false;
    arena_reset(d->scratch);
    enum err_code code = expr_from_prefix(&from, d->scratch, d->rules.lang, member->prefix, e);
    if (!code && expr_tokens(&from) <= d->options->max_tokens)
        code = derive(&x, made, d, &from, e);
    if (!code && *made)
        write_exercise(out, d, &x);
    return err_up(e, code);
}

enum err_code derivations_draw(Eqloom__Exercise **out, size_t *n, struct arena *a,
                               const Eqloom__Cluster *cluster, const struct rules *rules,
                               const struct ruleset *set, const struct mistake_options *options,
                               struct rng *rng, struct err *e)
{
    struct arena scratch = {0};
    struct drawer d = {.a = a,
                       .scratch = &scratch,
                       .cluster = cluster,
                       .rules = *rules,
                       .set = set,
                       .options = options,
                       .rng = rng};
    enum err_code code = check_language(&d, e);
    uint32_t *order = arena_array(a, uint32_t, cluster->n_members);
    *n = 0;
    size_t most = options->most < cluster->n_members ? options->most : cluster->n_members;
    *out = arena_array(a, Eqloom__Exercise, most + 1);
    for (uint32_t i = 0; i < cluster->n_members; i++)
        order[i] = i;
    rng_shuffle_u32(rng, order, cluster->n_members);
    declare_domains(&d);
    for (size_t i = 0; i < cluster->n_members && *n < most && !code; i++) {
        bool made;
        code = draw_from(&(*out)[*n], &made, &d, cluster->members[order[i]], e);
        *n += !code && made;
    }
    arena_free(&scratch);
    return err_up(e, code);
}
