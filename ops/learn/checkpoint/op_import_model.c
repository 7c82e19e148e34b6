/* Op import-model: a safetensors file, and the JSON of its configuration, as a checkpoint. */
#include "engine/op.h"
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/checkpoint/safetensors_read.h"

#include <string.h>

static const struct op_port outputs[] = {
    {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "Weights alone, of step 0."},
    {0},
};

static bool is_json(const struct op_file *f)
{
    size_t n = strlen(f->text.name);
    return n >= 5 && strcmp(f->text.name + n - 5, ".json") == 0;
}

static enum err_code choose(const struct source_text **tensors, const struct source_text **config,
                            struct op_ctx *ctx, struct err *e)
{
    const struct op_file *files;
    size_t n = op_files(&files, ctx);
    *tensors = *config = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct source_text **as = is_json(&files[i]) ? config : tensors;
        if (*as)
            return err_fail(e, ERR_INPUT,
                            "'%s' and '%s': give one safetensors file, and perhaps "
                            "one of JSON",
                            (*as)->name, files[i].text.name);
        *as = &files[i].text;
    }
    return *tensors ? OK : err_fail(e, ERR_INPUT, "there is no safetensors file among the files");
}

static enum err_code check_finite(const struct nn_model *m, const float *weights,
                                  const struct source_text *file, struct err *e)
{
    const struct nn_param *bad = nn_model_not_finite(m, weights);
    return bad ? err_fail(e, ERR_INPUT, "%s: tensor '%s' holds a number that is not finite",
                          file->name, bad->name)
               : OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    const struct source_text *tensors, *config;
    struct chunk_io io = learn_chunks(ctx);
    struct nn_config c;
    struct nn_model *m;
    struct err inner;
    char *text;
    enum err_code code;
    if ((code = err_up(e, choose(&tensors, &config, ctx, e))) ||
        (code = err_up(e, safetensors_architecture(&text, a, tensors, config, e))))
        return code;
    if (nn_config_parse(&c, text, &inner))
        return err_fail(e, ERR_INPUT, "%s: %s", config ? config->name : tensors->name,
                        inner.message);
    if ((code = err_up(e, nn_model_new(&m, a, &c, e))))
        return code;
    if (m->count > tensors->len / sizeof(uint16_t)) /* before memory is asked for */
        return err_fail(e, ERR_INPUT,
                        "%s: its model has %zu parameters, more than there is room for",
                        tensors->name, m->count);
    struct trainer_state weights = {.weights = arena_try_alloc(a, m->total, sizeof(float))};
    if (!weights.weights)
        return err_fail(e, ERR_NOMEM, "no memory for %zu parameters", m->count);
    memset(weights.weights, 0, m->total * sizeof(float));
    Eqloom__Checkpoint out;
    eqloom__checkpoint__init(&out);
    if ((code = err_up(e, safetensors_weights(weights.weights, m, tensors, e))) ||
        (code = err_up(e, check_finite(m, weights.weights, tensors, e))) ||
        (code = err_up(e, checkpoint_write(&out, m, &weights, &io, a, e))))
        return code;
    return err_up(e, op_emit(NULL, ctx, "checkpoint", &out.base, e));
}

const struct op op_import_model = {
    .name = "import-model",
    .version = 1,
    .node = OP_SOURCE,
    .doc =
        "Reads a model from a safetensors file whose tensors have the names of docs/models.md, as "
        "`eqloom export` writes it: every parameter, nothing else; F32, or F64, F16 or BF16, which "
        "become f32. Its architecture comes from a JSON file beside it, if that is among the "
        "files, else from its metadata.",
    .outputs = outputs,
    .run = run,
};
