/* Derivations by saturation; see derive.h. */
#include "ops/egraph/derive/derive.h"

#include "ops/egraph/record/least_terms.h"

enum { EXTRA_NODES = 2000 };

/* Creates an empty e-graph that keeps proofs and declares the variables' domains. */
static enum err_code prepare(struct egraph **out, struct saturate_options *o,
                             const struct language *lang, const struct derive_options *options,
                             struct err *e)
{
    enum err_code code = OK;
    *o = (struct saturate_options){.iterations = options->iterations,
                                   .max_nodes = options->max_nodes,
                                   .match_limit = 1000,
                                   .ban_length = 5,
                                   .explain = true,
                                   .forms = options->forms};
    *out = egraph_new(lang);
    egraph_keep_proofs(*out);
    for (size_t i = 0; !code && i < options->n_domains; i++)
        code = egraph_declare(*out, &options->domains[i], e);
    return err_up(e, code);
}

/* ---- an equality ---- */

static enum err_code search(struct derivation *out, struct arena *a, struct egraph *g,
                            struct saturate_options *o, const struct ruleset *set,
                            const struct expr *from, const struct expr *to, struct err *e)
{
    o->has_goal = true;
    o->goal[0] = egraph_add_expr(g, from);
    o->goal[1] = egraph_add_expr(g, to);
    enum err_code code = egraph_saturate(&out->run, g, set, o, a, e);
    if (code)
        return err_up(e, code);
    out->nodes = egraph_count_nodes(g);
    out->found = egraph_find(g, o->goal[0]) == egraph_find(g, o->goal[1]);
    if (!out->found)
        return OK;
    /* The first derivation is seldom the shortest. One more iteration adds terms for the search of
     * a shorter one; it may fail, since it is optional. */
    struct saturate_result again;
    o->iterations = 1;
    o->has_goal = false;
    o->forms = 0;
    o->max_nodes = 2 * out->nodes + EXTRA_NODES;
    egraph_saturate(&again, g, set, o, a, NULL);
    return err_up(e, egraph_explain(&out->proof, a, g, set, from, to, e));
}

enum err_code derive_equality(struct derivation *out, struct arena *a, const struct rules *rules,
                              const struct ruleset *set, const struct expr *from,
                              const struct expr *to, const struct derive_options *options,
                              struct err *e)
{
    struct egraph *g;
    struct saturate_options o;
    *out = (struct derivation){0};
    enum err_code code = prepare(&g, &o, rules->lang, options, e);
    if (!code)
        code = search(out, a, g, &o, set, from, to, e);
    if (!code && out->found)
        code = explanation_check(&out->proof, from, to, rules, e);
    out->checked = out->proof.checked;
    if (!code && out->found)
        explanation_check_values(&out->refuted_step, &out->proof, from, options->domains,
                                 options->n_domains, &out->refuted);
    out->found = out->found && !code;
    out->proof.domains = options->domains; /* those of the graph are freed with it */
    egraph_free(g);
    return err_up(e, code);
}

void derive_by_form(struct derivation *out, struct arena *a, const char *way,
                    const struct expr *from, const struct expr *to,
                    const struct derive_options *options)
{
    struct explain_step *step = arena_new(a, struct explain_step);
    *step = (struct explain_step){.rule = way, .term = *to};
    *out = (struct derivation){.found = true, .proof = {.steps = step, .n = 1}};
    if (!explanation_check_form(&out->checked, from, to, options->domains, options->n_domains,
                                &out->refuted))
        explanation_check_values(&out->refuted_step, &out->proof, from, options->domains,
                                 options->n_domains, &out->refuted);
}

/* ---- the least term ---- */

static enum err_code least_term(struct expr *out, struct arena *a, struct egraph *g, eclass_id root,
                                struct err *e)
{
    struct least_terms terms;
    struct buf text = {0};
    least_terms_find(&terms, a, g);
    least_terms_write(&text, &terms, g, egraph_find(g, root));
    enum err_code code = expr_from_prefix(out, a, g->lang, text.data, e);
    buf_free(&text);
    return err_up(e, code);
}

enum err_code derive_least(struct explanation *out, struct arena *a, const struct rules *rules,
                           const struct ruleset *set, const struct expr *from,
                           const struct derive_options *options, struct err *e)
{
    struct egraph *g;
    struct saturate_options o;
    struct saturate_result result;
    struct explanation proof;
    struct expr to;
    size_t step;
    *out = (struct explanation){0};
    enum err_code code = prepare(&g, &o, rules->lang, options, e);
    if (code)
        goto out;
    eclass_id root = egraph_add_expr(g, from);
    if ((code = egraph_saturate(&result, g, set, &o, a, e)) ||
        (code = least_term(&to, a, g, root, e)) || expr_equal(from, &to))
        goto out;
    code = egraph_explain(&proof, a, g, set, from, &to, e);
    if (!code)
        code = explanation_check(&proof, from, &to, rules, e);
    if (!code &&
        !explanation_check_values(&step, &proof, from, options->domains, options->n_domains, NULL))
        *out = proof;
    if (code == ERR_LIMIT) {
        err_clear(e);
        code = OK;
    }
out:
    egraph_free(g);
    return err_up(e, code);
}
