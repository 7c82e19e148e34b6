#include "base/io/picture.h"

#include <png.h>

enum { PIXELS_MAX = 1 << 24 };

enum err_code picture_read_png(struct picture *out, struct arena *a, struct span file,
                               struct err *e)
{
    static const png_color white = {255, 255, 255};
    png_image image = {.version = PNG_IMAGE_VERSION};
    enum err_code code = OK;
    if (!png_image_begin_read_from_memory(&image, file.data, file.len))
        return err_fail(e, ERR_INPUT, "not a PNG: %s", image.message);
    if ((uint64_t)image.width * image.height > PIXELS_MAX) {
        code = err_fail(e, ERR_INPUT, "%u x %u pixels are too many", image.width, image.height);
    } else {
        uint8_t *pixels = arena_array(a, uint8_t, (size_t)image.width * image.height);
        image.format = PNG_FORMAT_GRAY;
        if (!png_image_finish_read(&image, &white, pixels, 0, NULL))
            code = err_fail(e, ERR_INPUT, "a damaged PNG: %s", image.message);
        *out = (struct picture){image.width, image.height, pixels};
    }
    png_image_free(&image);
    return code;
}

enum err_code picture_write_png(struct span *out, struct arena *a, const struct picture *p,
                                struct err *e)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = p->width,
                       .height = p->height,
                       .format = PNG_FORMAT_GRAY};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    uint8_t *data = arena_array(a, uint8_t, size);
    bool written = png_image_write_to_memory(&image, data, &size, 0, p->pixels, 0, NULL);
    png_image_free(&image);
    if (!written)
        return err_fail(e, ERR_INPUT, "cannot encode a PNG of %u x %u: %s", p->width, p->height,
                        image.message);
    *out = span_of(data, size);
    return OK;
}
