/* The op `evaluate-equations`: embedded equations with labels, papers, sections or citations -> how
 * often the nearer of two belongs to the same one, and confidence bounds. */
#include "ops/eval/evaluation.h"
#include "ops/eval/measure/retrieval.h"
#include "ops/latex/study/equation_place.h"
#include "ops/latex/study/equation_vectors.h"
#include "ops/latex/study/ranking/ranking_bound.h"

#include "base/map.h"

#include <stdlib.h>

/* ---- citations: the positives of an equation are those of the papers that its paper cites; those
 * of its own paper are left out; all others are negatives ---- */

struct citing {
    const struct equation_vectors *x;
    uint32_t (*pairs)[2], n_pairs; /* citing, cited: sorted and unique, no self-citations */
    uint32_t *first;               /* (papers + 1): index of each paper's first pair */
    struct groups members;         /* by paper: its equations */
};

static int compare_pairs(const void *x, const void *y)
{
    const uint32_t *a = x, *b = y;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* Sorts the pairs and removes duplicates. */
static void index_pairs(struct citing *c)
{
    uint32_t n = 0;
    if (c->n_pairs)
        qsort(c->pairs, c->n_pairs, sizeof *c->pairs, compare_pairs);
    for (uint32_t i = 0; i < c->n_pairs; i++)
        if (n == 0 || compare_pairs(c->pairs[i], c->pairs[n - 1]))
            memmove(c->pairs[n++], c->pairs[i], sizeof *c->pairs);
    c->n_pairs = n;
    for (uint32_t i = 0; i < n; i++)
        c->first[c->pairs[i][0] + 1]++;
    for (uint32_t p = 0; p < c->x->n_papers; p++)
        c->first[p + 1] += c->first[p];
}

/* Loads citations from paper records, ignoring papers without equations. The caller frees
 * `pairs`. */
static enum err_code citing_load(struct citing *c, struct op_ctx *ctx, const char *papers,
                                 const struct equation_vectors *x, struct err *e)
{
    struct arena *a = op_arena(ctx), work = {0};
    struct name_map names = {0};
    size_t cap = 0;
    enum err_code code = OK;
    *c = (struct citing){.x = x,
                         .first = arena_array(a, uint32_t, x->n_papers + 2),
                         .members = groups_of(a, x->paper, x->v.n, x->n_papers)};
    for (uint32_t i = 0; i < x->v.n; i++)
        name_map_put(&names, x->place[i]->paper, x->paper[i], NULL);
    for (uint64_t i = 0, n = op_count(ctx, papers); i < n && !code; i++) {
        const Eqloom__Paper *p = NULL;
        arena_reset(&work);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "reading citations was interrupted");
        else
            code = err_up(e, op_get_in(&p, ctx, papers, i, &work, e));
        const uint64_t *from = code ? NULL : name_map_get(&names, p->paper), *to;
        for (size_t k = 0; from && k < p->n_cites; k++) {
            if (!(to = name_map_get(&names, p->cites[k])) || *to == *from)
                continue;
            c->pairs = vec_grow(c->pairs, &cap, c->n_pairs + 1, sizeof *c->pairs);
            c->pairs[c->n_pairs][0] = (uint32_t)*from;
            c->pairs[c->n_pairs++][1] = (uint32_t)*to;
        }
    }
    arena_free(&work);
    name_map_free(&names);
    index_pairs(c);
    return code;
}

static void mark_paper(uint8_t *standing, const struct citing *c, uint32_t paper, uint8_t as)
{
    for (uint32_t i = c->members.first[paper]; i < c->members.first[paper + 1]; i++)
        standing[c->members.member[i]] = as;
}

/* Implements the function of a retrieval_relation. */
static void citing_mark(uint8_t *standing, const void *of, uint32_t query)
{
    const struct citing *c = of;
    uint32_t paper = c->x->paper[query];
    memset(standing, RETRIEVAL_NEGATIVE, c->x->v.n);
    mark_paper(standing, c, paper, RETRIEVAL_LEFT_OUT);
    for (uint32_t k = c->first[paper]; k < c->first[paper + 1]; k++)
        mark_paper(standing, c, c->pairs[k][1], RETRIEVAL_POSITIVE);
}

/* ---- figures ---- */

static bool cancelled(void *ctx)
{
    return op_cancelled(ctx);
}

static void bound(struct figures *f, struct op_ctx *ctx, const struct equation_vectors *x,
                  const struct citing *citing, double error)
{
    double delta = op_real(ctx, "confidence");
    uint32_t n = (uint32_t)op_int(ctx, "sample");
    struct ranking_blocks blocks = {&x->v, x->paper, x->n_papers,
                                    citing ? (const uint32_t(*)[2])citing->pairs : NULL,
                                    citing ? citing->first : NULL};
    struct ranking_bound all;
    ranking_bound_find(&all, op_arena(ctx), &blocks, delta);
    figures_add(f, "triples", all.triples);
    figures_add(f, "largest_paper", all.largest);
    if (all.triples == 0)
        return;
    figures_add(f, "ranking_bound", error + all.by_size);
    figures_add(f, "ranking_bound_triples", error + all.by_triples);
    figures_add(f, "delta", delta);
    if (n == 0)
        return;
    struct rng rng = op_rng_of(ctx, span_str("evaluate-equations"));
    struct ranking_sample sample;
    ranking_sample_draw(&sample, op_arena(ctx), &blocks, n, delta, &rng);
    figures_add(f, "sampled_error", sample.error);
    figures_add(f, "sampled_bound", sample.error + sample.bound);
    figures_add(f, "sampled_triples", n);
    figures_add(f, "colours", sample.colours);
}

static bool is_by(const struct op_ctx *ctx, const char *positives)
{
    return !strcmp(op_string(ctx, "positives"), positives);
}

/* Sets the classes or the citations; *answerable is the number of equations that may have a
 * positive. */
static enum err_code choose_positives(struct figures *f, struct citing *citing,
                                      struct equation_vectors *x, uint32_t *answerable,
                                      struct op_ctx *ctx, struct err *e)
{
    *answerable = x->v.n;
    if (is_by(ctx, "label")) {
        uint32_t labels = equation_vectors_by_label(x);
        *answerable -= x->v.n_clusters - labels;
        figures_add(f, "categories", labels);
        return OK;
    }
    figures_add(f, "papers", x->n_papers);
    x->v.cluster = is_by(ctx, "section") ? x->section : x->paper;
    x->v.n_clusters = is_by(ctx, "section") ? x->n_sections : x->n_papers;
    if (!is_by(ctx, "citation"))
        return OK;
    enum err_code code = err_up(e, citing_load(citing, ctx, "papers", x, e));
    figures_add(f, "citations", citing->n_pairs);
    return code;
}

static enum err_code measure(struct figures *f, struct op_ctx *ctx, struct equation_vectors *x,
                             struct err *e)
{
    struct citing citing = {0};
    struct retrieval_relation cites = {citing_mark, &citing};
    bool by_citation = is_by(ctx, "citation");
    struct retrieval_options how = {.relation = by_citation ? &cites : NULL};
    struct retrieval r;
    uint32_t answerable;
    enum err_code code = choose_positives(f, &citing, x, &answerable, ctx, e);
    if (!code)
        code = retrieval_measure(&r, op_arena(ctx), &x->v, &how, op_pool(ctx), cancelled, ctx, e);
    if (!code && op_cancelled(ctx))
        code = err_fail(e, ERR_CANCELLED, "cancelled");
    if (!code) {
        answerable = by_citation ? r.queries : answerable;
        if (r.queries && x->v.n_clusters > 1) /* otherwise there is nothing to rank */
            figures_add(f, "ranking_error", r.ranking_error);
        figures_add(f, "accuracy", r.precision[0] * r.queries / (answerable ? answerable : 1));
        if (!is_by(ctx, "label") && op_real(ctx, "confidence") > 0)
            bound(f, ctx, x, by_citation ? &citing : NULL, r.ranking_error);
    }
    free(citing.pairs);
    return err_up(e, code);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct equation_vectors x;
    struct figures f = evaluation_figures(ctx, "equations");
    enum err_code code = equation_vectors_load(&x, ctx, "graphs", "embeddings", "within", e);
    if (!code && is_by(ctx, "citation") && !op_count(ctx, "papers"))
        code = err_fail(e, ERR_INPUT, "'positives: citation' needs the input 'papers'");
    if (!code && x.v.n)
        code = measure(&f, ctx, &x, e);
    else if (!code) /* an empty input is not an error */
        figures_add(&f, is_by(ctx, "label") ? "categories" : "papers", 0);
    if (code)
        return err_up(e, code);
    figures_add(&f, "equations", x.v.n);
    figures_add(&f, "dimensions", x.v.dim);
    return err_up(e, evaluation_emit(ctx, &f, NULL, e));
}

const struct op op_evaluate_equations = {
    .name = "evaluate-equations",
    .version = 3,
    .node = OP_TASK,
    .numerics = true, /* uses libm's log */
    .parallel = true,
    .doc =
        "Measures how well vectors separate equations of different labels, papers or sections, or "
        "find those of cited papers. ranking_error: over all triples of an equation, one with the "
        "same label and one with another, the share in which the last is nearer by cosine "
        "(citation: one of a paper that its paper cites, and one of neither paper). accuracy: how "
        "often the nearest other equation has the same label. With `confidence`, the papers are a "
        "sample: ranking_bound is ranking_error + 3 sqrt(max n_i ln(1/delta) / (2 n)) for n "
        "equations, n_i of them in paper i, and holds for means over triples of any equations; "
        "ranking_bound_triples follows from Janson's inequality for triples of an equation, one of "
        "its paper and one of another, and holds for ranking_error whatever the sizes of papers. "
        "sampled_error is the error over `sample` triples, and sampled_bound its bound by a greedy "
        "colouring of those that share a paper (docs/papers.md).",
    .params = OP_PARAMS(
        EVALUATION_LABEL,
        {"positives", OP_ENUM, "label", "label|paper|section|citation", 0, 0,
         "What equations share that should be near each other."},
        {"confidence", OP_REAL, "0", NULL, 0, 0.5,
         "The probability delta that the true ranking error of papers exceeds its bounds; 0: no "
         "bounds."},
        {"sample", OP_INT, "0", NULL, 0, 1e7,
         "Number of triples drawn for sampled_error; 0: none."},
        {"seed", OP_INT, "0", NULL, 0, 0, "Seed of the sample."}),
    .inputs = OP_PORTS(
        {"graphs", KIND_GRAPH, OP_COLLECTION, false, "Equations with their places and labels."},
        {"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
         "One vector per equation, in the same order."},
        {"papers", KIND_PAPER, OP_COLLECTION, true,
         "For citation: the papers with their citations."},
        {"within", KIND_GRAPH, OP_COLLECTION, true,
         "Restricts the evaluation to the papers of these graphs."}),
    .outputs = OP_PORTS({"report", KIND_REPORT, OP_ONE, false,
                         "ranking_error, accuracy, ranking_bound, ... by name."}),
    .run = run,
    .summarize = equation_place_summarize,
};
