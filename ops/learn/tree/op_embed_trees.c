/* Op embed-trees: computes the vectors of each token batch with a tree network. */
#include "ops/learn/infer/networks.h"
#include "ops/learn/tree/tree_corpus.h"
#include "ops/learn/tree/tree_embedder.h"

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    return err_up(e, networks_prepare(state, &tree_embedder_kind, ctx, e));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct networks *s = state;
    const struct tree_embedder *network = networks_turn(s);
    const struct tree_model *m = tree_embedder_model(network);
    struct arena *a = op_arena(ctx);
    struct tree_corpus c = {0};
    const Eqloom__TokenBatch *b;
    enum err_code code = op_get(&b, ctx, "batches", 0, e);
    if (code)
        return err_up(e, code);
    if (learn_vocabulary_differs(&b->vocabulary_id, s->vocabulary))
        return err_fail(e, ERR_INPUT, "the batch and the network have different vocabularies");
    if (!(code = tree_corpus_add(&c, b, m, e))) {
        float *values = arena_array(a, float, c.trees *tree_width(m));
        struct tree_batch all;
        tree_batch_all(&all, a, &c);
        if (!(code = tree_embedder_run(values, network, &all.set, a, e)))
            code = learn_emit_vectors(ctx, values, c.trees, tree_width(m), b, e);
    }
    tree_corpus_free(&c);
    return err_up(e, code);
}

const struct op op_embed_trees = {
    .name = "embed-trees",
    .version = 1,
    NETWORKS_OP,
    .doc = "Computes the vectors of each token batch with a tree network.",
    .params = OP_PARAMS(LEARN_PRECISION_PARAM, LEARN_DEVICE_PARAM),
    .inputs =
        OP_PORTS({"batches", KIND_TOKEN_BATCH, OP_COLLECTION, .doc = "Expressions to embed."},
                 {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "The network, from `train-trees`."}),
    .outputs = OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION,
                         .doc = "One per token batch; vectors have length 1."}),
    .prepare = prepare,
    .release = networks_release,
    .run = run,
};
