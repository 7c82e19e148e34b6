/* See tree_embedder.h. */
#include "ops/learn/tree/tree_embedder.h"

#include <stdlib.h>

struct tree_embedder {
    struct arena arena;
    struct tree_model *model;
    struct gpu_device *device;
    struct tree_pass pass;
    void *weights; /* device */
};

enum err_code tree_embedder_new(struct tree_embedder **out, const char *device,
                                enum gpu_precision precision, const Eqloom__Checkpoint *c,
                                const struct chunk_io *io, struct err *e)
{
    struct tree_config config;
    struct tree_embedder *x = must_calloc(1, sizeof *x);
    enum err_code code = tree_config_parse(&config, &x->arena, c->architecture, e);
    if (!code) {
        x->model = tree_model_new(&x->arena, &config);
        code = gpu_open(&x->device, device, NULL, e);
    }
    float *host;
    if (code || (code = checkpoint_load(&host, &x->weights, x->device, &x->model->table, c, io,
                                        &x->arena, e))) {
        tree_embedder_free(x);
        return err_up(e, code);
    }
    x->pass = (struct tree_pass){.m = x->model, .flat = x->weights, .precision = precision};
    *out = x;
    return OK;
}

void tree_embedder_free(struct tree_embedder *x)
{
    if (!x)
        return;
    if (x->device) {
        gpu_free(x->device, x->weights);
        gpu_close(x->device);
    }
    arena_free(&x->arena);
    free(x);
}

const struct tree_model *tree_embedder_model(const struct tree_embedder *x)
{
    return x->model;
}

enum err_code tree_embedder_run(float *out, const struct tree_embedder *x, const struct tree_set *s,
                                const struct tree_meaning *meaning, struct arena *a, struct err *e)
{
    struct tree_lists lists;
    struct tree_tape tape;
    float *told = NULL;
    struct gpu_layout l = {0};
    struct gpu_queue *q;
    void *memory = NULL;
    enum err_code code = gpu_queue_new(&q, x->device, e);
    if (code)
        return err_up(e, code);
    tree_lists_make(&lists, a, x->model, s);
    if (x->model->config.inputs) {
        told = arena_array(a, float, (lists.nodes - lists.roots) * TREE_INPUTS);
        tree_points_tell(told, a, &lists, x->model, meaning);
    }
    tree_tape_layout(&tape, x->model, &lists, false, &l);
    if (!(code = gpu_alloc(&memory, x->device, l.used, e))) {
        l = (struct gpu_layout){.base = memory};
        tree_tape_layout(&tape, x->model, &lists, false, &l);
        tree_tape_load(q, &tape, 0, told, a);
        tree_forward(q, &x->pass, &tape);
        if (x->model->config.points)
            q->op->normalize(q, tree_vectors(&tape, x->model), tape.lengths,
                             tree_vectors(&tape, x->model), s->n, tree_width(x->model));
        gpu_read(q, out, tree_vectors(&tape, x->model), s->n * tree_width(x->model) * sizeof *out);
        code = gpu_finish(q, e);
    }
    gpu_free(x->device, memory);
    gpu_queue_free(q);
    return err_up(e, code);
}
