/* The op `tokenize`: clusters to token batches. */
#include "ops/corpus/tokens/encoder_input.h"
#include "ops/corpus/tokens/encoding.h"

static const struct op_param params[] = {
    {"max_members", OP_INT, "100", NULL, 1, 1e6,
     "How many of the first members of each cluster are used; the seed is the first."},
    {NULL},
};
static const struct op_port inputs[] = {
    {"clusters", KIND_CLUSTER, OP_COLLECTION, false, "Clusters of equal expressions."},
    {"vocabulary", KIND_VOCABULARY, OP_ONE, false, "Tokens and the encoding of numbers."},
    {NULL},
};
static const struct op_port outputs[] = {
    {"batches", KIND_TOKEN_BATCH, OP_COLLECTION, false, "One for each cluster."},
    {NULL},
};

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    ProtobufCMessage *cluster;
    Eqloom__TokenBatch batch;
    enum err_code code;
    if ((code = err_up(e, op_get(&cluster, ctx, "clusters", 0, e))) ||
        (code = err_up(e, token_batch_make(&batch, op_arena(ctx), state,
                                           (const Eqloom__Cluster *)cluster,
                                           (uint32_t)op_int(ctx, "max_members"), e))))
        return code;
    return err_up(e, op_encoder_emit(ctx, &batch, "clusters", e));
}

const struct op op_tokenize = {
    .name = "tokenize",
    .version = 2,
    .node = OP_MAP,
    .doc = "Packs the members of each cluster as token sequences, without padding, start or end.",
    .params = params,
    .inputs = inputs,
    .outputs = outputs,
    .prepare = op_encoder_prepare,
    .release = op_encoder_release,
    .run = run,
};
