/* The op `report`: a page with evaluations, a picture, training curves and the corpus. */
#include "egraph.pb-c.h"
#include "engine/op.h"
#include "ops/eval/evaluation.h"
#include "ops/eval/report/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Loads the same maximum number of vectors from each cluster, to fit `points`. */
static enum err_code load_vectors(struct vectors *out, struct op_ctx *ctx, size_t n, struct err *e)
{
    struct arena *a = op_arena(ctx);
    uint32_t wanted = (uint32_t)op_int(ctx, "points");
    size_t clusters = n < wanted ? n : wanted;
    Eqloom__EmbeddingBatch **batches = arena_array(a, Eqloom__EmbeddingBatch *, clusters + 1);
    enum err_code code = err_up(e, evaluation_get(batches, clusters, ctx, "embeddings", e));
    if (!code)
        code = err_up(e, vectors_load(out, a, batches, clusters, wanted / (uint32_t)clusters, e));
    if (!code)
        vectors_normalize(out);
    return code;
}

static enum err_code load_corpus(struct corpus_stats *out, struct op_ctx *ctx, size_t n,
                                 struct err *e)
{
    struct arena scratch = {0};
    enum err_code code = OK;
    for (size_t i = 0; i < n && !code; i++) {
        const Eqloom__Cluster *m;
        arena_reset(&scratch);
        code = err_up(e, op_get_in(&m, ctx, "clusters", i, &scratch, e));
        if (!code)
            corpus_stats_add(out, op_arena(ctx), m, i, n);
    }
    arena_free(&scratch);
    return code;
}

/* ---- effects of each rule ---- */

struct rule_row {
    const char *name;
    uint64_t egraphs, matched, applied; /* e-graphs that the rule changed; its matches; matches that
                                           changed an e-graph */
};

static int compare_rows(const void *x, const void *y)
{
    const struct rule_row *a = x, *b = y;
    if (a->egraphs != b->egraphs)
        return a->egraphs > b->egraphs ? -1 : 1;
    if (a->applied != b->applied)
        return a->applied > b->applied ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* All rules that matched, sorted by the number of e-graphs that they changed. */
static Eqloom__Table *table_of_rules(struct arena *a, struct rule_row *rows, size_t n,
                                     uint64_t egraphs)
{
    enum { COLUMNS = 5 };
    static char *columns[COLUMNS] = {"rule", "e-graphs changed", "in per cent", "matches",
                                     "matches that changed an e-graph"};
    Eqloom__Table *out = table_of(a, "Rules", columns, COLUMNS, n);
    out->note =
        arena_printf(a, "of %" PRIu64 " e-graphs; rules that never matched are left out", egraphs);
    if (n)
        qsort(rows, n, sizeof *rows, compare_rows);
    for (const struct rule_row *r = rows; r < rows + n; r++) {
        char **cells = table_row(a, out);
        cells[0] = (char *)r->name;
        cells[1] = arena_printf(a, "%" PRIu64, r->egraphs);
        cells[2] = arena_printf(a, "%.1f", 100 * (double)r->egraphs / (double)egraphs);
        cells[3] = arena_printf(a, "%" PRIu64, r->matched);
        cells[4] = arena_printf(a, "%" PRIu64, r->applied);
    }
    return out;
}

static enum err_code load_rules(Eqloom__Table **out, struct op_ctx *ctx, struct err *e)
{
    struct arena *a = op_arena(ctx), scratch = {0};
    struct name_map places = {0};
    struct rule_row *rows = NULL;
    size_t n = 0, cap = 0;
    uint64_t egraphs = op_count(ctx, "egraphs");
    enum err_code code = OK;
    for (uint64_t i = 0; i < egraphs && !code; i++) {
        const Eqloom__EGraph *g;
        arena_reset(&scratch);
        if ((code = err_up(e, op_get_in(&g, ctx, "egraphs", i, &scratch, e))))
            break;
        for (size_t k = 0; k < g->n_rules; k++) {
            const Eqloom__RuleStats *did = g->rules[k];
            bool added;
            uint64_t place = *name_map_put(&places, did->rule, n, &added);
            if (added) {
                rows = arena_grow(a, rows, n, &cap, sizeof *rows);
                rows[n++].name = arena_strdup(a, did->rule);
            }
            rows[place].egraphs += did->applied > 0;
            rows[place].matched += did->matched;
            rows[place].applied += did->applied;
        }
    }
    if (!code)
        *out = table_of_rules(a, rows, n, egraphs);
    name_map_free(&places);
    arena_free(&scratch);
    return code;
}

/* "Held-out clusters", or the title of the kind. */
static char *results_title(struct arena *a, const struct results *r, const char *part)
{
    char *title = arena_strdup(a, r->kind->title ? r->kind->title : part);
    if (title[0] >= 'a' && title[0] <= 'z')
        title[0] -= 'a' - 'A';
    return title;
}

static enum err_code emit_tables(struct op_ctx *ctx, const struct page_input *in, struct err *e)
{
    struct arena *a = op_arena(ctx);
    Eqloom__Report report;
    size_t figures = FIGURES_MOST, tables = 2;
    for (size_t i = 0; i < in->n_results; i++) {
        figures += FIGURES_MOST * in->results[i].n;
        tables += 1 + in->results[i].n;
    }
    eqloom__report__init(&report);
    report.title = (char *)in->title;
    report.values = arena_array(a, Eqloom__Value *, figures);
    report.tables = arena_array(a, Eqloom__Table *, tables);
    for (size_t i = 0; i < in->n_results; i++) {
        const struct results *r = &in->results[i];
        report.tables[report.n_tables++] = results_table(a, r, results_title(a, r, in->part));
        results_values(report.values, &report.n_values, a, r);
        size_t n;
        Eqloom__Table **together = results_together(&n, a, r);
        for (size_t k = 0; k < n; k++)
            report.tables[report.n_tables++] = together[k];
    }
    if (in->corpus && in->corpus->clusters) {
        struct figures f = corpus_stats_figures(a, in->corpus);
        for (size_t i = 0; i < f.n; i++) {
            f.values[i]->name = arena_printf(a, "corpus.%s", f.values[i]->name);
            report.values[report.n_values++] = f.values[i];
        }
        report.tables[report.n_tables++] = f.table;
    }
    if (in->rules)
        report.tables[report.n_tables++] = in->rules;
    return err_up(e, op_emit(NULL, ctx, "report", &report.base, e));
}

static enum err_code load(struct page_input *in, struct vectors *vectors,
                          struct corpus_stats *corpus, struct op_ctx *ctx, struct err *e)
{
    size_t evaluations = op_count(ctx, "evaluations"), embeddings = op_count(ctx, "embeddings");
    size_t clusters = op_count(ctx, "clusters");
    Eqloom__Report **reports = arena_array(op_arena(ctx), Eqloom__Report *, evaluations + 1);
    enum err_code code = err_up(e, evaluation_get(reports, evaluations, ctx, "evaluations", e));
    if (!code)
        code = err_up(
            e, results_sort(&in->results, &in->n_results, op_arena(ctx), reports, evaluations, e));
    if (!code && op_count(ctx, "checkpoint"))
        code = err_up(e, op_get(&in->checkpoint, ctx, "checkpoint", 0, e));
    if (!code && embeddings) {
        code = err_up(e, load_vectors(vectors, ctx, embeddings, e));
        in->vectors = !code && vectors->n > 2 ? vectors : NULL;
    }
    if (!code && clusters) {
        code = err_up(e, load_corpus(corpus, ctx, clusters, e));
        in->corpus = corpus;
    }
    if (!code && op_count(ctx, "egraphs"))
        code = err_up(e, load_rules(&in->rules, ctx, e));
    return code;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct page_input in = {.title = op_string(ctx, "title"), .part = op_string(ctx, "part")};
    struct corpus_stats *corpus = arena_new(a, struct corpus_stats);
    struct vectors vectors;
    struct buf page = {0};
    enum err_code code;
    if ((code = err_up(e, load(&in, &vectors, corpus, ctx, e))))
        goto out;
    op_progress(ctx, 0, 1, "drawing");
    page_write(&page, a, &in, op_pool(ctx));
    code = err_up(e, emit_tables(ctx, &in, e));
    if (!code)
        code = err_up(e, op_emit_file(ctx, "html", span_of(page.data, page.len),
                                      "text/html; charset=utf-8", e));
out:
    buf_free(&page);
    corpus_stats_free(corpus);
    return code;
}

const struct op op_report = {
    .name = "report",
    .version = 14,
    .node = OP_TASK,
    .numerics = true, /* exp and log are from the C library */
    .parallel = true,
    .doc =
        "Makes tables of evaluations and a self-contained page: figures with explanations and "
        "examples, a picture of the embedded expressions by t-SNE, training curves, statistics and "
        "examples of the corpus, and the effects of each rule. Sections whose input is absent are "
        "left out.",
    .params = OP_PARAMS(
        {"title", OP_STRING, "Equivalent expressions", NULL, 0, 0, "The page's title."},
        {"part", OP_STRING, "evaluated clusters", NULL, 0, 0,
         "The part of the corpus that was evaluated, for headings: held-out clusters, ..."},
        {"points", OP_INT, "1000", NULL, 3, 5000, "The maximum number of points in the picture."}),
    .inputs = OP_PORTS(
        {"evaluations", KIND_REPORT, OP_LIST, true,
         "Reports of evaluations; reports of one op are the rows of one table."},
        {"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, true, "Vectors to draw."},
        {"checkpoint", KIND_CHECKPOINT, OP_ONE, true, "Model whose training curves are drawn."},
        {"clusters", KIND_CLUSTER, OP_COLLECTION, true, "The corpus."},
        {"egraphs", KIND_EGRAPH, OP_COLLECTION, true,
         "E-graphs, to count the effects of each "
         "rule."}),
    .outputs = OP_PORTS(
        {"report", KIND_REPORT, OP_ONE, false, "The summary table and all figures by name."},
        {"html", KIND_FILE, OP_ONE, false, "The page; it needs no other file and no network."}),
    .run = run,
};
