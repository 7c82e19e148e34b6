/* Checkpoints; see checkpoint.h. */
#include "ops/learn/checkpoint/checkpoint.h"

#include "ops/nn/graph/graph_model.h"
#include "ops/nn/image/image_model.h"
#include "ops/nn/tree/tree_model.h"

#include <assert.h>
#include <string.h>

enum { CHUNK = 4 << 20 };

/* Values are stored as they are in memory. */
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are stored little-endian");

enum { PARTS = 4 };
static const char *const prefixes[PARTS] = {"", "adam.m/", "adam.v/", "best/"};

static char *tensor_name(struct arena *a, size_t part, const struct nn_param *p)
{
    return arena_printf(a, "%s%s", prefixes[part], p->name);
}

static size_t chunks_of(const struct nn_param *p)
{
    return (p->size * sizeof(float) + CHUNK - 1) / CHUNK;
}

static size_t chunk_length(const struct nn_param *p, size_t i)
{
    size_t left = p->size * sizeof(float) - i * CHUNK;
    return left < CHUNK ? left : CHUNK;
}

static enum err_code write_tensor(Eqloom__Tensor **out, const struct nn_param *p, char *name,
                                  const float *values, const struct chunk_io *io, struct arena *a,
                                  struct err *e)
{
    Eqloom__Tensor *t = *out = arena_new(a, Eqloom__Tensor);
    eqloom__tensor__init(t);
    t->name = name;
    t->dtype = arena_strdup(a, "f32");
    t->n_shape = p->rank;
    t->shape = arena_array(a, uint64_t, p->rank);
    for (uint32_t i = 0; i < p->rank; i++)
        t->shape[i] = p->shape[i];
    size_t n = chunks_of(p);
    t->chunk_ids.len = n * DIGEST_SIZE;
    t->chunk_ids.data = arena_alloc(a, n * DIGEST_SIZE);
    for (size_t i = 0; i < n; i++) {
        struct digest id;
        struct span data = span_of((const char *)values + i * CHUNK, chunk_length(p, i));
        enum err_code code = io->put(&id, io->arg, data, e);
        if (code)
            return err_up(e, code);
        memcpy(t->chunk_ids.data + i * DIGEST_SIZE, id.bytes, DIGEST_SIZE);
    }
    return OK;
}

enum err_code checkpoint_write(Eqloom__Checkpoint *out, const char *architecture,
                               const struct nn_table *t, const struct trainer_state *state,
                               const struct chunk_io *io, struct arena *a, struct err *e)
{
    const float *parts[PARTS] = {state->weights, state->m, state->v, state->best};
    size_t n_parts = !state->steps || !state->m ? 1 : state->best ? 4 : 3;
    out->architecture = arena_strdup(a, architecture);
    out->step = state->steps;
    out->n_tensors = n_parts * t->n;
    out->tensors = arena_array(a, Eqloom__Tensor *, out->n_tensors);
    for (size_t k = 0; k < n_parts; k++)
        for (size_t i = 0; i < t->n; i++) {
            const struct nn_param *p = &t->params[i];
            enum err_code code = write_tensor(&out->tensors[k * t->n + i], p, tensor_name(a, k, p),
                                              parts[k] + p->at, io, a, e);
            if (code)
                return err_up(e, code);
        }
    return OK;
}

enum err_code checkpoint_model(struct nn_model **out, const Eqloom__Checkpoint *c, struct arena *a,
                               struct err *e)
{
    struct nn_config config;
    if (graph_config_is(c->architecture))
        return err_fail(e, ERR_INPUT, "the model reads graphs of equations, not expressions");
    if (image_config_is(c->architecture))
        return err_fail(e, ERR_INPUT, "the model reads images of equations, not expressions");
    enum err_code code = nn_config_parse(&config, c->architecture, e);
    if (!code)
        code = nn_model_new(out, a, &config, e);
    return err_up(e, code);
}

enum err_code checkpoint_table(const struct nn_table **out, char **text, struct arena *a,
                               struct err *e)
{
    struct graph_config graph;
    struct image_config image;
    struct tree_config tree;
    struct nn_config c;
    struct graph_model *network;
    struct nn_model *m;
    enum err_code code;
    if (graph_config_is(*text)) {
        if ((code = graph_config_parse(&graph, *text, e)) ||
            (code = graph_model_new(&network, a, &graph, e)))
            return err_up(e, code);
        *out = &network->table;
        *text = graph_config_text(a, &graph);
    } else if (image_config_is(*text)) {
        if ((code = image_config_parse(&image, *text, e)))
            return err_up(e, code);
        *out = &image_model_new(a, &image)->table;
        *text = image_config_text(a, &image);
    } else if (tree_config_is(*text)) {
        if ((code = tree_config_parse(&tree, a, *text, e)))
            return err_up(e, code);
        *out = &tree_model_new(a, &tree)->table;
        *text = tree_config_text(a, &tree);
    } else {
        if ((code = nn_config_parse(&c, *text, e)) || (code = nn_model_new(&m, a, &c, e)))
            return err_up(e, code);
        *out = &m->table;
        *text = nn_config_text(a, &c);
    }
    return OK;
}

static enum err_code read_tensor(float *values, const struct nn_param *p, const char *name,
                                 const Eqloom__Tensor *t, const struct chunk_io *io,
                                 struct arena *a, struct err *e)
{
    bool fits = strcmp(t->name, name) == 0 && strcmp(t->dtype, "f32") == 0 &&
                t->n_shape == p->rank && t->chunk_ids.len == chunks_of(p) * DIGEST_SIZE;
    for (uint32_t i = 0; fits && i < p->rank; i++)
        fits = t->shape[i] == p->shape[i];
    if (!fits)
        return err_fail(e, ERR_CORRUPT, "checkpoint: tensor '%s' does not match '%s' of its model",
                        t->name, name);
    for (size_t i = 0; i < chunks_of(p); i++) {
        struct arena_mark mark = arena_mark(a);
        struct span data;
        enum err_code code = io->get(&data, io->arg, t->chunk_ids.data + i * DIGEST_SIZE, a, e);
        if (code)
            return err_up(e, code);
        if (data.len != chunk_length(p, i))
            return err_fail(e, ERR_CORRUPT, "checkpoint: a chunk of tensor '%s' has %zu bytes",
                            name, data.len);
        memcpy((char *)values + i * CHUNK, data.data, data.len);
        arena_release(a, mark);
    }
    return OK;
}

bool checkpoint_continues(const Eqloom__Checkpoint *c, const struct nn_table *t)
{
    return c->step == 0 || c->n_tensors > t->n;
}

enum err_code checkpoint_read(struct trainer_state *out, const struct nn_table *t,
                              const Eqloom__Checkpoint *c, const struct chunk_io *io,
                              struct arena *a, struct err *e)
{
    float *parts[PARTS] = {out->weights, out->m, out->v, out->best};
    size_t n_parts = c->n_tensors / t->n;
    if (c->n_tensors != n_parts * t->n || n_parts == 0 || n_parts == 2 || n_parts > PARTS)
        return err_fail(e, ERR_CORRUPT, "checkpoint: %zu tensors where its model has %zu",
                        c->n_tensors, t->n);
    for (size_t k = 0; k < PARTS; k++) {
        if (!parts[k])
            continue;
        memset(parts[k], 0, t->total * sizeof(float));
        for (size_t i = 0; i < t->n && k < n_parts; i++) {
            const struct nn_param *p = &t->params[i];
            enum err_code code = read_tensor(parts[k] + p->at, p, tensor_name(a, k, p),
                                             c->tensors[k * t->n + i], io, a, e);
            if (code)
                return err_up(e, code);
        }
    }
    out->steps = c->step;
    return OK;
}
