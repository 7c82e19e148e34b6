#include "ops/learn/tree/tree_embedder.h"

#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/tree/tree_corpus.h"

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

struct pass {
    struct trained_pass base;
    const struct tree_embedder *x;
    float *out;
    struct tree_lists lists;
    struct tree_tape tape;
};

static void lay_out(void *self, struct gpu_layout *in, struct gpu_layout *l)
{
    struct pass *p = self;
    tree_tape_layout(&p->tape, p->x->model, &p->lists, false, l);
}

static void compute(void *self, struct gpu_queue *q)
{
    struct pass *p = self;
    const struct tree_model *m = p->x->model;
    size_t n = p->lists.roots / m->rows, width = tree_width(m);
    float *vectors = tree_vectors(&p->tape, m);
    tree_tape_load(q, &p->tape, 0, p->base.arena);
    tree_forward(q, &p->x->pass, &p->tape);
    if (m->config.points)
        q->op->normalize(q, vectors, p->tape.lengths, vectors, n, width);
    gpu_read(q, p->out, vectors, n * width * sizeof *vectors);
}

enum err_code tree_embedder_run(float *out, const struct tree_embedder *x, const struct tree_set *s,
                                struct arena *a, struct err *e)
{
    struct pass p = {.base = {lay_out, compute, a}, .x = x, .out = out};
    tree_lists_make(&p.lists, a, x->model, s);
    return err_up(e, trained_run(&x->net, &p, e));
}

static enum err_code embed(struct embedded *out, const void *network, const void *record,
                           struct digest vocabulary, struct op_ctx *ctx, struct err *e)
{
    struct arena *a = op_arena(ctx);
    const struct tree_embedder *x = network;
    const Eqloom__TokenBatch *b = record;
    struct tree_corpus c = {0};
    struct tree_batch all;
    if (learn_vocabulary_differs(&b->vocabulary_id, vocabulary))
        return err_fail(e, ERR_INPUT, "the batch and the network have different vocabularies");
    enum err_code code = tree_corpus_add(&c, b, x->model, e);
    if (!code) {
        tree_batch_all(&all, a, &c);
        code = embedded_new(out, a, c.trees, tree_width(x->model), b, e);
        if (!code)
            code = tree_embedder_run(out->values, x, &all.set, a, e);
    }
    tree_corpus_free(&c);
    return err_up(e, code);
}

const struct trained_kind tree_embedder_kind = {sizeof(struct tree_embedder), load, "batches",
                                                embed};
