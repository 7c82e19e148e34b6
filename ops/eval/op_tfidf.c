/* The op `tfidf`: embeds token batches as tf-idf vectors of length 1: the count of each token times
 * ln((1 + N) / (1 + df)) + 1, where N and df count the sequences of the batches in `fit`. */
#include "engine/op.h"
#include "ops/eval/evaluation.h"
#include "token.pb-c.h"

#include <math.h>

struct batches {
    Eqloom__TokenBatch **all;
    size_t n;
};

/* Raises *dim to the largest token plus 1. */
static enum err_code get(struct batches *out, uint64_t *dim, struct op_ctx *ctx, const char *role,
                         struct err *e)
{
    out->n = op_count(ctx, role);
    out->all = arena_array(op_arena(ctx), Eqloom__TokenBatch *, out->n + 1);
    enum err_code code = err_up(e, evaluation_get(out->all, out->n, ctx, role, e));
    for (size_t i = 0; i < out->n && !code; i++) {
        const Eqloom__TokenBatch *b = out->all[i];
        if (b->n_offset == 0 || b->offset[0] != 0 || b->offset[b->n_offset - 1] != b->n_tokens)
            return err_fail(e, ERR_CORRUPT, "token batch: its offsets do not fit its tokens");
        for (size_t k = 0; k + 1 < b->n_offset; k++)
            if (b->offset[k] > b->offset[k + 1])
                return err_fail(e, ERR_CORRUPT, "token batch: sequence %zu has a negative length",
                                k);
        for (size_t k = 0; k < b->n_tokens; k++)
            *dim = b->tokens[k] < *dim ? *dim : b->tokens[k] + (uint64_t)1;
    }
    return code;
}

static double *fit(struct arena *a, const struct batches *x, size_t dim)
{
    uint64_t sequences = 0, *in = arena_array(a, uint64_t, dim);
    uint64_t *last = arena_array(a, uint64_t, dim);
    double *idf = arena_array(a, double, dim);
    for (size_t i = 0; i < x->n; i++) {
        const Eqloom__TokenBatch *b = x->all[i];
        for (size_t s = 0; s + 1 < b->n_offset; s++) {
            sequences++;
            for (uint32_t t = b->offset[s]; t < b->offset[s + 1]; t++)
                if (last[b->tokens[t]] != sequences) {
                    last[b->tokens[t]] = sequences;
                    in[b->tokens[t]]++;
                }
        }
    }
    for (size_t t = 0; t < dim; t++)
        idf[t] = log((1.0 + (double)sequences) / (1.0 + (double)in[t])) + 1;
    return idf;
}

/* Texts and source are borrowed. */
static Eqloom__EmbeddingBatch embed(struct arena *a, const double *idf, uint32_t dim,
                                    const Eqloom__TokenBatch *batch)
{
    uint32_t count = (uint32_t)(batch->n_offset - 1);
    float *values = arena_array(a, float, (size_t)count *dim + 1);
    double *row = arena_array(a, double, dim);
    for (uint32_t s = 0; s < count; s++) {
        double norm = 0;
        for (uint32_t t = 0; t < dim; t++)
            row[t] = 0;
        for (uint32_t t = batch->offset[s]; t < batch->offset[s + 1]; t++)
            row[batch->tokens[t]] += idf[batch->tokens[t]];
        for (uint32_t t = 0; t < dim; t++)
            norm += row[t] * row[t];
        for (uint32_t t = 0; t < dim && norm > 0; t++)
            values[(size_t)s * dim + t] = (float)(row[t] / sqrt(norm));
    }
    Eqloom__EmbeddingBatch out = EQLOOM__EMBEDDING_BATCH__INIT;
    out.dim = dim;
    out.count = count;
    out.values = (ProtobufCBinaryData){(size_t)count * dim * sizeof *values, (uint8_t *)values};
    out.text = batch->text;
    out.n_text = batch->n_text;
    out.source_id = batch->source_id;
    out.class_key = batch->class_key;
    out.language = batch->language;
    return out;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct batches x, of;
    uint64_t dim = 1;
    enum err_code code;
    if ((code = err_up(e, get(&x, &dim, ctx, "batches", e))) ||
        (code = err_up(e, get(&of, &dim, ctx, "fit", e))))
        return code;
    if (dim > 1u << 20)
        return err_fail(e, ERR_LIMIT, "%llu tokens are too many for tf-idf vectors",
                        (unsigned long long)dim);
    const double *idf = fit(op_arena(ctx), &of, dim);
    struct arena a = {0};
    for (size_t i = 0; i < x.n && !code; i++) {
        arena_reset(&a);
        Eqloom__EmbeddingBatch out = embed(&a, idf, (uint32_t)dim, x.all[i]);
        code = op_cancelled(ctx) ? err_fail(e, ERR_CANCELLED, "tf-idf was interrupted")
                                 : err_up(e, op_emit(NULL, ctx, "embeddings", &out.base, e));
    }
    arena_free(&a);
    return code;
}

const struct op op_tfidf = {
    .name = "tfidf",
    .version = 2,
    .node = OP_TASK,
    .numerics = true, /* log is from the C library */
    .doc = "Embeds sequences by counts of tokens, weighted by the rarity of each token in `fit`: "
           "the baseline that a model has to beat.",
    .inputs =
        OP_PORTS({"batches", KIND_TOKEN_BATCH, OP_COLLECTION, false, "Token batches to embed."},
                 {"fit", KIND_TOKEN_BATCH, OP_COLLECTION, false,
                  "Batches from which the inverse document frequencies are computed."}),
    .outputs =
        OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false, "One for each batch."}),
    .run = run,
};
