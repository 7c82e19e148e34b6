/* Convolutions by cuDNN or, where it has no plan, by products with the patches under the filter;
 * and attention over long sequences.
 *
 * Only forward convolutions have bf16 plans, since results are f32. Elsewhere the operands are
 * rounded to bf16 and multiplied as TF32, which is equivalent: TF32 represents every bf16 number,
 * and sums are f32 in both. */
#include "gpu/cuda/cudnn_graph.h"

#include <string.h>

enum { PATCHES = 64 << 20, ALIGNED = 64 /* bytes */ };

struct sizes {
    size_t images, filters, results;
};
static struct sizes sizes_of(const struct gpu_convolution *c)
{
    size_t height = c->height - c->filter_height + 1, width = c->width - c->filter_width + 1;
    return (struct sizes){c->images * c->height * c->width * c->in,
                          c->out * c->filter_height * c->filter_width * c->in,
                          c->images * height * width * c->out};
}

/* ---- by cuDNN ---- */

enum form { AS_THEY_ARE, ROUNDED, BF16 };

/* Returns the operand in the plan's form, converted into scratch if needed. */
static void *operand(struct gpu_queue *q, const float *x, size_t n, enum form form,
                     struct gpu_layout *l)
{
    bool good = (uintptr_t)x % 16 == 0 && form == AS_THEY_ARE;
    void *to = good ? (void *)x : gpu_carve(l, n * (form == BF16 ? sizeof(uint16_t) : sizeof *x));
    if (!l->base || good)
        return to;
    if (form == BF16)
        q->op->round_bf16(q, to, x, 1, n, n);
    else if (form == ROUNDED)
        cuda_round_floats(q, to, x, n);
    else
        q->op->copy(q, to, x, n);
    return to;
}

/* n: element counts of the operands. Gradients of filters accumulate. */
static void run(struct gpu_queue *q, const struct cudnn_plan *plan, enum form form, float *out,
                const float *const in[2], const size_t n[3])
{
    bool add = plan->key.kind == CONVOLVE_BACK_FILTERS;
    struct gpu_layout l = {0};
    void *work = NULL, *all[3];
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 2; i++)
            all[i] = operand(q, in[i], n[i], form, &l);
        bool there = !add && (uintptr_t)out % 16 == 0;
        all[2] = there ? (void *)out : gpu_carve(&l, n[2] * sizeof *out);
        work = gpu_carve(&l, (size_t)plan->workspace);
        if (pass == 0) {
            char *scratch = cuda_scratch(q, l.used + ALIGNED);
            if (!scratch)
                return;
            l = (struct gpu_layout){.base = scratch};
        }
    }
    cudnn_run(q, plan, all, work);
    if (add)
        q->op->add(q, out, all[2], n[2]);
    else if (all[2] != (void *)out)
        q->op->copy(q, out, all[2], n[2]);
}

static struct cudnn_key key_of(enum cudnn_kind kind, enum gpu_precision precision,
                               const struct gpu_convolution *c)
{
    struct cudnn_key k;
    memset(&k, 0, sizeof k); /* keys are compared byte by byte */
    k.kind = kind;
    k.precision = precision;
    k.convolution.images = c->images;
    k.convolution.height = c->height;
    k.convolution.width = c->width;
    k.convolution.in = c->in;
    k.convolution.out = c->out;
    k.convolution.filter_height = c->filter_height;
    k.convolution.filter_width = c->filter_width;
    return k;
}

static bool by_cudnn(struct gpu_queue *q, enum cudnn_kind kind, float *out,
                     const float *const in[2], const size_t n[3], const struct gpu_convolution *how)
{
    enum gpu_precision p = q->device->stores_bf16 ? how->precision : GPU_F32;
    struct cudnn_key key = key_of(kind, p, how);
    const struct cudnn_plan *plan = cudnn_plan_of(q, &key);
    enum form form = p == GPU_BF16 ? BF16 : AS_THEY_ARE;
    if (!plan && p == GPU_BF16) {
        key.precision = GPU_TF32;
        plan = cudnn_plan_of(q, &key);
        form = ROUNDED;
    }
    if (plan)
        run(q, plan, form, out, in, n);
    return plan || q->failure.code;
}

/* ---- by products ---- */

/* Processes as many images at a time as have patches that fit the scratch. */
static void by_products(struct gpu_queue *q, enum cudnn_kind kind, float *out,
                        const float *const in[2], const struct gpu_convolution *c)
{
    size_t places = (c->height - c->filter_height + 1) * (c->width - c->filter_width + 1);
    size_t patch = c->filter_height * c->filter_width * c->in;
    size_t most = PATCHES / (places * patch * sizeof(float));
    size_t step = most < 1 ? 1 : most < c->images ? most : c->images;
    float *patches = cuda_scratch(q, step * places * patch * sizeof *patches);
    for (size_t first = 0, n; patches && first < c->images; first += n) {
        n = c->images - first < step ? c->images - first : step;
        size_t rows = n * places, at = first * places * c->out;
        struct gpu_matmul mm = {.precision = c->precision, .alpha = 1};
        switch (kind) {
        case CONVOLVE:
            cuda_patches(q, patches, in[0], first, n, c);
            mm.tb = true;
            mm.m = rows;
            mm.n = mm.ldc = c->out;
            mm.k = mm.lda = mm.ldb = patch;
            mm.a = patches;
            mm.b = in[1];
            mm.c = out + at;
            break;
        case CONVOLVE_BACK_INPUT:
            mm.m = rows;
            mm.n = mm.ldb = mm.ldc = patch;
            mm.k = mm.lda = c->out;
            mm.a = in[0] + at;
            mm.b = in[1];
            mm.c = patches;
            break;
        case CONVOLVE_BACK_FILTERS:
            cuda_patches(q, patches, in[1], first, n, c);
            mm.ta = true;
            mm.m = mm.lda = c->out;
            mm.n = mm.ldb = mm.ldc = patch;
            mm.k = rows;
            mm.a = in[0] + at;
            mm.b = patches;
            mm.c = out;
            mm.beta = 1;
            break;
        case ATTEND: return;
        }
        cuda_matmul(q, &mm);
        if (kind == CONVOLVE_BACK_INPUT)
            cuda_patches_back(q, out, patches, first, n, c);
    }
}

static void compute(struct gpu_queue *q, enum cudnn_kind kind, float *out, const float *const in[2],
                    const size_t n[3], const struct gpu_convolution *how)
{
    if (how->images && cuda_begin(q) && !by_cudnn(q, kind, out, in, n, how))
        by_products(q, kind, out, in, how);
}

/* ---- the ops ---- */

static void convolve(struct gpu_queue *q, float *y, const float *x, const float *filters,
                     const float *bias, const struct gpu_convolution *how)
{
    struct sizes s = sizes_of(how);
    compute(q, CONVOLVE, y, (const float *[]){x, filters},
            (size_t[]){s.images, s.filters, s.results}, how);
    if (how->relu)
        q->op->activate(q, GPU_TYPE_F32, y, y, bias, s.results / how->out, how->out, GPU_RELU);
    else
        q->op->add_bias(q, y, y, bias, s.results / how->out, how->out);
}

static void convolve_back_input(struct gpu_queue *q, float *dx, const float *dy,
                                const float *filters, const struct gpu_convolution *how)
{
    struct sizes s = sizes_of(how);
    compute(q, CONVOLVE_BACK_INPUT, dx, (const float *[]){dy, filters},
            (size_t[]){s.results, s.filters, s.images}, how);
}

static void convolve_back_filters(struct gpu_queue *q, float *dfilters, float *dbias,
                                  const float *dy, const float *x,
                                  const struct gpu_convolution *how)
{
    struct sizes s = sizes_of(how);
    compute(q, CONVOLVE_BACK_FILTERS, dfilters, (const float *[]){dy, x},
            (size_t[]){s.results, s.images, s.filters}, how);
    q->op->add_columns(q, dbias, GPU_TYPE_F32, dy, s.results / how->out, how->out);
}

/* ---- attention ---- */

/* Lengths from which cuDNN is used in bf16; the break-even point has not been measured. */
enum { LONG_SEQUENCE = 128, LARGEST_HEAD = 128 };

/* Self-attention over packed sequences. */
static bool is_long(const void *out, const struct gpu_attention *at)
{
    uintptr_t all = (uintptr_t)at->q | (uintptr_t)at->k | (uintptr_t)at->v | (uintptr_t)at->lse;
    return at->longest >= LONG_SEQUENCE && at->type == GPU_TYPE_BF16 && !at->causal &&
           at->drop.rate == 0 && at->size % 8 == 0 && at->size <= LARGEST_HEAD &&
           at->end == at->first + 1 && at->key_first == at->first && at->key_end == at->end &&
           at->q_ld == at->kv_ld && at->q_ld % 8 == 0 && (all | (uintptr_t)out) % 16 == 0 &&
           at->rows * at->q_ld <= INT32_MAX;
}

bool cudnn_attend(struct gpu_queue *q, void *out, const struct gpu_attention *at)
{
    struct cudnn_key key;
    /* Empty sequences at the end: a plan serves several counts. */
    size_t n = cuda_rounded(at->sequences);
    memset(&key, 0, sizeof key);
    key.kind = ATTEND;
    key.precision = GPU_BF16;
    key.attention.sequences = n;
    key.attention.heads = at->heads;
    key.attention.size = at->size;
    key.attention.longest = cuda_rounded(at->longest);
    key.attention.ld = at->q_ld;
    const struct cudnn_plan *plan = is_long(out, at) ? cudnn_plan_of(q, &key) : NULL;
    if (!plan)
        return q->failure.code;
    struct gpu_layout l = {0};
    struct cuda_ranges r;
    void *work = NULL;
    for (int pass = 0; pass < 2; pass++) {
        r.rows = gpu_carve(&l, (n + 1) * sizeof *r.rows);
        r.results = gpu_carve(&l, (n + 1) * sizeof *r.results);
        r.sums = gpu_carve(&l, (n + 1) * sizeof *r.sums);
        r.lengths = gpu_carve(&l, n * sizeof *r.lengths);
        work = gpu_carve(&l, (size_t)plan->workspace);
        if (pass == 0) {
            char *scratch = cuda_scratch(q, l.used);
            if (!scratch)
                return true;
            l = (struct gpu_layout){.base = scratch};
        }
    }
    cuda_ranges_of(q, &r, n, at);
    float scale = at->scale;
    void *all[] = {(void *)at->q, (void *)at->k, (void *)at->v, out,       at->lse,
                   &scale,        r.rows,        r.sums,        r.lengths, r.results};
    cudnn_run(q, plan, all, work);
    return true;
}

void cuda_fill_convolution(struct gpu_ops *t)
{
    t->convolve = convolve;
    t->convolve_back_input = convolve_back_input;
    t->convolve_back_filters = convolve_back_filters;
}
