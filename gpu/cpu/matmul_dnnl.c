/* Matrix products by oneDNN, and how the library is set up. dnnl_sgemm has the same kernels as its
 * matmul primitive, takes any strides and accumulates, and needs no cache of primitives; at this
 * project's shapes it was measured at 0.97 to 1.1 times the primitive's speed. The same function
 * for bf16 is exported for oneDNN's own benchmarks but not declared in its headers. Without it, or
 * on a processor without bf16 units, products of bf16 are computed in f32.
 *
 * Debian's oneDNN is built for OpenMP; our workers call it with one thread each, so that its pool
 * never starts and a product is the same whatever runs beside it. It is held to the instruction set
 * that keys name, instead of the best kernels of the machine. */
#include "base/isa.h"
#include "gpu/cpu/cpu_queue.h"

#include <assert.h>
#include <dnnl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

/* libgomp's function; <omp.h> is specific to a compiler. The setting is per thread. */
extern void omp_set_num_threads(int n);

extern dnnl_status_t dnnl_gemm_bf16bf16f32(char ta, char tb, dnnl_dim_t m, dnnl_dim_t n,
                                           dnnl_dim_t k, float alpha, const uint16_t *a,
                                           dnnl_dim_t lda, const uint16_t *b, dnnl_dim_t ldb,
                                           float beta, float *c, dnnl_dim_t ldc)
    __attribute__((weak));

/* oneDNN's setting is per process and can be made once, before any other call. */
static struct {
    pthread_once_t once;
    bool bf16;  /* dnnl_gemm_bf16bf16f32 runs on bf16 units, */
    bool tiles; /* and these are tiles (AMX) */
    bool avx2;  /* kernels of AVX2 or less */
} library = {.once = PTHREAD_ONCE_INIT};

/* The library's sets are sums of bits. */
static bool includes(dnnl_cpu_isa_t isa, dnnl_cpu_isa_t other)
{
    return (isa & other) == other;
}

static void set_up(void)
{
    const char *isa = cpu_isa();
    dnnl_set_max_cpu_isa(strcmp(isa, "base") == 0     ? dnnl_cpu_isa_sse41
                         : strcmp(isa, "avx2") == 0   ? dnnl_cpu_isa_avx2
                         : strcmp(isa, "avx512") == 0 ? dnnl_cpu_isa_avx512_core_bf16
                                                      : dnnl_cpu_isa_avx512_core_amx);
    dnnl_cpu_isa_t has = dnnl_get_effective_cpu_isa();
    library.bf16 = dnnl_gemm_bf16bf16f32 && includes(has, dnnl_cpu_isa_avx512_core_bf16);
    library.tiles = library.bf16 && includes(has, dnnl_cpu_isa_avx512_core_amx);
    library.avx2 = !includes(has, dnnl_cpu_isa_avx512_core);
}

bool cpu_dnnl_bf16(void)
{
    pthread_once(&library.once, set_up);
    omp_set_num_threads(1);
    return library.bf16;
}

const char *gpu_cpu_bf16(void)
{
    pthread_once(&library.once, set_up);
    return library.tiles ? "tiles" : library.bf16 ? "avx512-bf16" : NULL;
}

static void make_kernels(void)
{
    float x[64] = {0}, y[64] = {0}, z[64];
    omp_set_num_threads(1);
    dnnl_sgemm('N', 'N', 8, 8, 8, 1, x, 8, y, 8, 0, z, 8);
}

enum err_code cpu_prepare_products(struct err *e)
{
    enum { ROOM = 32 << 20 };
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    void *room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return err_fail(e, ERR_NOMEM, "no memory for the kernels of matrix products");
    munmap(room, ROOM);
    pthread_once(&library.once, set_up);
    pthread_once(&once, make_kernels);
    return OK;
}

/* The library's AVX2 kernels for small products (those with 1/m + 1/n >= 0.0038) read both operands
 * in place. Rows of a multiple of 512 bytes map to few cache sets. If such an operand is traversed
 * by columns, often enough, it is faster to copy it first to rows with a gap between them. */
enum { SPREAD_GAP = 16, SPREAD_MULTIPLE = 128, SPREAD_READS = 128 };

static bool spread(const struct gpu_matmul *mm, bool by_columns, size_t ld, size_t reads)
{
    return by_columns && ld % SPREAD_MULTIPLE == 0 && reads >= SPREAD_READS && library.avx2 &&
           1 / (double)mm->m + 1 / (double)mm->n >= 0.0038;
}

/* Copies k rows of an operand to `room`. Returns the end of the copy. */
static float *spread_rows(float *room, const void **x, size_t *ld, size_t k, size_t cols)
{
    const float *from = *x;
    size_t to = cols + SPREAD_GAP;
    for (size_t i = 0; i < k; i++)
        memcpy(room + i * to, from + i * *ld, cols * sizeof *room);
    *x = room;
    *ld = to;
    return room + k * to;
}

static dnnl_status_t multiply_f32(struct gpu_queue *q, struct gpu_matmul *mm)
{
    bool a = spread(mm, mm->ta, mm->lda, mm->n), b = spread(mm, !mm->tb, mm->ldb, mm->m);
    size_t cols = (a ? mm->m + SPREAD_GAP : 0) + (b ? mm->n + SPREAD_GAP : 0);
    float *room = cols ? cpu_scratch(q, cols * mm->k * sizeof *room) : NULL;
    if (cols && !room)
        return dnnl_success; /* the queue has the failure */
    if (a)
        room = spread_rows(room, &mm->a, &mm->lda, mm->k, mm->m);
    if (b)
        spread_rows(room, &mm->b, &mm->ldb, mm->k, mm->n);
    return dnnl_sgemm(mm->ta ? 'T' : 'N', mm->tb ? 'T' : 'N', (dnnl_dim_t)mm->m, (dnnl_dim_t)mm->n,
                      (dnnl_dim_t)mm->k, mm->alpha, mm->a, (dnnl_dim_t)mm->lda, mm->b,
                      (dnnl_dim_t)mm->ldb, mm->beta, mm->c, (dnnl_dim_t)mm->ldc);
}

/* Rounds the operands into scratch, without gaps between rows. */
static dnnl_status_t multiply_bf16(struct gpu_queue *q, const struct gpu_matmul *mm)
{
    size_t rows_a = mm->ta ? mm->k : mm->m, cols_a = mm->ta ? mm->m : mm->k;
    size_t rows_b = mm->tb ? mm->n : mm->k, cols_b = mm->tb ? mm->k : mm->n;
    uint16_t *a = cpu_scratch(q, (mm->m + mm->n) * mm->k * sizeof *a);
    if (!a)
        return dnnl_success; /* the failure is in the queue */
    uint16_t *b = a + mm->m * mm->k;
    q->op->round_bf16(q, a, mm->a, rows_a, cols_a, mm->lda);
    q->op->round_bf16(q, b, mm->b, rows_b, cols_b, mm->ldb);
    return dnnl_gemm_bf16bf16f32(mm->ta ? 'T' : 'N', mm->tb ? 'T' : 'N', (dnnl_dim_t)mm->m,
                                 (dnnl_dim_t)mm->n, (dnnl_dim_t)mm->k, mm->alpha, a,
                                 (dnnl_dim_t)cols_a, b, (dnnl_dim_t)cols_b, mm->beta, mm->c,
                                 (dnnl_dim_t)mm->ldc);
}

/* Initialises c with the scaled base and the bias; the product is then added. */
static void begin_with_base(struct gpu_queue *q, struct gpu_matmul *mm)
{
    if (!mm->base || mm->beta == 0)
        return;
    bool close = mm->ldc == mm->n;
    size_t rows = close ? mm->m : 1;
    for (size_t i = 0; i < mm->m; i += rows) {
        float *c = (float *)mm->c + i * mm->ldc;
        const float *base = (const float *)mm->base + i * mm->ldc;
        if (mm->beta != 1) {
            q->op->copy(q, c, base, rows * mm->n);
            q->op->scale(q, c, rows * mm->n, mm->beta);
            base = c;
        }
        q->op->add_bias(q, c, base, mm->bias, rows, mm->n);
    }
    mm->beta = 1;
    mm->bias = NULL;
}

/* For an empty sum (k = 0), for which the library would not write c. */
static void scale_base(struct gpu_queue *q, const struct gpu_matmul *mm)
{
    for (size_t i = 0; i < mm->m && mm->beta != 1; i++)
        if (mm->beta == 0)
            q->op->fill(q, (float *)mm->c + i * mm->ldc, mm->n, 0);
        else
            q->op->scale(q, (float *)mm->c + i * mm->ldc, mm->n, mm->beta);
}

/* Bias, activation and mask. */
static void epilogue(struct gpu_queue *q, const struct gpu_matmul *mm)
{
    bool close = mm->ldc == mm->n;
    for (size_t i = 0; i < (close ? 1 : mm->m) && (mm->bias || mm->relu || mm->mask); i++) {
        float *c = (float *)mm->c + i * mm->ldc;
        if (mm->mask) {
            q->op->activate_back(q, mm->write, c, c, (const float *)mm->mask + i * mm->ldc, NULL,
                                 close ? mm->m : 1, mm->n, GPU_RELU);
            continue;
        }
        if (mm->relu)
            q->op->activate(q, mm->write, c, c, mm->bias, close ? mm->m : 1, mm->n, GPU_RELU);
        else
            q->op->add_bias(q, c, c, mm->bias, close ? mm->m : 1, mm->n);
    }
}

void cpu_matmul(struct gpu_queue *q, const struct gpu_matmul *how)
{
    struct gpu_matmul copy = *how, *mm = &copy;
    if (q->failure.code || mm->m == 0 || mm->n == 0)
        return;
    assert(mm->read == GPU_TYPE_F32 && mm->write == GPU_TYPE_F32);
    bool bf16 = cpu_dnnl_bf16();
    dnnl_status_t status = dnnl_success;
    begin_with_base(q, mm);
    if (mm->k == 0)
        scale_base(q, mm);
    else
        status = mm->precision == GPU_BF16 && bf16 ? multiply_bf16(q, mm) : multiply_f32(q, mm);
    epilogue(q, mm);
    if (status != dnnl_success)
        err_fail(&q->failure, status == dnnl_out_of_memory ? ERR_NOMEM : ERR_FAILED,
                 "oneDNN: matrix product of %zu x %zu x %zu failed (status %d)", mm->m, mm->n,
                 mm->k, (int)status);
}
