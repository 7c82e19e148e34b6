/* The two convolutional networks for pictures of equations (Pfahler, Schill and Morik 2019) as
 * data: their layers and their table of parameters.
 *
 *     small    conv 3x3, pool 2x4, conv 5x5, pool 2x4, conv 3x3, pool 3x3, linear 160 -> 64
 *     large    conv 3x3 twice, pool 2x4, conv 3x5 twice, pool 2x4, conv 3x3 twice, pool 1x3,
 *              linear 256 -> 64, batch norm, linear 64 -> 64
 *
 * Sizes are height x width. Small has 32 channels, large 64; convolutions are not padded and end in
 * ReLU, as does batch norm, which has no factor and shift that are learnt. Vectors are
 * x / (|x| + 1e-5). Filters lie as (out, height, width, in), and the first linear layer reads
 * places of the last image one after the other, its channels together. A network that learns labels
 * has a vector for each, behind all else; they are long from the start, so that labels pull vectors
 * apart. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "ops/nn/parameters.h"

#include <stdbool.h>

enum { IMAGE_WIDTH = 333, IMAGE_HEIGHT = 32, IMAGE_PIXELS = IMAGE_WIDTH * IMAGE_HEIGHT };
enum { IMAGE_VECTOR = 64, IMAGE_CONVOLUTIONS = 6 };

enum image_network { IMAGE_SMALL, IMAGE_LARGE };
#define IMAGE_NETWORK_NAMES "small|large"

struct image_config {
    enum image_network network;
    uint32_t labels;
};

struct image_convolution {
    size_t filters, bias; /* within the flat vector */
    /* Of what it reads; of a filter; of the pool behind it, or 0. */
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
    struct image_linear first, second; /* second: of the large network, behind the norm */
    bool norm;
    size_t mean, variance; /* running, (IMAGE_VECTOR) */
    size_t labels;         /* (config.labels, IMAGE_VECTOR) */
};

/* Checkpoint.architecture. */
char *image_config_text(struct arena *a, const struct image_config *c);
/* Whether it is the text of such a network. */
bool image_config_is(const char *text);
/* Reads it back. ERR_INPUT if it is of another kind of model, ERR_CORRUPT. */
enum err_code image_config_parse(struct image_config *c, const char *text, struct err *e);

struct image_model *image_model_new(struct arena *a, const struct image_config *c);

/* Of what a convolution gives, before its pool and behind it. */
static inline uint32_t image_rows(const struct image_convolution *c)
{
    return c->height - c->filter_height + 1;
}
static inline uint32_t image_columns(const struct image_convolution *c)
{
    return c->width - c->filter_width + 1;
}
