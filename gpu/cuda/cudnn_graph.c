/* Plans of cuDNN's graph API; see cudnn_graph.h. */
#include "gpu/cuda/cudnn_graph.h"

#include <stdlib.h>
#include <string.h>

enum { DIMS = 4, CONFIGS = 16, ALIGNMENT = 16 };
typedef cudnnBackendDescriptor_t descriptor;

struct cudnn_cache {
    const struct cudnn_calls *calls;
    pthread_mutex_t lock;
    cudnnHandle_t handle;
    descriptor card; /* a described card, or NULL */
    struct cudnn_plan *plans;
};

size_t cudnn_version(const char **why)
{
    const struct cudnn_calls *calls = cudnn_load(why);
    return calls ? calls->version() : 0;
}

/* ---- descriptors: the first failure is kept, later calls do nothing ---- */

struct build {
    const struct cudnn_calls *calls;
    cudnnStatus_t status;
    void **all;
    size_t n, cap;
};

static void destroy_from(struct build *b, size_t first)
{
    while (b->n > first)
        b->calls->destroy(b->all[--b->n]);
}

static descriptor make(struct build *b, cudnnBackendDescriptorType_t type)
{
    descriptor d = NULL;
    if (b->n == b->cap && !b->status) {
        size_t cap = b->cap ? 2 * b->cap : 32;
        void **more = realloc(b->all, cap * sizeof *more);
        if (more) {
            b->all = more;
            b->cap = cap;
        } else {
            b->status = CUDNN_STATUS_ALLOC_FAILED;
        }
    }
    if (!b->status && !(b->status = b->calls->make(type, &d)))
        b->all[b->n++] = d;
    return d;
}

static void set(struct build *b, descriptor d, cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type, size_t n, const void *values)
{
    if (!b->status)
        b->status = b->calls->set(d, name, type, (int64_t)n, values);
}

static void set_one(struct build *b, descriptor d, cudnnBackendAttributeName_t name,
                    descriptor value)
{
    set(b, d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

static descriptor finish(struct build *b, descriptor d)
{
    if (!b->status)
        b->status = b->calls->finalize(d);
    return d;
}

/* ---- tensors ---- */

struct tensor {
    cudnnDataType_t type;
    int64_t size[DIMS], stride[DIMS];
    int64_t alignment; /* 0: ALIGNMENT */
    bool by_value;
    descriptor ragged;
};

static descriptor tensor(struct build *b, int64_t id, const struct tensor *t)
{
    descriptor d = make(b, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    int64_t alignment = t->alignment ? t->alignment : ALIGNMENT;
    set(b, d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &t->type);
    set(b, d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, DIMS, t->size);
    set(b, d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, DIMS, t->stride);
    set(b, d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id);
    set(b, d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    if (t->by_value)
        set(b, d, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &t->by_value);
    if (t->ragged)
        set_one(b, d, CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC, t->ragged);
    return finish(b, d);
}

/* (n, channels, height, width), stored channels-last */
static descriptor image(struct build *b, int64_t id, cudnnDataType_t type, size_t n,
                        size_t channels, size_t height, size_t width)
{
    int64_t c = (int64_t)channels, h = (int64_t)height, w = (int64_t)width;
    return tensor(b, id,
                  &(struct tensor){.type = type,
                                   .size = {(int64_t)n, c, h, w},
                                   .stride = {c * h * w, 1, c * w, c}});
}

/* ---- operations ---- */

static descriptor convolve(struct build *b, const struct cudnn_key *key)
{
    static const int64_t one[] = {1, 1}, none[] = {0, 0}, dims = 2;
    static const float alpha = 1, beta = 0;
    static const struct {
        cudnnBackendDescriptorType_t type;
        cudnnBackendAttributeName_t how, alpha, beta, operand[3];
    } kinds[] = {
        [CONVOLVE] = {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y}},
        [CONVOLVE_BACK_INPUT] = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                                 CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                                 CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                                 CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                                 {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX}},
        [CONVOLVE_BACK_FILTERS] = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                                   CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                                   CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                                   CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
                                   {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW}},
    };
    enum { IMAGES, FILTERS, RESULTS };
    static const int order[][3] = {[CONVOLVE] = {IMAGES, FILTERS, RESULTS},
                                   [CONVOLVE_BACK_INPUT] = {RESULTS, FILTERS, IMAGES},
                                   [CONVOLVE_BACK_FILTERS] = {RESULTS, IMAGES, FILTERS}};
    const struct gpu_convolution *c = &key->convolution;
    cudnnDataType_t f32 = CUDNN_DATA_FLOAT,
                    in = key->precision == GPU_BF16 ? CUDNN_DATA_BFLOAT16 : f32;
    cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    size_t height = c->height - c->filter_height + 1, width = c->width - c->filter_width + 1;
    descriptor how = make(b, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    set(b, how, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &f32);
    set(b, how, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    set(b, how, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &dims);
    set(b, how, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, none);
    set(b, how, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, none);
    set(b, how, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, one);
    set(b, how, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, one);
    finish(b, how);
    descriptor op = make(b, kinds[key->kind].type);
    set_one(b, op, kinds[key->kind].how, how);
    set(b, op, kinds[key->kind].alpha, CUDNN_TYPE_FLOAT, 1, &alpha);
    set(b, op, kinds[key->kind].beta, CUDNN_TYPE_FLOAT, 1, &beta);
    for (int i = 0; i < 3; i++) {
        cudnnDataType_t type = i < 2 ? in : f32;
        descriptor t = NULL;
        switch (order[key->kind][i]) {
        case IMAGES: t = image(b, i + 1, type, c->images, c->in, c->height, c->width); break;
        case FILTERS:
            t = image(b, i + 1, type, c->out, c->in, c->filter_height, c->filter_width);
            break;
        case RESULTS: t = image(b, i + 1, type, c->images, c->out, height, width); break;
        }
        set_one(b, op, kinds[key->kind].operand[i], t);
    }
    return finish(b, op);
}

static descriptor numbers(struct build *b, int64_t id, int64_t n)
{
    return tensor(b, id,
                  &(struct tensor){.type = CUDNN_DATA_INT32,
                                   .size = {n, 1, 1, 1},
                                   .stride = {1, 1, 1, 1},
                                   .alignment = sizeof(int32_t)});
}

static descriptor attend(struct build *b, const struct cudnn_key *key)
{
    static const cudnnBackendAttributeName_t names[] = {
        CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC};
    int64_t n = (int64_t)key->attention.sequences, h = (int64_t)key->attention.heads;
    int64_t d = (int64_t)key->attention.size, s = (int64_t)key->attention.longest;
    descriptor op = make(b, CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
    descriptor rows = numbers(b, 7, n + 1), sums = numbers(b, 8, n + 1), lengths = numbers(b, 9, n);
    descriptor results = numbers(b, 10, n + 1);
    for (int i = 0; i < 4; i++) {
        int64_t ld = i < 3 ? (int64_t)key->attention.ld : h * d;
        set_one(b, op, names[i],
                tensor(b, i + 1,
                       &(struct tensor){.type = CUDNN_DATA_BFLOAT16,
                                        .size = {n, h, s, d},
                                        .stride = {s * ld, d, ld, 1},
                                        .ragged = i < 3 ? rows : results}));
    }
    struct tensor lse = {
        .type = CUDNN_DATA_FLOAT, .size = {n, h, s, 1}, .stride = {h * s, 1, h, 1}, .ragged = sums};
    set_one(b, op, CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC, tensor(b, 5, &lse));
    set_one(b, op, CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC,
            tensor(b, 6,
                   &(struct tensor){.type = CUDNN_DATA_FLOAT,
                                    .size = {1, 1, 1, 1},
                                    .stride = {1, 1, 1, 1},
                                    .alignment = sizeof(float),
                                    .by_value = true}));
    set_one(b, op, CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC, lengths);
    set_one(b, op, CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC, lengths);
    return finish(b, op);
}

/* ---- plans ---- */

/* Returns whether the engine is deterministic and has the required precision. */
static bool suits(struct build *b, descriptor config, enum gpu_precision precision)
{
    cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    descriptor engine = make(b, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    int64_t n = 0;
    if (!b->status)
        b->status = b->calls->get(config, CUDNN_ATTR_ENGINECFG_ENGINE,
                                  CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &n, &engine);
    if (!b->status)
        b->status =
            b->calls->get(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                          CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &n, notes);
    bool good = !b->status;
    for (int64_t i = 0; i < n && good; i++)
        good = notes[i] == CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP ||
               (notes[i] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE && precision != GPU_F32);
    return good;
}

/* Not supported, by this version or on this card. */
static bool refused(cudnnStatus_t s)
{
    int kind = (int)s / 1000;
    return kind == (int)CUDNN_STATUS_NOT_SUPPORTED / 1000 ||
           kind == (int)CUDNN_STATUS_BAD_PARAM / 1000;
}

/* Takes the heuristic's first configuration that suits; frees all others. */
static void choose(struct build *b, struct cudnn_plan *out, const struct cudnn_cache *c,
                   descriptor graph, cudnnBackendHeurMode_t mode)
{
    descriptor heuristic = make(b, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR), configs[CONFIGS];
    int64_t found = 0, one;
    set_one(b, heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    set(b, heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    if (c->card)
        set_one(b, heuristic, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, c->card);
    finish(b, heuristic);
    for (int i = 0; i < CONFIGS; i++)
        configs[i] = make(b, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (!b->status)
        b->status = b->calls->get(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                  CUDNN_TYPE_BACKEND_DESCRIPTOR, CONFIGS, &found, configs);
    for (int64_t i = 0; i < found && i < CONFIGS && !out->plan && !b->status; i++) {
        size_t first = b->n;
        if (suits(b, configs[i], out->key.precision)) {
            descriptor plan = make(b, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
            if (c->handle)
                set(b, plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &c->handle);
            set_one(b, plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configs[i]);
            if (c->card)
                set_one(b, plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, c->card);
            finish(b, plan);
            if (!b->status)
                b->status = b->calls->get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                          CUDNN_TYPE_INT64, 1, &one, &out->workspace);
            if (!b->status && out->workspace <= CUDNN_WORKSPACE) {
                out->plan = plan;
                return;
            }
        }
        if (refused(b->status))
            b->status = CUDNN_STATUS_SUCCESS;
        destroy_from(b, first);
    }
}

static cudnnStatus_t plan_new(struct cudnn_plan *out, const struct cudnn_cache *c)
{
    static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK};
    struct build b = {.calls = c->calls};
    descriptor op = out->key.kind == ATTEND ? attend(&b, &out->key) : convolve(&b, &out->key);
    descriptor graph = make(&b, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    if (c->handle)
        set(&b, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &c->handle);
    set_one(&b, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, op);
    finish(&b, graph);
    for (size_t i = 0; i < 2 && !out->plan && !b.status; i++) {
        choose(&b, out, c, graph, modes[i]);
        if (refused(b.status))
            b.status = CUDNN_STATUS_SUCCESS;
    }
    if (out->plan && !b.status) {
        out->descriptors = b.all;
        out->n = b.n;
        return CUDNN_STATUS_SUCCESS;
    }
    destroy_from(&b, 0);
    free(b.all);
    return refused(b.status) ? CUDNN_STATUS_SUCCESS : b.status;
}

static void plan_free(const struct cudnn_cache *c, struct cudnn_plan *p)
{
    struct build b = {.calls = c->calls, .all = p->descriptors, .n = p->n};
    destroy_from(&b, 0);
    free(p->descriptors);
    free(p);
}

static enum err_code fail(struct err *e, const struct cudnn_cache *c, cudnnStatus_t s,
                          const char *what)
{
    enum err_code code = s == CUDNN_STATUS_ALLOC_FAILED ? ERR_NOMEM : ERR_FAILED;
    return err_fail(e, code, "cuDNN: %s: %s", what, c->calls->text(s));
}

enum err_code cudnn_plan_for(const struct cudnn_plan **out, struct cudnn_cache *c,
                             const struct cudnn_key *key, struct err *e)
{
    cudnnStatus_t s = CUDNN_STATUS_SUCCESS;
    pthread_mutex_lock(&c->lock);
    struct cudnn_plan *p = c->plans;
    while (p && memcmp(&p->key, key, sizeof *key) != 0)
        p = p->next;
    if (!p && (p = calloc(1, sizeof *p))) {
        p->key = *key;
        if ((s = plan_new(p, c))) {
            plan_free(c, p);
        } else {
            p->next = c->plans;
            c->plans = p;
        }
    } else if (!p) {
        s = CUDNN_STATUS_ALLOC_FAILED;
    }
    pthread_mutex_unlock(&c->lock);
    if (s)
        return fail(e, c, s, "a plan");
    *out = p;
    return OK;
}

/* ---- caches ---- */

void cudnn_cache_free(struct cudnn_cache *c)
{
    if (!c)
        return;
    for (struct cudnn_plan *p; (p = c->plans);) {
        c->plans = p->next;
        plan_free(c, p);
    }
    if (c->card)
        c->calls->destroy(c->card);
    if (c->handle)
        c->calls->close(c->handle);
    free(c);
}

enum err_code cudnn_cache_new(struct cudnn_cache **out, const char *card, struct err *e)
{
    const char *why;
    const struct cudnn_calls *calls = cudnn_load(&why);
    if (!calls)
        return err_fail(e, ERR_UNSUPPORTED, "no cuDNN: %s", why);
    struct cudnn_cache *c = calloc(1, sizeof *c);
    if (!c)
        return err_fail(e, ERR_NOMEM, "no memory for plans");
    c->calls = calls;
    pthread_mutex_init(&c->lock, NULL);
    cudnnStatus_t s =
        card ? calls->make(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &c->card) : calls->open(&c->handle);
    if (!s && card)
        s = calls->set(c->card, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                       (int64_t)strlen(card) + 1, card);
    if (!s && card)
        s = calls->finalize(c->card);
    if (s) {
        enum err_code code = fail(e, c, s, card ? "a description of a card" : "open");
        cudnn_cache_free(c);
        return code;
    }
    *out = c;
    return OK;
}

const struct cudnn_plan *cudnn_plan_of(struct gpu_queue *q, const struct cudnn_key *key)
{
    struct cuda_device *d = ((struct cuda_queue *)q)->device;
    const struct cudnn_plan *p = NULL;
    const char *why;
    if (!cuda_begin(q) || !cudnn_version(&why))
        return NULL;
    pthread_mutex_lock(&d->lock);
    if (!d->cudnn)
        cudnn_cache_new(&d->cudnn, NULL, &q->failure);
    pthread_mutex_unlock(&d->lock);
    if (q->failure.code || cudnn_plan_for(&p, d->cudnn, key, &q->failure))
        return NULL;
    return p->plan ? p : NULL;
}

void cudnn_run(struct gpu_queue *q, const struct cudnn_plan *p, void *const *operands,
               void *workspace)
{
    struct cudnn_cache *c = ((struct cuda_queue *)q)->device->cudnn;
    struct build b = {.calls = c->calls};
    int64_t ids[CUDNN_OPERANDS];
    size_t n = p->key.kind == ATTEND ? CUDNN_OPERANDS : 3;
    if (!cuda_begin(q))
        return;
    for (size_t i = 0; i < n; i++)
        ids[i] = (int64_t)i + 1;
    descriptor pack = make(&b, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    set(&b, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, n, ids);
    set(&b, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, n, operands);
    set(&b, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    finish(&b, pack);
    pthread_mutex_lock(&c->lock); /* only one thread at a time may use a handle */
    if (!b.status)
        b.status = c->calls->set_stream(c->handle, cuda_stream(q));
    if (!b.status)
        b.status = c->calls->execute(c->handle, p->plan, pack);
    pthread_mutex_unlock(&c->lock);
    if (b.status)
        fail(&q->failure, c, b.status, p->key.kind == ATTEND ? "attention" : "convolution");
    destroy_from(&b, 0);
    free(b.all);
}
