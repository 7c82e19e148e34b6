#include "ops/nn/image/image_net.h"

#include "ops/nn/linear.h"

/* The floats per image of a convolution's output, and of the next layer's input. */
static size_t whole(const struct image_convolution *c)
{
    return (size_t)image_rows(c) * image_columns(c) * c->out;
}

static size_t pooled(const struct image_convolution *c)
{
    return c->pool_height ? (size_t)(image_rows(c) / c->pool_height) *
                                (image_columns(c) / c->pool_width) * c->out
                          : whole(c);
}

static bool is_made_again(const struct image_model *m, size_t layer)
{
    return layer == 0 && !m->convolution[0].pool_height;
}

void image_tape_layout(struct image_tape *t, const struct image_model *m, size_t images,
                       bool training, struct gpu_layout *l)
{
    *t = (struct image_tape){.images = images};
    t->x = gpu_carve_floats(l, images * IMAGE_PIXELS);
    for (size_t i = 0; i < m->convolutions; i++) {
        size_t n = images * pooled(&m->convolution[i]);
        t->out[i] = is_made_again(m, i) ? NULL : gpu_carve_floats(l, n);
        t->at[i] = training && m->convolution[i].pool_height ? gpu_carve(l, n) : NULL;
    }
}

void image_scratch_layout(struct image_scratch *s, const struct image_model *m, size_t images,
                          struct gpu_layout *l)
{
    size_t most = 0;
    for (size_t i = 0; i < m->convolutions; i++)
        most = whole(&m->convolution[i]) > most ? whole(&m->convolution[i]) : most;
    s->first = is_made_again(m, 0) ? gpu_carve_floats(l, images * most) : NULL;
    s->x = gpu_carve_floats(l, images * most);
    s->y = gpu_carve_floats(l, images * most);
}

void image_ink(float *x, const uint8_t *pixels, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(255 - pixels[i]) * (1.0F / 255);
}

/* ---- a shard ---- */

struct pass {
    struct gpu_queue *q;
    const struct image_model *m;
    const float *flat;
    const struct image_tape *t;
    const struct image_scratch *s;
    enum gpu_precision precision;
    float *given, *other; /* backward: the gradient of a layer's output, and a second buffer */
};

static struct gpu_convolution shape_of(const struct pass *p, size_t layer)
{
    const struct image_convolution *c = &p->m->convolution[layer];
    return (struct gpu_convolution){.images = p->t->images,
                                    .height = c->height,
                                    .width = c->width,
                                    .in = c->in,
                                    .out = c->out,
                                    .filter_height = c->filter_height,
                                    .filter_width = c->filter_width,
                                    .relu = true,
                                    .precision = p->precision};
}

static struct gpu_max_pool pool_of(const struct pass *p, size_t layer)
{
    const struct image_convolution *c = &p->m->convolution[layer];
    return (struct gpu_max_pool){.images = p->t->images,
                                 .height = image_rows(c),
                                 .width = image_columns(c),
                                 .channels = c->out,
                                 .window_height = c->pool_height,
                                 .window_width = c->pool_width};
}

/* A layer's input and output. */
static float *input(const struct pass *p, size_t layer)
{
    return layer == 0 ? p->t->x : p->t->out[layer - 1] ? p->t->out[layer - 1] : p->s->first;
}

static void convolve(const struct pass *p, size_t layer)
{
    const struct image_convolution *c = &p->m->convolution[layer];
    struct gpu_convolution how = shape_of(p, layer);
    struct gpu_max_pool pool = pool_of(p, layer);
    float *out = p->t->out[layer] ? p->t->out[layer] : p->s->first;
    p->q->op->convolve(p->q, c->pool_height ? p->s->x : out, input(p, layer), p->flat + c->filters,
                       p->flat + c->bias, &how);
    if (c->pool_height)
        p->q->op->max_pool(p->q, out, p->t->at[layer], p->s->x, &pool);
}

void image_forward(struct gpu_queue *q, float *features, const struct image_model *m,
                   const float *flat, const struct image_tape *t, const struct image_scratch *s,
                   enum gpu_precision precision)
{
    struct pass p = {q, m, flat, t, s, precision, NULL, NULL};
    for (size_t i = 0; i < m->convolutions; i++)
        convolve(&p, i);
    linear(q, features, t->out[m->convolutions - 1], flat + m->first.weight, t->images, m->first.in,
           IMAGE_VECTOR, (struct linear_end){.bias = flat + m->first.bias}, precision);
}

static void swap(struct pass *p)
{
    float *given = p->given;
    p->given = p->other;
    p->other = given;
}

/* From the gradient of the layer's output to that of its input. */
static void convolve_back(struct pass *p, float *grad, size_t layer)
{
    const struct image_convolution *c = &p->m->convolution[layer];
    const struct gpu_ops *op = p->q->op;
    struct gpu_convolution how = shape_of(p, layer);
    struct gpu_max_pool pool = pool_of(p, layer);
    op->activate_back(p->q, GPU_TYPE_F32, p->given, p->given, input(p, layer + 1), NULL,
                      p->t->images * pooled(c) / c->out, c->out, GPU_RELU);
    if (c->pool_height) {
        op->max_pool_back(p->q, p->other, p->given, p->t->at[layer], &pool);
        swap(p);
    }
    op->convolve_back_filters(p->q, grad + c->filters, grad + c->bias, p->given, input(p, layer),
                              &how);
    if (layer == 0)
        return;
    op->convolve_back_input(p->q, p->other, p->given, p->flat + c->filters, &how);
    swap(p);
}

void image_backward(struct gpu_queue *q, float *grad, const float *dfeatures,
                    const struct image_model *m, const float *flat, const struct image_tape *t,
                    const struct image_scratch *s, enum gpu_precision precision)
{
    struct pass p = {q, m, flat, t, s, precision, s->x, s->y};
    if (is_made_again(m, 0))
        convolve(&p, 0);
    linear_back_weight(q, grad + m->first.weight, grad + m->first.bias, GPU_TYPE_F32, dfeatures,
                       t->out[m->convolutions - 1], t->images, m->first.in, IMAGE_VECTOR,
                       precision);
    linear_back_input(q, p.given, dfeatures, flat + m->first.weight, t->images, m->first.in,
                      IMAGE_VECTOR, (struct linear_back_end){0}, precision);
    for (size_t i = m->convolutions; i-- > 0;)
        convolve_back(&p, grad, i);
}

/* ---- the end ---- */

void image_end_layout(struct image_end *x, const struct image_model *m, size_t n,
                      struct gpu_layout *l)
{
    *x = (struct image_end){.n = n};
    x->features = x->vectors = gpu_carve_floats(l, n * IMAGE_VECTOR);
    if (!m->norm)
        return;
    x->vectors = gpu_carve_floats(l, n * IMAGE_VECTOR);
    x->hidden = gpu_carve_floats(l, n * IMAGE_VECTOR);
    x->dhidden = gpu_carve_floats(l, n * IMAGE_VECTOR);
    x->factor = gpu_carve_floats(l, IMAGE_VECTOR);
    x->shift = gpu_carve_floats(l, IMAGE_VECTOR);
    x->back = gpu_carve_floats(l, IMAGE_VECTOR);
    x->back_shift = gpu_carve_floats(l, IMAGE_VECTOR);
    x->sums = gpu_carve(l, 2 * IMAGE_VECTOR * sizeof *x->sums);
}

void image_end_sums(struct gpu_queue *q, const struct image_end *x)
{
    q->op->column_sums(q, x->sums, x->features, x->features, x->n, IMAGE_VECTOR);
}

void image_end_forward(struct gpu_queue *q, const struct image_model *m, const float *flat,
                       const struct image_end *x, enum gpu_precision precision)
{
    q->op->affine_columns(q, x->hidden, x->features, x->factor, NULL, NULL, x->shift, x->n,
                          IMAGE_VECTOR);
    q->op->activate(q, GPU_TYPE_F32, x->hidden, x->hidden, NULL, x->n, IMAGE_VECTOR, GPU_RELU);
    linear(q, x->vectors, x->hidden, flat + m->second.weight, x->n, IMAGE_VECTOR, IMAGE_VECTOR,
           (struct linear_end){.bias = flat + m->second.bias}, precision);
}

void image_end_backward(struct gpu_queue *q, float *grad, const struct image_model *m,
                        const float *flat, const struct image_end *x, enum gpu_precision precision)
{
    linear_back_weight(q, grad + m->second.weight, grad + m->second.bias, GPU_TYPE_F32, x->vectors,
                       x->hidden, x->n, IMAGE_VECTOR, IMAGE_VECTOR, precision);
    linear_back_input(q, x->dhidden, x->vectors, flat + m->second.weight, x->n, IMAGE_VECTOR,
                      IMAGE_VECTOR, (struct linear_back_end){.mask = x->hidden}, precision);
    q->op->column_sums(q, x->sums, x->dhidden, x->features, x->n, IMAGE_VECTOR);
}

void image_end_norm_back(struct gpu_queue *q, const struct image_end *x)
{
    q->op->affine_columns(q, x->features, x->dhidden, x->factor, x->features, x->back,
                          x->back_shift, x->n, IMAGE_VECTOR);
}
