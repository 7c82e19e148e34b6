/* The op `evaluate-search`: queries with keywords and an embedded corpus of equations -> how many
 * of the nearest equations stand in sections with a keyword, and what they are. */
#include "ops/eval/evaluation.h"
#include "ops/latex/study/equation_place.h"
#include "ops/latex/study/equation_vectors.h"
#include "ops/latex/study/keywords.h"
#include "ops/latex/study/nearest.h"
#include "ops/latex/study/section_texts.h"
#include "ops/latex/study/study_page.h"

#include "base/buf.h"

#include <stdlib.h>

/* What is left of a query's search; its arena is gone. */
struct outcome {
    struct precision precision;
    double chance, recall;
    struct neighbour *shown; /* (n_shown of the op) */
    bool *relevant;          /* (the same) */
    size_t n_shown;
};

struct study {
    struct op_ctx *ctx;
    struct equation_vectors corpus, queries;
    struct section_texts texts;
    struct hnsw *index;
    struct outcome *outcomes; /* by query */
    size_t most_shown;
};

static bool cancelled(void *ctx)
{
    return op_cancelled(ctx);
}

/* ---- one query ---- */

static bool *relevant_sections(const struct study *s, const Eqloom__Place *query, struct arena *a)
{
    bool *out = arena_array(a, bool, s->corpus.n_sections + 1);
    for (size_t k = 0; k < query->n_keywords; k++) {
        const char *keyword = keywords_fold(a, query->keywords[k]);
        for (uint32_t i = 0; i < s->corpus.n_sections; i++)
            out[i] |= keyword_in(s->texts.text[i], keyword);
    }
    return out;
}

static enum err_code search(void *arg, size_t item, struct arena *a, struct err *e)
{
    struct study *s = arg;
    struct outcome *out = &s->outcomes[item];
    const struct vectors *v = &s->corpus.v;
    const float *query = vectors_at(&s->queries.v, item);
    struct neighbour *found = arena_array(a, struct neighbour, PRECISION_DEPTH);
    bool *sections = relevant_sections(s, s->queries.place[item], a);
    bool relevant[PRECISION_DEPTH];
    size_t n = nearest_find(found, PRECISION_DEPTH, v, s->index, query, a);
    double all = 0;
    if (s->index) {
        struct neighbour *exact = arena_array(a, struct neighbour, PRECISION_DEPTH);
        size_t m = nearest_find(exact, PRECISION_DEPTH, v, NULL, query, a);
        out->recall = (double)nearest_shared(exact, m, found, n, a) / (double)m;
    }
    for (uint32_t i = 0; i < v->n; i++)
        all += sections[s->corpus.section[i]];
    for (size_t i = 0; i < n; i++)
        relevant[i] = sections[s->corpus.section[found[i].row]];
    out->chance = all / v->n;
    out->precision = precision_of(relevant, n);
    out->n_shown = n < s->most_shown ? n : s->most_shown;
    memcpy(out->shown, found, out->n_shown * sizeof *found);
    memcpy(out->relevant, relevant, out->n_shown * sizeof *relevant);
    return OK;
}

/* ---- loading ---- */

static enum err_code check_keywords(const struct study *s, struct err *e)
{
    for (uint32_t i = 0; i < s->queries.v.n; i++) {
        const Eqloom__Place *q = s->queries.place[i];
        if (q->n_keywords == 0) {
            enum err_code code =
                err_fail(e, ERR_INPUT, "query %u of '%s' has no keywords", q->number + 1, q->paper);
            err_hint(e, "a line is {\"latex\": ..., \"keywords\": [...]}");
            return code;
        }
        for (size_t k = 0; k < q->n_keywords; k++) {
            size_t n = keyword_characters(keywords_fold(op_arena(s->ctx), q->keywords[k]));
            if (n == 0 || n > KEYWORD_MAX)
                return err_fail(e, ERR_INPUT, "'%.80s' has %zu characters; keywords have 1 to %d",
                                q->keywords[k], n, KEYWORD_MAX);
        }
    }
    return OK;
}

static enum err_code load(struct study *s, struct err *e)
{
    struct op_ctx *ctx = s->ctx;
    enum err_code code;
    op_progress(ctx, 0, 3, "reading");
    if ((code = err_up(e, equation_vectors_load(&s->corpus, ctx, "graphs", "embeddings", e))) ||
        (code = err_up(
             e, equation_vectors_load(&s->queries, ctx, "queries", "query_embeddings", e))) ||
        (code = check_keywords(s, e)))
        return code;
    const struct vectors *v = &s->corpus.v, *q = &s->queries.v;
    if (v->n == 0 || q->n == 0)
        return OK;
    if (v->dim != q->dim)
        return err_fail(e, ERR_INPUT, "queries have %u dimensions, equations %u", q->dim, v->dim);
    if ((code = section_texts_load(&s->texts, ctx, "papers", &s->corpus, e)))
        return err_up(e, code);
    if (v->n < (uint64_t)op_int(ctx, "approximate_from"))
        return OK;
    op_progress(ctx, 1, 3, "indexing");
    s->index = hnsw_new(v->x, v->n, v->stride, vector_dot, cancelled, ctx);
    if (op_cancelled(ctx))
        return err_fail(e, ERR_CANCELLED, "indexing was interrupted");
    return s->index ? OK : err_fail(e, ERR_NOMEM, "no memory for an index of %u vectors", v->n);
}

/* ---- formulas ---- */

/* Of some rows of an input of graphs: their records of MathML. Both inputs have one order; some
 * MathML has no graph. wanted[i]: row i is. */
static enum err_code load_formulas(struct formula *out, const bool *wanted,
                                   const struct equation_vectors *x, struct op_ctx *ctx,
                                   const char *mathml, struct err *e)
{
    struct arena work = {0};
    enum err_code code = OK;
    uint32_t row = 0;
    for (uint64_t i = 0, n = op_count(ctx, mathml); i < n && row < x->v.n && !code; i++) {
        const Eqloom__Place *place;
        ProtobufCMessage *m;
        arena_reset(&work);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "reading formulas was interrupted");
        else
            code = equation_place_get(&place, ctx, mathml, i, &work, e);
        if (code || !equation_place_same(place, x->place[row]))
            continue;
        out[row] = (struct formula){"", ""};
        if (wanted[row] && !(code = op_get(&m, ctx, mathml, i, e)))
            out[row] = (struct formula){((const Eqloom__MathML *)m)->mathml,
                                        ((const Eqloom__MathML *)m)->latex};
        row++;
    }
    arena_free(&work);
    if (!code && row < x->v.n)
        code = err_fail(e, ERR_INPUT, "'%s' has no MathML of equation %u of %s", mathml,
                        x->place[row]->number + 1, x->place[row]->paper);
    return err_up(e, code);
}

static const char *join(struct arena *a, const Eqloom__Place *q)
{
    char *text = q->keywords[0];
    for (size_t i = 1; i < q->n_keywords; i++)
        text = arena_printf(a, "%s, %s", text, q->keywords[i]);
    return text;
}

static enum err_code describe(struct study_query *out, const struct study *s, struct err *e)
{
    struct arena *a = op_arena(s->ctx);
    uint32_t n = s->queries.v.n;
    struct formula *asked = arena_array(a, struct formula, n);
    struct formula *found = arena_array(a, struct formula, s->corpus.v.n);
    bool *all = arena_array(a, bool, n), *wanted = arena_array(a, bool, s->corpus.v.n);
    enum err_code code;
    for (uint32_t i = 0; i < n; i++) {
        all[i] = true;
        for (size_t k = 0; k < s->outcomes[i].n_shown; k++)
            wanted[s->outcomes[i].shown[k].row] = true;
    }
    if ((code = err_up(e, load_formulas(asked, all, &s->queries, s->ctx, "query_mathml", e))) ||
        (code = err_up(e, load_formulas(found, wanted, &s->corpus, s->ctx, "mathml", e))))
        return code;
    for (uint32_t i = 0; i < n; i++) {
        const struct outcome *o = &s->outcomes[i];
        out[i] =
            (struct study_query){asked[i],     join(a, s->queries.place[i]),
                                 o->precision, o->chance,
                                 o->n_shown,   arena_array(a, struct study_result, o->n_shown + 1)};
        for (size_t k = 0; k < o->n_shown; k++) {
            uint32_t row = o->shown[k].row;
            out[i].shown[k] = (struct study_result){found[row], s->corpus.place[row]->paper,
                                                    s->texts.title[s->corpus.section[row]],
                                                    (double)o->shown[k].similarity, o->relevant[k]};
        }
    }
    return OK;
}

/* ---- the report ---- */

/* The most precise at 100 first, as in the paper's Table 4. */
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
    t->note = "all: the share of all equations that are relevant";
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

static struct figures figures_of(const struct study *s)
{
    static const char *const names[] = {"precision@10", "precision@100", "precision@1000"};
    struct figures f = evaluation_figures(s->ctx, "search");
    size_t n = s->queries.v.n;
    double by = 1 / (double)(n ? n : 1), at[PRECISION_CUTS] = {0}, umap = 0, chance = 0, recall = 0;
    for (size_t i = 0; i < n && s->corpus.v.n; i++) {
        const struct outcome *o = &s->outcomes[i];
        for (int c = 0; c < PRECISION_CUTS; c++)
            at[c] += o->precision.at[c] * by;
        umap += o->precision.umap * by;
        chance += o->chance * by;
        recall += o->recall * by;
    }
    for (int c = 0; c < PRECISION_CUTS; c++)
        figures_add(&f, names[c], at[c]);
    figures_add(&f, "umap", umap);
    figures_add(&f, "chance", chance);
    if (s->index)
        figures_add(&f, "recall", recall);
    figures_add(&f, "queries", (double)n);
    figures_add(&f, "equations", s->corpus.v.n);
    figures_add(&f, "dimensions", s->corpus.v.dim);
    return f;
}

static enum err_code study(struct study *s, struct err *e)
{
    struct arena *a = op_arena(s->ctx);
    enum err_code code = err_up(e, load(s, e));
    size_t n = s->corpus.v.n ? s->queries.v.n : 0;
    if (code)
        return code;
    s->most_shown = (size_t)op_int(s->ctx, "shown");
    s->outcomes = arena_array(a, struct outcome, n + 1);
    struct study_query *queries = arena_array(a, struct study_query, n + 1);
    for (size_t i = 0; i < n; i++) {
        s->outcomes[i].shown = arena_array(a, struct neighbour, s->most_shown);
        s->outcomes[i].relevant = arena_array(a, bool, s->most_shown);
    }
    op_progress(s->ctx, 2, 3, "searching");
    if ((code = err_up(e, evaluation_run(s->ctx, search, s, n, e))) ||
        (n && (code = err_up(e, describe(queries, s, e)))))
        return code;
    struct figures f = figures_of(s);
    struct buf page = {0};
    qsort(queries, n, sizeof *queries, by_precision);
    study_page_write(&page, a, f.table, queries, n);
    code = err_up(e, evaluation_emit(s->ctx, &f, table_of_queries(a, queries, n), e));
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
     "From so many equations on they are searched by an approximate index (HNSW)."},
    {"shown", OP_INT, "10", NULL, 1, 100, "How many results of each query the page shows."},
    {NULL},
};
static const struct op_port inputs[] = {
    {"graphs", KIND_GRAPH, OP_COLLECTION, false, "The equations that are searched."},
    {"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false, "One vector for each of them."},
    {"mathml", KIND_MATHML, OP_COLLECTION, false, "What the graphs were made of, to be shown."},
    {"papers", KIND_PAPER, OP_COLLECTION, false, "Where they stand: the text of the sections."},
    {"queries", KIND_GRAPH, OP_COLLECTION, false, "Queries, with keywords in their places."},
    {"query_embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false, "One vector for each."},
    {"query_mathml", KIND_MATHML, OP_COLLECTION, false, "To be shown."},
    {NULL},
};
static const struct op_port outputs[] = {
    {"report", KIND_REPORT, OP_ONE, false,
     "precision@10, precision@100, precision@1000, umap by name; a table by query."},
    {"html", KIND_FILE, OP_ONE, false, "A page of queries and what was found, as formulas."},
    {NULL},
};

const struct op op_evaluate_search = {
    .name = "evaluate-search",
    .version = 2,
    .node = OP_TASK,
    .parallel = true,
    .doc =
        "How useful a search by equations is. An equation that is found is relevant if a keyword "
        "of "
        "the query stands in the text of its section, in upper or lower case; a keyword of more "
        "than "
        "ten characters also with one character changed, left out or put in. precision@k: the "
        "relevant share of the k nearest; umap: the sum of these shares over the ranks up to 1,000 "
        "that are relevant. chance: the relevant share of all equations. With an approximate "
        "index, "
        "recall is the share of the 1,000 nearest that it finds.",
    .params = params,
    .inputs = inputs,
    .outputs = outputs,
    .run = run,
    .summarize = equation_place_summarize,
};
