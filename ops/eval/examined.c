#include "ops/eval/examined.h"

#include "ops/expr/expr.h"
#include "ops/expr/own/own.h"

#include <string.h>

static bool belongs(const Eqloom__EmbeddingBatch *b, const Eqloom__Exercise *x, struct digest id)
{
    return b->count == x->n_terms && b->source_id.len == sizeof id.bytes &&
           memcmp(b->source_id.data, id.bytes, sizeof id.bytes) == 0;
}

enum err_code examined_load(struct examined *out, struct op_ctx *ctx, const char *exercises,
                            const char *embeddings, struct err *e)
{
    struct arena *a = op_arena(ctx);
    size_t n = op_count(ctx, exercises), rows = 0;
    if (op_count(ctx, embeddings) != n)
        return err_fail(e, ERR_INPUT, "%zu exercises in '%s', but %zu batches in '%s'", n,
                        exercises, (size_t)op_count(ctx, embeddings), embeddings);
    Eqloom__EmbeddingBatch **batches = arena_array(a, Eqloom__EmbeddingBatch *, n + 1);
    *out = (struct examined){.exercises = arena_array(a, const Eqloom__Exercise *, n + 1),
                             .first = arena_array(a, uint32_t, n + 1),
                             .n = n};
    for (size_t i = 0; i < n; i++) {
        ProtobufCMessage *exercise;
        enum err_code code;
        if ((code = err_up(e, op_get(&exercise, ctx, exercises, i, e))) ||
            (code = err_up(e, op_get(&batches[i], ctx, embeddings, i, e))))
            return code;
        out->exercises[i] = (const Eqloom__Exercise *)exercise;
        if (!belongs(batches[i], out->exercises[i], op_input_id(ctx, exercises, i)))
            return err_fail(e, ERR_INPUT,
                            "batch %zu of '%s' was not embedded from exercise %zu of "
                            "'%s'",
                            i + 1, embeddings, i + 1, exercises);
        out->first[i] = (uint32_t)rows;
        rows += out->exercises[i]->n_terms;
    }
    enum err_code code = err_up(e, vectors_load(&out->v, a, batches, n, 0, e));
    if (!code)
        vectors_normalize(&out->v);
    return code;
}

char *examined_infix(struct arena *a, const Eqloom__Exercise *x, size_t term)
{
    const struct language *lang = &lang_calculus;
    language_read(&lang, a, x->language, NULL);
    return expr_infix_of(a, language_guess(a, lang, x->terms[term]->prefix),
                         x->terms[term]->prefix);
}
