/* Op embed-trees: computes the vectors of each token batch with a tree network. */
#include "ops/learn/infer/networks.h"
#include "ops/learn/tree/tree_embedder.h"

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    return err_up(e, networks_prepare(state, &tree_embedder_kind, ctx, e));
}

const struct op op_embed_trees = {
    .name = "embed-trees",
    .version = 1,
    EMBED_OP,
    .doc = "Computes the vectors of each token batch with a tree network.",
    .params = OP_PARAMS(LEARN_PRECISION_PARAM, LEARN_DEVICE_PARAM),
    .inputs = OP_PORTS(
        {"batches", KIND_TOKEN_BATCH, OP_COLLECTION, .doc = "Expressions to embed."},
        {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "The network, from `train-trees`."}),
    .outputs = OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION,
                         .doc = "One per token batch; vectors have length 1."}),
    .prepare = prepare,
};
