/* The op `glyphs`: pictures -> numbers of their glyphs, which the op `tfidf` makes into vectors. A
 * glyph is a connected component of ink. TeX draws a letter of one font and size with the same
 * pixels everywhere, so equal glyphs have equal bytes and need not be learnt. A letter of two
 * components is two glyphs, and letters that touch are one. */
#include "base/io/picture.h"
#include "engine/op.h"
#include "image.pb-c.h"
#include "token.pb-c.h"

enum { GLYPH_TOKENS = 1024 };
enum { PAPER = 200 };                      /* grey value; ink is darker */
enum { RULE_HEIGHT = 2, RULE_WIDTH = 32 }; /* a rule is at most this high, at least this wide */

struct box {
    uint32_t left, top, right, bottom; /* inclusive */
};

/* Marks the component of `first` with `piece`, by flood fill; `queue` has room for all pixels. */
static struct box fill(uint32_t *mark, uint32_t *queue, const struct picture *p, uint32_t first,
                       uint32_t piece)
{
    uint32_t w = p->width, n = 0;
    struct box b = {first % w, first / w, first % w, first / w};
    mark[first] = piece;
    queue[n++] = first;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t x = queue[k] % w, y = queue[k] / w;
        b.left = x < b.left ? x : b.left;
        b.right = x > b.right ? x : b.right;
        b.bottom = y > b.bottom ? y : b.bottom;
        for (uint32_t v = y - (y > 0); v <= y + (y + 1 < p->height); v++)
            for (uint32_t u = x - (x > 0); u <= x + (x + 1 < w); u++) {
                uint32_t at = v * w + u;
                if (mark[at] || p->pixels[at] >= PAPER)
                    continue;
                mark[at] = piece;
                queue[n++] = at;
            }
    }
    return b;
}

static uint32_t token_of(const uint32_t *mark, const struct picture *p, struct box b,
                         uint32_t piece)
{
    uint32_t width = b.right - b.left + 1, height = b.bottom - b.top + 1;
    if (height <= RULE_HEIGHT && width >= RULE_WIDTH)
        return 0;
    uint64_t hash = rng_mix((uint64_t)height << 32 | width), bits = 1;
    for (uint32_t y = b.top; y <= b.bottom; y++)
        for (uint32_t x = b.left; x <= b.right; x++) {
            bits = bits << 1 | (mark[y * p->width + x] == piece);
            if (bits >> 63) {
                hash = rng_mix(hash ^ bits);
                bits = 1;
            }
        }
    return 1 + (uint32_t)(rng_mix(hash ^ bits) % (GLYPH_TOKENS - 1));
}

/* Returns one number below GLYPH_TOKENS for each glyph, from the top left: a hash of its shape, so
 * different glyphs may share a number. Rules, of fractions and roots, are all equal, whatever their
 * width. Returns their number. */
static size_t glyphs_read(uint32_t **out, struct arena *a, const struct picture *p)
{
    size_t pixels = (size_t)p->width * p->height;
    uint32_t *mark = arena_array(a, uint32_t, pixels + 1), n = 0;
    uint32_t *queue = arena_array(a, uint32_t, pixels + 1);
    uint32_t *tokens = *out = arena_array(a, uint32_t, pixels + 1);
    for (uint32_t i = 0; i < pixels; i++)
        if (!mark[i] && p->pixels[i] < PAPER) {
            uint32_t piece = n + 1;
            tokens[n++] = token_of(mark, p, fill(mark, queue, p, i, piece), piece);
        }
    return n;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const Eqloom__Image *image;
    enum err_code code = op_get(&image, ctx, "images", 0, e);
    if (code)
        return err_up(e, code);
    if (image->pixels.len != (uint64_t)image->width * image->height)
        return err_fail(e, ERR_CORRUPT, "%zu pixels are not %u x %u", image->pixels.len,
                        image->width, image->height);
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
           "pixels. The op `tfidf` turns them into vectors, a bag of symbols without LaTeX.",
    .inputs = OP_PORTS({"images", KIND_IMAGE, OP_COLLECTION, false, "Pictures."}),
    .outputs = OP_PORTS({"tokens", KIND_TOKEN_BATCH, OP_COLLECTION, false,
                         "A sequence of numbers below 1,024 for each picture."}),
    .run = run,
};
