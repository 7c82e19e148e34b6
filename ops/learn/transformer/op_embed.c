/* Op embed: computes the vectors of each token batch with a trained model. */
#include "ops/learn/infer/networks.h"
#include "ops/learn/transformer/loaded.h"

static enum err_code embed(struct embedded *out, const void *network, const void *record,
                           struct digest vocabulary, struct op_ctx *ctx, struct err *e)
{
    const struct loaded *m = network;
    const Eqloom__TokenBatch *b = record;
    if (learn_vocabulary_differs(&b->vocabulary_id, vocabulary))
        return err_fail(e, ERR_INPUT, "the batch and the model have different vocabularies");
    if (b->n_offset == 0)
        return err_fail(e, ERR_CORRUPT, "token batch: offsets are missing");
    enum err_code code =
        embedded_new(out, op_arena(ctx), b->n_offset - 1, m->model->config.d_model, b, e);
    if (!code)
        code = embedder_run(out->values, m, b, op_bool(ctx, "normalize"), op_arena(ctx), e);
    return err_up(e, code);
}

static const struct trained_kind kind = {sizeof(struct loaded), loaded_load, "batches", embed};

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    return err_up(e, networks_prepare(state, &kind, ctx, e));
}

const struct op op_embed = {
    .name = "embed",
    .version = 13,
    EMBED_OP,
    .doc = "Computes the vectors of each token batch with the model of a checkpoint.",
    .params = OP_PARAMS({"normalize", OP_BOOL, "true", .doc = "Scale vectors to length 1."},
                        LEARN_PRECISION_PARAM, LEARN_DEVICE_PARAM),
    .inputs = OP_PORTS({"batches", KIND_TOKEN_BATCH, OP_COLLECTION, .doc = "Sequences to embed."},
                       {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "The model."}),
    .outputs = OP_PORTS(
        {"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, .doc = "One per token batch."}),
    .prepare = prepare,
};
