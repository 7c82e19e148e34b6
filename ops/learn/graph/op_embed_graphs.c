/* Op embed-graphs: computes the vectors of equations with a graph network. */
#include "ops/learn/graph/graph_embedder.h"
#include "ops/learn/infer/networks.h"

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    return err_up(e, networks_prepare(state, &graph_embedder_kind, ctx, e));
}

const struct op op_embed_graphs = {
    .name = "embed-graphs",
    .version = 2,
    EMBED_OP,
    .doc = "Computes the vectors of equations with the graph network of a checkpoint.",
    .params = OP_PARAMS(LEARN_PRECISION_PARAM, LEARN_DEVICE_PARAM),
    .inputs = OP_PORTS({"graphs", KIND_GRAPH, OP_COLLECTION, .doc = "Equations to embed."},
                       {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "The network."}),
    .outputs = OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION,
                         .doc = "One vector per graph; most are shorter than 1."}),
    .prepare = prepare,
};
