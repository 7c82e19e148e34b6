/* The op `near-misses`: draws hard negatives for the members of clusters. */
#include "engine/op.h"
#include "ops/corpus/question_draw.h"
#include "ops/expr/ball/ball.h"

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const Eqloom__Cluster *cluster;
    Eqloom__Exercise drawn;
    struct question_options options = {
        .most = (uint32_t)op_int(ctx, "members"),
        .near_misses = (uint32_t)op_int(ctx, "each"),
        .points = (uint32_t)op_int(ctx, "points"),
    };
    struct rng rng = op_rng(ctx);
    enum err_code code = err_up(e, op_get(&cluster, ctx, "clusters", 0, e));
    if (!code)
        code = err_up(e, near_misses_draw(&drawn, op_arena(ctx), cluster, &options, &rng, e));
    if (!code && drawn.n_terms)
        code = err_up(e, op_emit(NULL, ctx, "exercises", &drawn.base, e));
    ball_thread_cleanup();
    return code;
}

const struct op op_near_misses = {
    .name = "near-misses",
    .version = 1,
    .node = OP_MAP,
    .doc = "Draws hard negatives for `train`: members with one operator, number or argument "
           "changed, or with the operands of - / pow exchanged; equality is refuted as in "
           "`questions`. `tokenize-exercises` turns them into the input `near_misses` of `train`.",
    .params = OP_PARAMS(
        {"members", OP_INT, "20", NULL, 1, 1e6,
         "The maximum number of members of a cluster that get near misses."},
        {"each", OP_INT, "2", NULL, 1, 1000, "The maximum number of near misses of a member."},
        {"points", OP_INT, "8", NULL, 1, 1000,
         "The number of points at which values are compared."},
        {"seed", OP_INT, "0", NULL, 0, 0, "Seed of the draw."}),
    .inputs = OP_PORTS({"clusters", KIND_CLUSTER, OP_COLLECTION, false, "Training clusters."}),
    .outputs = OP_PORTS({"exercises", KIND_EXERCISE, OP_COLLECTION, false,
                         "One for each cluster: members, each followed by one of its near "
                         "misses."}),
    .run = run,
};
