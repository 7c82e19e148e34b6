/* PNG: what is written is read; other PNGs become grey over white; damaged ones are refused. */
#include "base/io/picture.h"

#include "tests/unit.h"

#include <png.h>

TEST_IN_ARENA(round_trip)
{
    struct err e = {0};
    uint8_t pixels[7 * 3];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 12);
    struct picture p = {7, 3, pixels}, back;
    struct span file;
    assert_int_equal(picture_write_png(&file, a, &p, &e), OK);
    assert_int_equal(picture_read_png(&back, a, file, &e), OK);
    assert_int_equal(back.width, 7);
    assert_int_equal(back.height, 3);
    assert_memory_equal(back.pixels, pixels, sizeof pixels);
    /* every cut is refused, and no flipped byte reads beyond it */
    for (size_t n = 0; n < file.len - 12; n++)
        assert_int_equal(picture_read_png(&back, a, span_of(file.data, n), &e), ERR_INPUT);
    for (size_t i = 0; i < file.len; i++) {
        uint8_t *bad = arena_memdup(a, file.data, file.len);
        bad[i] ^= 0x41;
        (void)picture_read_png(&back, a, span_of(bad, file.len), &e);
    }
}

/* Written by libpng itself, as the authors' pictures are: ink is opaque, paper transparent. */
TEST_IN_ARENA(transparent)
{
    struct err e = {0};
    const uint8_t rgba[] = {0, 0, 0, 255, 0, 0, 0, 0, 255, 255, 255, 255, 90, 90, 90, 255};
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = 4, .height = 1, .format = PNG_FORMAT_RGBA};
    uint8_t data[500];
    png_alloc_size_t size = sizeof data;
    struct picture p;
    assert_true(png_image_write_to_memory(&image, data, &size, 0, rgba, 0, NULL));
    assert_int_equal(picture_read_png(&p, a, span_of(data, size), &e), OK);
    assert_int_equal(p.pixels[0], 0);
    assert_int_equal(p.pixels[1], 255);
    assert_int_equal(p.pixels[2], 255);
    assert_int_equal(p.pixels[3], 90);
}

TEST_IN_ARENA(too_large)
{
    struct err e = {0};
    struct picture p;
    static uint8_t paper[5000 * 4000];
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = 5000, .height = 4000, .format = PNG_FORMAT_GRAY};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    uint8_t *data = arena_alloc(a, size);
    assert_true(png_image_write_to_memory(&image, data, &size, 0, paper, 0, NULL));
    assert_int_equal(picture_read_png(&p, a, span_of(data, size), &e), ERR_INPUT);
    assert_string_equal(e.message, "5000 x 4000 pixels are too many");
}
