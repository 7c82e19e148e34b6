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

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    static const struct trained_kind kind = {sizeof(struct embedder), load};
    return err_up(e, networks_prepare(state, &kind, ctx, e));
}

/* Computes out (IMAGE_VECTOR): the vector x / (|x| + 1e-5) of a picture. */
static enum err_code embed(float *out, const struct embedder *x, const uint8_t *pixels,
                           struct arena *a, struct err *e)
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
        image_tape_layout(&tape, m, 1, false, &l);
        image_scratch_layout(&scratch, m, 1, &l);
        image_end_layout(&end, m, 1, &l);
        if (pass == 0 && !(code = gpu_alloc(&memory, x->net.device, l.used, e)))
            l = (struct gpu_layout){.base = memory};
    }
    if (!code) {
        float *ink = arena_array(a, float, IMAGE_PIXELS);
        image_ink(ink, pixels, IMAGE_PIXELS);
        gpu_write(q, tape.x, ink, IMAGE_PIXELS * sizeof *ink);
        image_forward(q, end.features, m, x->weights, &tape, &scratch, x->net.precision);
        if (m->norm) {
            gpu_write(q, end.factor, x->norm.factor, IMAGE_VECTOR * sizeof(float));
            gpu_write(q, end.shift, x->norm.shift, IMAGE_VECTOR * sizeof(float));
            image_end_forward(q, m, x->weights, &end, x->net.precision);
        }
        gpu_read(q, out, end.vectors, IMAGE_VECTOR * sizeof *out);
        code = gpu_finish(q, e);
        image_unit(out, IMAGE_VECTOR);
    }
    gpu_free(x->net.device, memory);
    gpu_queue_free(q);
    return err_up(e, code);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    float values[IMAGE_VECTOR] = {0};
    const Eqloom__Image *image;
    enum err_code code = op_get(&image, ctx, "images", 0, e);
    if (code || (code = image_check(image, e)) ||
        (code = embed(values, networks_turn(state), image->pixels.data, op_arena(ctx), e)))
        return err_up(e, code);
    return err_up(e, learn_emit_vectors(ctx, values, 1, IMAGE_VECTOR, NULL, e));
}

const struct op op_embed_images = {
    .name = "embed-images",
    .version = 1,
    NETWORKS_OP,
    .doc = "Computes the vectors of pictures with the network of a checkpoint.",
    .params = OP_PARAMS(LEARN_PRECISION_PARAM, LEARN_DEVICE_PARAM),
    .inputs = OP_PORTS(
        {"images", KIND_IMAGE, OP_COLLECTION, .doc = "Pictures to embed, 333 x 32 pixels."},
        {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "The network."}),
    .outputs = OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION,
                         .doc = "One vector per picture, of about length 1."}),
    .prepare = prepare,
    .release = networks_release,
    .run = run,
};
