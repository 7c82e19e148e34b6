/* Looking for a derivation; see derive.h. */
#include "ops/egraph/explain/derive.h"

enum { LOOK_AROUND = 2000 };

static enum err_code declare(struct egraph *g, const struct derive_options *o, struct err *e)
{
    enum err_code code = OK;
    for (size_t i = 0; !code && i < o->n_domains; i++)
        code = err_up(e, egraph_declare(g, o->domains[i].name, o->domains[i].domain, e));
    return code;
}

static enum err_code search(struct derivation *out, struct arena *a, struct egraph *g,
                            const struct ruleset *set, const struct expr *from,
                            const struct expr *to, const struct derive_options *options,
                            struct err *e)
{
    struct saturate_options o = {.iterations = options->iterations,
                                 .max_nodes = options->max_nodes,
                                 .match_limit = 1000,
                                 .ban_length = 5,
                                 .explain = true,
                                 .has_goal = true};
    egraph_keep_proofs(g);
    enum err_code code = declare(g, options, e);
    if (code)
        return code;
    o.goal[0] = egraph_add_expr(g, from);
    o.goal[1] = egraph_add_expr(g, to);
    if ((code = err_up(e, egraph_saturate(&out->run, g, set, &o, a, e))))
        return code;
    out->nodes = egraph_count_nodes(g);
    if (egraph_find(g, o.goal[0]) != egraph_find(g, o.goal[1]))
        return OK;
    /* The first way to be found is seldom the shortest: one more look around. What is found out
     * there, a contradiction too, does not matter. */
    struct saturate_result again;
    o.iterations = 1;
    o.has_goal = false;
    o.max_nodes = 2 * out->nodes + LOOK_AROUND;
    egraph_saturate(&again, g, set, &o, a, NULL);
    if ((code = err_up(e, egraph_explain(&out->proof, a, g, set, from, to, e))))
        return code;
    explanation_tighten(&out->proof, a, g, set, from);
    return OK;
}

enum err_code derive_equality(struct derivation *out, struct arena *a, const struct rules *rules,
                              const struct expr *from, const struct expr *to,
                              const struct derive_options *options, struct err *e)
{
    struct egraph *g = egraph_new(rules->lang);
    struct ruleset *set = ruleset_new(rules);
    *out = (struct derivation){0};
    enum err_code code = search(out, a, g, set, from, to, options, e);
    if (!code && (out->proof.n || expr_equal(from, to))) {
        code = err_up(e, explanation_check(&out->proof, from, to, rules, e));
        out->found = !code;
        if (out->found)
            explanation_check_values(&out->stale, &out->proof, from, rules, options->domains,
                                     options->n_domains, &out->doubt);
    }
    ruleset_free(set);
    egraph_free(g);
    return code;
}

void explanation_write(struct buf *out, struct arena *a, const struct explanation *x,
                       const char *indent, size_t mark)
{
    for (size_t i = 0; i < x->n; i++) {
        const struct explain_step *s = &x->steps[i];
        size_t n;
        bool other = rule_is_reverse(&n, s->rule);
        buf_printf(out, "%s%s = %s   [%.*s%s]%s\n", indent, i == mark ? "?" : " ",
                   expr_infix(a, &s->term), (int)n, s->rule,
                   s->backwards != other ? ", backwards" : "", i == mark ? "   false" : "");
    }
}
