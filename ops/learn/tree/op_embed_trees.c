/* Op embed-trees: the vectors of each token batch by a network on trees. */
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/tree/tree_corpus.h"
#include "ops/learn/tree/tree_embedder.h"

#include <stdlib.h>

struct shared {
    struct tree_embedder *model;
    struct digest vocabulary;
};

static void release(void *state)
{
    struct shared *s = state;
    if (s)
        tree_embedder_free(s->model);
    free(s);
}

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    const Eqloom__Checkpoint *c;
    struct chunk_io io = learn_chunks(ctx);
    struct shared *s = must_calloc(1, sizeof *s);
    enum err_code code = err_up(e, op_get(&c, ctx, "checkpoint", 0, e));
    if (code || (code = err_up(e, tree_embedder_new(&s->model, op_string(ctx, "device"),
                                                    learn_precision(ctx), c, &io, e)))) {
        release(s);
        return code;
    }
    s->vocabulary = learn_vocabulary(c);
    *state = s;
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const struct shared *s = state;
    const struct tree_model *m = tree_embedder_model(s->model);
    struct arena *a = op_arena(ctx);
    struct tree_corpus c = {0};
    const Eqloom__TokenBatch *b;
    enum err_code code = op_get(&b, ctx, "batches", 0, e);
    if (code)
        return err_up(e, code);
    if (learn_vocabulary_differs(&b->vocabulary_id, s->vocabulary))
        return err_fail(e, ERR_INPUT, "the batch has another vocabulary than the network");
    if (!(code = tree_corpus_add(&c, b, m, e))) {
        float *values = arena_array(a, float, c.trees *tree_width(m));
        struct tree_batch all;
        tree_batch_all(&all, a, &c);
        if (!(code = tree_embedder_run(values, s->model, &all.set, a, e)))
            code = learn_emit_vectors(ctx, values, c.trees, tree_width(m), b, e);
    }
    tree_corpus_free(&c);
    return err_up(e, code);
}

const struct op op_embed_trees = {
    .name = "embed-trees",
    .version = 1,
    .node = OP_MAP,
    .numerics = true,
    .doc = "Computes the vectors of each token batch with a network on trees.",
    .params = OP_PARAMS(LEARN_PRECISION_PARAM, LEARN_DEVICE_PARAM),
    .inputs =
        OP_PORTS({"batches", KIND_TOKEN_BATCH, OP_COLLECTION, .doc = "Expressions to embed."},
                 {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "The network, of `train-trees`."}),
    .outputs = OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION,
                         .doc = "One per token batch; vectors have length 1."}),
    .check = learn_check_device,
    .units = learn_units,
    .prepare = prepare,
    .release = release,
    .run = run,
};
