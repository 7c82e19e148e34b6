/* Op import-model: a safetensors file as a checkpoint. */
#include "engine/op.h"
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/checkpoint/safetensors_read.h"
#include "ops/nn/graph/graph_model.h"
#include "ops/nn/image/image_model.h"

#include <string.h>

/* The parameters of the model that a text describes; *text as it is written. */
static enum err_code describe(const struct nn_table **out, char **text, struct arena *a,
                              const char *file, struct err *e)
{
    struct graph_config graph;
    struct image_config image;
    struct nn_config c;
    struct graph_model *network;
    struct nn_model *m;
    struct err inner;
    enum err_code code;
    bool is_graph = graph_config_is(*text), is_image = image_config_is(*text);
    if (is_image   ? image_config_parse(&image, *text, &inner)
        : is_graph ? graph_config_parse(&graph, *text, &inner)
                   : nn_config_parse(&c, *text, &inner))
        return err_fail(e, ERR_INPUT, "%s: %s", file, inner.message);
    if (is_image) {
        *out = &image_model_new(a, &image)->table;
        *text = image_config_text(a, &image);
    } else if (is_graph) {
        if ((code = err_up(e, graph_model_new(&network, a, &graph, e))))
            return code;
        *out = &network->table;
        *text = graph_config_text(a, &graph);
    } else {
        if ((code = err_up(e, nn_model_new(&m, a, &c, e))))
            return code;
        *out = &m->table;
        *text = nn_config_text(a, &c);
    }
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    const struct op_file *files;
    struct chunk_io io = learn_chunks(ctx);
    const struct nn_table *t = NULL;
    char *text;
    enum err_code code;
    if (op_files(&files, ctx) != 1)
        return err_fail(e, ERR_INPUT, "'files' has to name one safetensors file");
    const struct source_text *tensors = &files[0].text;
    if ((code = safetensors_architecture(&text, a, tensors, e)) ||
        (code = describe(&t, &text, a, tensors->name, e)))
        return err_up(e, code);
    if (t->count > tensors->len / sizeof(float)) /* before memory is asked for */
        return err_fail(e, ERR_INPUT,
                        "%s: its model has %zu parameters, more than there is room for",
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

const struct op op_import_model = {
    .name = "import-model",
    .version = 2,
    .node = OP_SOURCE,
    .doc =
        "Reads a model from a safetensors file as `eqloom export` writes it: its architecture in "
        "the metadata, tensors of F32 under the names of docs/models.md: every parameter, nothing "
        "else.",
    .outputs =
        OP_PORTS({"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "Weights alone, of step 0."}),
    .run = run,
};
