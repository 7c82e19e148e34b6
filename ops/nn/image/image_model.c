#include "ops/nn/image/image_model.h"

#include <stdio.h>
#include <string.h>

static const char prefix[] = "architecture=images\n";
static const char *const names[] = {"small", "large"};

char *image_config_text(struct arena *a, const struct image_config *c)
{
    return arena_printf(a, "%snetwork=%s\nlabels=%u\n", prefix, names[c->network], c->labels);
}

bool image_config_is(const char *text)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

enum err_code image_config_parse(struct image_config *c, const char *text, struct err *e)
{
    char name[8];
    struct arena a = {0};
    if (!image_config_is(text))
        return err_fail(e, ERR_INPUT, "the model is not a network for images");
    bool same = sscanf(text + strlen(prefix), "network=%7s labels=%u", name, &c->labels) == 2 &&
                c->labels <= 1u << 24;
    c->network = same && strcmp(name, names[IMAGE_LARGE]) == 0 ? IMAGE_LARGE : IMAGE_SMALL;
    same = same && strcmp(image_config_text(&a, c), text) == 0;
    arena_free(&a);
    return same ? OK
                : err_fail(e, ERR_CORRUPT, "checkpoint: invalid architecture of an image network");
}

/* A layer's filter and pool. */
struct layer {
    uint32_t filter_height, filter_width, pool_height, pool_width;
};
static const struct layer small[] = {{3, 3, 2, 4}, {5, 5, 2, 4}, {3, 3, 3, 3}};
static const struct layer large[] = {{3, 3, 0, 0}, {3, 3, 2, 4}, {3, 5, 0, 0},
                                     {3, 5, 2, 4}, {3, 3, 0, 0}, {3, 3, 1, 3}};

static struct image_linear add_linear(struct nn_table *t, struct arena *a, const char *name,
                                      uint32_t in)
{
    const uint32_t shape[NN_RANK] = {IMAGE_VECTOR, in};
    struct image_linear x = {.in = in};
    x.weight = nn_table_add_shape(t, arena_printf(a, "%s.weight", name), 2, shape, in);
    x.bias = nn_table_add_shape(t, arena_printf(a, "%s.bias", name), 1, shape, in);
    return x;
}

/* Updates height, width and channels to the input of the next layer. */
static void add_convolution(struct image_model *m, struct arena *a, const struct layer *l,
                            uint32_t out, uint32_t *height, uint32_t *width, uint32_t *channels)
{
    size_t i = m->convolutions++;
    uint32_t fan = *channels * l->filter_height * l->filter_width;
    const uint32_t shape[NN_RANK] = {out, l->filter_height, l->filter_width, *channels};
    struct image_convolution *c = &m->convolution[i];
    *c = (struct image_convolution){.height = *height,
                                    .width = *width,
                                    .in = *channels,
                                    .out = out,
                                    .filter_height = l->filter_height,
                                    .filter_width = l->filter_width,
                                    .pool_height = l->pool_height,
                                    .pool_width = l->pool_width};
    c->filters =
        nn_table_add_shape(&m->table, arena_printf(a, "convolutions.%zu.weight", i), 4, shape, fan);
    c->bias =
        nn_table_add_shape(&m->table, arena_printf(a, "convolutions.%zu.bias", i), 1, shape, fan);
    *height = image_rows(c) / (l->pool_height ? l->pool_height : 1);
    *width = image_columns(c) / (l->pool_width ? l->pool_width : 1);
    *channels = out;
}

struct image_model *image_model_new(struct arena *a, const struct image_config *c)
{
    struct image_model *m = arena_new(a, struct image_model);
    struct nn_table *t = &m->table;
    bool is_large = c->network == IMAGE_LARGE;
    const struct layer *layers = is_large ? large : small;
    size_t n = is_large ? sizeof large / sizeof *large : sizeof small / sizeof *small;
    uint32_t height = IMAGE_HEIGHT, width = IMAGE_WIDTH, channels = 1;
    m->config = *c;
    t->params = arena_array(a, struct nn_param, 2 * n + 7);
    for (size_t i = 0; i < n; i++)
        add_convolution(m, a, &layers[i], is_large ? 64 : 32, &height, &width, &channels);
    m->first = add_linear(t, a, "linear", height * width * channels);
    m->norm = is_large;
    if (m->norm) {
        m->second = add_linear(t, a, "out", IMAGE_VECTOR);
        m->mean = nn_table_add(t, "norm.running_mean", NN_INIT_ZERO, IMAGE_VECTOR, 0);
        m->variance = nn_table_add(t, "norm.running_var", NN_INIT_ONE, IMAGE_VECTOR, 0);
    }
    m->labels = t->total;
    if (c->labels)
        nn_table_add(t, "labels.weight", NN_INIT_UNIT, c->labels, IMAGE_VECTOR);
    return m;
}
