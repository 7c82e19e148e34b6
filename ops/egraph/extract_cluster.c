/* Clusters from e-graphs; see extract_cluster.h. Verification is independent of the e-graph: terms
 * are read back from their text and compared with the seed at points that depend on nothing but the
 * options, on the positive axis unless a variable's domain says otherwise. */
#include "ops/egraph/extract_cluster.h"

#include <string.h>

struct verifier {
    struct ball_reference *reference;
    struct ball_options options;
    const struct language *lang;
    const char *seed;
};

/* Uninterpreted operators have no values to compare. */
static bool can_evaluate(const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op >= X_ADD && !x->lang->ops[x->nodes[i].op].interpreted)
            return false;
    return true;
}

static void set_domain(struct ball_options *options, const Eqloom__Expr *seed)
{
    for (size_t i = 0; i < seed->n_variables; i++) {
        const char *domain = seed->variables[i]->domain;
        if (strcmp(domain, "positive") != 0)
            options->low = -options->high;
        if (strcmp(domain, "complex") == 0)
            options->complex_points = true;
    }
}

/* PROVED when there is nothing to evaluate. */
static enum err_code check_member(Eqloom__Standing *out, struct verifier *v, struct arena *a,
                                  const char *text, struct err *e)
{
    struct expr x;
    *out = EQLOOM__STANDING__PROVED;
    if (!v->reference)
        return OK;
    enum err_code code = err_up(e, expr_from_prefix(&x, a, v->lang, text, e));
    if (code)
        return code;
    if (!can_evaluate(&x))
        return OK;
    struct ball_compare result;
    ball_reference_compare(&result, v->reference, &x);
    switch (result.verdict) {
    case BALL_EQUAL: *out = EQLOOM__STANDING__AGREES; break;
    case BALL_UNDEFINED: *out = EQLOOM__STANDING__NEVER_BOTH; break;
    case BALL_DIFFERENT:
        return err_fail(e, ERR_FAILED, "'%s' is not equal to the seed '%s': %s", text, v->seed,
                        result.witness);
    }
    return OK;
}

static Eqloom__Member *member_new(struct arena *a, char *text, Eqloom__Standing standing,
                                  uint32_t tokens)
{
    Eqloom__Member *m = arena_alloc(a, sizeof *m);
    eqloom__member__init(m);
    m->prefix = text;
    m->standing = standing;
    m->tokens = tokens;
    return m;
}

static enum err_code add_members(Eqloom__Cluster *out, struct arena *a, const struct grammar *g,
                                 const struct term *terms, uint32_t n, struct verifier *v,
                                 const struct extract_options *options, struct err *e)
{
    for (uint32_t i = 0; i < n && out->n_members < options->per_cluster; i++) {
        char *text = grammar_term_text(a, g, &terms[i]);
        if (strcmp(text, out->seed->prefix) == 0)
            continue;
        Eqloom__Standing standing;
        struct arena_mark mark = arena_mark(a);
        enum err_code code = err_up(e, check_member(&standing, v, a, text, e));
        arena_release(a, mark);
        if (code)
            return code;
        if (standing == EQLOOM__STANDING__NEVER_BOTH && !options->keep_never_both)
            continue;
        out->members[out->n_members++] = member_new(a, text, standing, terms[i].length);
    }
    return OK;
}

enum err_code extract_cluster(Eqloom__Cluster *out, struct arena *a, const Eqloom__EGraph *egraph,
                              const struct extract_options *options, struct rng *rng, struct err *e)
{
    struct grammar g;
    struct term *terms;
    uint32_t n_terms;
    struct expr seed;
    char terms_text[48];
    enum err_code code;
    if (!egraph->seed)
        return err_fail(e, ERR_CORRUPT, "e-graph: it does not say what it began with");
    if (egraph->seed->language[0] && strcmp(egraph->seed->language, lang_calculus.name) != 0)
        return err_fail(e, ERR_UNSUPPORTED, "extraction of the language '%s'",
                        egraph->seed->language);
    if ((code = err_up(e, grammar_init(&g, a, egraph, &lang_calculus, &options->grammar, e))) ||
        (code = err_up(e, expr_from_prefix(&seed, a, g.lang, egraph->seed->prefix, e))))
        return code;
    /* One more than needed, in case the seed itself is drawn. */
    grammar_draw(&terms, &n_terms, a, &g, options->per_cluster, options->lengths, options->shapes,
                 rng);
    struct verifier v = {.lang = g.lang,
                         .seed = egraph->seed->prefix,
                         .options = {.points = options->points,
                                     .low = options->low,
                                     .high = options->high,
                                     .precision = 64}};
    set_domain(&v.options, egraph->seed);
    if (options->verify && can_evaluate(&seed))
        v.reference = ball_reference_new(&seed, &v.options);

    eqloom__cluster__init(out);
    out->seed = egraph->seed;
    out->terms = arena_strdup(a, count_text(terms_text, grammar_terms(&g), g.saturated));
    out->max_tokens = options->grammar.max_tokens;
    out->unsound = egraph->unsound;
    out->members = arena_array(a, Eqloom__Member *, options->per_cluster + 1);
    Eqloom__Standing standing = EQLOOM__STANDING__PROVED;
    code = err_up(e, check_member(&standing, &v, a, out->seed->prefix, e));
    if (!code) {
        out->members[out->n_members++] =
            member_new(a, out->seed->prefix, standing, expr_tokens(&seed));
        code = err_up(e, add_members(out, a, &g, terms, n_terms, &v, options, e));
    }
    if (v.reference)
        ball_reference_free(v.reference);
    return code;
}
