/* The op `questions`: draws questions about clusters. */
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
    .doc = "Draws questions of E-Gen's semantic understanding test: for a query from a cluster, "
           "the answer is another member that is far from it as a tree and agrees with it at all "
           "points. The near misses have one operator or number of the query or of the answer "
           "changed, and are refuted: their values differ from the query's at two points, or their "
           "normal forms differ. Undecided candidates are not used. Clusters whose members are all "
           "similar yield fewer questions.",
    .params = OP_PARAMS(
        {"per_cluster", OP_INT, "20", NULL, 1, 1e6,
         "The maximum number of questions about a cluster."},
        {"near_misses", OP_INT, "6", NULL, 2, 1000,
         "The number of wrong answers of a question; half of them resemble the query, half the "
         "right answer."},
        {"distance", OP_INT, "4", NULL, 1, 1000,
         "The minimum edit distance of query and right answer as trees; a near miss has distance "
         "1."},
        {"points", OP_INT, "8", NULL, 1, 1000,
         "The number of points at which values are compared."},
        {"seed", OP_INT, "0", NULL, 0, 0, "Seed of the draw."}),
    .inputs = OP_PORTS({"clusters", KIND_CLUSTER, OP_COLLECTION, false, "Held-out clusters."}),
    .outputs = OP_PORTS({"exercises", KIND_EXERCISE, OP_COLLECTION, false,
                         "Each a query, the right answer and the wrong ones."}),
    .run = run,
};
