/* See graph_embedder.h. */
#include "ops/learn/graph/graph_embedder.h"

#include "ops/learn/graph/graph_similarity.h"
#include "ops/nn/batch_norm.h"

#include <stdlib.h>

struct graph_embedder {
    struct arena arena;
    struct graph_model *model;
    struct gpu_device *device;
    void *weights, *table, *norms; /* device */
    struct graph_weights w;
    float scale; /* of vectors */
};

/* From host vectors: the weights; E is in `work`. */
static enum err_code load(struct graph_embedder *x, const float *flat, struct gpu_queue *q,
                          float *work, float *sinusoids, struct err *e)
{
    const struct graph_model *m = x->model;
    size_t d = m->config.d, positions = (size_t)m->config.positions * d;
    struct batch_norm norm;
    struct graph_lengths lengths = graph_lengths_running(flat, m);
    gpu_write(q, x->weights, flat, m->table.total * sizeof *flat);
    graph_sinusoids(work, &m->config);
    gpu_write(q, sinusoids, work, positions * sizeof *work);
    graph_table_make(q, x->table, x->weights, sinusoids, m);
    x->w.flat = x->weights;
    x->w.table = x->table;
    x->w.factor = x->norms;
    x->w.shift = x->w.factor + m->norms * d;
    batch_norm_alloc(&norm, &x->arena, d);
    for (size_t i = 0; i < m->norms; i++) {
        batch_norm_running(&norm, flat + m->mean[i], flat + m->variance[i], d);
        gpu_write(q, (float *)x->norms + i * d, norm.factor, d * sizeof(float));
        gpu_write(q, (float *)x->norms + (m->norms + i) * d, norm.shift, d * sizeof(float));
    }
    double length = lengths.mean + lengths.deviation;
    x->scale = length > 0 ? (float)(1 / length) : 0;
    return err_up(e, gpu_finish(q, e));
}

static enum err_code load_checkpoint(struct graph_embedder *x, const Eqloom__Checkpoint *c,
                                     const struct chunk_io *io, struct err *e)
{
    const struct graph_model *m = x->model;
    size_t d = m->config.d, positions = (size_t)m->config.positions * d;
    struct trainer_state state = {.weights = malloc(m->table.total * sizeof(float))};
    float *work = malloc(positions * sizeof *work);
    void *sinusoids = NULL;
    struct gpu_queue *q = NULL;
    enum err_code code;
    if (!state.weights || !work)
        code = err_fail(e, ERR_NOMEM, "no memory for %zu parameters", m->table.count);
    else if (!(code = checkpoint_read(&state, &m->table, c, io, &x->arena, e)) &&
             !(code = gpu_queue_new(&q, x->device, e)) &&
             !(code = gpu_alloc(&x->weights, x->device, m->table.total * sizeof(float), e)) &&
             !(code = gpu_alloc(&x->table, x->device,
                                graph_table_rows(&m->config) * d * sizeof(float), e)) &&
             !(code = gpu_alloc(&x->norms, x->device, 2 * m->norms * d * sizeof(float), e)) &&
             !(code = gpu_alloc(&sinusoids, x->device, positions * sizeof(float), e)))
        code = load(x, state.weights, q, work, sinusoids, e);
    gpu_free(x->device, sinusoids);
    if (q)
        gpu_queue_free(q);
    free(state.weights);
    free(work);
    return err_up(e, code);
}

enum err_code graph_embedder_new(struct graph_embedder **out, const char *device,
                                 enum gpu_precision precision, const Eqloom__Checkpoint *c,
                                 const struct chunk_io *io, struct err *e)
{
    struct graph_config config;
    struct graph_embedder *x = must_calloc(1, sizeof *x);
    x->w.precision = precision;
    enum err_code code;
    if ((code = graph_config_parse(&config, c->architecture, e)) ||
        (code = graph_model_new(&x->model, &x->arena, &config, e)) ||
        (code = gpu_open(&x->device, device, NULL, e)) || (code = load_checkpoint(x, c, io, e)))
        graph_embedder_free(x);
    else
        *out = x;
    return err_up(e, code);
}

void graph_embedder_free(struct graph_embedder *x)
{
    if (!x)
        return;
    if (x->device) {
        gpu_free(x->device, x->weights);
        gpu_free(x->device, x->table);
        gpu_free(x->device, x->norms);
        gpu_close(x->device);
    }
    arena_free(&x->arena);
    free(x);
}

uint32_t graph_embedder_size(const struct graph_embedder *x)
{
    return x->model->config.out;
}

enum err_code graph_embedder_run(float *out, const struct graph_embedder *x,
                                 const struct graph_set *s, struct arena *a, struct err *e)
{
    const struct graph_model *m = x->model;
    struct graph_tape tape;
    struct graph_scratch scratch;
    struct gpu_layout l = {0};
    struct gpu_queue *q;
    void *memory = NULL;
    size_t nodes = s->first[s->graphs], numbers = s->graphs * m->config.out;
    enum err_code code = gpu_queue_new(&q, x->device, e);
    if (code)
        return err_up(e, code);
    for (int pass = 0; pass < 2 && !code; pass++) {
        graph_tape_layout(&tape, m, s, false, &l, a);
        graph_scratch_layout(&scratch, m, nodes, false, &l);
        if (pass == 0 && !(code = gpu_alloc(&memory, x->device, l.used, e)))
            l = (struct gpu_layout){.base = memory};
    }
    if (!code) {
        graph_lists_write(q, &tape.lists, s, &m->config, a);
        for (size_t stage = 0; stage < graph_stages(m); stage++)
            graph_forward(q, m, &x->w, &tape, &scratch, stage, false);
        q->op->scale(q, tape.vectors, numbers, x->scale);
        gpu_read(q, out, tape.vectors, numbers * sizeof *out);
        code = gpu_finish(q, e);
    }
    gpu_free(x->device, memory);
    gpu_queue_free(q);
    return err_up(e, code);
}
