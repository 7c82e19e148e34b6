/* Grey pictures, read from and written as PNG (libpng). */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/span.h"

struct picture {
    uint32_t width, height;
    const uint8_t *pixels; /* width * height, row by row from the top: 0 black, 255 white */
};

/* Reads any PNG: converts colours to grey and composes transparency over white. ERR_INPUT for more
 * than 2^24 pixels or a damaged file; the message states the reason and names no file. */
enum err_code picture_read_png(struct picture *out, struct arena *a, struct span file,
                               struct err *e);
enum err_code picture_write_png(struct span *out, struct arena *a, const struct picture *p,
                                struct err *e);
