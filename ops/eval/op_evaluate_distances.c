/* The op `evaluate-distances`: compares two embeddings of the same expressions by the tree edit
 * distances from queries to their nearest neighbours. */
#include "engine/op.h"
#include "ops/eval/evaluation.h"
#include "ops/eval/measure/closeness.h"
#include "ops/expr/expr.h"

#include <string.h>

enum { SIDES = 2 };
static const char *const roles[SIDES] = {"embeddings", "other"};
static const char *const pools[SIDES] = {"pool", "other_pool"};

struct work {
    struct op_ctx *ctx;
    struct vectors v[SIDES], pool[SIDES];
    const struct language *lang;
    const uint32_t *query;
    size_t n;
    struct closeness (*found)[SIDES];
};

static enum err_code find_one(void *arg, size_t i, struct arena *a, struct err *e)
{
    struct work *w = arg;
    enum err_code code = OK;
    for (int s = 0; s < SIDES && !code; s++)
        code = err_up(
            e, closeness_find(&w->found[i][s], a, &w->v[s], &w->pool[s], w->lang, w->query[i], e));
    return code;
}

/* ---- reading ---- */

static enum err_code load(struct vectors *v, struct work *w, const char *role, struct err *e)
{
    struct op_ctx *ctx = w->ctx;
    size_t n = op_count(ctx, role);
    Eqloom__EmbeddingBatch **batches = arena_array(op_arena(ctx), Eqloom__EmbeddingBatch *, n + 1);
    enum err_code code = err_up(e, evaluation_get_texts(batches, &w->lang, n, ctx, role, e));
    if (!code)
        code = err_up(e, vectors_load(v, op_arena(ctx), batches, n, 0, e));
    if (!code)
        vectors_normalize(v);
    return code;
}

static enum err_code check_texts(const struct vectors v[SIDES], const char *const names[SIDES],
                                 struct err *e)
{
    if (v[0].n != v[1].n)
        return err_fail(e, ERR_INPUT, "'%s' has %u vectors, but '%s' has %u", names[0], v[0].n,
                        names[1], v[1].n);
    for (uint32_t i = 0; i < v[0].n; i++)
        if (strcmp(v[0].text[i], v[1].text[i]) != 0)
            return err_fail(e, ERR_INPUT, "vector %u embeds '%.60s' in '%s', but '%.60s' in '%s'",
                            i + 1, v[0].text[i], names[0], v[1].text[i], names[1]);
    return OK;
}

/* Each model has its own pool. */
static enum err_code load_pools(struct work *w, struct err *e)
{
    uint64_t given = op_count(w->ctx, pools[0]), other = op_count(w->ctx, pools[1]);
    enum err_code code = OK;
    if (!given != !other)
        return err_fail(e, ERR_INPUT, "'%s' and '%s' must be given together", pools[0], pools[1]);
    for (int s = 0; s < SIDES && !code; s++) {
        w->pool[s] = w->v[s];
        if (given)
            code = load(&w->pool[s], w, pools[s], e);
        if (!code && w->pool[s].dim != w->v[s].dim)
            code = err_fail(e, ERR_INPUT,
                            "'%s' has vectors of %u dimensions, but '%s' of "
                            "%u",
                            pools[s], w->pool[s].dim, roles[s], w->v[s].dim);
    }
    return err_up(e, code ? code : check_texts(w->pool, pools, e));
}

static void choose_queries(struct work *w)
{
    struct arena *a = op_arena(w->ctx);
    uint32_t *order = arena_array(a, uint32_t, w->v[0].n);
    /* Depends on the seed alone, so that comparisons with several other models use the same
     * queries. */
    struct rng rng = rng_new((uint64_t)op_int(w->ctx, "seed"), 0);
    for (uint32_t i = 0; i < w->v[0].n; i++)
        order[i] = i;
    rng_shuffle_u32(&rng, order, w->v[0].n);
    w->query = order;
    w->n = (size_t)op_int(w->ctx, "queries");
    w->n = w->n < w->v[0].n ? w->n : w->v[0].n;
}

/* ---- the report ---- */

static void compare(struct figures *f, const struct work *w, bool core)
{
    static const char *const names[] = {"closer", "other_closer", "as_close", "distance",
                                        "other_distance"};
    double closer = 0, other = 0, sum[SIDES] = {0};
    for (size_t i = 0; i < w->n; i++) {
        uint32_t d[SIDES];
        for (int s = 0; s < SIDES; s++) {
            d[s] = core ? w->found[i][s].core : w->found[i][s].raw;
            sum[s] += d[s];
        }
        closer += d[0] < d[1];
        other += d[1] < d[0];
    }
    double n = (double)w->n, values[] = {closer, other, n - closer - other, sum[0] / n, sum[1] / n};
    for (int i = 0; i < 5; i++)
        figures_add(f, arena_printf(f->a, "%s%s", core ? "core_" : "", names[i]), values[i]);
}

static char *infix(const struct work *w, const struct vectors *v, uint32_t row)
{
    return expr_infix_of(op_arena(w->ctx), w->lang, v->text[row]);
}

static Eqloom__Table *table_of_examples(const struct work *w, size_t n)
{
    enum { COLUMNS = 7 };
    static char *columns[COLUMNS] = {
        "query", "nearest",     "edits", "of the cores", "nearest by the other model",
        "edits", "of the cores"};
    struct arena *a = op_arena(w->ctx);
    Eqloom__Table *t = table_of(a, "Nearest neighbours", columns, COLUMNS, n * CLOSENESS_NEAR);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < w->found[i]->n; k++) {
            char **cell = table_row(a, t);
            *cell++ = k ? "" : infix(w, &w->v[0], w->query[i]);
            for (int s = 0; s < SIDES; s++) {
                const struct closeness *c = &w->found[i][s];
                *cell++ = infix(w, &w->pool[s], c->row[k]);
                *cell++ = k ? "" : arena_printf(a, "%u", c->raw);
                *cell++ = k ? "" : arena_printf(a, "%u", c->core);
            }
        }
    return t;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    size_t shown = (size_t)op_int(ctx, "examples");
    struct work w = {.ctx = ctx};
    struct figures f = evaluation_figures(ctx, "distances");
    enum err_code code = OK;
    for (int s = 0; s < SIDES && !code; s++)
        code = err_up(e, load(&w.v[s], &w, roles[s], e));
    if (code || (code = check_texts(w.v, roles, e)) || (code = load_pools(&w, e)))
        return err_up(e, code);
    choose_queries(&w);
    w.found = arena_alloc(a, w.n * sizeof *w.found);
    if ((code = err_up(e, evaluation_run(ctx, find_one, &w, w.n, e))))
        return code;
    compare(&f, &w, false);
    compare(&f, &w, true);
    figures_add(&f, "queries", (double)w.n);
    figures_add(&f, "pool", w.pool[0].n);
    return err_up(e, evaluation_emit(ctx, &f, table_of_examples(&w, shown < w.n ? shown : w.n), e));
}

const struct op op_evaluate_distances = {
    .name = "evaluate-distances",
    .version = 5,
    .node = OP_TASK,
    .parallel = true,
    .doc = "SemEmb's distance analysis: for each query, finds the nearest other expression by "
           "cosine in each of two models, and its tree edit distance from the query (Zhang and "
           "Shasha). closer, other_closer: the number of queries for which one model's nearest "
           "expression has the strictly lower edit distance; distance, other_distance: the mean "
           "edit distances. core_...: the same up to a*f(x) + b, after constant terms and factors "
           "at the roots are dropped.",
    .params =
        OP_PARAMS(EVALUATION_LABEL,
                  {"queries", OP_INT, "2000", NULL, 1, 1e8, "The maximum number of queries."},
                  {"examples", OP_INT, "50", NULL, 0, 1e6,
                   "The number of queries shown as examples, with the five nearest expressions of "
                   "each model."},
                  {"seed", OP_INT, "0", NULL, 0, 0, "Seed for the choice of queries."}),
    .inputs = OP_PORTS(
        {"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false, "Embeddings by one model."},
        {"other", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
         "Embeddings of the same expressions by another model."},
        {"pool", KIND_EMBEDDING_BATCH, OP_COLLECTION, true,
         "Vectors by the one model to search for the nearest; by default the embeddings "
         "themselves."},
        {"other_pool", KIND_EMBEDDING_BATCH, OP_COLLECTION, true,
         "The same vectors by the other "
         "model."}),
    .outputs = OP_PORTS(
        {"report", KIND_REPORT, OP_ONE, false, "closer, other_closer, core_closer, ... by name."}),
    .run = run,
};
