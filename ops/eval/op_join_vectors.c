/* The op `join-vectors`: concatenates vectors, so that cosines are means of the parts' cosines. */
#include "embedding.pb-c.h"
#include "engine/op.h"

#include <math.h>

/* Copies vector i of b, scaled to `length`. */
static void add_part(float *to, const Eqloom__EmbeddingBatch *b, size_t i, double length)
{
    const float *x = (const float *)(const void *)b->values.data + i * b->dim;
    double squares = 0;
    for (uint32_t k = 0; k < b->dim; k++)
        squares += (double)x[k] * (double)x[k];
    for (uint32_t k = 0; k < b->dim; k++)
        to[k] = squares > 0 ? (float)((double)x[k] * length / sqrt(squares)) : 0;
}

static enum err_code join(struct op_ctx *ctx, uint64_t element, struct arena *a, struct err *e)
{
    Eqloom__EmbeddingBatch *first;
    const Eqloom__EmbeddingBatch *second;
    enum err_code code;
    if ((code = op_get_in(&first, ctx, "embeddings", element, a, e)) ||
        (code = op_get_in(&second, ctx, "beside", element, a, e)))
        return err_up(e, code);
    if (first->count != second->count)
        return err_fail(e, ERR_INPUT, "element %llu has %u first parts, but %u second parts",
                        (unsigned long long)element, first->count, second->count);
    if (first->values.len != (uint64_t)first->count * first->dim * sizeof(float) ||
        second->values.len != (uint64_t)second->count * second->dim * sizeof(float))
        return err_fail(e, ERR_CORRUPT, "element %llu: the size of its vectors is wrong",
                        (unsigned long long)element);
    size_t d = (size_t)first->dim + second->dim;
    float *values = arena_array(a, float, first->count *d + 1);
    for (size_t i = 0; i < first->count; i++) {
        add_part(values + i * d, first, i, 1);
        add_part(values + i * d + first->dim, second, i, op_real(ctx, "length"));
    }
    first->dim = (uint32_t)d;
    first->values = (ProtobufCBinaryData){first->count * d * sizeof *values, (uint8_t *)values};
    return err_up(e, op_emit(NULL, ctx, "embeddings", &first->base, e));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    uint64_t n = op_count(ctx, "embeddings");
    struct arena a = {0};
    enum err_code code = OK;
    if (n != op_count(ctx, "beside"))
        return err_fail(e, ERR_INPUT, "'embeddings' has %llu elements, but 'beside' has %llu",
                        (unsigned long long)n, (unsigned long long)op_count(ctx, "beside"));
    for (uint64_t i = 0; i < n && !code; i++) {
        arena_reset(&a);
        code = op_cancelled(ctx) ? err_fail(e, ERR_CANCELLED, "join-vectors was interrupted")
                                 : join(ctx, i, &a, e);
    }
    arena_free(&a);
    return err_up(e, code);
}

const struct op op_join_vectors = {
    .name = "join-vectors",
    .version = 1,
    .node = OP_TASK,
    .doc = "Concatenates two vectors of each item, the first scaled to length 1 and the second to "
           "`length`: cosines become means of the parts' cosines, weighted by the squares of the "
           "lengths.",
    .params = OP_PARAMS({"length", OP_REAL, "1", NULL, 0, 1000, "The length of second parts."}),
    .inputs = OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false, "First parts."},
                       {"beside", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
                        "Second parts, of the same items in the same order."}),
    .outputs = OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
                         "The concatenated vectors, otherwise like the first parts."}),
    .run = run,
};
