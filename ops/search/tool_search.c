/* `eqloom search EXPR`: prints the nearest expressions of an indexed corpus, and whether each is
 * equal. */
#include "base/os.h"
#include "base/text/html.h"
#include "engine/tool.h"
#include "ops/expr/own/own.h"
#include "ops/expr/syntax/claim_latex.h"
#include "ops/expr/syntax/formula.h"
#include "ops/latex/read/expr_argument.h"
#include "ops/search/corpus_index.h"
#include "ops/search/equation_search.h"
#include "ops/search/models.h"
#include "ops/search/queries.h"
#include "ops/search/verdict.h"

#include <jansson.h>
#include <string.h>

struct search {
    const struct tool_args *args;
    uint32_t k, per_cluster;
    struct tool_record record;
    const Eqloom__Index *record_index;
    struct corpus_index index;
    struct text_model model;
    struct domain_options given;
    struct judge judge;
    const struct language *lang;
    double load_ms;
};

/* One answer, all in the arena of its query. */
struct answer {
    const struct expr *question;
    struct neighbour *neighbours;
    struct finding *findings;
    size_t n;
    double ms;
};

static double ms_since(uint64_t start_ns)
{
    return (double)(os_monotonic_ns() - start_ns) * 1e-6;
}

/* ---- loading ---- */

static enum err_code find_language(struct search *s, struct err *e)
{
    const char *more = s->model.vocabulary->language;
    s->lang = s->index.lang;
    enum err_code code = *more ? language_join(&s->lang, s->args->arena, more, e) : OK;
    return err_up(e, code ? code : operator_options(&s->lang, s->args, e));
}

static enum err_code choose(struct search *s, struct err *e)
{
    static const struct tool_choice choice = {
        "index", KIND_INDEX, "index", "an index",
        "'eqloom run jobs/quickstart.yaml' makes one; in your own job use the op 'index'"};
    const Eqloom__Index *m;
    enum err_code code;
    if ((code = err_up(e, tool_choose(&s->record, s->args, &choice, e))) ||
        (code = err_up(e, tool_get(&m, s->args, &s->record.id, KIND_INDEX, s->args->arena, e))))
        return code;
    s->record_index = m;
    if (s->record_index->checkpoint_id.len != DIGEST_SIZE)
        return err_fail(e, ERR_CORRUPT, "the index does not name its model");
    return OK;
}

static enum err_code load(struct search *s, struct err *e)
{
    uint64_t start = os_monotonic_ns();
    const struct digest *checkpoint = (const struct digest *)s->record_index->checkpoint_id.data;
    enum err_code code;
    if ((code = err_up(e, text_model_load(&s->model, s->args, checkpoint, GPU_F32, e))) ||
        (code = err_up(e, corpus_index_load(&s->index, s->args, s->record_index, e))) ||
        (code = err_up(e, find_language(s, e))))
        return code;
    if (s->model.dim != s->index.v.dim)
        return err_fail(e, ERR_CORRUPT, "the vectors have %u dimensions, the model has %u",
                        s->index.v.dim, s->model.dim);
    s->load_ms = ms_since(start);
    return OK;
}

/* ---- answering ---- */

/* Whether rules made the member of a cluster that has this text. */
static bool is_by_rules(const Eqloom__Cluster *c, const char *prefix)
{
    if (!c || c->basis != EQLOOM__BASIS__PROOF)
        return false;
    for (size_t i = 0; i < c->n_members; i++)
        if (strcmp(c->members[i]->prefix, prefix) == 0)
            return c->members[i]->standing >= EQLOOM__STANDING__PROVED &&
                   c->members[i]->standing <= EQLOOM__STANDING__NEVER_BOTH;
    return false;
}

static enum err_code describe(struct finding *f, const struct search *s, const struct neighbour *x,
                              struct arena *a, struct err *e)
{
    const char *prefix = s->index.v.text[x->row];
    const Eqloom__Cluster *m;
    const struct language *lang = s->lang;
    enum err_code code = OK;
    f->cluster = s->index.v.cluster[x->row];
    const struct digest *source = &s->index.source[f->cluster];
    if (!digest_is_zero(source) && !tool_get(&m, s->args, source, KIND_CLUSTER, a, NULL))
        f->source = m;
    f->by_rules = is_by_rules(f->source, prefix);
    if (f->source && f->source->seed)
        code = language_join(&lang, a, f->source->seed->language, e);
    lang = language_guess(a, lang, prefix);
    return err_up(e, code ? code : expr_from_prefix(&f->x, a, lang, prefix, e));
}

static enum err_code find(struct answer *out, struct search *s, struct arena *a, struct err *e)
{
    uint64_t start = os_monotonic_ns();
    char *prefix = expr_prefix(a, out->question);
    float *vector;
    enum err_code code = text_model_embed(&vector, &s->model, &prefix, 1, true, a, e);
    if (code)
        return err_up(e, code);
    out->neighbours = arena_array(a, struct neighbour, s->k);
    out->n = corpus_index_nearest(out->neighbours, s->k, s->per_cluster, &s->index, vector, a);
    out->findings = arena_array(a, struct finding, out->n);
    for (size_t i = 0; i < out->n && !code; i++)
        code = describe(&out->findings[i], s, &out->neighbours[i], a, e);
    if (!code)
        code = judge_all(&s->judge, out->findings, out->n, out->question, a, e);
    out->ms = ms_since(start);
    return err_up(e, code);
}

/* ---- printing ---- */

static const char *seed_of(struct arena *a, const struct finding *f, const struct search *s)
{
    struct expr seed;
    if (!f->source || !f->source->seed ||
        expr_from_prefix(&seed, a, f->x.n ? f->x.lang : s->lang, f->source->seed->prefix, NULL))
        return NULL;
    return expr_shown(s->args)(a, &seed);
}

/* Returns the refuting point, or the domains that the user gave, in the form in which expressions
 * are printed. */
static const char *claim(struct arena *a, const struct search *s, const char *text)
{
    bool latex = text && expr_shown(s->args) == expr_latex;
    return latex ? claim_latex(a, s->lang, text) : text;
}

static void print_json(const struct search *s, const struct answer *x, struct arena *a)
{
    json_t *list = json_array();
    expr_printer *show = expr_shown(s->args);
    for (size_t i = 0; i < x->n; i++) {
        const struct finding *f = &x->findings[i];
        const struct digest *source = &s->index.source[f->cluster];
        char hex[DIGEST_HEX];
        digest_hex(hex, source);
        json_array_append_new(
            list, json_pack("{s:f, s:s, s:s, s:s, s:s, s:s*, s:s*}", "similarity",
                            (double)x->neighbours[i].similarity, "verdict",
                            verdict_names[f->verdict].word, "why",
                            f->verdict == VERDICT_REFUTED ? claim(a, s, f->why) : f->why,
                            "expression", show(a, &f->x), "prefix", expr_prefix(a, &f->x), "seed",
                            seed_of(a, f, s), "cluster", digest_is_zero(source) ? NULL : hex));
    }
    queries_print_json(s->args->out,
                       json_pack("{s:s, s:s*, s:o, s:f}", "question", show(a, x->question),
                                 "assumed", claim(a, s, s->given.assumed), "neighbours", list, "ms",
                                 x->ms));
}

static void print_words(const struct search *s, const struct answer *x, struct arena *a)
{
    FILE *out = s->args->out;
    expr_printer *show = expr_shown(s->args);
    int width = 10;
    for (size_t i = 0; i < x->n; i++) {
        int n = (int)strlen(show(a, &x->findings[i].x));
        width = n > width ? n : width;
    }
    fprintf(out, "%s%s%s\n", show(a, x->question), s->given.assumed ? ", for " : "",
            s->given.assumed ? claim(a, s, s->given.assumed) : "");
    for (size_t i = 0; i < x->n; i++) {
        const struct finding *f = &x->findings[i];
        const char *seed = seed_of(a, f, s);
        fprintf(out, "  %.4f  ", (double)x->neighbours[i].similarity);
        verdict_print(out, s->args->color, f->verdict, verdict_names[f->verdict].word);
        if (seed)
            fprintf(out, "%-*s  of %s\n", width, show(a, &f->x), seed);
        else
            fprintf(out, "%s\n", show(a, &f->x));
    }
    fflush(out);
    fprintf(s->args->narration, "%zu of %u expressions, in %.1f ms\n", x->n, s->index.v.n, x->ms);
}

static enum err_code answer(void *arg, const struct expr *question, struct arena *a, struct err *e)
{
    struct search *s = arg;
    struct answer x = {.question = question};
    enum err_code code = find(&x, s, a, e);
    if (!code)
        (s->args->json ? print_json : print_words)(s, &x, a);
    return err_up(e, code);
}

static enum err_code run(int *exit_status, const struct tool_args *args, struct err *e)
{
    struct search s = {.args = args};
    enum err_code code;
    if ((code = tool_number(&s.k, args, "neighbours", 10, 1, 1000, e)) ||
        (code = tool_number(&s.judge.max_nodes, args, "max-nodes", 10000, 1, 50000000, e)) ||
        (code = tool_number(&s.per_cluster, args, "per-cluster", 0, 1, 1000, e)) ||
        (code = queries_check(args, e)) || (code = domain_options_read(&s.given, args, e)) ||
        (code = choose(&s, e)))
        goto out;
    if (equation_search_is(s.record_index)) {
        code = equation_search(exit_status, args, s.record.name, s.record_index, s.k, e);
        goto out;
    }
    if ((code = load(&s, e)))
        goto out;
    s.judge.domains = (struct domains){s.given.domains, s.given.n};
    s.judge.real_values = s.given.real_values;
    fprintf(args->narration, "%s: %u expressions in %u clusters, loaded in %.0f ms\n",
            s.record.name, s.index.v.n, s.index.v.n_clusters, s.load_ms);
    code = queries_answer(exit_status, args, s.lang, answer, &s, e);
out:
    judge_free(&s.judge);
    text_model_free(&s.model);
    corpus_index_free(&s.index);
    return err_up(e, code);
}

/* ---- the page ---- */

/* Percent-encodes an expression for an address such as "/explain?a=...&b=...". */
static void write_address(struct buf *out, const char *text)
{
    for (const unsigned char *s = (const unsigned char *)text; *s; s++)
        buf_printf(out, "%%%02X", *s);
}

static void write_neighbour(struct buf *out, struct arena *a, const char *question, const json_t *x)
{
    const char *verdict, *expression, *why, *seed = NULL, *cluster = NULL;
    double similarity;
    if (json_unpack((json_t *)x, "{s:F, s:s, s:s, s:s, s?s, s?s}", "similarity", &similarity,
                    "verdict", &verdict, "why", &why, "expression", &expression, "seed", &seed,
                    "cluster", &cluster))
        return;
    buf_printf(out, "<tr><td>%.4f</td>", similarity);
    buf_printf(out, "<td><a class=\"verdict %s\" href=\"/explain?a=", verdict);
    write_address(out, question);
    buf_puts(out, "&amp;b=");
    write_address(out, expression);
    buf_printf(out, "\">%s</a></td>", verdict);
    formula_write_cell(out, a, expression);
    buf_puts(out, "<td>");
    html_text(out, why);
    buf_puts(out, "</td><td>");
    if (cluster) { /* screen readers cannot name a link by a formula */
        buf_printf(out, "<a href=\"/record?ref=%s\" aria-label=\"the cluster of ", cluster);
        html_text(out, seed ? seed : cluster);
        buf_puts(out, "\">");
    }
    if (seed)
        formula_write(out, a, seed);
    buf_printf(out, "%s</td></tr>\n", cluster ? "</a>" : "");
}

static void write_page(struct buf *out, struct arena *a, const json_t *answer)
{
    const char *question, *assumed = NULL;
    json_t *neighbours, *x;
    size_t i;
    if (equation_search_page(out, a, answer))
        return;
    if (json_unpack((json_t *)answer, "{s:s, s?s, s:o}", "question", &question, "assumed", &assumed,
                    "neighbours", &neighbours))
        return;
    buf_puts(out, "<h2>Nearest to ");
    formula_write(out, a, question);
    html_text(out, assumed ? ", for " : "");
    html_text(out, assumed ? assumed : "");
    buf_puts(out, "</h2>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
                  "aria-label=\"Neighbours\"><table class=\"sorts\"><thead><tr>"
                  "<th scope=\"col\">similarity</th><th scope=\"col\">equal</th>"
                  "<th scope=\"col\">expression</th><th scope=\"col\">why</th>"
                  "<th scope=\"col\">cluster</th></tr></thead><tbody>\n");
    json_array_foreach(neighbours, i, x) write_neighbour(out, a, question, x);
    buf_puts(out, "</tbody></table></div>\n");
}

static const struct tool_argument page_arguments[] = {{"q", "Expression"}, {0}};
static const char *const page_options[] = {"neighbours", "per-cluster", "domain",
                                           "real",       "index",       NULL};
static const struct tool_page page = {"Search",       "Search a corpus", "Search",
                                      page_arguments, page_options,      write_page};

static const struct tool_option options[] = {
    {"neighbours", "N", false, "the number of neighbours; 10 if not given", 'k'},
    {"per-cluster", "N", false,
     "at most N neighbours of each cluster; with 1, each is of "
     "another cluster"},
    {"index", "REF", false,
     "an index; the default is the tag 'index', else the only one in the "
     "store"},
    {"max-nodes", "N", false,
     "the maximum number of e-nodes in the search for a proof (default "
     "10000)"},
    DOMAIN_OPTION,
    DOMAIN_OPTION_REAL,
    QUERIES_DEVICE,
    EXPR_ARGUMENT_SYNTAX,
    EXPR_ARGUMENT_LATEX,
    OPERATORS_OPTION,
    TOOL_JSON,
    {0}};

const struct tool tool_search = {
    .name = "search",
    .arguments = "EXPR...",
    .summary = "Find the expressions of a corpus that are nearest to one, and show which are "
               "equal",
    .help =
        "Embeds the expression by the model of an index and compares it with every vector of "
        "the index, so the neighbours are exact. Each is printed with the cosine, a verdict, "
        "and the seed of its cluster. The verdict is `proved` by normal forms or certified "
        "rules, `refuted` when values differ at a point, else `undecided`; 'eqloom explain A B' "
        "shows the steps or the point. Variables have the domains of the cluster's seed unless "
        "--domain is given. An argument '-' reads expressions from standard input, one per "
        "line, and answers each before it reads the next.\n\n"
        "In an index of equations of papers (jobs/papers.yaml) it finds the nearest by a graph "
        "network, and prints the paper of each; there the argument is LaTeX, and one without "
        "backslash and braces is an expression if it can be parsed as one.",
    .example = "eqloom search 'sin(x)^2'\n"
               "eqloom search -k 5 --per-cluster 1 'd(x, ln(cos(x)))'\n"
               "eqloom search '\\frac{\\sin x}{\\cos x}'",
    .exit_codes = EXPR_TEXTS_EXIT_CODES,
    .options = options,
    .run = run,
    .page = &page,
};
