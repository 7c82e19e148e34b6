/* tf-idf; see tfidf_vectors.h. */
#include "ops/eval/measure/tfidf_vectors.h"

#include <math.h>

static enum err_code check_batch(const Eqloom__TokenBatch *b, uint32_t dim, struct err *e)
{
    if (b->n_offset == 0 || b->offset[0] != 0 || b->offset[b->n_offset - 1] != b->n_tokens)
        return err_fail(e, ERR_CORRUPT, "token batch: its offsets do not fit its tokens");
    for (size_t i = 0; i + 1 < b->n_offset; i++)
        if (b->offset[i] > b->offset[i + 1])
            return err_fail(e, ERR_CORRUPT, "token batch: sequence %zu has a negative length", i);
    for (size_t i = 0; i < b->n_tokens; i++)
        if (b->tokens[i] >= dim)
            return err_fail(e, ERR_INPUT, "token %u is outside the vocabulary of %u", b->tokens[i],
                            dim);
    return OK;
}

uint32_t tfidf_dim(Eqloom__TokenBatch *const *batches, size_t n)
{
    uint32_t dim = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < batches[i]->n_tokens; k++)
            if (batches[i]->tokens[k] >= dim && batches[i]->tokens[k] < UINT32_MAX)
                dim = batches[i]->tokens[k] + 1;
    return dim;
}

enum err_code tfidf_fit(struct tfidf *out, struct arena *a, Eqloom__TokenBatch *const *batches,
                        size_t n, uint32_t dim, struct err *e)
{
    if (dim > 1u << 20)
        return err_fail(e, ERR_LIMIT, "%u tokens are too many for tf-idf vectors", dim);
    uint64_t sequences = 0, *in = arena_array(a, uint64_t, dim);
    uint64_t *last = arena_array(a, uint64_t, dim);
    for (size_t i = 0; i < n; i++) {
        const Eqloom__TokenBatch *b = batches[i];
        enum err_code code = err_up(e, check_batch(b, dim, e));
        if (code)
            return code;
        for (size_t s = 0; s + 1 < b->n_offset; s++) {
            sequences++;
            for (uint32_t t = b->offset[s]; t < b->offset[s + 1]; t++)
                if (last[b->tokens[t]] != sequences) {
                    last[b->tokens[t]] = sequences;
                    in[b->tokens[t]]++;
                }
        }
    }
    out->dim = dim;
    out->idf = arena_array(a, double, dim);
    for (uint32_t t = 0; t < dim; t++)
        out->idf[t] = log((1.0 + (double)sequences) / (1.0 + (double)in[t])) + 1;
    return OK;
}

enum err_code tfidf_embed(Eqloom__EmbeddingBatch *out, struct arena *a, const struct tfidf *model,
                          const Eqloom__TokenBatch *batch, struct err *e)
{
    enum err_code code = err_up(e, check_batch(batch, model->dim, e));
    if (code)
        return code;
    eqloom__embedding_batch__init(out);
    out->dim = model->dim;
    out->count = (uint32_t)(batch->n_offset - 1);
    float *values = arena_array(a, float, (size_t)out->count * out->dim + 1);
    double *row = arena_array(a, double, model->dim);
    for (uint32_t s = 0; s < out->count; s++) {
        double norm = 0;
        for (uint32_t t = 0; t < model->dim; t++)
            row[t] = 0;
        for (uint32_t t = batch->offset[s]; t < batch->offset[s + 1]; t++)
            row[batch->tokens[t]] += model->idf[batch->tokens[t]];
        for (uint32_t t = 0; t < model->dim; t++)
            norm += row[t] * row[t];
        for (uint32_t t = 0; t < model->dim && norm > 0; t++)
            values[(size_t)s * model->dim + t] = (float)(row[t] / sqrt(norm));
    }
    out->values =
        (ProtobufCBinaryData){(size_t)out->count * out->dim * sizeof(float), (uint8_t *)values};
    out->text = batch->text;
    out->n_text = batch->n_text;
    out->source_id = batch->source_id;
    out->class_key = batch->class_key;
    out->language = batch->language;
    return OK;
}
