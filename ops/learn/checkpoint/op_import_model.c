/* Op import-model: reads a safetensors file as a checkpoint. */
#include "engine/op.h"
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/checkpoint/safetensors_read.h"

#include <string.h>

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    const struct op_file *files;
    struct chunk_io io = learn_chunks(ctx);
    const struct nn_table *t = NULL;
    char *text;
    struct err why;
    enum err_code code;
    if (op_files(&files, ctx) != 1)
        return err_fail(e, ERR_INPUT, "'files' must name exactly one safetensors file");
    const struct source_text *tensors = &files[0].text;
    if ((code = safetensors_architecture(&text, a, tensors, e)))
        return err_up(e, code);
    if (checkpoint_table(&t, &text, a, &why))
        return err_fail(e, ERR_INPUT, "%s: %s", tensors->name, why.message);
    if (t->count > tensors->len / sizeof(float)) /* before memory is allocated */
        return err_fail(e, ERR_INPUT,
                        "%s: its model has %zu parameters, more than the file can hold",
                        tensors->name, t->count);
    struct trainer_state weights = {.weights = arena_try_alloc(a, t->total, sizeof(float))};
    if (!weights.weights)
        return err_fail(e, ERR_NOMEM, "no memory for %zu parameters", t->count);
    memset(weights.weights, 0, t->total * sizeof(float));
    Eqloom__Checkpoint out;
    eqloom__checkpoint__init(&out);
    if ((code = safetensors_weights(weights.weights, t, tensors, e)))
        return err_up(e, code);
    const struct nn_param *bad = nn_table_not_finite(t, weights.weights);
    if (bad)
        return err_fail(e, ERR_INPUT, "%s: tensor '%s' holds a number that is not finite",
                        tensors->name, bad->name);
    if ((code = checkpoint_write(&out, text, t, &weights, &io, a, e)))
        return err_up(e, code);
    return err_up(e, op_emit(NULL, ctx, "checkpoint", &out.base, e));
}

static const char *const suffixes[] = {".safetensors", NULL};

const struct op op_import_model = {
    .name = "import-model",
    .version = 2,
    .node = OP_SOURCE,
    .doc =
        "Reads a model from a safetensors file in the format that `eqloom export` writes: the "
        "architecture is in the metadata, and the tensors are exactly the model's parameters, in "
        "F32, under the names of docs/models.md.",
    .outputs = OP_PORTS({"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "The weights, at step 0."}),
    .folder_suffixes = suffixes,
    .run = run,
};
