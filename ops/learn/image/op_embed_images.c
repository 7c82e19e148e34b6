/* Op embed-images: computes the vectors of pictures with an image network. */
#include "ops/learn/image/image_corpus.h"
#include "ops/learn/infer/networks.h"
#include "ops/nn/batch_norm.h"
#include "ops/nn/image/image_net.h"

/* A trained network, for inference. */
struct embedder {
    struct trained net;
    struct image_model *model;
    float *weights; /* device */
    struct batch_norm norm;
};

static enum err_code load(void *network, const Eqloom__Checkpoint *c, const struct chunk_io *io,
                          struct err *e)
{
    struct embedder *x = network;
    struct image_config config;
    float *host;
    enum err_code code = image_config_parse(&config, c->architecture, e);
    if (code)
        return err_up(e, code);
    const struct image_model *m = x->model = image_model_new(&x->net.arena, &config);
    if ((code = trained_weights(&host, &x->weights, &x->net, &m->table, c, io, e)))
        return err_up(e, code);
    batch_norm_alloc(&x->norm, &x->net.arena, IMAGE_VECTOR);
    if (m->norm)
        batch_norm_running(&x->norm, host + m->mean, host + m->variance, IMAGE_VECTOR);
    return OK;
}

struct pass {
    struct trained_pass base;
    const struct embedder *x;
    const uint8_t *pixels;
    float *out; /* (IMAGE_VECTOR) */
    struct image_tape tape;
    struct image_scratch scratch;
    struct image_end end;
};

static void lay_out(void *self, struct gpu_layout *in, struct gpu_layout *l)
{
    struct pass *p = self;
    image_tape_layout(&p->tape, p->x->model, 1, false, l);
    image_scratch_layout(&p->scratch, p->x->model, 1, l);
    image_end_layout(&p->end, p->x->model, 1, l);
}

static void compute(void *self, struct gpu_queue *q)
{
    struct pass *p = self;
    const struct embedder *x = p->x;
    const struct image_model *m = x->model;
    float *ink = arena_array(p->base.arena, float, IMAGE_PIXELS);
    image_ink(ink, p->pixels, IMAGE_PIXELS);
    gpu_write(q, p->tape.x, ink, IMAGE_PIXELS * sizeof *ink);
    image_forward(q, p->end.features, m, x->weights, &p->tape, &p->scratch, x->net.precision);
    if (m->norm) {
        gpu_write(q, p->end.factor, x->norm.factor, IMAGE_VECTOR * sizeof(float));
        gpu_write(q, p->end.shift, x->norm.shift, IMAGE_VECTOR * sizeof(float));
        image_end_forward(q, m, x->weights, &p->end, x->net.precision);
    }
    gpu_read(q, p->out, p->end.vectors, IMAGE_VECTOR * sizeof *p->out);
}

/* Vectors are x / (|x| + 1e-5). */
static enum err_code embed(struct embedded *out, const void *network, const void *record,
                           struct digest vocabulary, struct op_ctx *ctx, struct err *e)
{
    struct arena *a = op_arena(ctx);
    const struct embedder *x = network;
    const Eqloom__Image *image = record;
    struct pass p = {.base = {lay_out, compute, a}, .x = x, .pixels = image->pixels.data};
    enum err_code code = image_check(image, e);
    if (code || (code = embedded_new(out, a, 1, IMAGE_VECTOR, NULL, e)))
        return err_up(e, code);
    p.out = out->values;
    code = err_up(e, trained_run(&x->net, &p, e));
    if (!code)
        image_unit(p.out, IMAGE_VECTOR);
    return code;
}

static const struct trained_kind kind = {sizeof(struct embedder), load, "images", embed};

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    return err_up(e, networks_prepare(state, &kind, ctx, e));
}

const struct op op_embed_images = {
    .name = "embed-images",
    .version = 1,
    EMBED_OP,
    .doc = "Computes the vectors of pictures with the network of a checkpoint.",
    .params = OP_PARAMS(LEARN_PRECISION_PARAM, LEARN_DEVICE_PARAM),
    .inputs = OP_PORTS(
        {"images", KIND_IMAGE, OP_COLLECTION, .doc = "Pictures to embed, 333 x 32 pixels."},
        {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "The network."}),
    .outputs = OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION,
                         .doc = "One vector per picture, of about length 1."}),
    .prepare = prepare,
};
