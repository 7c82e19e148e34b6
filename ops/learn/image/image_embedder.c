#include "ops/learn/image/image_embedder.h"

#include "ops/learn/image/image_loss.h"
#include "ops/nn/batch_norm.h"

struct image_embedder {
    struct network net;
    struct image_model *model;
    float *weights; /* device */
    struct batch_norm norm;
};

static enum err_code load(void *network, const Eqloom__Checkpoint *c, const struct chunk_io *io,
                          struct err *e)
{
    struct image_embedder *x = network;
    struct image_config config;
    float *host;
    enum err_code code = image_config_parse(&config, c->architecture, e);
    if (code)
        return err_up(e, code);
    const struct image_model *m = x->model = image_model_new(&x->net.arena, &config);
    if ((code = network_weights(&host, &x->weights, &x->net, &m->table, c, io, e)))
        return err_up(e, code);
    batch_norm_alloc(&x->norm, &x->net.arena, IMAGE_VECTOR);
    if (m->norm)
        batch_norm_running(&x->norm, host + m->mean, host + m->variance, IMAGE_VECTOR);
    return OK;
}

const struct network_kind image_embedder_kind = {sizeof(struct image_embedder), load};

enum err_code image_embedder_run(float *out, const struct image_embedder *x, const uint8_t *pixels,
                                 size_t n, struct arena *a, struct err *e)
{
    const struct image_model *m = x->model;
    struct image_tape tape;
    struct image_scratch scratch;
    struct image_end end;
    struct gpu_layout l = {0};
    struct gpu_queue *q;
    void *memory = NULL;
    enum err_code code = gpu_queue_new(&q, x->net.device, e);
    if (code)
        return err_up(e, code);
    for (int pass = 0; pass < 2 && !code; pass++) {
        image_tape_layout(&tape, m, n, false, &l);
        image_scratch_layout(&scratch, m, n, &l);
        image_end_layout(&end, m, n, &l);
        if (pass == 0 && !(code = gpu_alloc(&memory, x->net.device, l.used, e)))
            l = (struct gpu_layout){.base = memory};
    }
    if (!code) {
        float *ink = arena_array(a, float, n *IMAGE_PIXELS);
        image_ink(ink, pixels, n * IMAGE_PIXELS);
        gpu_write(q, tape.x, ink, n * IMAGE_PIXELS * sizeof *ink);
        image_forward(q, end.features, m, x->weights, &tape, &scratch, x->net.precision);
        if (m->norm) {
            gpu_write(q, end.factor, x->norm.factor, IMAGE_VECTOR * sizeof(float));
            gpu_write(q, end.shift, x->norm.shift, IMAGE_VECTOR * sizeof(float));
            image_end_forward(q, m, x->weights, &end, x->net.precision);
        }
        gpu_read(q, out, end.vectors, n * IMAGE_VECTOR * sizeof *out);
        code = gpu_finish(q, e);
    }
    for (size_t i = 0; i < n && !code; i++)
        image_unit(out + i * IMAGE_VECTOR, IMAGE_VECTOR);
    gpu_free(x->net.device, memory);
    gpu_queue_free(q);
    return err_up(e, code);
}
