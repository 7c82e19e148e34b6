/* The op `analogies`: "x1 : y1 :: x2 : y2" -> token batches, each of one analogy's four expressions
 * in this order, for `embed` and then `evaluate-analogies`. */
#include "engine/op.h"
#include "ops/corpus/tokens/encoding.h"
#include "ops/expr/expr.h"

#include <string.h>

enum { TERMS = 4 };

static const struct op_param params[] = {
    {"analogies", OP_STRINGS, NULL, NULL, 0, 0,
     "'x1 : y1 :: x2 : y2', infix: x1 is to y1 as x2 is to y2, which is to be found."},
    {"language", OP_ENUM, "calculus", "calculus|boolean|polynomial", 0, 0, "Of the expressions."},
    {NULL},
};
static const struct op_port inputs[] = {
    {"vocabulary", KIND_VOCABULARY, OP_ONE, false,
     "The vocabulary of the model that will embed them."},
    {NULL},
};
static const struct op_port outputs[] = {
    {"batches", KIND_TOKEN_BATCH, OP_COLLECTION, false, "One for each analogy: x1, y1, x2, y2."},
    {NULL},
};

/* Where the terms begin and how long they are. */
static enum err_code cut(size_t offset[TERMS], size_t len[TERMS], const char *text, struct err *e)
{
    static const char *const separators[TERMS] = {":", "::", ":", ""};
    size_t at = 0;
    for (int i = 0; i < TERMS; i++) {
        size_t n = strcspn(text + at, ":"), colons = strspn(text + at + n, ":");
        if (colons != strlen(separators[i])) {
            enum err_code code = err_fail(e, ERR_INPUT, "'%.80s' is not an analogy", text);
            err_hint(e, "an analogy is written 'x1 : y1 :: x2 : y2'");
            return code;
        }
        offset[i] = at;
        len[i] = n;
        at += n + colons;
    }
    return OK;
}

static enum err_code make(Eqloom__TokenBatch *out, struct arena *a, const struct language *lang,
                          const struct encoder *c, size_t number, const char *text, struct err *e)
{
    struct source_text source = {arena_printf(a, "analogy %zu", number), text, strlen(text)};
    size_t offset[TERMS], len[TERMS];
    char *texts[TERMS];
    enum err_code code = err_up(e, cut(offset, len, text, e));
    if (code)
        return code;
    for (int i = 0; i < TERMS; i++) {
        struct expr x;
        if ((code = err_up(e, expr_parse_infix(&x, a, lang, &source, offset[i], len[i], false, e))))
            return code;
        texts[i] = expr_prefix(a, &x);
    }
    return err_up(e, token_batch_pack(out, a, c, texts, TERMS, e));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const struct language *lang;
    struct digest vocabulary = op_input_id(ctx, "vocabulary", 0);
    struct encoder encoder = {0};
    const char *const *texts;
    size_t n = op_strings(&texts, ctx, "analogies");
    ProtobufCMessage *message;
    enum err_code code = err_up(e, lang_named(&lang, op_string(ctx, "language"), e));
    if (!code)
        code = err_up(e, op_get(&message, ctx, "vocabulary", 0, e));
    if (code)
        return code;
    encoder_init(&encoder, (const Eqloom__Vocabulary *)message);
    for (size_t i = 0; i < n && !code; i++) {
        Eqloom__TokenBatch batch;
        code = err_up(e, make(&batch, op_arena(ctx), lang, &encoder, i + 1, texts[i], e));
        if (code)
            break;
        batch.vocabulary_id = (ProtobufCBinaryData){sizeof vocabulary.bytes, vocabulary.bytes};
        code = err_up(e, op_emit(NULL, ctx, "batches", &batch.base, e));
    }
    encoder_free(&encoder);
    return code;
}

const struct op op_analogies = {
    .name = "analogies",
    .version = 1,
    .node = OP_TASK,
    .doc = "Analogies between expressions as token sequences, to be embedded and then judged by "
           "evaluate-analogies.",
    .params = params,
    .inputs = inputs,
    .outputs = outputs,
    .run = run,
};
