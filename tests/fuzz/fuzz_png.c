/* Any bytes as a PNG: refused, or a picture that is written and read as the same. */
#include "base/io/picture.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct err e = {0};
    struct picture p, again;
    struct span file;
    if (!picture_read_png(&p, &a, span_of(data, size), &e)) {
        assert(!picture_write_png(&file, &a, &p, &e));
        assert(!picture_read_png(&again, &a, file, &e));
        assert(p.width == again.width && p.height == again.height);
        assert(!memcmp(p.pixels, again.pixels, (size_t)p.width * p.height));
    }
    arena_free(&a);
    return 0;
}
