/* Clusters from e-graphs; see extract_cluster.h. Verification is independent of the e-graph: terms
 * are read back from their text and compared with the seed at points that depend on nothing but the
 * options, on the positive axis unless a variable's domain says otherwise. */
#include "ops/extract/extract_cluster.h"
#include "ops/egraph/derive/derive.h"
#include "ops/expr/equality/exact.h"

#include "base/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_ROUNDS = 4,   /* of draws, when members are dropped */
    MAX_RULES = 4096, /* of which the most applied are looked for */
    SEARCH_FACTOR = 4 /* how much larger than the e-graph a derivation may be */
};

struct verifier {
    struct ball_reference *reference;
    const struct expr *term;  /* the seed */
    const struct expr *exact; /* the same, in a language that is compared exactly */
    struct ball_options options;
    const struct language *lang;
    const char *seed;
    const struct rules *rules; /* or NULL */
    const Eqloom__EGraph *egraph;
};

/* Uninterpreted operators have no values to compare. */
static bool can_evaluate(const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op >= X_ADD && !x->lang->ops[x->nodes[i].op].interpreted)
            return false;
    return true;
}

static void set_domains(struct ball_options *options, struct arena *a, const Eqloom__Expr *seed)
{
    struct ball_domain *domains = arena_array(a, struct ball_domain, seed->n_variables);
    for (size_t i = 0; i < seed->n_variables; i++)
        domains[i] = (struct ball_domain){seed->variables[i]->name, seed->variables[i]->domain};
    options->domains = domains;
    options->n_domains = seed->n_variables;
}

static int compare_applied(const void *x, const void *y)
{
    const Eqloom__RuleStats *a = *(Eqloom__RuleStats *const *)x,
                            *b = *(Eqloom__RuleStats *const *)y;
    if (a->applied != b->applied)
        return a->applied > b->applied ? -1 : 1;
    return strcmp(a->rule, b->rule);
}

/* Without rules to derive it from: those that did most, and what it takes to find the false one. */
static void hint_rules(struct err *e, const Eqloom__EGraph *m)
{
    Eqloom__RuleStats *rules[MAX_RULES];
    size_t n = 0, at = 0;
    char list[120] = "";
    for (size_t i = 0; i < m->n_rules && n < MAX_RULES; i++)
        if (m->rules[i]->applied)
            rules[n++] = m->rules[i];
    if (n == 0)
        return;
    qsort(rules, n, sizeof *rules, compare_applied);
    for (size_t i = 0; i < n && at + strlen(rules[i]->rule) + 8 < sizeof list; i++)
        at += (size_t)sprintf(list + at, "%s%s", i ? ", " : "", rules[i]->rule);
    err_hint(e, "of %zu rules at work: %s; with 'rules: NODE', extract names the false one", n,
             list);
}

/* The same way again from the seed to the term, in an e-graph that keeps proofs. */
static bool write_derivation(struct err *e, const struct verifier *v, const char *text)
{
    struct arena work = {0};
    struct derivation d;
    struct expr from, to; /* read again: the rules number declared operators in their own way */
    struct derive_options o = {.iterations = SEARCH_FACTOR * (v->egraph->iterations + 1),
                               .max_nodes = SEARCH_FACTOR * (uint32_t)v->egraph->n_node_ops + 1000,
                               .domains = v->options.domains,
                               .n_domains = v->options.n_domains};
    struct err problem = {0};
    bool found = !expr_from_prefix(&from, &work, v->rules->lang, v->seed, &problem) &&
                 !expr_from_prefix(&to, &work, v->rules->lang, text, &problem) &&
                 !derive_equality(&d, &work, v->rules, &from, &to, &o, &problem) && d.found;
    if (found) {
        struct buf lines = {0};
        buf_printf(&lines, "      %s\n", expr_infix(&work, &from));
        explanation_write(&lines, &work, &d.proof, "  ", d.refuted.code ? d.refuted_step : SIZE_MAX);
        lines.data[--lines.len] = '\0';
        err_detail(e, lines.data);
        buf_free(&lines);
        err_hint(e, "it was derived by %zu step%s%s%s", d.proof.n, d.proof.n == 1 ? "" : "s",
                 d.refuted.code ? ", of which this is false: " : ":",
                 d.refuted.code ? d.proof.steps[d.refuted_step].rule : "");
    }
    arena_free(&work);
    return found;
}

static void name_rules(struct err *e, const struct verifier *v, const char *text)
{
    if (e && !(v->rules && write_derivation(e, v, text)))
        hint_rules(e, v->egraph);
}

static enum err_code refuse_member(const struct verifier *v, struct arena *a, const struct expr *x,
                                   const char *text, const char *witness, struct err *e)
{
    enum err_code code = err_fail(e, ERR_FAILED, "'%s' is not equal to the seed '%s': %s",
                                  expr_infix(a, x), expr_infix(a, v->term), witness);
    name_rules(e, v, text);
    return code;
}

static enum err_code check_exactly(Eqloom__Standing *out, struct verifier *v, struct arena *a,
                                   const struct expr *x, const char *text, struct err *e)
{
    struct exact_result result;
    *out = EQLOOM__STANDING__PROVED;
    if (exact_compare(&result, a, v->exact, x, NULL))
        return OK; /* too large to compare; the e-graph vouches for it */
    *out = EQLOOM__STANDING__AGREES;
    if (result.equal)
        return OK;
    return refuse_member(v, a, x, text, result.witness, e);
}

/* PROVED when there is nothing to evaluate. */
static enum err_code check_member(Eqloom__Standing *out, struct verifier *v, struct arena *a,
                                  const char *text, struct err *e)
{
    struct expr x;
    *out = EQLOOM__STANDING__PROVED;
    if (!v->reference && !v->exact)
        return OK;
    enum err_code code = err_up(e, expr_from_prefix(&x, a, v->lang, text, e));
    if (code)
        return code;
    if (!can_evaluate(&x))
        return OK;
    if (v->exact)
        return err_up(e, check_exactly(out, v, a, &x, text, e));
    struct ball_compare result;
    ball_reference_compare(&result, v->reference, &x);
    switch (result.verdict) {
    case BALL_EQUAL: *out = EQLOOM__STANDING__AGREES; break;
    case BALL_UNDEFINED: *out = EQLOOM__STANDING__NEVER_BOTH; break;
    case BALL_DIFFERENT: return refuse_member(v, a, &x, text, result.witness, e);
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

/* Terms that were seen already, the seed among them, are passed over. */
static enum err_code add_members(Eqloom__Cluster *out, struct arena *a, const struct grammar *g,
                                 const struct term *terms, uint32_t n, struct name_map *seen,
                                 struct verifier *v, const struct extract_options *options,
                                 struct err *e)
{
    for (uint32_t i = 0; i < n && out->n_members < options->per_cluster; i++) {
        char *text = grammar_term_text(a, g, &terms[i]);
        bool added;
        name_map_put(seen, text, 0, &added);
        if (!added)
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

/* Members that are dropped are replaced by further draws, larger ones as that goes on. */
static enum err_code draw_members(Eqloom__Cluster *out, struct arena *a, const struct grammar *g,
                                  struct verifier *v, const struct extract_options *options,
                                  struct rng *rng, struct err *e)
{
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
        code = err_up(e, add_members(out, a, g, terms, n, &seen, v, options, e));
        if (n == all)
            break;
    }
    name_map_free(&seen);
    return code;
}

enum err_code extract_begin(struct extraction *out, struct arena *a, const Eqloom__EGraph *egraph,
                            const struct extract_options *options, struct err *e)
{
    enum err_code code;
    if (!egraph->seed)
        return err_fail(e, ERR_CORRUPT, "e-graph: it does not say what it began with");
    const struct language *lang = lang_by_name(egraph->seed->language);
    if (!lang)
        return err_fail(e, ERR_UNSUPPORTED, "unknown language '%s'", egraph->seed->language);
    *out = (struct extraction){.egraph = egraph, .options = options};
    code = err_up(e, grammar_init(&out->grammar, a, egraph, lang, &options->grammar, e));
    if (!code)
        code = expr_from_prefix(&out->seed, a, out->grammar.lang, egraph->seed->prefix, e);
    return err_up(e, code);
}

static void verifier_init(struct verifier *v, struct arena *a, const struct extraction *x)
{
    const struct extract_options *options = x->options;
    const struct language *lang = x->grammar.lang;
    *v = (struct verifier){.lang = lang,
                           .egraph = x->egraph,
                           .seed = x->egraph->seed->prefix,
                           .term = &x->seed,
                           .rules = options->rules,
                           .options = {.points = options->points,
                                       .low = options->low,
                                       .high = options->high,
                                       .precision = 64}};
    set_domains(&v->options, a, x->egraph->seed);
    if (options->verify && exact_applies(lang))
        v->exact = &x->seed;
    else if (options->verify && can_evaluate(&x->seed))
        v->reference = ball_reference_new(&x->seed, &v->options);
}

enum err_code extract_cluster(Eqloom__Cluster *out, struct arena *a, const struct extraction *x,
                              struct rng *rng, struct err *e)
{
    const struct extract_options *options = x->options;
    const struct grammar *g = &x->grammar;
    struct verifier v;
    char terms_text[48];
    verifier_init(&v, a, x);
    eqloom__cluster__init(out);
    out->seed = x->egraph->seed;
    out->terms = arena_strdup(a, count_text(terms_text, grammar_terms(g), g->saturated));
    out->max_tokens = options->grammar.max_tokens;
    out->unsound = x->egraph->unsound;
    out->members = arena_array(a, Eqloom__Member *, options->per_cluster + 1);
    Eqloom__Standing standing = EQLOOM__STANDING__PROVED;
    enum err_code code = err_up(e, check_member(&standing, &v, a, out->seed->prefix, e));
    if (!code) {
        out->members[out->n_members++] =
            member_new(a, out->seed->prefix, standing, expr_tokens(&x->seed));
        code = err_up(e, draw_members(out, a, g, &v, options, rng, e));
    }
    if (v.reference)
        ball_reference_free(v.reference);
    return code;
}
