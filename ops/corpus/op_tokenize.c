/* The op `tokenize`: converts clusters to token batches. */
#include "ops/corpus/split.h"
#include "ops/corpus/tokens/encoder_input.h"
#include "ops/corpus/tokens/encoding.h"

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    if (op_int(ctx, "min_members") > op_int(ctx, "max_members"))
        return err_fail(e, ERR_INPUT, "'min_members' (%d) is more than 'max_members' (%d)",
                        (int)op_int(ctx, "min_members"), (int)op_int(ctx, "max_members"));
    return OK;
}

static uint32_t members_of(const struct op_ctx *ctx, const Eqloom__Cluster *c)
{
    uint32_t least = (uint32_t)op_int(ctx, "min_members");
    uint32_t most = (uint32_t)op_int(ctx, "max_members");
    if (!least)
        return most;
    const char *seed = c->seed ? c->seed->prefix : "";
    return least + (uint32_t)(split_place(0, seed) * (most - least + 1));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const Eqloom__Cluster *cluster;
    Eqloom__TokenBatch batch;
    enum err_code code;
    if ((code = err_up(e, op_get(&cluster, ctx, "clusters", 0, e))) ||
        (code = err_up(e, token_batch_make(&batch, op_arena(ctx), state, cluster,
                                           members_of(ctx, cluster), e))))
        return code;
    return err_up(e, op_encoder_emit(ctx, &batch, "clusters", e));
}

const struct op op_tokenize = {
    .name = "tokenize",
    .version = 3,
    .node = OP_MAP,
    .doc = "Packs the members of each cluster as token sequences, without padding, start or end "
           "tokens.",
    .params = OP_PARAMS(
        {"max_members", OP_INT, "100", NULL, 1, 1e6,
         "The maximum number of members used from each cluster, from the first on, which is the "
         "seed."},
        {"min_members", OP_INT, "0", NULL, 0, 1e6,
         "If set, the maximum varies by cluster from this to max_members, by a hash of the seed: "
         "E-Gen's test clusters have 20 to 40."}),
    .inputs = OP_PORTS(
        {"clusters", KIND_CLUSTER, OP_COLLECTION, false, "Clusters of equal expressions."},
        {"vocabulary", KIND_VOCABULARY, OP_ONE, false, "Tokens and the encoding of numbers."}),
    .outputs =
        OP_PORTS({"batches", KIND_TOKEN_BATCH, OP_COLLECTION, false, "One for each cluster."}),
    .check = check,
    .prepare = op_encoder_prepare,
    .release = op_encoder_release,
    .run = run,
};
