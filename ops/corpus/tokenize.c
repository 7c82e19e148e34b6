/* The op `tokenize`: clusters to token batches. */
#include "engine/op.h"
#include "ops/corpus/token_batch.h"

#include <stdlib.h>

static const struct op_param params[] = {
    {"max_members", OP_INT, "100", NULL, 1, 1e6,
     "The first members of each cluster; the seed leads."},
    {NULL},
};
static const struct op_port inputs[] = {
    {"clusters", KIND_CLUSTER, OP_COLLECTION, false, "Clusters of equal expressions."},
    {"vocabulary", KIND_VOCABULARY, OP_ONE, false, "Tokens and the encoding of numbers."},
    {NULL},
};
static const struct op_port outputs[] = {
    {"batches", KIND_TOKEN_BATCH, OP_COLLECTION, false, "One for each cluster."},
    {NULL},
};

/* The encoder's vocabulary is kept in an arena of its own: the state outlives the ctx of prepare.
 */
struct state {
    struct arena arena;
    struct encoder encoder;
};

static void release(void *state)
{
    struct state *s = state;
    encoder_free(&s->encoder);
    arena_free(&s->arena);
    free(s);
}

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    struct state *s = calloc(1, sizeof *s);
    ProtobufCMessage *vocabulary;
    if (!s)
        return err_fail(e, ERR_NOMEM, "no memory for a vocabulary");
    enum err_code code = err_up(e, op_get_in(&vocabulary, ctx, "vocabulary", 0, &s->arena, e));
    if (code) {
        release(s);
        return code;
    }
    encoder_init(&s->encoder, (const Eqloom__Vocabulary *)vocabulary);
    *state = s;
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const struct state *s = state;
    ProtobufCMessage *cluster;
    Eqloom__TokenBatch batch;
    enum err_code code;
    if ((code = err_up(e, op_get(&cluster, ctx, "clusters", 0, e))) ||
        (code = err_up(e, token_batch_make(&batch, op_arena(ctx), &s->encoder,
                                           (const Eqloom__Cluster *)cluster,
                                           (uint32_t)op_int(ctx, "max_members"), e))))
        return code;
    struct digest source = op_input_id(ctx, "clusters", 0);
    struct digest vocabulary = op_input_id(ctx, "vocabulary", 0);
    batch.source_id = (ProtobufCBinaryData){sizeof source.bytes, source.bytes};
    batch.vocabulary_id = (ProtobufCBinaryData){sizeof vocabulary.bytes, vocabulary.bytes};
    return err_up(e, op_emit(NULL, ctx, "batches", &batch.base, e));
}

const struct op op_tokenize = {
    .name = "tokenize",
    .version = 1,
    .node = OP_MAP,
    .doc = "Packs the members of each cluster as token sequences, without padding, start or end.",
    .params = params,
    .inputs = inputs,
    .outputs = outputs,
    .prepare = prepare,
    .release = release,
    .run = run,
};
