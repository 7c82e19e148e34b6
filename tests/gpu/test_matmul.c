/* Matrix products: f32 and bf16, with what they do besides; see fixture.h. */
#include "tests/gpu/fixture.h"

#include <sys/mman.h>

/* c = a b, either of which may lie transposed; no rows are apart. */
static struct gpu_matmul product(float *c, const float *a, const float *b, size_t m, size_t n,
                                 size_t k, bool ta, bool tb)
{
    return (struct gpu_matmul){.ta = ta,
                               .tb = tb,
                               .m = m,
                               .n = n,
                               .k = k,
                               .alpha = 1,
                               .a = a,
                               .lda = ta ? m : k,
                               .b = b,
                               .ldb = tb ? k : n,
                               .c = c,
                               .ldc = n};
}

/* fill() with values that bf16 holds. */
static void fill_bf16(struct rng *r, float *x, double *y, size_t n, double spread)
{
    fill(r, x, NULL, n, spread);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bits &= 0xffff0000;
        memcpy(&x[i], &bits, sizeof bits);
        y[i] = x[i];
    }
}

TEST_ON_EACH_ISA(matmul)
{
    enum { M = 19, N = 23, K = 37 };
    for (int mode = 0; mode < 8; mode++) {
        bool ta = mode & 1, tb = mode & 2, accumulate = mode & 4;
        float a[M * K], b[K * N], c[M * N];
        double ra[M * K], rb[K * N], rc[M * N];
        fill(&f->r, a, ra, M * K, 1);
        fill(&f->r, b, rb, K * N, 1);
        fill(&f->r, c, rc, M * N, 1);
        struct gpu_matmul mm = product(c, a, b, M, N, K, ta, tb);
        mm.beta = accumulate ? 1 : 0;
        mm.alpha = 0.5f;
        f->q->op->matmul(f->q, &mm);
        ref_matmul(rc, ra, rb, M, N, K, ta, tb, 0.5, accumulate);
        assert_near(c, rc, M * N, 1e-5, "matmul");
    }
}

/* The error stays below that of a few roundings of the sum of the products' sizes, for values of
 * all sizes. A NaN, whatever its bits, shows in its row of the result and nowhere else. */
TEST_ON_EACH_ISA(matmul_exact)
{
    enum { M = 40, N = 36, K = 64 };
    static float a[M * K], b[K * N], c[M * N];
    static double ra[M * K], rb[K * N], want[M * N], sizes[M * N];
    fill(&f->r, a, ra, M * K, 1);
    fill(&f->r, b, rb, K * N, 1);
    for (size_t i = 0; i < M * K; i++)
        ra[i] = a[i] = ldexpf(a[i], (int)rng_below(&f->r, 20) - 10);
    struct gpu_matmul mm = product(c, a, b, M, N, K, false, false);
    f->q->op->matmul(f->q, &mm);
    ref_matmul(want, ra, rb, M, N, K, false, false, 1, false);
    for (size_t i = 0; i < M * K; i++)
        ra[i] = fabs(ra[i]);
    for (size_t i = 0; i < K * N; i++)
        rb[i] = fabs(rb[i]);
    ref_matmul(sizes, ra, rb, M, N, K, false, false, 1, false);
    for (size_t i = 0; i < M * N; i++)
        if (!(fabs(c[i] - want[i]) <= 5e-7 * sizes[i]))
            fail_msg("%s: element %zu is off by %g of %g", f->isa, i, fabs(c[i] - want[i]),
                     sizes[i]);
    const uint32_t nans[] = {0x7fc00000, 0x7fffffff, 0xffffffff, 0x7f800001};
    for (size_t j = 0; j < sizeof nans / sizeof *nans; j++) {
        float kept = a[5 * K + 7];
        memcpy(&a[5 * K + 7], &nans[j], sizeof *a);
        f->q->op->matmul(f->q, &mm);
        for (size_t i = 0; i < M * N; i++)
            assert_int_equal(isnan(c[i]) != 0, i / N == 5);
        a[5 * K + 7] = kept;
    }
}

/* Sizes beyond one block of a library's, with and without remainders. Values that bf16 holds are
 * multiplied alike in both precisions. */
TEST_ON_EACH_ISA(matmul_wide)
{
    static const size_t shapes[][3] = {
        {160, 1100, 128}, {160, 2200, 64}, {96, 2050, 130}, {40, 170, 1100}, {1, 33, 1}};
    enum { MOST = 160 * 2200 };
    static float a[MOST], b[MOST], c[MOST];
    static double ra[MOST], rb[MOST], rc[MOST];
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int mode = 0; mode < 4; mode++) {
            size_t m = shapes[s][0], n = shapes[s][1], k = shapes[s][2];
            bool bf16 = mode & 1, add = mode & 2;
            fill_bf16(&f->r, a, ra, m * k, 0.1);
            fill_bf16(&f->r, b, rb, k * n, 1);
            fill(&f->r, c, rc, m * n, 1);
            struct gpu_matmul mm = product(c, a, b, m, n, k, add, !add);
            mm.precision = bf16 ? GPU_BF16 : GPU_F32;
            mm.beta = add ? 1 : 0;
            f->q->op->matmul(f->q, &mm);
            ref_matmul(rc, ra, rb, m, n, k, add, !add, 1, add);
            assert_near(c, rc, m * n, 3e-5, "wide product");
        }
}

/* ---- at the end of memory ---- */

enum { PAGES = 64 << 10, PAGE = 4096 };

/* Floats before a page that nobody may touch. */
struct fenced {
    char *base;
    float *end;
};

static struct fenced fence(void)
{
    char *base =
        mmap(NULL, PAGES + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(base != MAP_FAILED);
    assert_int_equal(mprotect(base + PAGES, PAGE, PROT_NONE), 0);
    return (struct fenced){base, (float *)(void *)(base + PAGES)};
}

enum { A, B, C, BESIDE, BIAS, OPERANDS };

/* Rows that are `ld` apart, the last one ending where memory does. */
static float *place(struct rng *r, const struct fenced *f, size_t rows, size_t cols, size_t ld)
{
    size_t n = rows ? (rows - 1) * ld + cols : 0;
    fill(r, f->end - n, NULL, n, 1);
    return f->end - n;
}

static double number(const float *x, size_t ld, bool transposed, size_t i, size_t j)
{
    return (double)(transposed ? x[j * ld + i] : x[i * ld + j]);
}

static void multiply_at_the_end(struct fixture *f, const struct fenced *at, enum gpu_precision p)
{
    struct rng *r = &f->r;
    size_t m = 1 + rng_below(r, 80), n = 1 + rng_below(r, 80), k = 1 + rng_below(r, 100);
    bool ta = rng_below(r, 2), tb = rng_below(r, 2);
    struct gpu_matmul mm = {.ta = ta, .tb = tb, .precision = p, .m = m, .n = n, .k = k, .alpha = 1};
    mm.lda = (ta ? m : k) + rng_below(r, 4);
    mm.ldb = (tb ? k : n) + rng_below(r, 4);
    mm.ldc = n + rng_below(r, 4);
    mm.a = place(r, &at[A], ta ? k : m, ta ? m : k, mm.lda);
    mm.b = place(r, &at[B], tb ? n : k, tb ? k : n, mm.ldb);
    mm.c = place(r, &at[C], m, n, mm.ldc);
    uint64_t with = rng_below(r, 4);
    const float *beside = place(r, &at[BESIDE], m, n, mm.ldc), *c = mm.c, *bias = NULL;
    mm.base = with == 1 || with == 2 ? beside : NULL;
    mm.beta = mm.base ? 1 : 0;
    mm.mask = with == 3 ? beside : NULL;
    mm.bias = bias = with == 2 ? place(r, &at[BIAS], 1, n, n) : NULL;
    f->q->op->matmul(f->q, &mm);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double want = 0, sizes = 1;
            for (size_t l = 0; l < k; l++) {
                double x = number(mm.a, mm.lda, ta, i, l) * number(mm.b, mm.ldb, tb, l, j);
                want += x;
                sizes += fabs(x);
            }
            want += mm.base ? (double)beside[i * mm.ldc + j] : 0;
            want += bias ? (double)bias[j] : 0;
            if (mm.mask && !(beside[i * mm.ldc + j] > 0))
                want = 0;
            if (!(fabs((double)c[i * mm.ldc + j] - want) <= (p == GPU_F32 ? 1e-6 : 1e-2) * sizes))
                fail_msg("%zux%zux%zu, with %d, at %zu, %zu: %.9g, expected %.9g", m, n, k,
                         (int)with, i, j, (double)c[i * mm.ldc + j], want);
        }
}

/* Of shapes, strides and ends of all kinds nothing is read or written beyond the operands. */
TEST_ON_EACH_ISA(matmul_fenced)
{
    struct fenced at[OPERANDS];
    for (int i = 0; i < OPERANDS; i++)
        at[i] = fence();
    for (int times = 0; times < 60; times++)
        multiply_at_the_end(f, at, times % 2 ? GPU_BF16 : GPU_F32);
    for (int i = 0; i < OPERANDS; i++)
        munmap(at[i].base, PAGES + PAGE);
}

/* Base, bias, activation, mask and rows apart, in both precisions. */
TEST_ON_EACH_ISA(matmul_epilogue)
{
    enum { M = 70, N = 45, K = 700, LD = 50 };
    static float a[M * K], b[K * N], c[M * LD], base[M * LD], bias[N];
    static double ra[M * K], rb[K * N], rbase[M * LD], rbias[N], want[M * N], sums[M * N];
    for (int mode = 0; mode < 32; mode++) {
        bool with_base = mode & 1, with_bias = mode & 2, relu = mode & 4, accumulate = mode & 8;
        if (with_base && accumulate)
            continue;
        size_t ld = mode & 2 ? LD : N;
        fill_bf16(&f->r, a, ra, M * K, 0.1);
        fill_bf16(&f->r, b, rb, K * N, 1);
        fill(&f->r, base, rbase, M * LD, 1);
        fill(&f->r, bias, rbias, N, 1);
        memcpy(c, base, sizeof c);
        struct gpu_matmul mm = product(c, a, b, M, N, K, false, false);
        mm.precision = mode & 16 ? GPU_BF16 : GPU_F32;
        mm.alpha = 2;
        mm.ldc = ld;
        mm.beta = accumulate || with_base ? -2 : 0;
        mm.base = with_base ? base : NULL;
        mm.bias = with_bias ? bias : NULL;
        mm.relu = relu;
        f->q->op->matmul(f->q, &mm);
        ref_matmul(want, ra, rb, M, N, K, false, false, 2, false);
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < N; j++) {
                double x = want[i * N + j] + (with_bias ? rbias[j] : 0) +
                           (with_base || accumulate ? -2 * rbase[i * ld + j] : 0);
                sums[i * N + j] = relu && x < 0 ? 0 : x;
            }
        for (size_t i = 0; i < M; i++)
            assert_near(c + i * ld, sums + i * N, N, 3e-5, "product");
        assert_true(ld == N || c[N] == base[N]); /* between rows nothing is touched */
        if (!with_base && !with_bias && !relu && !accumulate) {
            mm.mask = base;
            f->q->op->matmul(f->q, &mm);
            for (size_t i = 0; i < M * N; i++)
                sums[i] = base[i / N * ld + i % N] > 0 ? want[i] : 0;
            for (size_t i = 0; i < M; i++)
                assert_near(c + i * ld, sums + i * N, N, 3e-5, "masked product");
        }
    }
}

/* An empty sum, asked of a queue that has made no product yet. */
TEST_ON_EACH_ISA(matmul_empty)
{
    enum { M = 3, N = 5 };
    for (int bf16 = 0; bf16 < 2; bf16++) {
        float a[M] = {0}, b[N] = {0}, bias[N] = {1, 2, 3, 4, 5}, c[M * N];
        fill(&f->r, c, NULL, M * N, 1);
        struct gpu_matmul mm = product(c, a, b, M, N, 0, false, false);
        mm.precision = bf16 ? GPU_BF16 : GPU_F32;
        mm.lda = 1;
        mm.bias = bias;
        f->q->op->matmul(f->q, &mm);
        for (size_t i = 0; i < M * N; i++)
            assert_true(c[i] == bias[i % N]);
    }
}

TEST_ON_EACH_ISA(round_bf16)
{
    static const struct {
        float from, to;
    } cases[] = {{1, 1},
                 {-2.5f, -2.5f},
                 {0x1.01p0f, 0x1p0f},        /* ties to even: down, */
                 {0x1.03p0f, 0x1.04p0f},     /* and up */
                 {0x1.010002p0f, 0x1.02p0f}, /* above the middle */
                 {-0.0f, -0.0f},
                 {INFINITY, INFINITY},
                 {0x1.ffp127f, INFINITY},
                 {0x1p-140f, 0}};
    enum { N = sizeof cases / sizeof *cases };
    for (size_t i = 0; i < N; i++) {
        uint16_t y[6];
        float x[8] = {cases[i].from, 1, 2, 7, 3, cases[i].from, NAN, 7};
        uint32_t payload = 0xff800001; /* a NaN whose kept bits alone are infinity's */
        memcpy(&x[4], &payload, sizeof payload);
        f->q->op->round_bf16(f->q, y, x, 2, 3, 4);
        float a = widened(y[0]), b = widened(y[4]);
        assert_memory_equal(&a, &cases[i].to, sizeof a);
        assert_memory_equal(&b, &cases[i].to, sizeof b);
        assert_true(widened(y[2]) == 2 && isnan(widened(y[3])) && isnan(widened(y[5])));
    }
}

static double distance(const float *x, const double *y, size_t n)
{
    double max = 0;
    for (size_t i = 0; i < n; i++)
        max = fmax(max, fabs((double)x[i] - y[i]) / (1 + fabs(y[i])));
    return max;
}

/* The product of rounded values where there are bf16 units, else of the values. */
TEST_ON_EACH_ISA(matmul_bf16)
{
    enum { M = 67, N = 83, K = 101 };
    static float a[M * K], b[K * N], c[M * N];
    static double ra[M * K], rb[K * N], exact[M * N], rounded[M * N];
    static uint16_t bits[M * K + K * N];
    fill(&f->r, a, ra, M * K, 1);
    fill(&f->r, b, rb, K * N, 1);
    struct gpu_matmul mm = product(c, a, b, M, N, K, true, false);
    mm.precision = GPU_BF16;
    f->q->op->matmul(f->q, &mm);
    ref_matmul(exact, ra, rb, M, N, K, true, false, 1, false);
    f->q->op->round_bf16(f->q, bits, a, 1, M * K, M * K);
    f->q->op->round_bf16(f->q, bits + M * K, b, 1, K * N, K * N);
    for (size_t i = 0; i < M * K; i++)
        ra[i] = widened(bits[i]);
    for (size_t i = 0; i < K * N; i++)
        rb[i] = widened(bits[M * K + i]);
    ref_matmul(rounded, ra, rb, M, N, K, true, false, 1, false);
    assert_true(distance(c, rounded, M * N) <= 1e-5 || distance(c, exact, M * N) <= 1e-5);
}

/* Operands and results as activations are stored: transposed or not, with a bias and ReLU, masked,
 * added to f32. */
TEST_ON_EACH_ISA(matmul_stored)
{
    enum { M = 24, N = 40, K = 56 };
    static float a[M * K], b[K * N], bias[N], base[M * N], c[M * N];
    static double ra[M * K], rb[K * N], rbias[N], rbase[M * N], want[M * N];
    static uint16_t narrow[4][K * N];
    enum gpu_type type = gpu_stored(f->device, GPU_BF16);
    for (int mode = 0; mode < 4 * 3; mode++) {
        bool ta = mode & 1, tb = mode & 2;
        int end = mode / 4;
        fill(&f->r, a, ra, M * K, 0.3);
        fill(&f->r, b, rb, K * N, 1);
        fill(&f->r, bias, rbias, N, 1);
        fill(&f->r, base, rbase, M * N, 1);
        struct gpu_matmul mm = product(c, a, b, M, N, K, ta, tb);
        mm.precision = GPU_F32;
        mm.read = mm.write = type;
        mm.a = store(f, narrow[0], a, ra, M * K);
        mm.b = store(f, narrow[1], b, rb, K * N);
        ref_matmul(want, ra, rb, M, N, K, ta, tb, 1, false);
        if (end == 0) {
            mm.bias = store(f, narrow[2], bias, rbias, N);
            mm.relu = true;
        } else if (end == 1) {
            mm.mask = store(f, narrow[2], base, rbase, M * N);
        } else {
            mm.write = GPU_TYPE_F32;
            mm.base = base;
            mm.beta = 0.5F;
        }
        mm.c = mm.write == GPU_TYPE_F32 ? (void *)c : narrow[3];
        for (size_t i = 0; i < M * N; i++) {
            double x = want[i] + (end == 0 ? rbias[i % N] : end == 2 ? 0.5 * rbase[i] : 0);
            want[i] = (end == 0 && x < 0) || (end == 1 && rbase[i] <= 0) ? 0 : x;
        }
        f->q->op->matmul(f->q, &mm);
        load(c, mm.c, M * N);
        assert_near(c, want, M * N, mm.write == GPU_TYPE_F32 ? 1e-5 : 4e-3, "stored product");
    }
}
