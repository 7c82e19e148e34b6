/* Op embed-graphs: computes the vectors of equations with a graph network. */
#include "ops/learn/graph/graph_corpus.h"
#include "ops/learn/graph/graph_embedder.h"
#include "ops/learn/infer/networks.h"

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    return err_up(e, networks_prepare(state, &graph_embedder_kind, ctx, e));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct networks *s = state;
    const struct graph_embedder *model = networks_turn(s);
    struct arena *a = op_arena(ctx);
    const Eqloom__Graph *g;
    enum err_code code = op_get(&g, ctx, "graphs", 0, e);
    if (code)
        return err_up(e, code);
    if (learn_vocabulary_differs(&g->vocabulary_id, s->vocabulary))
        return err_fail(e, ERR_INPUT, "the graph and the model have different alphabets");
    uint32_t first[] = {0, (uint32_t)g->n_parent}, size = graph_embedder_size(model);
    struct graph_vertex *vertices = arena_array(a, struct graph_vertex, g->n_parent + 1);
    float *values = arena_array(a, float, size);
    struct graph_set set = {vertices, first, 1};
    if ((code = graph_vertices_read(vertices, g, e)) ||
        (code = graph_embedder_run(values, model, &set, a, e)))
        return err_up(e, code);
    return err_up(e, learn_emit_vectors(ctx, values, 1, size, NULL, e));
}

const struct op op_embed_graphs = {
    .name = "embed-graphs",
    .version = 2,
    NETWORKS_OP,
    .doc = "Computes the vectors of equations with the graph network of a checkpoint.",
    .params = OP_PARAMS(LEARN_PRECISION_PARAM, LEARN_DEVICE_PARAM),
    .inputs = OP_PORTS({"graphs", KIND_GRAPH, OP_COLLECTION, .doc = "Equations to embed."},
                       {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "The network."}),
    .outputs = OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION,
                         .doc = "One vector per graph; most are shorter than 1."}),
    .prepare = prepare,
    .release = networks_release,
    .run = run,
};
