/* The op `evaluate-search`: queries with keywords and an embedded corpus of equations -> how many
 * of the nearest equations are in sections with a keyword, and a page that shows them. */
#include "ops/eval/evaluation.h"
#include "ops/latex/study/equation_place.h"
#include "ops/latex/study/nearest.h"
#include "ops/latex/study/search/precision.h"
#include "ops/latex/study/search/study_page.h"
#include "ops/latex/study/search/study_queries.h"

#include "base/buf.h"

#include <stdlib.h>

/* The results of one query, which outlive the arena of the search. */
struct outcome {
    struct precision precision;
    double gain; /* P@10 minus the baseline's */
    double chance, recall;
    struct neighbour *shown; /* (n_shown of the op) */
    bool *relevant;          /* (n_shown of the op) */
    size_t n_shown;
};

/* Vectors of the corpus and of the queries; drawn queries are rows of the corpus. */
struct embedded {
    struct equation_vectors corpus, queries;
    const struct equation_vectors *query_set; /* one of the two */
};

struct study {
    struct op_ctx *ctx;
    struct embedded x, baseline;
    bool drawn, compares;
    const uint32_t *source; /* of the corpus, if queries are drawn */
    struct study_queries queries;
    struct hnsw *index;
    struct outcome *outcomes; /* by query */
    size_t most_shown;
};

/* ---- one query ---- */

static size_t find(struct neighbour *out, bool *relevant, const struct study *s,
                   const struct embedded *x, const struct hnsw *index,
                   const struct keyword_query *q, struct arena *a)
{
    struct nearest_exclude exclude = {s->source, q->source};
    size_t n = nearest_find(out, PRECISION_DEPTH, &x->corpus.v, index, s->drawn ? &exclude : NULL,
                            vectors_at(&x->query_set->v, q->row), a);
    for (size_t i = 0; i < n; i++)
        relevant[i] = q->relevant[x->corpus.section[out[i].row]];
    return n;
}

static enum err_code search(void *arg, size_t item, struct arena *a, struct err *e)
{
    struct study *s = arg;
    const struct keyword_query *q = &s->queries.items[item];
    struct outcome *out = &s->outcomes[item];
    struct neighbour *found = arena_array(a, struct neighbour, PRECISION_DEPTH);
    struct neighbour *other = arena_array(a, struct neighbour, PRECISION_DEPTH);
    bool relevant[PRECISION_DEPTH], right[PRECISION_DEPTH];
    size_t n = find(found, relevant, s, &s->x, s->index, q, a), all = 0, own = 0;
    if (s->index) {
        size_t m = find(other, right, s, &s->x, NULL, q, a);
        out->recall = m ? (double)nearest_shared(other, m, found, n) / (double)m : 1;
    }
    out->precision = precision_of(relevant, n);
    if (s->compares) {
        size_t m = find(other, right, s, &s->baseline, NULL, q, a);
        out->gain = out->precision.at[0] - precision_of(right, m).at[0];
    }
    for (uint32_t i = 0; i < s->x.corpus.v.n; i++)
        if (s->drawn && s->source[i] == q->source)
            own++;
        else
            all += q->relevant[s->x.corpus.section[i]];
    out->chance = s->x.corpus.v.n > own ? (double)all / (double)(s->x.corpus.v.n - own) : 0;
    out->n_shown = n < s->most_shown ? n : s->most_shown;
    memcpy(out->shown, found, out->n_shown * sizeof *found);
    memcpy(out->relevant, relevant, out->n_shown * sizeof *relevant);
    return OK;
}

/* ---- loading ---- */

static enum err_code load_vectors(struct embedded *out, const struct study *s,
                                  const char *embeddings, const char *query_embeddings,
                                  struct err *e)
{
    enum err_code code = equation_vectors_load(&out->corpus, s->ctx, "graphs", embeddings, NULL, e);
    if (!code && !s->drawn)
        code = equation_vectors_load(&out->queries, s->ctx, "queries", query_embeddings, NULL, e);
    out->query_set = s->drawn ? &out->corpus : &out->queries;
    const struct vectors *v = &out->corpus.v, *q = &out->query_set->v;
    if (!code && v->n && q->n && v->dim != q->dim)
        return err_fail(e, ERR_INPUT, "%s have %u dimensions, %s %u", query_embeddings, q->dim,
                        embeddings, v->dim);
    return err_up(e, code);
}

static enum err_code load_queries(struct study *s, struct err *e)
{
    struct op_ctx *ctx = s->ctx;
    const struct equation_vectors *corpus = &s->x.corpus;
    struct study_draw how = {.most = (size_t)op_int(ctx, "draw"),
                             .seed = (uint64_t)op_int(ctx, "seed"),
                             .half = (uint64_t)op_int(ctx, "half"),
                             .least_relevant = op_real(ctx, "least_relevant"),
                             .most_relevant = op_real(ctx, "most_relevant")};
    if (!s->drawn)
        return err_up(e, study_queries_take(&s->queries, &s->x.queries, corpus, ctx, e));
    s->source = study_sources(corpus, ctx);
    return err_up(e, study_queries_draw(&s->queries, &how, corpus, s->source, ctx, e));
}

static enum err_code load(struct study *s, struct err *e)
{
    struct op_ctx *ctx = s->ctx;
    enum err_code code;
    op_progress(ctx, 0, 3, "reading");
    s->drawn = op_int(ctx, "draw") > 0;
    s->compares = op_count(ctx, "baseline") > 0;
    if ((code = err_up(e, load_vectors(&s->x, s, "embeddings", "query_embeddings", e))) ||
        (s->compares &&
         (code = err_up(e, load_vectors(&s->baseline, s, "baseline", "query_baseline", e)))) ||
        (code = err_up(e, load_queries(s, e))))
        return code;
    op_progress(ctx, 1, 3, "indexing");
    return err_up(e, equation_vectors_index(&s->index, &s->x.corpus, ctx, e));
}

/* ---- formulas ---- */

/* Loads the MathML of some rows of an input of graphs, those with wanted[i]. Both inputs have the
 * same order, but some MathML has no graph. */
static enum err_code load_formulas(struct formula *out, const bool *wanted,
                                   const struct equation_vectors *x, struct op_ctx *ctx,
                                   const char *mathml, struct err *e)
{
    struct arena work = {0};
    enum err_code code = OK;
    uint32_t row = 0;
    for (uint64_t i = 0, n = op_count(ctx, mathml); i < n && row < x->v.n && !code; i++) {
        const Eqloom__Place *place;
        const Eqloom__MathML *m;
        arena_reset(&work);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "reading formulas was interrupted");
        else
            code = equation_place_get(&place, ctx, mathml, i, &work, e);
        if (code || !equation_place_same(place, x->place[row]))
            continue;
        out[row] = (struct formula){"", ""};
        if (wanted[row] && !(code = op_get(&m, ctx, mathml, i, e)))
            out[row] = (struct formula){m->mathml, m->latex};
        row++;
    }
    arena_free(&work);
    if (!code && row < x->v.n)
        code = err_fail(e, ERR_INPUT, "'%s' has no MathML of equation %u of %s", mathml,
                        x->place[row]->number + 1, x->place[row]->paper);
    return err_up(e, code);
}

/* Maximum number of queries on the page; more are sampled at equal distances. */
enum { PAGE_QUERIES = 100 };

static size_t shown_query(const struct study *s, size_t i)
{
    return s->queries.n <= PAGE_QUERIES ? i : i * s->queries.n / PAGE_QUERIES;
}

static enum err_code describe(struct study_query *out, size_t n, const struct study *s,
                              struct err *e)
{
    const struct equation_vectors *corpus = &s->x.corpus, *queries = s->x.query_set;
    struct arena *a = op_arena(s->ctx);
    struct formula *found = arena_array(a, struct formula, corpus->v.n);
    struct formula *query_formulas =
        s->drawn ? found : arena_array(a, struct formula, queries->v.n);
    bool *all = arena_array(a, bool, queries->v.n), *wanted = arena_array(a, bool, corpus->v.n);
    enum err_code code;
    for (size_t i = 0; i < n; i++) {
        size_t q = shown_query(s, i);
        (s->drawn ? wanted : all)[s->queries.items[q].row] = true;
        for (size_t k = 0; k < s->outcomes[q].n_shown; k++)
            wanted[s->outcomes[q].shown[k].row] = true;
    }
    if ((code = err_up(e, load_formulas(found, wanted, corpus, s->ctx, "mathml", e))) ||
        (!s->drawn && (code = err_up(e, load_formulas(query_formulas, all, queries, s->ctx,
                                                      "query_mathml", e)))))
        return code;
    for (size_t i = 0; i < n; i++) {
        const struct keyword_query *q = &s->queries.items[shown_query(s, i)];
        const struct outcome *o = &s->outcomes[shown_query(s, i)];
        out[i] = (struct study_query){query_formulas[q->row],
                                      q->keywords,
                                      o->precision,
                                      o->chance,
                                      o->n_shown,
                                      arena_array(a, struct study_result, o->n_shown + 1)};
        for (size_t k = 0; k < o->n_shown; k++) {
            uint32_t row = o->shown[k].row;
            out[i].shown[k] = (struct study_result){found[row], corpus->place[row]->paper,
                                                    s->queries.title[corpus->section[row]],
                                                    (double)o->shown[k].similarity, o->relevant[k]};
        }
    }
    return OK;
}

/* ---- the report ---- */

/* Orders by decreasing precision at 100, as in the article's Table 4. */
static int by_precision(const void *x, const void *y)
{
    const struct study_query *a = x, *b = y;
    double p = a->precision.at[1], q = b->precision.at[1];
    return p != q ? (p < q) - (p > q) : strcmp(a->formula.latex, b->formula.latex);
}

static Eqloom__Table *table_of_queries(struct arena *a, const struct study_query *queries, size_t n)
{
    static char *columns[] = {"keywords", "query", "P@10", "P@100", "P@1000", "uMAP", "all"};
    Eqloom__Table *t = table_of(a, "Queries", columns, sizeof columns / sizeof *columns, n);
    t->note = "all: the share of all equations that are relevant; of many queries some are shown";
    for (size_t i = 0; i < n; i++) {
        const struct study_query *q = &queries[i];
        char **cells = table_row(a, t);
        *cells++ = (char *)q->keywords;
        *cells++ = (char *)q->formula.latex;
        for (int c = 0; c < PRECISION_CUTS; c++)
            *cells++ = arena_printf(a, "%.3f", q->precision.at[c]);
        *cells++ = arena_printf(a, "%.1f", q->precision.umap);
        *cells = arena_printf(a, "%.3f", q->chance);
    }
    return t;
}

static void add_precisions(struct figures *f, const struct study *s)
{
    static const char *const names[] = {"precision@10", "precision@100", "precision@1000"};
    struct arena *a = op_arena(s->ctx);
    size_t n = s->queries.n;
    double *values = arena_array(a, double, n + 1), error;
    uint32_t *sources = arena_array(a, uint32_t, n + 1);
    for (size_t i = 0; i < n; i++)
        sources[i] = s->queries.items[i].source;
    for (int c = 0; c < PRECISION_CUTS; c++) {
        for (size_t i = 0; i < n; i++)
            values[i] = s->outcomes[i].precision.at[c];
        figures_add(f, names[c], clustered_mean(&error, values, sources, n, a));
        if (c == 0)
            figures_add(f, "precision@10_error", error);
    }
    for (size_t i = 0; i < n; i++)
        values[i] = s->outcomes[i].gain;
    if (s->compares) {
        figures_add(f, "precision@10_gain", clustered_mean(&error, values, sources, n, a));
        figures_add(f, "precision@10_gain_error", error);
    }
}

static struct figures figures_of(const struct study *s)
{
    struct figures f = evaluation_figures(s->ctx, "search");
    size_t n = s->queries.n;
    double by = 1 / (double)(n ? n : 1), umap = 0, chance = 0, recall = 0;
    for (size_t i = 0; i < n; i++) {
        const struct outcome *o = &s->outcomes[i];
        umap += o->precision.umap * by;
        chance += o->chance * by;
        recall += o->recall * by;
    }
    add_precisions(&f, s);
    figures_add(&f, "umap", umap);
    figures_add(&f, "chance", chance);
    if (s->index)
        figures_add(&f, "recall", recall);
    figures_add(&f, "queries", (double)n);
    figures_add(&f, "equations", s->x.corpus.v.n);
    figures_add(&f, "dimensions", s->x.corpus.v.dim);
    return f;
}

static enum err_code study(struct study *s, struct err *e)
{
    struct arena *a = op_arena(s->ctx);
    enum err_code code = err_up(e, load(s, e));
    if (code)
        return code;
    if (s->x.corpus.v.n == 0)
        s->queries.n = 0;
    size_t n = s->queries.n, shown = n < PAGE_QUERIES ? n : PAGE_QUERIES;
    s->most_shown = (size_t)op_int(s->ctx, "shown");
    s->outcomes = arena_array(a, struct outcome, n + 1);
    struct study_query *queries = arena_array(a, struct study_query, shown + 1);
    for (size_t i = 0; i < n; i++) {
        s->outcomes[i].shown = arena_array(a, struct neighbour, s->most_shown);
        s->outcomes[i].relevant = arena_array(a, bool, s->most_shown);
    }
    op_progress(s->ctx, 2, 3, "searching");
    if ((code = err_up(e, evaluation_run(s->ctx, search, s, n, e))) ||
        (n && (code = err_up(e, describe(queries, shown, s, e)))))
        return code;
    struct figures f = figures_of(s);
    struct buf page = {0};
    qsort(queries, shown, sizeof *queries, by_precision);
    study_page_write(&page, a, f.table, queries, shown);
    code = err_up(e, evaluation_emit(s->ctx, &f, table_of_queries(a, queries, shown), e));
    if (!code)
        code = err_up(e, op_emit_file(s->ctx, "html", span_of(page.data, page.len),
                                      "text/html; charset=utf-8", e));
    buf_free(&page);
    return code;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct study s = {.ctx = ctx};
    enum err_code code = study(&s, e);
    hnsw_free(s.index);
    return code;
}

static const struct op_param params[] = {
    EVALUATION_LABEL,
    {"approximate_from", OP_INT, "1000000", NULL, 1, 1e9,
     "At this many equations and more, the search uses an approximate index (HNSW)."},
    {"shown", OP_INT, "10", NULL, 1, 100, "Number of results of each query on the page."},
    {"draw", OP_INT, "0", NULL, 0, 1e6,
     "Number of equations drawn from the corpus as queries, instead of given ones: one from each "
     "folder of papers in turn, with the words of their section's title as keywords. Results from "
     "the same folder, or else paper, are left out. 0: none."},
    {"half", OP_INT, "0", NULL, 0, 1,
     "draw: the half of the equations to draw from, by a hash of their places: choose settings on "
     "one half and report on the other."},
    {"seed", OP_INT, "0", .doc = "draw: seed of the order within a folder."},
    {"least_relevant", OP_REAL, "0.002", NULL, 0, 1,
     "draw: minimum share of the equations that a keyword is relevant to."},
    {"most_relevant", OP_REAL, "0.1", NULL, 0, 1,
     "draw: maximum share of the equations that a keyword is relevant to."},
    {NULL},
};

const struct op op_evaluate_search = {
    .name = "evaluate-search",
    .version = 3,
    .node = OP_TASK,
    .numerics = true,
    .parallel = true,
    .doc =
        "Measures how useful a search by equations is. A result is relevant if the text of its "
        "section contains a keyword of the query, ignoring case; a keyword of more than ten "
        "characters may differ by one character changed, left out or inserted. precision@k: the "
        "relevant share of the k nearest; precision@10_error: its standard error over queries, "
        "where drawn queries are clustered by folder, as those of one folder are not independent; "
        "precision@10_gain: its difference to the baseline for the same queries, with the standard "
        "error of this difference. umap: the sum of these shares over the relevant ranks up to "
        "1,000. chance: the relevant share of all equations. With an approximate index, recall is "
        "the share of the 1,000 nearest that it finds.",
    .params = params,
    .inputs = OP_PORTS(
        {"graphs", KIND_GRAPH, OP_COLLECTION, false, "The equations that are searched."},
        {"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false, "One vector per equation."},
        {"mathml", KIND_MATHML, OP_COLLECTION, false, "The MathML of the graphs, for the page."},
        {"papers", KIND_PAPER, OP_COLLECTION, false,
         "The papers of the equations: the text of their sections."},
        {"queries", KIND_GRAPH, OP_COLLECTION, true, "Queries, with keywords in their places."},
        {"query_embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, true, "One vector per query."},
        {"query_mathml", KIND_MATHML, OP_COLLECTION, true,
         "The MathML of the queries, for the page."},
        {"baseline", KIND_EMBEDDING_BATCH, OP_COLLECTION, true,
         "Other vectors of the equations, for comparison."},
        {"query_baseline", KIND_EMBEDDING_BATCH, OP_COLLECTION, true,
         "Other vectors of given queries, for comparison."}),
    .outputs = OP_PORTS(
        {"report", KIND_REPORT, OP_ONE, false,
         "precision@10, precision@100, precision@1000 and umap by name; a table by query."},
        {"html", KIND_FILE, OP_ONE, false, "A page of queries and their results, as formulas."}),
    .run = run,
    .summarize = equation_place_summarize,
};
