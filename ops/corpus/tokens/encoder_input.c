#include "ops/corpus/tokens/encoder_input.h"

#include <stdlib.h>

/* The vocabulary has its own arena, since the state outlives the ctx of prepare. */
struct state {
    struct encoder encoder; /* first member: ops cast the state to it */
    struct arena arena;
};

void op_encoder_release(void *state)
{
    struct state *s = state;
    encoder_free(&s->encoder);
    arena_free(&s->arena);
    free(s);
}

enum err_code op_encoder_prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    struct state *s = must_calloc(1, sizeof *s);
    ProtobufCMessage *vocabulary;
    enum err_code code = err_up(e, op_get_in(&vocabulary, ctx, "vocabulary", 0, &s->arena, e));
    if (code) {
        op_encoder_release(s);
        return code;
    }
    encoder_init(&s->encoder, (const Eqloom__Vocabulary *)vocabulary);
    *state = s;
    return OK;
}

enum err_code op_encoder_emit(struct op_ctx *ctx, Eqloom__TokenBatch *batch, const char *source,
                              struct err *e)
{
    struct digest element = op_input_id(ctx, source, 0);
    struct digest vocabulary = op_input_id(ctx, "vocabulary", 0);
    batch->source_id = (ProtobufCBinaryData){sizeof element.bytes, element.bytes};
    batch->vocabulary_id = (ProtobufCBinaryData){sizeof vocabulary.bytes, vocabulary.bytes};
    return err_up(e, op_emit(NULL, ctx, "batches", &batch->base, e));
}
