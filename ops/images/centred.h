/* Pictures on white paper of a given size. */
#pragma once

#include "base/io/picture.h"

/* Centres the picture; cuts what does not fit equally on both sides. */
static inline uint8_t *picture_centred(struct arena *a, uint32_t width, uint32_t height,
                                       const struct picture *p)
{
    uint8_t *out = arena_alloc(a, (size_t)width * height);
    int64_t left = ((int64_t)p->width - width) / 2, top = ((int64_t)p->height - height) / 2;
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            int64_t row = y + top, column = x + left;
            bool inside = row >= 0 && row < p->height && column >= 0 && column < p->width;
            out[y * width + x] = inside ? p->pixels[row * p->width + column] : (uint8_t)255;
        }
    return out;
}
