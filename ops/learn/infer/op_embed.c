/* Op embed: computes the vectors of each token batch with a trained model. */
#include "ops/learn/infer/loaded.h"
#include "ops/learn/infer/networks.h"

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    return err_up(e, networks_prepare(state, &loaded_kind, ctx, e));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct networks *s = state;
    const struct loaded *m = networks_turn(s);
    struct arena *a = op_arena(ctx);
    const Eqloom__TokenBatch *b;
    enum err_code code;
    if ((code = op_get(&b, ctx, "batches", 0, e)))
        return err_up(e, code);
    if (learn_vocabulary_differs(&b->vocabulary_id, s->vocabulary))
        return err_fail(e, ERR_INPUT, "the batch and the model have different vocabularies");
    if (b->n_offset == 0)
        return err_fail(e, ERR_CORRUPT, "token batch: offsets are missing");
    size_t n = b->n_offset - 1, dim = m->model->config.d_model;
    float *values = arena_try_alloc(a, n * dim, sizeof *values);
    if (!values)
        return err_fail(e, ERR_NOMEM, "no memory for %zu vectors", n);
    if ((code = embedder_run(values, m, b, op_bool(ctx, "normalize"), a, e)))
        return err_up(e, code);
    return err_up(e, learn_emit_vectors(ctx, values, n, dim, b, e));
}

const struct op op_embed = {
    .name = "embed",
    .version = 13,
    NETWORKS_OP,
    .doc = "Computes the vectors of each token batch with the model of a checkpoint.",
    .params = OP_PARAMS({"normalize", OP_BOOL, "true", .doc = "Scale vectors to length 1."},
                        LEARN_PRECISION_PARAM, LEARN_DEVICE_PARAM),
    .inputs = OP_PORTS({"batches", KIND_TOKEN_BATCH, OP_COLLECTION, .doc = "Sequences to embed."},
                       {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "The model."}),
    .outputs = OP_PORTS(
        {"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, .doc = "One per token batch."}),
    .prepare = prepare,
    .release = networks_release,
    .run = run,
};
