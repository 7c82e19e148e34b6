/* Layers and parameter tables of the two convolutional networks for pictures of equations (Pfahler,
 * Schill and Morik 2019).
 *
 *     small    conv 3x3, pool 2x4, conv 5x5, pool 2x4, conv 3x3, pool 3x3, linear 160 -> 64
 *     large    conv 3x3 twice, pool 2x4, conv 3x5 twice, pool 2x4, conv 3x3 twice, pool 1x3,
 *              linear 256 -> 64, batch norm, linear 64 -> 64
 *
 * Sizes are height x width. Small has 32 channels, large 64. Convolutions are not padded. They and
 * batch norm end in ReLU; batch norm has no learnable scale and shift. Vectors are x / (|x| +
 * 1e-5). Filters are stored as (out, height, width, in), and the first linear layer reads the last
 * image as (height, width, channel). A network that learns labels has a vector for each label,
 * stored last; these vectors are long from the start, so that labels pull image vectors apart. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "ops/nn/parameters.h"

#include <stdbool.h>

enum { IMAGE_WIDTH = 333, IMAGE_HEIGHT = 32, IMAGE_PIXELS = IMAGE_WIDTH * IMAGE_HEIGHT };
enum { IMAGE_VECTOR = 64, IMAGE_CONVOLUTIONS = 6 };

enum image_kind { IMAGE_SMALL, IMAGE_LARGE };
#define IMAGE_NETWORK_NAMES "small|large"

struct image_config {
    enum image_kind network;
    uint32_t labels;
};

struct image_convolution {
    size_t filters, bias; /* offsets in the flat vector */
    /* The input's size; the filter's; that of the pool after it, or 0. */
    uint32_t height, width, in, out;
    uint32_t filter_height, filter_width, pool_height, pool_width;
};

struct image_linear {
    size_t weight, bias;
    uint32_t in;
};

struct image_model {
    struct image_config config;
    struct nn_table table;
    size_t convolutions;
    struct image_convolution convolution[IMAGE_CONVOLUTIONS];
    struct image_linear first, second; /* second: large network only, after the norm */
    bool norm;
    size_t mean, variance; /* running, (IMAGE_VECTOR) */
    size_t labels;         /* (config.labels, IMAGE_VECTOR) */
};

/* Returns the text for Checkpoint.architecture. */
char *image_config_text(struct arena *a, const struct image_config *c);
/* Returns true if the text describes a network of this kind. */
bool image_config_is(const char *text);
/* Parses the text. ERR_INPUT for another kind of model, else ERR_CORRUPT. */
enum err_code image_config_parse(struct image_config *c, const char *text, struct err *e);

struct image_model *image_model_new(struct arena *a, const struct image_config *c);

/* The size of a convolution's output before its pool. */
static inline uint32_t image_rows(const struct image_convolution *c)
{
    return c->height - c->filter_height + 1;
}
static inline uint32_t image_columns(const struct image_convolution *c)
{
    return c->width - c->filter_width + 1;
}
