/* Matrix products by cuBLASLt, with bias and ReLU as its epilogues. It is column-major: a row-major
 * c = a b is its c^T = b^T a^T.
 *
 * The algorithm of a product is chosen once per plan and cached. The number of tokens differs from
 * step to step, so a plan's sizes are rounded up, to an eighth of a power of two at most: but only
 * those across rows. The length of rows and their distance decide how an algorithm loads them, and
 * one for better aligned rows fails on the card. A plan's result is a function of the plan alone,
 * not of earlier products. */
#include "gpu/cuda/cuda_queue.h"

#include <cublasLt.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct plan_key {
    size_t m, n, k, lda, ldb, ldc;
    bool ta, tb, beta, aligned; /* aligned: all pointers to 16 bytes */
    int precision, epilogue, read, write;
};

struct plan {
    struct plan *next;
    struct plan_key key;
    cublasLtMatmulAlgo_t algorithm;
};

struct cuda_plans {
    pthread_mutex_t lock;
    struct plan *all;
};

struct cuda_plans *cuda_plans_new(void)
{
    struct cuda_plans *p = calloc(1, sizeof *p);
    if (p)
        pthread_mutex_init(&p->lock, NULL);
    return p;
}

void cuda_plans_free(struct cuda_plans *p)
{
    for (struct plan *x; p && (x = p->all);) {
        p->all = x->next;
        free(x);
    }
    free(p);
}

static bool find(cublasLtMatmulAlgo_t *out, struct cuda_plans *p, const struct plan_key *key)
{
    pthread_mutex_lock(&p->lock);
    const struct plan *x = p->all;
    while (x && memcmp(&x->key, key, sizeof *key) != 0)
        x = x->next;
    if (x)
        *out = x->algorithm;
    pthread_mutex_unlock(&p->lock);
    return x != NULL;
}

/* If memory runs out, the plan is computed again next time. */
static void keep(struct cuda_plans *p, const struct plan_key *key,
                 const cublasLtMatmulAlgo_t *algorithm)
{
    struct plan *x = malloc(sizeof *x);
    if (!x)
        return;
    pthread_mutex_lock(&p->lock);
    *x = (struct plan){p->all, *key, *algorithm};
    p->all = x;
    pthread_mutex_unlock(&p->lock);
}

/* One product in cuBLASLt's terms. */
struct product {
    cublasLtMatmulDesc_t how;
    cublasLtMatrixLayout_t a, b, c; /* a: our b, and vice versa */
};

static void product_free(struct product *p)
{
    if (p->how)
        cublasLtMatmulDescDestroy(p->how);
    cublasLtMatrixLayout_t all[] = {p->a, p->b, p->c};
    for (int i = 0; i < 3; i++)
        if (all[i])
            cublasLtMatrixLayoutDestroy(all[i]);
}

static cublasStatus_t layout(cublasLtMatrixLayout_t *out, int type, bool transposed, size_t rows,
                             size_t cols, size_t ld)
{
    size_t r = transposed ? cols : rows, c = transposed ? rows : cols;
    return cublasLtMatrixLayoutCreate(out, type == GPU_TYPE_BF16 ? CUDA_R_16BF : CUDA_R_32F, r, c,
                                      (int64_t)ld);
}

static cublasComputeType_t compute_type(const struct plan_key *k)
{
    return k->read == GPU_TYPE_BF16   ? CUBLAS_COMPUTE_32F
           : k->precision == GPU_BF16 ? CUBLAS_COMPUTE_32F_FAST_16BF
           : k->precision == GPU_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                      : CUBLAS_COMPUTE_32F;
}

static cublasStatus_t set(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t what,
                          const void *value, size_t size)
{
    return cublasLtMatmulDescSetAttribute(d, what, value, size);
}

/* Uses the key's sizes. The bias has the result's type. */
static cublasStatus_t product_new(struct product *p, const struct plan_key *k, const void *bias)
{
    *p = (struct product){0};
    cublasOperation_t op[] = {k->tb ? CUBLAS_OP_T : CUBLAS_OP_N, k->ta ? CUBLAS_OP_T : CUBLAS_OP_N};
    cublasLtEpilogue_t epilogue = (cublasLtEpilogue_t)k->epilogue;
    cublasStatus_t s;
    if ((s = cublasLtMatmulDescCreate(&p->how, compute_type(k), CUDA_R_32F)) ||
        (s = set(p->how, CUBLASLT_MATMUL_DESC_TRANSA, &op[0], sizeof op[0])) ||
        (s = set(p->how, CUBLASLT_MATMUL_DESC_TRANSB, &op[1], sizeof op[1])) ||
        (s = set(p->how, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue)) ||
        (bias && (s = set(p->how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias))) ||
        (s = layout(&p->a, k->read, k->tb, k->n, k->k, k->ldb)) ||
        (s = layout(&p->b, k->read, k->ta, k->k, k->m, k->lda)))
        return s;
    return layout(&p->c, k->write, false, k->n, k->m, k->ldc);
}

static cublasStatus_t prefer(cublasLtMatmulPreference_t p,
                             cublasLtMatmulPreferenceAttributes_t what, const void *value,
                             size_t size)
{
    return cublasLtMatmulPreferenceSetAttribute(p, what, value, size);
}

enum { CANDIDATES = 4 };

/* The best algorithm that works here. Split sums go through the workspace, in a fixed order. */
static cublasStatus_t ask(cublasLtMatmulAlgo_t *out, cublasLtHandle_t lt, const struct product *p,
                          const struct plan_key *k)
{
    size_t workspace = CUBLAS_WORKSPACE;
    uint32_t align = k->aligned ? 16 : k->read == GPU_TYPE_BF16 ? sizeof(uint16_t) : sizeof(float);
    uint32_t sums = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    cublasLtMatmulHeuristicResult_t found[CANDIDATES];
    cublasLtMatmulPreference_t how = NULL;
    int n = 0, i = 0;
    cublasStatus_t s = cublasLtMatmulPreferenceCreate(&how);
    if (s ||
        (s = prefer(how, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace)) ||
        (s = prefer(how, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &sums, sizeof sums)) ||
        (s = prefer(how, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &align, sizeof align)) ||
        (s = prefer(how, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &align, sizeof align)) ||
        (s = prefer(how, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &align, sizeof align)) ||
        (s = prefer(how, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &align, sizeof align)))
        goto out;
    s = cublasLtMatmulAlgoGetHeuristic(lt, p->how, p->a, p->b, p->c, p->c, how, CANDIDATES, found,
                                       &n);
    while (i < n && found[i].state)
        i++;
    if (!s && i == n)
        s = CUBLAS_STATUS_NOT_SUPPORTED;
    if (!s)
        *out = found[i].algo;
out:
    if (how)
        cublasLtMatmulPreferenceDestroy(how);
    return s;
}

/* Returns the algorithm of a plan. */
static cublasStatus_t plan(cublasLtMatmulAlgo_t *out, struct cuda_device *d,
                           const struct plan_key *key, const void *bias)
{
    struct product p;
    if (find(out, d->plans, key))
        return CUBLAS_STATUS_SUCCESS;
    cublasStatus_t s = product_new(&p, key, bias);
    if (!s)
        s = ask(out, d->lt, &p, key);
    if (!s)
        keep(d->plans, key, out);
    product_free(&p);
    return s;
}

static struct plan_key rounded(struct plan_key k)
{
    if (!k.ta)
        k.m = cuda_rounded(k.m);
    if (k.ta && !k.tb)
        k.k = cuda_rounded(k.k);
    return k;
}

static cublasStatus_t multiply(struct cuda_queue *q, const struct gpu_matmul *mm,
                               const struct plan_key *key)
{
    struct plan_key plans[] = {rounded(*key), *key};
    struct product p;
    cublasLtMatmulAlgo_t algorithm;
    const void *base = mm->base ? mm->base : mm->c;
    cublasStatus_t s = product_new(&p, key, mm->bias);
    bool again = true; /* an algorithm for rounded sizes may not suit these */
    for (int i = 0; i < 2 && !(i && s == CUBLAS_STATUS_ALLOC_FAILED) && again; i++) {
        s = p.c ? plan(&algorithm, q->device, &plans[i], mm->bias) : s;
        if (!s)
            s = cublasLtMatmul(q->device->lt, p.how, &mm->alpha, mm->b, p.a, mm->a, p.b, &mm->beta,
                               base, p.c, mm->c, p.c, &algorithm, q->workspace, CUBLAS_WORKSPACE,
                               q->stream);
        again = s == CUBLAS_STATUS_NOT_SUPPORTED || s == CUBLAS_STATUS_INVALID_VALUE;
    }
    product_free(&p);
    return s;
}

static struct plan_key key_of(const struct cuda_queue *q, const struct gpu_matmul *mm)
{
    const void *all[] = {mm->a, mm->b, mm->c, mm->base, mm->bias};
    uintptr_t bits = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        bits |= (uintptr_t)all[i];
    struct plan_key k;
    memset(&k, 0, sizeof k); /* keys are compared byte by byte */
    k.m = mm->m;
    k.n = mm->n;
    k.k = mm->k;
    k.lda = mm->lda;
    k.ldb = mm->ldb;
    k.ldc = mm->ldc;
    k.ta = mm->ta;
    k.tb = mm->tb;
    k.beta = mm->beta != 0;
    k.aligned = bits % 16 == 0;
    k.precision = q->device->base.stores_bf16 ? (int)mm->precision : GPU_F32;
    k.read = (int)mm->read;
    k.write = (int)mm->write;
    k.epilogue = mm->bias   ? mm->relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS
                 : mm->relu ? CUBLASLT_EPILOGUE_RELU
                            : CUBLASLT_EPILOGUE_DEFAULT;
    return k;
}

void cuda_matmul(struct gpu_queue *base, const struct gpu_matmul *mm)
{
    struct cuda_queue *q = (struct cuda_queue *)base;
    if (mm->m == 0 || mm->n == 0 || !cuda_begin(base))
        return;
    if (mm->k == 0) {
        cuda_around_product(base, mm);
        return;
    }
    struct plan_key key = key_of(q, mm);
    /* The operations that remain once the product is in c. */
    struct gpu_matmul bare = *mm, rest = {.beta = 1, .mask = mm->mask, .write = mm->write};
    cublasStatus_t s = multiply(q, mm, &key);
    if (s == CUBLAS_STATUS_NOT_SUPPORTED && key.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
        key.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
        rest.bias = mm->bias;
        rest.relu = mm->relu;
        bare.bias = NULL;
        s = multiply(q, &bare, &key);
    }
    if (s)
        err_fail(&base->failure, s == CUBLAS_STATUS_ALLOC_FAILED ? ERR_NOMEM : ERR_FAILED,
                 "cuda:%d: cuBLASLt: product of %zu x %zu x %zu: %s", q->device->index, mm->m,
                 mm->n, mm->k, cublasLtGetStatusName(s));
    if (rest.mask || rest.bias || rest.relu) {
        rest.m = mm->m;
        rest.n = mm->n;
        rest.c = mm->c;
        rest.ldc = mm->ldc;
        cuda_around_product(base, &rest);
    }
}
