/* The op `evaluate`: measures how well embeddings separate classes of equivalent expressions. */
#include "engine/op.h"
#include "ops/eval/evaluation.h"
#include "ops/eval/measure/assignment.h"
#include "ops/eval/measure/kmeans.h"
#include "ops/eval/measure/retrieval.h"
#include "ops/eval/measure/triples.h"

#include <string.h>

static const struct op_param params[] = {
    EVALUATION_LABEL,
    {"distance", OP_ENUM, "cosine", "cosine|euclidean", 0, 0,
     "Whether K-means clusters vectors scaled to length 1 or unscaled ones. Retrieval is by "
     "cosine."},
    {"restarts", OP_INT, "10", NULL, 1, 1000,
     "The number of starts of K-means; the one with the lowest cost is used."},
    {"max_iterations", OP_INT, "1000", NULL, 1, 100000,
     "The maximum number of Lloyd iterations of a start."},
    {"losses", OP_BOOL, "false", NULL, 0, 0,
     "Also compute the losses of The Search for Equations over all triples: triple_hinge and "
     "siamese_loss."},
    {"divisor", OP_ENUM, "others", "others|cluster|k", 0, 0,
     "The divisor of the hits among the first k: the most that are possible, min(k, members - 1); "
     "min(k, members), as in EqNet's and SemVec's score_k; or k, as in E-Gen."},
    {"seed", OP_INT, "0", NULL, 0, 0, "Seed for the initial centres."},
    {NULL},
};

static bool cancelled(void *ctx)
{
    return op_cancelled(ctx);
}

static enum retrieval_divisor divisor_of(const struct op_ctx *ctx)
{
    const char *name = op_string(ctx, "divisor");
    return strcmp(name, "k") == 0         ? RETRIEVAL_K
           : strcmp(name, "cluster") == 0 ? RETRIEVAL_CLUSTER
                                          : RETRIEVAL_OTHERS;
}

/* The embeddings without the pool, whose vectors follow them in `all`. */
static struct vectors first_of(const struct vectors *all, uint32_t n)
{
    struct vectors v = *all;
    v.n = n;
    v.n_clusters = 0;
    for (uint32_t i = 0; i < n; i++)
        v.n_clusters = v.cluster[i] < v.n_clusters ? v.n_clusters : v.cluster[i] + 1;
    return v;
}

static enum err_code measure_clusters(struct figures *f, struct kmeans *found, struct op_ctx *ctx,
                                      const struct vectors *v, struct err *e)
{
    struct clustering_accuracy accuracy;
    struct kmeans_options options = {
        .k = v->n_clusters,
        .restarts = (uint32_t)op_int(ctx, "restarts"),
        .max_iterations = (uint32_t)op_int(ctx, "max_iterations"),
        .seed = (uint64_t)op_int(ctx, "seed"),
        .cancelled = cancelled,
        .arg = ctx,
    };
    enum err_code code = err_up(e, kmeans(found, op_arena(ctx), v, &options, op_pool(ctx), e));
    if (code)
        return code;
    clustering_measure(&accuracy, op_arena(ctx), v, found->label);
    figures_add(f, "kmeans_accuracy", accuracy.best);
    figures_add(f, "kmeans_accuracy_greedy", accuracy.greedy);
    figures_add(f, "kmeans_cost", found->cost);
    return OK;
}

static enum err_code measure(struct figures *f, struct op_ctx *ctx, struct vectors *all,
                             uint32_t queries, struct err *e)
{
    static const char *const precision[RETRIEVAL_CUTS] = {
        "precision@1", "precision@5", "precision@10", "precision@15", "precision@20"};
    struct arena *a = op_arena(ctx);
    struct retrieval_options how = {.queries = queries, .divisor = divisor_of(ctx)};
    struct vectors v = first_of(all, queries);
    struct kmeans clusters;
    struct retrieval retrieval;
    struct triples triples = {0};
    bool losses = op_bool(ctx, "losses");
    if (strcmp(op_string(ctx, "distance"), "cosine") == 0)
        vectors_normalize(all);
    op_progress(ctx, 0, 2 + losses, "clustering");
    enum err_code code = err_up(e, measure_clusters(f, &clusters, ctx, &v, e));
    if (code)
        return code;
    op_progress(ctx, 1, 2 + losses, "retrieval");
    vectors_normalize(all);
    if ((code = retrieval_measure(&retrieval, a, all, &how, op_pool(ctx), cancelled, ctx, e)))
        return err_up(e, code);
    if (losses) {
        op_progress(ctx, 2, 3, "triples");
        triples_measure(&triples, a, &v, TRIPLES_ROOM, op_pool(ctx), cancelled, ctx);
    }
    if (op_cancelled(ctx))
        return err_fail(e, ERR_CANCELLED, "cancelled");
    for (int k = 0; k < RETRIEVAL_CUTS; k++)
        figures_add(f, precision[k], retrieval.precision[k]);
    figures_add(f, "mrr", retrieval.mrr);
    figures_add(f, "ranking_error", retrieval.ranking_error);
    if (losses) {
        figures_add(f, "triple_hinge", triples.hinge);
        figures_add(f, "siamese_loss", triples.siamese);
    }
    figures_add(f, "clusters", v.n_clusters);
    figures_add(f, "sequences", v.n);
    figures_add(f, "queries", retrieval.queries);
    if (all->n > queries)
        figures_add(f, "pool", all->n - queries);
    figures_add(f, "dimensions", v.dim);
    figures_add(f, "kmeans_iterations", clusters.iterations);
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    size_t n = op_count(ctx, "embeddings"), more = op_count(ctx, "pool");
    uint32_t queries = 0;
    Eqloom__EmbeddingBatch **batches = arena_array(a, Eqloom__EmbeddingBatch *, n + more + 1);
    const struct language *lang = NULL;
    struct vectors v;
    struct figures f = evaluation_figures(ctx, "evaluation");
    enum err_code code;
    if ((code = err_up(e, evaluation_get(batches, n, ctx, "embeddings", e))) ||
        (code = err_up(e, evaluation_get_texts(batches + n, &lang, more, ctx, "pool", e))) ||
        (code = err_up(e, vectors_load(&v, a, batches, n + more, 0, e))))
        return code;
    for (size_t i = 0; i < n; i++)
        queries += batches[i]->count;
    if (!queries)
        return err_fail(e, ERR_INPUT, "there are no vectors");
    vectors_drop_copies(&v, queries);
    if ((code = err_up(e, measure(&f, ctx, &v, queries, e))))
        return code;
    return err_up(e, evaluation_emit(ctx, &f, NULL, e));
}

const struct op op_evaluate = {
    .name = "evaluate",
    .version = 10,
    .node = OP_TASK,
    .parallel = true,
    .doc =
        "Measures how well vectors separate clusters. K-means accuracy: K-means with as many "
        "centres as clusters, as in scikit-learn's KMeans (greedy k-means++, Lloyd's iterations, "
        "tolerance 1e-6, the best of `restarts`), with labels assigned to clusters optimally and "
        "greedily. Retrieval by cosine, with each expression as a query against all others: "
        "precision@k is the number of the k nearest that are in the query's cluster, by default "
        "divided by the most that are possible; with `divisor: cluster` and a `pool` it is "
        "SemVec's score_k. mrr is the mean reciprocal rank of the first hit. ranking_error (The "
        "Search for Equations): of all triples of an expression, one of its cluster and one of "
        "another cluster, the share in which the last is nearer. Its two losses, with `losses`, "
        "are means over the same triples, not squared, with a margin of 1.",
    .params = params,
    .inputs =
        OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
                  "Vectors; those of the same source are equivalent."},
                 {"pool", KIND_EMBEDDING_BATCH, OP_COLLECTION, true,
                  "More vectors to search for neighbours, such as the whole data set (SemVec); "
                  "copies of `embeddings` in it are skipped. Expressions of one class in both "
                  "inputs are one cluster."}),
    .outputs = OP_PORTS(
        {"report", KIND_REPORT, OP_ONE, false, "kmeans_accuracy, precision@5, ... by name."}),
    .run = run,
};
