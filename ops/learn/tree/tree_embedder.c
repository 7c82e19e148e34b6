#include "ops/learn/tree/tree_embedder.h"

struct tree_embedder {
    struct trained net;
    struct tree_model *model;
    struct tree_pass pass;
};

static enum err_code load(void *network, const Eqloom__Checkpoint *c, const struct chunk_io *io,
                          struct err *e)
{
    struct tree_embedder *x = network;
    struct tree_config config;
    float *host, *weights;
    enum err_code code = tree_config_parse(&config, &x->net.arena, c->architecture, e);
    if (code)
        return err_up(e, code);
    x->model = tree_model_new(&x->net.arena, &config);
    if ((code = trained_weights(&host, &weights, &x->net, &x->model->table, c, io, e)))
        return err_up(e, code);
    x->pass = (struct tree_pass){.m = x->model, .flat = weights, .precision = x->net.precision};
    return OK;
}

const struct trained_kind tree_embedder_kind = {sizeof(struct tree_embedder), load};

const struct tree_model *tree_embedder_model(const struct tree_embedder *x)
{
    return x->model;
}

enum err_code tree_embedder_run(float *out, const struct tree_embedder *x, const struct tree_set *s,
                                struct arena *a, struct err *e)
{
    struct tree_lists lists;
    struct tree_tape tape;
    struct gpu_layout l = {0};
    struct gpu_queue *q;
    void *memory = NULL;
    enum err_code code = gpu_queue_new(&q, x->net.device, e);
    if (code)
        return err_up(e, code);
    tree_lists_make(&lists, a, x->model, s);
    tree_tape_layout(&tape, x->model, &lists, false, &l);
    if (!(code = gpu_alloc(&memory, x->net.device, l.used, e))) {
        l = (struct gpu_layout){.base = memory};
        tree_tape_layout(&tape, x->model, &lists, false, &l);
        tree_tape_load(q, &tape, 0, a);
        tree_forward(q, &x->pass, &tape);
        if (x->model->config.points)
            q->op->normalize(q, tree_vectors(&tape, x->model), tape.lengths,
                             tree_vectors(&tape, x->model), s->n, tree_width(x->model));
        gpu_read(q, out, tree_vectors(&tape, x->model), s->n * tree_width(x->model) * sizeof *out);
        code = gpu_finish(q, e);
    }
    gpu_free(x->net.device, memory);
    gpu_queue_free(q);
    return err_up(e, code);
}
