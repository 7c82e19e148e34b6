/* A checkpoint, its vocabulary and a model; see text_model.h. */
#include "ops/search/text_model.h"

#include "ops/learn/infer/detokenize.h"
#include "ops/learn/infer/embedder.h"
#include "ops/search/stored_chunks.h"

#include <string.h>

static enum err_code load_vocabulary(struct text_model *m, const struct tool_args *args,
                                     const Eqloom__Checkpoint *c, struct err *e)
{
    struct digest id;
    ProtobufCMessage *vocabulary;
    if (c->vocabulary_id.len != DIGEST_SIZE)
        return err_fail(
            e, ERR_INPUT,
            "the model does not say which vocabulary it reads; a `train` of 0 steps that begins "
            "with it (init) gives it one");
    memcpy(id.bytes, c->vocabulary_id.data, DIGEST_SIZE);
    enum err_code code = err_up(e, tool_get(&vocabulary, args, &id, KIND_VOCABULARY, &m->arena, e));
    if (!code) {
        m->vocabulary = (const Eqloom__Vocabulary *)vocabulary;
        encoder_init(&m->encoder, m->vocabulary);
    }
    return code;
}

enum err_code text_model_load(struct text_model *m, const struct tool_args *args,
                              const struct digest *checkpoint, enum gpu_precision precision,
                              struct err *e)
{
    struct arena work = {0}; /* of the weights' chunks */
    const Eqloom__Checkpoint *c;
    struct chunk_io io = stored_chunks(args);
    *m = (struct text_model){0};
    enum err_code code = tool_get(&c, args, checkpoint, KIND_CHECKPOINT, &work, e);
    const char *device = tool_value(args, "device");
    if (!code)
        code = network_new(&m->model, &loaded_kind, device ? device : "cpu", precision, c, &io, e);
    if (!code)
        code = load_vocabulary(m, args, c, e);
    if (!code) {
        m->step = c->step;
        m->dim = m->model->model->config.d_model;
    }
    arena_free(&work);
    return err_up(e, code);
}

void text_model_free(struct text_model *m)
{
    network_free(m->model);
    encoder_free(&m->encoder);
    arena_free(&m->arena);
}

enum err_code text_model_embed(float **out, const struct text_model *m, char *const *prefix,
                               size_t n, bool normalize, struct arena *a, struct err *e)
{
    Eqloom__TokenBatch b;
    enum err_code code = err_up(e, token_batch_pack(&b, a, &m->encoder, prefix, n, e));
    if (code)
        return code;
    if (!(*out = arena_try_alloc(a, n * m->dim, sizeof **out)))
        return err_fail(e, ERR_NOMEM, "no memory for %zu vectors", n);
    return err_up(e, embedder_run(*out, m->model, &b, normalize, a, e));
}

enum err_code text_model_generate(struct written **out, size_t *n, const struct text_model *m,
                                  char *prefix, const struct generator_options *options,
                                  struct arena *a, struct err *e)
{
    Eqloom__TokenBatch b;
    struct generated g;
    enum err_code code = err_up(e, token_batch_pack(&b, a, &m->encoder, &prefix, 1, e));
    if (!code)
        code = err_up(e, generator_run(&g, m->model, &b, options, a, e));
    if (code)
        return code;
    *n = g.n;
    *out = arena_array(a, struct written, g.n);
    for (size_t i = 0; i < g.n; i++)
        (*out)[i] =
            (struct written){detokenize(a, g.best[i].tokens, g.best[i].n, m->vocabulary->tokens),
                             g.best[i].log_probability};
    return OK;
}
