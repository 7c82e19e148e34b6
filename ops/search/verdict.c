/* Decides equality of a query and its findings; see verdict.h. Values are compared first, since
 * that is cheap and most neighbours of other clusters differ; only those that agree cost a
 * saturation. */
#include "ops/search/verdict.h"

#include "base/io/terminal.h"
#include "ops/expr/decide/decide.h"
#include "ops/expr/normal/normal.h"

enum { ITERATIONS = 12, TERMS_OF_A_CLUSTER = 4 };

void judge_free(struct judge *j)
{
    if (j->set)
        ruleset_free(j->set);
    arena_free(&j->arena);
}

const struct verdict_name verdict_names[] = {
    [VERDICT_PROVED] = {"proved", "\033[32m"},
    [VERDICT_REFUTED] = {"refuted", "\033[31m"},
    [VERDICT_UNDECIDED] = {"undecided", "\033[33m"},
    [VERDICT_NO_VALUE] = {"no value", "\033[33m"},
};

void verdict_print(FILE *to, bool color, enum verdict v, const char *word)
{
    terminal_control(to, color ? verdict_names[v].color : "");
    fprintf(to, "%-9s", word);
    terminal_control(to, color ? "\033[0m" : "");
    fputs("  ", to);
}

static void decide(struct finding *f, enum verdict v, const char *why)
{
    f->verdict = v;
    f->why = why;
}

static void compare(struct finding *f, const struct judge *j, const struct expr *question,
                    struct arena *a)
{
    struct domains domains = domains_of(a, f->source ? f->source->seed : NULL, &j->domains);
    const struct decide_options options = {domains.all, domains.n, j->real_values, false};
    struct decided d;
    decide_equality(&d, a, question, &f->x, &options);
    switch (d.verdict) {
    case DECIDED_PROVED: decide(f, VERDICT_PROVED, "equal normal forms"); break;
    case DECIDED_REFUTED: decide(f, VERDICT_REFUTED, arena_printf(a, "at %s", d.witness)); break;
    case DECIDED_NO_VALUE: decide(f, VERDICT_NO_VALUE, d.undefined); break;
    case DECIDED_OPEN:
        decide(f, VERDICT_UNDECIDED,
               exact_applies(question->lang) ? "too large to compare"
               : d.compare.points            ? "values agree at all points tried"
                                  : "no point was found where both can be computed");
    }
}

/* ---- by rules ---- */

static enum err_code need_rules(struct judge *j, struct err *e)
{
    if (j->set)
        return OK;
    enum err_code code;
    if ((code = err_up(e, rules_parse_library(&j->rules, &j->arena, &lang_calculus, e))) ||
        (code = err_up(e, rules_select(&j->rules, NULL, 0, NULL, 0, e))))
        return code;
    rules_sort(&j->rules);
    j->set = ruleset_new(&j->rules);
    return OK;
}

static bool is_open(const struct finding *f, uint32_t cluster)
{
    return f->verdict == VERDICT_UNDECIDED && f->cluster == cluster;
}

/* What rules derive holds where all terms have values: a proof if these two have them everywhere, up
 * to isolated points. */
static void derived(struct finding *f, const struct judge *j, const struct expr *question,
                    const char *why, struct arena *a)
{
    struct domains d = domains_of(a, f->source ? f->source->seed : NULL, &j->domains);
    if (normal_has_values(question, d.all, d.n) && normal_has_values(&f->x, d.all, d.n))
        decide(f, VERDICT_PROVED, why);
    else
        decide(f, VERDICT_UNDECIDED, "equal where both have a value, which may be on a part only");
}

/* Saturates the question and the first few findings of its cluster in one graph. */
static enum err_code saturate_cluster(struct judge *j, struct finding *f, size_t n,
                                      const struct expr *question, struct arena *a, struct err *e)
{
    struct finding *terms[TERMS_OF_A_CLUSTER];
    eclass_id classes[TERMS_OF_A_CLUSTER];
    size_t n_terms = 0;
    struct saturate_result result;
    enum err_code code = err_up(e, need_rules(j, e));
    if (code)
        return code;
    struct domains domains = domains_of(a, f->source ? f->source->seed : NULL, &j->domains);
    const struct language *lang = question->lang; /* the rules may be of a sublanguage */
    for (size_t i = 0; i < n; i++)
        if (is_open(&f[i], f->cluster) && f[i].x.lang->n_ops > lang->n_ops)
            lang = f[i].x.lang;
    struct egraph *g = egraph_new(lang);
    for (size_t i = 0; i < domains.n && !code; i++)
        code = err_up(e, egraph_declare(g, &domains.all[i], e));
    if (code)
        goto out;
    eclass_id root = egraph_add_expr(g, question);
    for (size_t i = 0; i < n && n_terms < TERMS_OF_A_CLUSTER; i++)
        if (is_open(&f[i], f->cluster)) {
            terms[n_terms] = &f[i];
            classes[n_terms++] = egraph_add_expr(g, &f[i].x);
        }
    struct saturate_options options = {.iterations = ITERATIONS,
                                       .max_nodes = j->max_nodes,
                                       .match_limit = 1000,
                                       .ban_length = 5,
                                       .has_goal = true,
                                       .goal = {root, classes[0]}};
    code = err_up(e, egraph_saturate(&result, g, j->set, &options, a, e));
    for (size_t i = 0; i < n_terms && !code; i++)
        if (egraph_find(g, classes[i]) == egraph_find(g, root))
            derived(terms[i], j, question, "by certified rules", a);
out:
    egraph_free(g);
    return code;
}

/* Whether its cluster has been saturated. */
static bool is_tried(const struct finding *f, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (is_open(&f[k], f[i].cluster))
            return true;
    return false;
}

/* A proved finding that rules made from the seed proves all others that rules made from it, under
 * the seed's domains. */
static void spread_proof(const struct judge *j, struct finding *f, size_t n, uint32_t cluster,
                         const struct expr *question, struct arena *a)
{
    bool proved = false;
    if (j->domains.n)
        return;
    for (size_t i = 0; i < n; i++)
        proved |= f[i].cluster == cluster && f[i].by_rules && f[i].verdict == VERDICT_PROVED;
    for (size_t i = 0; i < n && proved; i++)
        if (is_open(&f[i], cluster) && f[i].by_rules)
            derived(&f[i], j, question, "by certified rules, through its cluster", a);
}

enum err_code judge_all(struct judge *j, struct finding *f, size_t n, const struct expr *question,
                        struct arena *a, struct err *e)
{
    enum err_code code = OK;
    bool exact = exact_applies(question->lang);
    for (size_t i = 0; i < n; i++) {
        if (!f[i].x.n)
            decide(&f[i], VERDICT_REFUTED, "not an expression");
        else if (expr_equal(question, &f[i].x))
            decide(&f[i], VERDICT_PROVED, "the same expression");
        else
            compare(&f[i], j, question, a);
    }
    if (exact) /* the rules cannot add anything */
        return OK;
    for (size_t i = 0; i < n && !code; i++) {
        spread_proof(j, f, n, f[i].cluster, question, a);
        if (!is_open(&f[i], f[i].cluster) || is_tried(f, i))
            continue;
        code = err_up(e, saturate_cluster(j, f + i, n - i, question, a, e));
        spread_proof(j, f, n, f[i].cluster, question, a);
    }
    return code;
}
