/* The op `tokenize-exercises`: converts exercises to token batches. */
#include "exercise.pb-c.h"
#include "ops/corpus/tokens/encoder_input.h"
#include "ops/corpus/tokens/encoding.h"

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    const Eqloom__Exercise *x;
    Eqloom__TokenBatch batch;
    enum err_code code = err_up(e, op_get(&x, ctx, "exercises", 0, e));
    if (code)
        return code;
    char **texts = arena_array(a, char *, x->n_terms + 1);
    for (size_t i = 0; i < x->n_terms; i++)
        texts[i] = x->terms[i]->prefix;
    if ((code = err_up(e, token_batch_pack(&batch, a, state, texts, x->n_terms, e))))
        return code;
    batch.language = x->language;
    return err_up(e, op_encoder_emit(ctx, &batch, "exercises", e));
}

const struct op op_tokenize_exercises = {
    .name = "tokenize-exercises",
    .version = 2,
    .node = OP_MAP,
    .doc = "Packs the expressions of each exercise as token sequences, to be embedded and then "
           "evaluated by evaluate-questions or evaluate-derivations.",
    .inputs =
        OP_PORTS({"exercises", KIND_EXERCISE, OP_COLLECTION, false, "Questions or derivations."},
                 {"vocabulary", KIND_VOCABULARY, OP_ONE, false,
                  "The vocabulary of the model that will embed them."}),
    .outputs = OP_PORTS(
        {"batches", KIND_TOKEN_BATCH, OP_COLLECTION, false, "One for each exercise: its terms."}),
    .prepare = op_encoder_prepare,
    .release = op_encoder_release,
    .run = run,
};
