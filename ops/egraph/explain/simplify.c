/* See simplify.h. */
#include "ops/egraph/explain/simplify.h"

#include "ops/egraph/graph/least_terms.h"

static enum err_code saturate(eclass_id *root, struct egraph *g, struct arena *a,
                              const struct ruleset *set, const struct expr *from,
                              const struct simplify_options *options, struct err *e)
{
    struct saturate_options o = {.iterations = options->iterations,
                                 .max_nodes = options->max_nodes,
                                 .match_limit = 1000,
                                 .ban_length = 5,
                                 .explain = true};
    struct saturate_result result;
    egraph_keep_proofs(g);
    for (size_t i = 0; i < options->n_domains; i++)
        if (err_up(e, egraph_declare(g, options->domains[i].name, options->domains[i].domain, e)))
            return e->code;
    *root = egraph_add_expr(g, from);
    return err_up(e, egraph_saturate(&result, g, set, &o, a, e));
}

static enum err_code least_term(struct expr *out, struct arena *a, struct egraph *g, eclass_id root,
                                struct err *e)
{
    struct terms terms;
    struct buf text = {0};
    terms_find(&terms, g);
    terms_write(&text, &terms, g, egraph_find(g, root));
    enum err_code code = err_up(e, expr_from_prefix(out, a, g->lang, text.data, e));
    buf_free(&text);
    terms_free(&terms);
    return code;
}

static bool is_sure(const struct explanation *p, const struct expr *from, const struct rules *rules,
                    const struct simplify_options *o)
{
    size_t step;
    return !explanation_check_values(&step, p, from, rules, o->domains, o->n_domains, NULL);
}

enum err_code simplify(struct explanation *out, struct arena *a, const struct rules *rules,
                       const struct ruleset *set, const struct expr *from,
                       const struct simplify_options *options, struct err *e)
{
    struct egraph *g = egraph_new(rules->lang);
    struct explanation proof;
    struct expr to;
    eclass_id root = 0;
    enum err_code code;
    *out = (struct explanation){0};
    if ((code = err_up(e, saturate(&root, g, a, set, from, options, e))) ||
        (code = err_up(e, least_term(&to, a, g, root, e))) || expr_equal(from, &to))
        goto out;
    struct err why = {0};
    code = egraph_explain(&proof, a, g, set, from, &to, &why);
    if (code == ERR_LIMIT) {
        code = OK;
        goto out;
    }
    if (code && e)
        *e = why;
    if (code || (code = err_up(e, explanation_check(&proof, from, &to, rules, e))))
        goto out;
    if (is_sure(&proof, from, rules, options))
        *out = proof;
out:
    egraph_free(g);
    return code;
}
