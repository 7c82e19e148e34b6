#include "ops/images/glyphs.h"

#include "base/rng.h"

enum { PAPER = 200 };                      /* lighter pixels than that are no ink */
enum { RULE_HEIGHT = 2, RULE_WIDTH = 32 }; /* at most, at least */

struct box {
    uint32_t left, top, right, bottom; /* inclusive */
};

/* Pixels of the piece around `first`, marked `piece`; queue: room for all. */
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

size_t glyphs_read(uint32_t **out, struct arena *a, const struct picture *p)
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
