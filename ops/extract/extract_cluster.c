/* Clusters from e-graphs; see extract_cluster.h. Verification does not depend on the e-graph: terms
 * are parsed from their text and compared with the seed, by normal forms or at points. Points
 * depend only on the options and are positive unless a variable's domain states otherwise. */
#include "ops/extract/extract_cluster.h"
#include "ops/expr/ball/domain_record.h"
#include "ops/expr/equality/equality.h"
#include "ops/expr/own/own.h"

#include "base/map.h"

enum { MAX_ROUNDS = 4 }; /* of draws, if members are dropped */

struct verifier {
    bool compares; /* whether members are compared with the seed */
    struct equality_test test;
    const struct extraction *x;
};

static void verifier_init(struct verifier *v, struct arena *a, const struct extraction *x)
{
    const struct extract_options *o = x->options;
    const Eqloom__Expr *seed = x->egraph->seed;
    struct domains domains = domains_of(a, seed, NULL);
    struct ball_options options = {.points = o->points,
                                   .domains = domains.all,
                                   .n_domains = domains.n,
                                   .real_values = seed->real_values};
    *v = (struct verifier){.compares = o->verify && expr_is_interpreted(&x->seed), .x = x};
    if (v->compares)
        equality_test_begin(&v->test, &x->seed, &options);
}

/* *out is PROVED if there is nothing to compare, or the normal forms are too large. */
static enum err_code check_member(Eqloom__Standing *out, struct verifier *v, struct arena *a,
                                  const char *text, struct err *e)
{
    struct expr x;
    const char *witness;
    *out = EQLOOM__STANDING__PROVED;
    if (!v->compares)
        return OK;
    enum err_code code = expr_from_prefix(&x, a, v->x->grammar.lang, text, e);
    if (code)
        return err_up(e, code);
    if (!expr_is_interpreted(&x))
        return OK;
    switch (equality_test_ask(&witness, a, &v->test, &x)) {
    case EQUALITY_AGREES: *out = EQLOOM__STANDING__AGREES; return OK;
    case EQUALITY_UNDECIDED:
        *out = v->test.values ? EQLOOM__STANDING__NEVER_BOTH : EQLOOM__STANDING__PROVED;
        return OK;
    case EQUALITY_REFUTED: break;
    }
    code = err_fail(e, ERR_FAILED, "'%s' is not equal to the seed '%s': %s", expr_infix(a, &x),
                    expr_infix(a, &v->x->seed), witness);
    err_hint(e, "a rule is false: 'eqloom explain' with both expressions and the job's rules "
                "(--rules FILE) shows which");
    return code;
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

/* Skips terms that were added before, including the seed, and terms that have no value wherever the
 * seed has one. */
static enum err_code add_members(Eqloom__Cluster *out, struct arena *a, struct verifier *v,
                                 const struct term *terms, uint32_t n, struct name_map *seen,
                                 struct err *e)
{
    for (uint32_t i = 0; i < n && out->n_members < v->x->options->per_cluster; i++) {
        char *text = grammar_term_text(a, &v->x->grammar, &terms[i]);
        bool added;
        name_map_put(seen, text, 0, &added);
        if (!added)
            continue;
        Eqloom__Standing standing;
        struct arena_mark mark = arena_mark(a);
        enum err_code code = check_member(&standing, v, a, text, e);
        arena_release(a, mark);
        if (code)
            return err_up(e, code);
        if (standing == EQLOOM__STANDING__NEVER_BOTH)
            continue;
        out->members[out->n_members++] = member_new(a, text, standing, terms[i].length);
    }
    return OK;
}

/* Replaces dropped members by further, increasingly large draws. */
static enum err_code draw_members(Eqloom__Cluster *out, struct arena *a, struct verifier *v,
                                  struct rng *rng, struct err *e)
{
    const struct grammar *g = &v->x->grammar;
    const struct extract_options *options = v->x->options;
    count_t all = grammar_terms(g);
    struct name_map seen = {0};
    enum err_code code = OK;
    name_map_put(&seen, out->seed->prefix, 0, NULL);
    for (uint32_t round = 0, wanted = options->per_cluster;
         !code && round < MAX_ROUNDS && out->n_members < options->per_cluster; round++) {
        struct term *terms;
        uint32_t n;
        if (round)
            wanted = (options->per_cluster - (uint32_t)out->n_members) << (round + 1);
        grammar_draw(&terms, &n, a, g, wanted, &options->draw, rng);
        code = add_members(out, a, v, terms, n, &seen, e);
        if (n == all)
            break;
    }
    name_map_free(&seen);
    return err_up(e, code);
}

enum err_code extract_begin(struct extraction *out, struct arena *a, const Eqloom__EGraph *egraph,
                            const struct extract_options *options, struct err *e)
{
    enum err_code code;
    if (!egraph->seed)
        return err_fail(e, ERR_CORRUPT, "the e-graph has no seed");
    const struct language *lang;
    if ((code = language_read(&lang, a, egraph->seed->language, e)))
        return err_up(e, code);
    *out = (struct extraction){.egraph = egraph, .options = options};
    code = grammar_init(&out->grammar, a, egraph, lang, &options->grammar, e);
    if (!code)
        code = expr_from_prefix(&out->seed, a, out->grammar.lang, egraph->seed->prefix, e);
    return err_up(e, code);
}

enum err_code extract_cluster(Eqloom__Cluster *out, struct arena *a, const struct extraction *x,
                              struct rng *rng, struct err *e)
{
    const struct grammar *g = &x->grammar;
    struct verifier v;
    char terms[48];
    verifier_init(&v, a, x);
    eqloom__cluster__init(out);
    out->seed = x->egraph->seed;
    out->terms = arena_strdup(a, count_text(terms, grammar_terms(g), g->saturated));
    out->max_tokens = x->options->grammar.max_tokens;
    out->basis = x->egraph->basis;
    out->members = arena_array(a, Eqloom__Member *, x->options->per_cluster + 1);
    bool defined = !v.compares || !v.test.values || ball_reference_points(v.test.values);
    Eqloom__Standing standing = !defined     ? EQLOOM__STANDING__NEVER_BOTH
                                : v.compares ? EQLOOM__STANDING__AGREES
                                             : EQLOOM__STANDING__PROVED;
    out->members[out->n_members++] =
        member_new(a, out->seed->prefix, standing, expr_tokens(&x->seed));
    enum err_code code = draw_members(out, a, &v, rng, e);
    if (v.compares)
        equality_test_end(&v.test);
    return err_up(e, code);
}
