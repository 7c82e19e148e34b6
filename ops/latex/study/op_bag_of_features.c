/* The op `bag-of-features`: graphs -> vectors with the sums of their nodes' features. */
#include "embedding.pb-c.h"
#include "engine/op.h"
#include "graph.pb-c.h"
#include "ops/latex/graphs/graph_features.h"

static enum err_code add_node(float *counts, const Eqloom__Graph *g, size_t i, struct err *e)
{
    if (g->tag[i] >= FEATURE_TAGS || g->attribute[i] > FEATURE_ATTRIBUTES ||
        g->character[i] > FEATURE_CHARACTERS)
        return err_fail(e, ERR_CORRUPT, "node %zu of a graph has a feature beyond %d", i, FEATURES);
    counts[g->tag[i]]++;
    if (g->attribute[i])
        counts[FEATURE_TAGS - 1 + g->attribute[i]]++;
    if (g->character[i])
        counts[FEATURE_TAGS + FEATURE_ATTRIBUTES - 1 + g->character[i]]++;
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    float counts[FEATURES] = {0};
    const Eqloom__Graph *g;
    enum err_code code = op_get(&g, ctx, "graphs", 0, e);
    if (code)
        return err_up(e, code);
    if (g->n_attribute != g->n_tag || g->n_character != g->n_tag)
        return err_fail(e, ERR_CORRUPT, "the arrays of a graph differ in length");
    for (size_t i = 0; i < g->n_tag && !code; i++)
        code = add_node(counts, g, i, e);
    Eqloom__EmbeddingBatch out = EQLOOM__EMBEDDING_BATCH__INIT;
    out.dim = FEATURES;
    out.count = 1;
    out.values = (ProtobufCBinaryData){sizeof counts, (uint8_t *)counts};
    return code ? err_up(e, code) : err_up(e, op_emit(NULL, ctx, "embeddings", &out.base, e));
}

const struct op op_bag_of_features = {
    .name = "bag-of-features",
    .version = 1,
    .node = OP_MAP,
    .doc = "Embeds equations by how often each of the 256 features occurs in their graphs: the "
           "baseline for models.",
    .inputs = OP_PORTS({"graphs", KIND_GRAPH, OP_COLLECTION, false, "Graphs of equations."}),
    .outputs = OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
                         "A vector of 256 values per graph."}),
    .run = run,
};
