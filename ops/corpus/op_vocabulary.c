/* The op `vocabulary`: the token list of an encoding. */
#include "engine/op.h"
#include "ops/corpus/tokens/encoding.h"
#include "ops/expr/own/own.h"

#include "cluster.pb-c.h"

#include <stdlib.h>
#include <string.h>

static enum err_code add_operators(const char *const **tokens, size_t *n, char **language,
                                   struct op_ctx *ctx, struct err *e)
{
    struct arena *a = op_arena(ctx), work = {0};
    const struct language *lang = &lang_calculus;
    enum err_code code = OK;
    uint64_t clusters = op_count(ctx, "clusters");
    for (uint64_t i = 0; i < clusters && !code; i++) {
        Eqloom__Cluster *m;
        arena_reset(&work);
        if (!(code = op_get_in(&m, ctx, "clusters", i, &work, e)) && m->seed)
            code = language_join(&lang, a, m->seed->language, e);
    }
    arena_free(&work);
    size_t given = *n, added = lang->n_ops - X_DECLARED;
    const char **all = arena_array(a, const char *, given + added + 1);
    for (size_t i = 0; i < given; i++)
        all[i] = (*tokens)[i];
    for (size_t i = 0; i < added; i++)
        all[given + i] = lang->ops[X_DECLARED + i].token;
    qsort(all + given, added, sizeof *all, text_compare);
    *tokens = all;
    *n = given + added;
    *language = language_text_all(a, lang);
    return err_up(e, code);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    Eqloom__Vocabulary v;
    const char *const *more;
    size_t n_more = op_strings(&more, ctx, "tokens");
    char *language;
    enum err_code code = add_operators(&more, &n_more, &language, ctx, e);
    if (code)
        return err_up(e, code);
    code =
        err_up(e, vocabulary_make(&v, op_arena(ctx), op_string(ctx, "encoding"), more, n_more, e));
    v.language = language;
    return code ? code : err_up(e, op_emit(NULL, ctx, "vocabulary", &v.base, e));
}

const struct op op_vocabulary = {
    .name = "vocabulary",
    .version = 2,
    .node = OP_TASK,
    .doc = "The tokens of the calculus language with their ids: three specials (padding, start, "
           "end), operators, symbols, signs and digits.",
    .params = OP_PARAMS(
        {"encoding", OP_ENUM, "e-gen", "e-gen|plain|trees|placed", 0, 0,
         "e-gen: integers are a sign and digits; plain: small integers are single tokens; trees: "
         "like plain, with larger ones as sums of these; placed: like plain, and each operand of a "
         "binary operator is marked with the operator, and with its side for - / and pow."},
        {"tokens", OP_STRINGS, "", NULL, 0, 0, "More symbols and operators."}),
    .inputs = OP_PORTS({"clusters", KIND_CLUSTER, OP_COLLECTION, true,
                        "User-defined operators used in them become tokens, too, in the order of "
                        "their names, and the vocabulary stores their definitions."}),
    .outputs = OP_PORTS({"vocabulary", KIND_VOCABULARY, OP_ONE, false, "Tokens by id."}),
    .run = run,
};
