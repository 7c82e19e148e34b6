/* The op `analogies`: "x1 : y1 :: x2 : y2" -> token batches, each of one analogy's four expressions
 * in this order, for `embed` and then `evaluate-analogies`. */
#include "engine/op.h"
#include "ops/corpus/tokens/encoding.h"
#include "ops/expr/own/own.h"

#include <string.h>

enum { TERMS = 4 };

/* Splits an analogy into its terms. */
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
    struct expr terms[TERMS];
    enum err_code code = err_up(e, cut(offset, len, text, e));
    if (code)
        return code;
    for (int i = 0; i < TERMS; i++) {
        if ((code = err_up(
                 e, expr_parse_infix(&terms[i], a, lang, &source, offset[i], len[i], false, e))))
            return code;
        texts[i] = expr_prefix(a, &terms[i]);
    }
    if ((code = token_batch_pack(out, a, c, texts, TERMS, e)))
        return err_up(e, code);
    out->language = language_text_of(a, terms, TERMS);
    return OK;
}

struct texts {
    struct arena *a;
    const char **all;
    size_t n, cap;
};

static void add(struct texts *t, const char *text)
{
    t->all = arena_grow(t->a, t->all, t->n, &t->cap, sizeof *t->all);
    t->all[t->n++] = text;
}

/* The parameter `analogies`, then the families in order. */
static struct texts read_texts(struct op_ctx *ctx)
{
    struct texts t = {.a = op_arena(ctx)};
    const char *const *given, *const *families;
    size_t n = op_strings(&given, ctx, "analogies"), m = op_strings(&families, ctx, "families");
    for (size_t i = 0; i < n; i++)
        add(&t, given[i]);
    for (size_t f = 0; f < m; f++) {
        struct texts pairs = {.a = t.a};
        char *family = arena_strdup(t.a, families[f]), *rest = NULL;
        for (char *p = strtok_r(family, ";", &rest); p; p = strtok_r(NULL, ";", &rest))
            add(&pairs, p);
        for (size_t i = 0; i < pairs.n; i++)
            for (size_t j = 0; j < pairs.n; j++)
                if (i != j)
                    add(&t, arena_printf(t.a, "%s :: %s", pairs.all[i], pairs.all[j]));
    }
    return t;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const struct language *lang;
    struct digest vocabulary = op_input_id(ctx, "vocabulary", 0);
    struct encoder encoder = {0};
    struct texts texts = read_texts(ctx);
    const Eqloom__Vocabulary *v = NULL;
    enum err_code code = err_up(e, lang_named(&lang, op_string(ctx, "language"), e));
    if (!code)
        code = err_up(e, op_get(&v, ctx, "vocabulary", 0, e));
    if (!code && !texts.n)
        code = err_fail(e, ERR_INPUT, "'analogies' and 'families' contain no analogy");
    if (!code && *v->language)
        code = err_up(e, language_join(&lang, op_arena(ctx), v->language, e));
    if (code)
        return code;
    encoder_init(&encoder, v);
    for (size_t i = 0; i < texts.n && !code; i++) {
        Eqloom__TokenBatch batch;
        code = err_up(e, make(&batch, op_arena(ctx), lang, &encoder, i + 1, texts.all[i], e));
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
    .version = 3,
    .node = OP_TASK,
    .doc = "Packs analogies between expressions as token sequences, to be embedded and then "
           "evaluated by evaluate-analogies.",
    .params = OP_PARAMS(
        {"analogies", OP_STRINGS, "", NULL, 0, 0,
         "'x1 : y1 :: x2 : y2', infix: x1 is to y1 as x2 is to y2, the expected answer."},
        {"families", OP_STRINGS, "", NULL, 0, 0,
         "'x1 : y1; x2 : y2; ...': pairs of one relation. Each pair forms an analogy with each "
         "other pair, so n pairs make n * (n - 1) analogies."},
        {"language", OP_ENUM, "calculus", "calculus|boolean|polynomial", 0, 0,
         "The language of the expressions."}),
    .inputs = OP_PORTS({"vocabulary", KIND_VOCABULARY, OP_ONE, false,
                        "The vocabulary of the model that will embed them, which also defines "
                        "user-defined operators."}),
    .outputs = OP_PORTS({"batches", KIND_TOKEN_BATCH, OP_COLLECTION, false,
                         "One for each analogy: x1, y1, x2, y2."}),
    .run = run,
};
