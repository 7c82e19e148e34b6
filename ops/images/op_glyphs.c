/* The op `glyphs`: pictures -> the numbers of their glyphs, which op tfidf makes into vectors. */
#include "engine/op.h"
#include "image.pb-c.h"
#include "ops/images/glyphs.h"
#include "token.pb-c.h"

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const Eqloom__Image *image;
    enum err_code code = op_get(&image, ctx, "images", 0, e);
    if (code)
        return err_up(e, code);
    if (image->pixels.len != (uint64_t)image->width * image->height)
        return err_fail(e, ERR_CORRUPT, "a picture has %zu pixels", image->pixels.len);
    struct picture p = {image->width, image->height, image->pixels.data};
    Eqloom__TokenBatch out = EQLOOM__TOKEN_BATCH__INIT;
    uint32_t offset[2] = {0}, cluster = 0;
    out.n_tokens = glyphs_read(&out.tokens, op_arena(ctx), &p);
    offset[1] = (uint32_t)out.n_tokens;
    out.offset = offset;
    out.n_offset = 2;
    out.cluster = &cluster;
    out.n_cluster = 1;
    return err_up(e, op_emit(NULL, ctx, "tokens", &out.base, e));
}

const struct op op_glyphs = {
    .name = "glyphs",
    .version = 1,
    .node = OP_MAP,
    .doc = "Reads the glyphs of pictures that TeX drew: connected pieces of ink, numbered by their "
           "pixels. By `tfidf` they become vectors, the bag of symbols of who only sees.",
    .inputs = OP_PORTS({"images", KIND_IMAGE, OP_COLLECTION, false, "Pictures."}),
    .outputs = OP_PORTS({"tokens", KIND_TOKEN_BATCH, OP_COLLECTION, false,
                         "For each picture a sequence of numbers below 1,024."}),
    .run = run,
};
