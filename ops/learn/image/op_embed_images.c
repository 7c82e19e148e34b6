/* Op embed-images: the vectors of pictures by a network on images. */
#include "image.pb-c.h"
#include "ops/learn/image/image_embedder.h"
#include "ops/learn/infer/networks.h"

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    return err_up(e, networks_prepare(state, &image_embedder_kind, ctx, e));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    float values[IMAGE_VECTOR];
    const Eqloom__Image *image;
    enum err_code code = op_get(&image, ctx, "images", 0, e);
    if (code)
        return err_up(e, code);
    if (image->width != IMAGE_WIDTH || image->height != IMAGE_HEIGHT ||
        image->pixels.len != IMAGE_PIXELS)
        return err_fail(e, ERR_INPUT,
                        "a picture has %u x %u pixels; the network reads %d x %d: see op crop",
                        image->width, image->height, IMAGE_WIDTH, IMAGE_HEIGHT);
    if ((code = image_embedder_run(values, networks_turn(state), image->pixels.data, 1,
                                   op_arena(ctx), e)))
        return err_up(e, code);
    return err_up(e, learn_emit_vectors(ctx, values, 1, IMAGE_VECTOR, NULL, e));
}

const struct op op_embed_images = {
    .name = "embed-images",
    .version = 1,
    .node = OP_MAP,
    .numerics = true,
    .doc = "Computes the vectors of pictures with the network of a checkpoint.",
    .params = OP_PARAMS(LEARN_PRECISION_PARAM, LEARN_DEVICE_PARAM),
    .inputs = OP_PORTS(
        {"images", KIND_IMAGE, OP_COLLECTION, .doc = "Pictures to embed, 333 x 32 pixels."},
        {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "The network."}),
    .outputs = OP_PORTS({"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION,
                         .doc = "A vector for each picture, of about length 1."}),
    .check = learn_check_device,
    .units = learn_units,
    .prepare = prepare,
    .release = networks_release,
    .run = run,
};
