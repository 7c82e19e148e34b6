/* Convolution and max pooling by oneDNN's primitives, single-threaded like its products.
 *
 * Images stay channels-last; filters and their gradients are copied into and out of the layout that
 * a primitive prefers, which is cheap compared with the images. bf16 rounds images and filters
 * first; results are f32. A primitive is slow to create, so a device caches each by its key.
 * Primitives have no state: their workspace is the queue's scratch. */
#include "gpu/cpu/cpu_queue.h"

#include <dnnl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum kind { CONVOLVE, BACK_INPUT, BACK_FILTERS, POOL, POOL_BACK };

/* Everything that a primitive depends on; compared bytewise. */
struct key {
    enum kind kind;
    int bf16, relu, bias;
    size_t images, height, width, in, out, filter_height, filter_width;
};

/* x and y are the images, values or gradients; `filters` is in the primitive's preferred layout. */
struct primitive {
    struct primitive *next;
    struct key key;
    dnnl_primitive_t run, reorder;
    dnnl_memory_desc_t x, y, at, plain, filters, bias, work;
};

struct cpu_images {
    pthread_mutex_t lock;
    dnnl_engine_t engine;
    struct primitive *first;
};

struct cpu_images *cpu_images_open(void)
{
    struct cpu_images *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    if (dnnl_engine_create(&x->engine, dnnl_cpu, 0) != dnnl_success) {
        free(x);
        return NULL;
    }
    pthread_mutex_init(&x->lock, NULL);
    return x;
}

static void free_primitive(struct primitive *p)
{
    if (p->run)
        dnnl_primitive_destroy(p->run);
    if (p->reorder)
        dnnl_primitive_destroy(p->reorder);
    free(p);
}

void cpu_images_close(struct cpu_images *x)
{
    for (struct primitive *p = x->first, *next; p; p = next) {
        next = p->next;
        free_primitive(p);
    }
    dnnl_engine_destroy(x->engine);
    pthread_mutex_destroy(&x->lock);
    free(x);
}

/* ---- creating a primitive ---- */

static dnnl_status_t describe(dnnl_memory_desc_t *out, size_t a, size_t b, size_t c, size_t d,
                              bool bf16, dnnl_format_tag_t tag)
{
    const dnnl_dims_t dims = {(dnnl_dim_t)a, (dnnl_dim_t)b, (dnnl_dim_t)c, (dnnl_dim_t)d};
    return dnnl_memory_desc_init_by_tag(out, 4, dims, bf16 ? dnnl_bf16 : dnnl_f32, tag);
}

static dnnl_status_t describe_images(dnnl_memory_desc_t *out, size_t n, size_t channels, size_t h,
                                     size_t w, bool bf16)
{
    return describe(out, n, channels, h, w, bf16, dnnl_nhwc);
}

static dnnl_memory_desc_t ask(const_dnnl_primitive_desc_t d, dnnl_query_t what, int index)
{
    const dnnl_memory_desc_t *md = dnnl_primitive_desc_query_md(d, what, index);
    return md ? *md : (dnnl_memory_desc_t){0};
}

static dnnl_status_t set_attributes(dnnl_primitive_attr_t attr, bool relu)
{
    dnnl_status_t status = dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
    dnnl_post_ops_t ops = NULL;
    if (status || !relu || (status = dnnl_post_ops_create(&ops)))
        return status;
    if (!(status = dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_relu, 0, 0)))
        status = dnnl_primitive_attr_set_post_ops(attr, ops);
    dnnl_post_ops_destroy(ops);
    return status;
}

static dnnl_status_t make_reorder(struct primitive *p, const dnnl_memory_desc_t *from,
                                  const dnnl_memory_desc_t *to, dnnl_engine_t engine)
{
    dnnl_primitive_desc_t d = NULL;
    if (dnnl_memory_desc_equal(from, to))
        return dnnl_success;
    dnnl_status_t status = dnnl_reorder_primitive_desc_create(&d, from, engine, to, engine, NULL);
    if (!status)
        status = dnnl_primitive_create(&p->reorder, d);
    dnnl_primitive_desc_destroy(d);
    return status;
}

/* A backward primitive chooses its kernel from a forward one. */
static dnnl_status_t make(struct primitive *p, const void *op, const void *forward,
                          const_dnnl_primitive_attr_t attr, dnnl_engine_t engine)
{
    dnnl_primitive_desc_t hint = NULL, d = NULL;
    dnnl_status_t status = dnnl_success;
    if (forward)
        status = dnnl_primitive_desc_create(&hint, forward, attr, engine, NULL);
    if (!status)
        status = dnnl_primitive_desc_create(&d, op, attr, engine, hint);
    if (!status)
        status = dnnl_primitive_create(&p->run, d);
    if (!status) {
        p->work = ask(d, dnnl_query_scratchpad_md, 0);
        p->at = ask(d, dnnl_query_workspace_md, 0);
        p->filters = p->key.kind == BACK_FILTERS ? ask(d, dnnl_query_diff_weights_md, 0)
                                                 : ask(d, dnnl_query_weights_md, 0);
    }
    if (hint)
        dnnl_primitive_desc_destroy(hint);
    if (d)
        dnnl_primitive_desc_destroy(d);
    return status;
}

static dnnl_status_t make_convolution(struct primitive *p, const_dnnl_primitive_attr_t attr,
                                      dnnl_engine_t engine)
{
    static const dnnl_dims_t steps = {1, 1}, no = {0, 0};
    const struct key *k = &p->key;
    const dnnl_dims_t outs = {(dnnl_dim_t)k->out};
    bool gradient = k->kind == BACK_FILTERS;
    dnnl_memory_desc_t any, y16, x16, any16;
    dnnl_convolution_desc_t op, forward;
    dnnl_status_t status;
    size_t h = k->height - k->filter_height + 1, w = k->width - k->filter_width + 1;
    const dnnl_memory_desc_t *bias = k->bias ? &p->bias : NULL;
    if ((status = describe_images(&p->x, k->images, k->in, k->height, k->width,
                                  k->bf16 && k->kind != BACK_INPUT)) ||
        (status =
             describe_images(&p->y, k->images, k->out, h, w, k->bf16 && k->kind != CONVOLVE)) ||
        (status = describe_images(&x16, k->images, k->in, k->height, k->width, k->bf16)) ||
        (status = describe_images(&y16, k->images, k->out, h, w, k->bf16)) ||
        (status = describe(&p->plain, k->out, k->in, k->filter_height, k->filter_width, false,
                           dnnl_ohwi)) ||
        (status = describe(&any, k->out, k->in, k->filter_height, k->filter_width,
                           k->bf16 && !gradient, dnnl_format_tag_any)) ||
        (status = describe(&any16, k->out, k->in, k->filter_height, k->filter_width, k->bf16,
                           dnnl_format_tag_any)) ||
        (status = dnnl_memory_desc_init_by_tag(&p->bias, 1, outs, dnnl_f32, dnnl_x)) ||
        (status = dnnl_convolution_forward_desc_init(
             &forward, dnnl_forward_training, dnnl_convolution_direct, &x16, &any16, bias,
             k->kind == CONVOLVE ? &p->y : &y16, steps, no, no)))
        return status;
    switch (k->kind) {
    case BACK_INPUT:
        status = dnnl_convolution_backward_data_desc_init(&op, dnnl_convolution_direct, &p->x, &any,
                                                          &p->y, steps, no, no);
        break;
    case BACK_FILTERS:
        status = dnnl_convolution_backward_weights_desc_init(&op, dnnl_convolution_direct, &p->x,
                                                             &any, &p->bias, &p->y, steps, no, no);
        break;
    case CONVOLVE:
    case POOL:
    case POOL_BACK: break;
    }
    if (status || (status = k->kind == CONVOLVE ? make(p, &forward, NULL, attr, engine)
                                                : make(p, &op, &forward, attr, engine)))
        return status;
    return gradient ? make_reorder(p, &p->filters, &p->plain, engine)
                    : make_reorder(p, &p->plain, &p->filters, engine);
}

static dnnl_status_t make_pool(struct primitive *p, const_dnnl_primitive_attr_t attr,
                               dnnl_engine_t engine)
{
    static const dnnl_dims_t no = {0, 0};
    const struct key *k = &p->key;
    const dnnl_dims_t window = {(dnnl_dim_t)k->filter_height, (dnnl_dim_t)k->filter_width};
    dnnl_pooling_desc_t op, forward;
    dnnl_status_t status;
    /* Forward training also stores the positions of maxima. */
    bool training = k->kind == POOL_BACK || k->bias;
    if ((status = describe(&p->x, k->images, k->in, k->height, k->width, false, dnnl_nhwc)) ||
        (status = describe(&p->y, k->images, k->in, k->height / k->filter_height,
                           k->width / k->filter_width, false, dnnl_nhwc)) ||
        (status = dnnl_pooling_forward_desc_init(
             &forward, training ? dnnl_forward_training : dnnl_forward_inference, dnnl_pooling_max,
             &p->x, &p->y, window, window, no, no)))
        return status;
    if (k->kind == POOL)
        return make(p, &forward, NULL, attr, engine);
    status = dnnl_pooling_backward_desc_init(&op, dnnl_pooling_max, &p->x, &p->y, window, window,
                                             no, no);
    return status ? status : make(p, &op, &forward, attr, engine);
}

static dnnl_status_t make_primitive(struct primitive **out, const struct key *k,
                                    dnnl_engine_t engine)
{
    dnnl_primitive_attr_t attr = NULL;
    struct primitive *p = calloc(1, sizeof *p);
    if (!p)
        return dnnl_out_of_memory;
    p->key = *k;
    dnnl_status_t status = dnnl_primitive_attr_create(&attr);
    if (!status)
        status = set_attributes(attr, k->relu);
    if (!status)
        status = k->kind == POOL || k->kind == POOL_BACK ? make_pool(p, attr, engine)
                                                         : make_convolution(p, attr, engine);
    if (attr)
        dnnl_primitive_attr_destroy(attr);
    if (status)
        free_primitive(p);
    else
        *out = p;
    return status;
}

/* ---- running it ---- */

/* A call's parts of the queue's scratch. */
struct room {
    void *work, *filters;
    float *plain, *bias; /* backward to filters */
    uint16_t *x, *y;     /* rounded */
};

struct call {
    struct gpu_queue *q;
    struct cpu_images *all;
    struct primitive *p;
    struct room room;
    dnnl_status_t status;
    dnnl_exec_arg_t args[8];
    int n;
};

static size_t floats_of(const dnnl_memory_desc_t *md)
{
    return (size_t)(md->dims[0] * md->dims[1] * md->dims[2] * md->dims[3]);
}

static void lay_out(struct room *r, const struct primitive *p, struct gpu_layout *l)
{
    const struct key *k = &p->key;
    r->work = gpu_carve(l, dnnl_memory_desc_get_size(&p->work));
    r->filters = gpu_carve(l, dnnl_memory_desc_get_size(&p->filters));
    r->plain = k->kind == BACK_FILTERS ? gpu_carve_floats(l, floats_of(&p->plain)) : NULL;
    r->bias = k->kind == BACK_FILTERS ? gpu_carve_floats(l, k->out) : NULL;
    r->x = p->x.data_type == dnnl_bf16 ? gpu_carve(l, 2 * floats_of(&p->x)) : NULL;
    r->y = p->y.data_type == dnnl_bf16 ? gpu_carve(l, 2 * floats_of(&p->y)) : NULL;
}

/* Returns false if there is nothing to do, or after a failure, which end() reports. */
static bool begin(struct call *c, struct gpu_queue *q, const struct key *k)
{
    struct gpu_layout l = {0};
    *c = (struct call){.q = q, .all = ((struct cpu_device *)q->device)->images};
    if (q->failure.code || k->images == 0)
        return false;
    pthread_mutex_lock(&c->all->lock);
    for (c->p = c->all->first; c->p && memcmp(&c->p->key, k, sizeof *k);)
        c->p = c->p->next;
    if (!c->p && !(c->status = make_primitive(&c->p, k, c->all->engine))) {
        c->p->next = c->all->first;
        c->all->first = c->p;
    }
    pthread_mutex_unlock(&c->all->lock);
    if (c->status)
        return false;
    lay_out(&c->room, c->p, &l);
    l = (struct gpu_layout){.base = cpu_scratch(q, l.used)};
    if (l.base)
        lay_out(&c->room, c->p, &l);
    return l.base;
}

static void give(struct call *c, int arg, const dnnl_memory_desc_t *md, const void *at)
{
    if (c->status || md->ndims == 0)
        return;
    dnnl_memory_t memory;
    c->status = dnnl_memory_create(&memory, md, c->all->engine, (void *)at);
    if (!c->status)
        c->args[c->n++] = (dnnl_exec_arg_t){arg, memory};
}

static void run(struct call *c, dnnl_primitive_t p)
{
    dnnl_stream_t stream = NULL;
    if (!c->status)
        c->status = dnnl_stream_create(&stream, c->all->engine, dnnl_stream_default_flags);
    if (!c->status)
        c->status = dnnl_primitive_execute(p, stream, c->n, c->args);
    if (stream)
        dnnl_stream_destroy(stream);
    while (c->n)
        dnnl_memory_destroy(c->args[--c->n].memory);
}

static void run_primitive(struct call *c)
{
    give(c, DNNL_ARG_SCRATCHPAD, &c->p->work, c->room.work);
    run(c, c->p->run);
}

static void reorder(struct call *c, const dnnl_memory_desc_t *to_md, void *to,
                    const dnnl_memory_desc_t *from_md, const void *from)
{
    give(c, DNNL_ARG_FROM, from_md, from);
    give(c, DNNL_ARG_TO, to_md, to);
    run(c, c->p->reorder);
}

static void end(struct call *c, const char *what)
{
    if (c->status && !c->q->failure.code)
        err_fail(&c->q->failure, c->status == dnnl_out_of_memory ? ERR_NOMEM : ERR_FAILED,
                 "oneDNN: %s failed (status %d)", what, (int)c->status);
}

/* ---- convolution ---- */

static struct key convolution_key(enum kind kind, const struct gpu_convolution *how, bool bias)
{
    struct key k;
    memset(&k, 0, sizeof k); /* clears the padding too */
    k.kind = kind;
    k.bf16 = cpu_dnnl_bf16() && how->precision == GPU_BF16;
    k.relu = kind == CONVOLVE && how->relu;
    k.bias = bias;
    k.images = how->images;
    k.height = how->height;
    k.width = how->width;
    k.in = how->in;
    k.out = how->out;
    k.filter_height = how->filter_height;
    k.filter_width = how->filter_width;
    return k;
}

static void give_images(struct call *c, int arg, const dnnl_memory_desc_t *md, uint16_t *rounded,
                        const float *images)
{
    if (rounded)
        c->q->op->round_bf16(c->q, rounded, images, 1, floats_of(md), floats_of(md));
    give(c, arg, md, rounded ? (const void *)rounded : images);
}

static const void *liked_filters(struct call *c, const float *filters)
{
    if (!c->p->reorder)
        return filters;
    reorder(c, &c->p->filters, c->room.filters, &c->p->plain, filters);
    return c->room.filters;
}

static void convolve(struct gpu_queue *q, float *y, const float *x, const float *filters,
                     const float *bias, const struct gpu_convolution *how)
{
    struct call c;
    struct key k = convolution_key(CONVOLVE, how, bias != NULL);
    if (begin(&c, q, &k)) {
        const void *liked = liked_filters(&c, filters);
        give_images(&c, DNNL_ARG_SRC, &c.p->x, c.room.x, x);
        give(&c, DNNL_ARG_WEIGHTS, &c.p->filters, liked);
        if (bias)
            give(&c, DNNL_ARG_BIAS, &c.p->bias, bias);
        give(&c, DNNL_ARG_DST, &c.p->y, y);
        run_primitive(&c);
    }
    end(&c, "convolution");
}

static void convolve_back_input(struct gpu_queue *q, float *dx, const float *dy,
                                const float *filters, const struct gpu_convolution *how)
{
    struct call c;
    struct key k = convolution_key(BACK_INPUT, how, false);
    if (begin(&c, q, &k)) {
        const void *liked = liked_filters(&c, filters);
        give_images(&c, DNNL_ARG_DIFF_DST, &c.p->y, c.room.y, dy);
        give(&c, DNNL_ARG_WEIGHTS, &c.p->filters, liked);
        give(&c, DNNL_ARG_DIFF_SRC, &c.p->x, dx);
        run_primitive(&c);
    }
    end(&c, "a convolution's gradient of images");
}

static void convolve_back_filters(struct gpu_queue *q, float *dfilters, float *dbias,
                                  const float *dy, const float *x,
                                  const struct gpu_convolution *how)
{
    struct call c;
    struct key k = convolution_key(BACK_FILTERS, how, true);
    if (begin(&c, q, &k)) {
        give_images(&c, DNNL_ARG_SRC, &c.p->x, c.room.x, x);
        give_images(&c, DNNL_ARG_DIFF_DST, &c.p->y, c.room.y, dy);
        give(&c, DNNL_ARG_DIFF_WEIGHTS, &c.p->filters, c.room.filters);
        give(&c, DNNL_ARG_DIFF_BIAS, &c.p->bias, c.room.bias);
        run_primitive(&c);
        if (c.p->reorder)
            reorder(&c, &c.p->plain, c.room.plain, &c.p->filters, c.room.filters);
        q->op->add(q, dfilters, c.p->reorder ? c.room.plain : c.room.filters,
                   floats_of(&c.p->plain));
        q->op->add(q, dbias, c.room.bias, how->out);
    }
    end(&c, "a convolution's gradient of filters");
}

/* ---- pooling ---- */

/* `places`: whether the positions of maxima are needed. */
static struct key pool_key(enum kind kind, const struct gpu_max_pool *how, bool places)
{
    struct gpu_convolution like = {
        .images = how->images,
        .height = how->height,
        .width = how->width,
        .in = how->channels,
        .filter_height = how->window_height,
        .filter_width = how->window_width,
    };
    return convolution_key(kind, &like, places);
}

static void max_pool(struct gpu_queue *q, float *y, uint8_t *at, const float *x,
                     const struct gpu_max_pool *how)
{
    struct call c;
    struct key k = pool_key(POOL, how, at != NULL);
    if (begin(&c, q, &k)) {
        give(&c, DNNL_ARG_SRC, &c.p->x, x);
        give(&c, DNNL_ARG_DST, &c.p->y, y);
        if (at)
            give(&c, DNNL_ARG_WORKSPACE, &c.p->at, at);
        run_primitive(&c);
    }
    end(&c, "max pooling");
}

static void max_pool_back(struct gpu_queue *q, float *dx, const float *dy, const uint8_t *at,
                          const struct gpu_max_pool *how)
{
    struct call c;
    struct key k = pool_key(POOL_BACK, how, true);
    if (begin(&c, q, &k)) {
        give(&c, DNNL_ARG_DIFF_DST, &c.p->y, dy);
        give(&c, DNNL_ARG_DIFF_SRC, &c.p->x, dx);
        give(&c, DNNL_ARG_WORKSPACE, &c.p->at, at);
        run_primitive(&c);
    }
    end(&c, "max pooling's gradient");
}

void cpu_fill_images(struct gpu_ops *t)
{
    t->convolve = convolve;
    t->convolve_back_input = convolve_back_input;
    t->convolve_back_filters = convolve_back_filters;
    t->max_pool = max_pool;
    t->max_pool_back = max_pool_back;
}
