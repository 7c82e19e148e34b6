/* The op `crop`: the middle of pictures; nearly blank ones go to an output of their own. */
#include "engine/op.h"
#include "image.pb-c.h"
#include "ops/images/centred.h"

enum { DARK = 128 }; /* grey value; ink is darker */

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    uint32_t width = (uint32_t)op_int(ctx, "width"), height = (uint32_t)op_int(ctx, "height");
    const Eqloom__Image *message;
    enum err_code code = op_get(&message, ctx, "images", 0, e);
    if (code)
        return err_up(e, code);
    Eqloom__Image image = *message;
    if (image.pixels.len != (uint64_t)image.width * image.height)
        return err_fail(e, ERR_CORRUPT, "%zu pixels are not %u x %u", image.pixels.len, image.width,
                        image.height);
    struct picture p = {image.width, image.height, image.pixels.data};
    uint8_t *pixels = picture_centred(op_arena(ctx), width, height, &p);
    size_t n = (size_t)width * height;
    int64_t dark = 0;
    for (size_t i = 0; i < n; i++)
        dark += pixels[i] < DARK;
    bool blank = dark < op_int(ctx, "ink");
    image.width = width;
    image.height = height;
    image.pixels = (ProtobufCBinaryData){n, pixels};
    return err_up(e, op_emit(NULL, ctx, blank ? "blank" : "images", &image.base, e));
}

const struct op op_crop = {
    .name = "crop",
    .version = 1,
    .node = OP_MAP,
    .doc = "Cuts the middle out of pictures, to one size; a smaller picture gets a white margin. "
           "Nearly blank pictures go to the output `blank`.",
    .params = OP_PARAMS({"width", OP_INT, "333", NULL, 1, 4096, "Width of the result in pixels."},
                        {"height", OP_INT, "32", NULL, 1, 4096, "Height of the result in pixels."},
                        {"ink", OP_INT, "20", NULL, 0, 1e6,
                         "A picture with fewer pixels darker than mid-grey is nearly blank."}),
    .inputs = OP_PORTS({"images", KIND_IMAGE, OP_COLLECTION, false, "Pictures of any size."}),
    .outputs = OP_PORTS(
        {"images", KIND_IMAGE, OP_COLLECTION, false, "The middle of each picture, in order."},
        {"blank", KIND_IMAGE, OP_COLLECTION, false, "The middle of each nearly blank picture."}),
    .run = run,
};
