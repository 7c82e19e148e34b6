/* The op `vocabulary`: the token list of an encoding. */
#include "engine/op.h"
#include "ops/corpus/tokens/encoding.h"

static const struct op_param params[] = {
    {"encoding", OP_ENUM, "e-gen", "e-gen|plain|placed", 0, 0,
     "Integers as sign and digits, or the small ones as tokens of their own; placed: these, and "
     "each token says under which operator of two operands it stands, and on which side of - / "
     "and pow."},
    {"tokens", OP_STRINGS, "", NULL, 0, 0, "More symbols and operators."},
    {NULL},
};
static const struct op_port outputs[] = {
    {"vocabulary", KIND_VOCABULARY, OP_ONE, false, "Tokens by id."},
    {NULL},
};

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    Eqloom__Vocabulary v;
    const char *const *more;
    size_t n_more = op_strings(&more, ctx, "tokens");
    enum err_code code =
        err_up(e, vocabulary_make(&v, op_arena(ctx), op_string(ctx, "encoding"), more, n_more, e));
    return code ? code : err_up(e, op_emit(NULL, ctx, "vocabulary", &v.base, e));
}

const struct op op_vocabulary = {
    .name = "vocabulary",
    .version = 1,
    .node = OP_TASK,
    .doc = "The tokens of the calculus language with their ids: three specials (padding, start, "
           "end), operators, symbols, signs and digits.",
    .params = params,
    .outputs = outputs,
    .run = run,
};
