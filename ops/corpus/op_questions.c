/* The op `questions`: clusters -> questions about them. */
#include "engine/op.h"
#include "ops/corpus/question_draw.h"
#include "ops/expr/ball/ball.h"

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const Eqloom__Cluster *cluster;
    Eqloom__Exercise *drawn;
    size_t n;
    struct question_options options = {
        .most = (uint32_t)op_int(ctx, "per_cluster"),
        .near_misses = (uint32_t)op_int(ctx, "near_misses"),
        .distance = (uint32_t)op_int(ctx, "distance"),
        .points = (uint32_t)op_int(ctx, "points"),
    };
    struct rng rng = op_rng(ctx);
    enum err_code code = err_up(e, op_get(&cluster, ctx, "clusters", 0, e));
    if (!code)
        code = err_up(e, questions_draw(&drawn, &n, op_arena(ctx), cluster, &options, &rng, e));
    for (size_t i = 0; !code && i < n; i++)
        code = err_up(e, op_emit(NULL, ctx, "exercises", &drawn[i].base, e));
    ball_thread_cleanup();
    return code;
}

const struct op op_questions = {
    .name = "questions",
    .version = 2,
    .node = OP_MAP,
    .doc = "E-Gen's semantic understanding test: for a query of a cluster one other member, which "
           "is far from it as a tree and agrees with it at all points, and near misses, each with "
           "one operator or number of the query or of the answer altered, and refuted: two points "
           "were found where its value differs from the query's, or its normal form does. What is "
           "undecided is not used. Clusters whose members are all alike give fewer questions.",
    .params = OP_PARAMS(
        {"per_cluster", OP_INT, "20", NULL, 1, 1e6,
         "The maximum number of questions about a cluster."},
        {"near_misses", OP_INT, "6", NULL, 2, 1000,
         "Wrong answers of a question; half of them resemble the query, half the right answer."},
        {"distance", OP_INT, "4", NULL, 1, 1000,
         "The minimum edit distance of query and right answer as trees; a near miss has distance "
         "1."},
        {"points", OP_INT, "8", NULL, 1, 1000,
         "The number of points at which values are compared."},
        {"seed", OP_INT, "0", NULL, 0, 0, "Draws other questions."}),
    .inputs = OP_PORTS({"clusters", KIND_CLUSTER, OP_COLLECTION, false, "Held-out clusters."}),
    .outputs = OP_PORTS({"exercises", KIND_EXERCISE, OP_COLLECTION, false,
                         "Each a query, the right answer and the wrong ones."}),
    .run = run,
};
