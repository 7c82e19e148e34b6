/* Op embed-graphs: the vectors of equations by a graph network. */
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/graph/graph_corpus.h"
#include "ops/learn/graph/graph_embedder.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* The network on each device that may be used; equations go to them in turns. */
struct shared {
    struct graph_embedder *models[GPU_CARDS];
    size_t n;
    atomic_size_t turn;
    struct digest alphabet; /* 0: the checkpoint does not say */
};

static void release(void *state)
{
    struct shared *s = state;
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        graph_embedder_free(s->models[i]);
    free(s);
}

static enum err_code open_all(struct shared *s, struct op_ctx *ctx, const Eqloom__Checkpoint *c,
                              struct err *e)
{
    int index[GPU_CARDS];
    size_t n;
    struct chunk_io io = learn_chunks(ctx);
    enum err_code code = gpu_find_all(index, &n, op_string(ctx, "device"), e);
    while (!code && s->n < n) {
        char name[16];
        snprintf(name, sizeof name, index[s->n] < 0 ? "cpu" : "cuda:%d", index[s->n]);
        if (!(code = graph_embedder_new(&s->models[s->n], name, learn_precision(ctx), c, &io, e)))
            s->n++;
    }
    return err_up(e, code);
}

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    const Eqloom__Checkpoint *c;
    struct shared *s = must_calloc(1, sizeof *s);
    enum err_code code = err_up(e, op_get(&c, ctx, "checkpoint", 0, e));
    if (!code)
        code = err_up(e, open_all(s, ctx, c, e));
    if (code) {
        release(s);
        return code;
    }
    s->alphabet = learn_vocabulary(c);
    *state = s;
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct shared *s = state;
    const struct graph_embedder *model = s->models[atomic_fetch_add(&s->turn, 1) % s->n];
    struct arena *a = op_arena(ctx);
    const Eqloom__Graph *g;
    enum err_code code = op_get(&g, ctx, "graphs", 0, e);
    if (code)
        return err_up(e, code);
    if (learn_vocabulary_differs(&g->vocabulary_id, s->alphabet))
        return err_fail(e, ERR_INPUT, "the graph has another alphabet than the model");
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
    .node = OP_MAP,
    .numerics = true,
    .doc = "Computes the vectors of equations with the graph network of a checkpoint.",
    .params = OP_PARAMS(LEARN_PRECISION_PARAM, LEARN_DEVICE_PARAM),
    .inputs = OP_PORTS({"graphs", KIND_GRAPH, OP_COLLECTION, .doc = "Equations to embed."},
                       {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "The network."}),
    .outputs = OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION,
                         .doc = "A vector for each graph; most are shorter than 1."}),
    .check = learn_check_device,
    .units = learn_units,
    .prepare = prepare,
    .release = release,
    .run = run,
};
