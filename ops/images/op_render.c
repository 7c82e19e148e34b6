/* The op `render`: equations -> pictures, by TeX and dvipng. */
#include "engine/op.h"
#include "image.pb-c.h"
#include "ops/images/centred.h"
#include "ops/images/tex/tex_run.h"
#include "paper.pb-c.h"

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    const char *version;
    return err_up(e, tex_version(&version, op_arena(ctx), e));
}

static const char *units(struct op_ctx *ctx)
{
    const char *version = NULL;
    (void)tex_version(&version, op_arena(ctx), &(struct err){0});
    return version;
}

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    struct tex *t;
    enum err_code code = tex_new(&t, (unsigned)op_int(ctx, "dpi"), e);
    *state = t;
    return err_up(e, code);
}

static void release(void *state)
{
    tex_free(state);
}

static enum err_code together(void **shares, struct op_ctx *ctx, void *state,
                              const ProtobufCMessage *const *elements, size_t n, struct err *e)
{
    struct tex_drawing *drawings = arena_array(op_arena(ctx), struct tex_drawing, n);
    enum err_code code =
        tex_draw(drawings, ctx, state, (const Eqloom__Equation *const *)elements, n, e);
    for (size_t i = 0; i < n; i++)
        shares[i] = &drawings[i];
    return err_up(e, code);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const struct tex_drawing *d = op_share(ctx);
    const Eqloom__Equation *q;
    enum err_code code = op_get(&q, ctx, "equations", 0, e);
    if (code)
        return err_up(e, code);
    Eqloom__Image image = EQLOOM__IMAGE__INIT;
    image.place = q->place;
    image.latex = q->latex;
    if (d->refused) {
        image.refused = (char *)d->refused;
        image.detail = (char *)d->detail;
        return err_up(e, op_emit(NULL, ctx, "refused", &image.base, e));
    }
    image.width = (uint32_t)op_int(ctx, "width");
    image.height = (uint32_t)op_int(ctx, "height");
    image.pixels.len = (size_t)image.width * image.height;
    image.pixels.data = picture_centred(op_arena(ctx), image.width, image.height, &d->picture);
    return err_up(e, op_emit(NULL, ctx, "images", &image.base, e));
}

const struct op op_render = {
    .name = "render",
    .version = 3,
    .node = OP_MAP,
    .doc =
        "Draws equations with the macros of their papers by TeX and dvipng. Both must be installed "
        "(Debian: texlive-latex-base and dvipng); their versions are part of the action key. The "
        "ink is centred in the picture; what does not fit is cut equally on both sides. TeX runs "
        "without a shell, reads no other files and writes within bounds.",
    .params =
        OP_PARAMS({"width", OP_INT, "531", NULL, 1, 4096, "Width of the pictures in pixels."},
                  {"height", OP_INT, "106", NULL, 1, 4096, "Height of the pictures in pixels."},
                  {"dpi", OP_INT, "100", NULL, 10, 1200, "Pixels per inch."}),
    .inputs =
        OP_PORTS({"equations", KIND_EQUATION, OP_COLLECTION, false, "LaTeX with its macros."}),
    .outputs = OP_PORTS(
        {"images", KIND_IMAGE, OP_COLLECTION, false,
         "A grey picture of each equation that TeX typesets without an error, in order."},
        {"refused", KIND_IMAGE, OP_COLLECTION, false,
         "The other equations, with a reason and TeX's first error line instead of pixels."}),
    .check = check,
    .units = units,
    .prepare = prepare,
    .release = release,
    .together = together,
    .run = run,
};
