/* The op `pixels`: pictures -> their ink as vectors, a baseline for networks that read pictures. */
#include "embedding.pb-c.h"
#include "engine/op.h"
#include "image.pb-c.h"

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const Eqloom__Image *image;
    enum err_code code = op_get(&image, ctx, "images", 0, e);
    if (code)
        return err_up(e, code);
    size_t n = image->pixels.len;
    float *ink = arena_array(op_arena(ctx), float, n + 1);
    for (size_t i = 0; i < n; i++)
        ink[i] = (float)(255 - image->pixels.data[i]) / 255;
    Eqloom__EmbeddingBatch out = EQLOOM__EMBEDDING_BATCH__INIT;
    out.dim = (uint32_t)n;
    out.count = 1;
    out.values = (ProtobufCBinaryData){n * sizeof *ink, (uint8_t *)ink};
    return err_up(e, op_emit(NULL, ctx, "embeddings", &out.base, e));
}

const struct op op_pixels = {
    .name = "pixels",
    .version = 1,
    .node = OP_MAP,
    .doc = "Embeds pictures by their pixels, 1 for ink and 0 for paper: a baseline for networks.",
    .inputs = OP_PORTS({"images", KIND_IMAGE, OP_COLLECTION, false, "Pictures of one size."}),
    .outputs = OP_PORTS(
        {"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false, "One vector per picture."}),
    .run = run,
};
