/* The op `tfidf`: token batches to tf-idf vectors, weights from other batches. */
#include "engine/op.h"
#include "ops/eval/evaluation.h"
#include "ops/eval/measure/tfidf_vectors.h"

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    size_t n = op_count(ctx, "batches"), n_fit = op_count(ctx, "fit");
    Eqloom__TokenBatch **batches = arena_array(op_arena(ctx), Eqloom__TokenBatch *, n + 1);
    Eqloom__TokenBatch **fit = arena_array(op_arena(ctx), Eqloom__TokenBatch *, n_fit + 1);
    struct tfidf model;
    enum err_code code;
    if ((code = err_up(e, evaluation_get(batches, n, ctx, "batches", e))) ||
        (code = err_up(e, evaluation_get(fit, n_fit, ctx, "fit", e))))
        return code;
    uint32_t dim = tfidf_dim(batches, n), fit_dim = tfidf_dim(fit, n_fit);
    if ((code = err_up(
             e, tfidf_fit(&model, op_arena(ctx), fit, n_fit, dim > fit_dim ? dim : fit_dim, e))))
        return code;
    struct arena a = {0};
    for (size_t i = 0; i < n && !code; i++) {
        Eqloom__EmbeddingBatch out;
        arena_reset(&a);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "tf-idf was interrupted");
        else if (!(code = err_up(e, tfidf_embed(&out, &a, &model, batches[i], e))))
            code = err_up(e, op_emit(NULL, ctx, "embeddings", &out.base, e));
    }
    arena_free(&a);
    return code;
}

const struct op op_tfidf = {
    .name = "tfidf",
    .version = 2,
    .node = OP_TASK,
    .numerics = true, /* exp and log are the library's */
    .doc = "Embeds sequences by counts of tokens, weighted by how rare each token is in `fit`: the "
           "baseline that a model has to beat.",
    .inputs =
        OP_PORTS({"batches", KIND_TOKEN_BATCH, OP_COLLECTION, false, "Token batches to embed."},
                 {"fit", KIND_TOKEN_BATCH, OP_COLLECTION, false,
                  "Batches that give the inverse document frequencies."}),
    .outputs =
        OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false, "One for each batch."}),
    .run = run,
};
