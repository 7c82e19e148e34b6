/* Every tensor op of the CPU back end, on every instruction set of this machine, against the
 * reference in double precision: forward directly, backward by finite differences of the
 * reference. The scalar that is differentiated is a random weighting of the op's outputs. */
#include "base/rng.h"
#include "tests/ref/ref.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const isas[] = {"base", "avx2", "avx512", "amx"};
enum { N_ISAS = sizeof isas / sizeof *isas };

struct fixture {
    struct gpu_device *device;
    struct gpu_queue *q;
    struct rng r;
};

static bool fixture_open(struct fixture *f, const char *isa)
{
    struct err e;
    err_clear(&e);
    if (gpu_open_cpu(&f->device, NULL, isa, &e)) {
        assert_int_equal(e.code, ERR_UNSUPPORTED);
        return false;
    }
    assert_int_equal(gpu_queue_new(&f->q, f->device, &e), OK);
    f->r = rng_new(11, 0);
    return true;
}

static void fixture_close(struct fixture *f)
{
    assert_int_equal(gpu_finish(f->q, NULL), OK);
    gpu_queue_free(f->q);
    gpu_close(f->device);
}

/* Random values, the same in both precisions. */
static void fill(struct rng *r, float *x, double *y, size_t n, double spread)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = (float)(spread * rng_normal(r));
        if (y)
            y[i] = x[i];
    }
}

static void assert_near(const float *x, const double *y, size_t n, double tolerance,
                        const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i] - y[i]) <= tolerance * (1 + fabs(y[i]))))
            fail_msg("%s[%zu]: %.9g, reference %.9g", what, i, x[i], y[i]);
}

/* gradient[i] of f at x, for all i. */
static void assert_gradient(const float *gradient, double (*f)(void *, const double *), void *arg,
                            const double *x, size_t n, double tolerance, const char *what)
{
    double *y = malloc((n + 1) * sizeof *y);
    memcpy(y, x, n * sizeof *y);
    for (size_t i = 0; i < n; i++) {
        double want = ref_derivative(f, arg, y, i);
        if (!(fabs(gradient[i] - want) <= tolerance * (1 + fabs(want))))
            fail_msg("d%s[%zu]: %.9g, finite difference %.9g", what, i, gradient[i], want);
    }
    free(y);
}

static double dot(const double *a, const double *b, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}

static void test_matmul(void **state)
{
    enum { M = 19, N = 23, K = 37 };
    for (int isa = 0; isa < N_ISAS; isa++) {
        struct fixture f;
        if (!fixture_open(&f, isas[isa]))
            continue;
        for (int mode = 0; mode < 8; mode++) {
            bool ta = mode & 1, tb = mode & 2, accumulate = mode & 4;
            float a[M * K], b[K * N], c[M * N];
            double ra[M * K], rb[K * N], rc[M * N];
            fill(&f.r, a, ra, M * K, 1);
            fill(&f.r, b, rb, K * N, 1);
            fill(&f.r, c, rc, M * N, 1);
            f.q->op->matmul(f.q, &(struct gpu_matmul){.ta = ta,
                                                      .tb = tb,
                                                      .accumulate = accumulate,
                                                      .m = M,
                                                      .n = N,
                                                      .k = K,
                                                      .alpha = 0.5f,
                                                      .a = a,
                                                      .lda = ta ? M : K,
                                                      .b = b,
                                                      .ldb = tb ? K : N,
                                                      .c = c,
                                                      .ldc = N});
            ref_matmul(rc, ra, rb, M, N, K, ta, tb, 0.5, accumulate);
            assert_near(c, rc, M * N, 1e-5, "matmul");
        }
        fixture_close(&f);
    }
}

/* What a product does besides, kept operands and more blocks of k than are packed at once. */
static void test_matmul_end(void **state)
{
    enum { M = 70, N = 45, K = 700, LD = 50 };
    static float a[M * K], b[K * N], c[M * LD], base[M * LD], bias[N];
    static double ra[M * K], rb[K * N], rbase[M * LD], rbias[N], want[M * N], expected[M * N];
    for (int isa = 0; isa < N_ISAS; isa++) {
        struct fixture f;
        if (!fixture_open(&f, isas[isa]))
            continue;
        for (int mode = 0; mode < 16; mode++) {
            bool with_base = mode & 1, with_bias = mode & 2, relu = mode & 4, accumulate = mode & 8;
            if (with_base && accumulate)
                continue;
            size_t ld = mode & 2 ? LD : N;
            fill(&f.r, a, ra, M * K, 0.1);
            fill(&f.r, b, rb, K * N, 1);
            fill(&f.r, base, rbase, M * LD, 1);
            fill(&f.r, bias, rbias, N, 1);
            memcpy(c, base, sizeof c);
            gpu_changed(f.device);
            struct gpu_matmul mm = {.m = M,
                                    .n = N,
                                    .k = K,
                                    .alpha = 2,
                                    .a = a,
                                    .lda = K,
                                    .b = b,
                                    .ldb = N,
                                    .c = c,
                                    .ldc = ld,
                                    .stable = true,
                                    .accumulate = accumulate,
                                    .base = with_base ? base : NULL,
                                    .bias = with_bias ? bias : NULL,
                                    .relu = relu};
            f.q->op->matmul(f.q, &mm);
            ref_matmul(want, ra, rb, M, N, K, false, false, 2, false);
            for (size_t i = 0; i < M; i++)
                for (size_t j = 0; j < N; j++) {
                    double x = want[i * N + j] + (with_bias ? rbias[j] : 0) +
                               (with_base || accumulate ? rbase[i * ld + j] : 0);
                    expected[i * N + j] = relu && x < 0 ? 0 : x;
                }
            for (size_t i = 0; i < M; i++)
                assert_near(c + i * ld, expected + i * N, N, 3e-5, "product");
            assert_true(ld == N || c[N] == base[N]); /* between rows nothing is touched */
            /* The kept form is used until something changes, and only for the same operand. */
            mm.base = mm.bias = NULL;
            mm.relu = mm.accumulate = mm.tb = false;
            mm.ldc = N;
            b[0] += 1;
            gpu_changed(f.device);
            f.q->op->matmul(f.q, &mm);
            assert_true(fabs(c[0] - want[0] - 2 * ra[0]) <= 1e-4);
        }
        fixture_close(&f);
    }
}

static float widened(uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float y;
    memcpy(&y, &bits, sizeof y);
    return y;
}

static void test_round_bf16(void **state)
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
    for (int isa = 0; isa < N_ISAS; isa++) {
        struct fixture f;
        if (!fixture_open(&f, isas[isa]))
            continue;
        for (size_t i = 0; i < N; i++) {
            uint16_t y[6];
            float x[8] = {cases[i].from, 1, 2, 7, 3, cases[i].from, NAN, 7};
            uint32_t payload = 0xff800001; /* a NaN whose kept bits alone are infinity's */
            memcpy(&x[4], &payload, sizeof payload);
            f.q->op->round_bf16(f.q, y, x, 2, 3, 4);
            float a = widened(y[0]), b = widened(y[4]);
            assert_memory_equal(&a, &cases[i].to, sizeof a);
            assert_memory_equal(&b, &cases[i].to, sizeof b);
            assert_true(widened(y[2]) == 2 && isnan(widened(y[3])) && isnan(widened(y[5])));
        }
        fixture_close(&f);
    }
}

/* The product of rounded values, whatever unit makes it; sizes beyond one tile of any. */
/* A sum of nothing, asked of a queue that has made no product yet. */
static void test_matmul_empty(void **state)
{
    enum { M = 3, N = 5 };
    for (int isa = 0; isa < N_ISAS; isa++)
        for (int bf16 = 0; bf16 < 2; bf16++) {
            struct fixture f;
            float a[M] = {0}, b[N] = {0}, bias[N] = {1, 2, 3, 4, 5}, c[M * N];
            if (!fixture_open(&f, isas[isa]))
                continue;
            fill(&f.r, c, NULL, M * N, 1);
            f.q->op->matmul(f.q, &(struct gpu_matmul){.precision = bf16 ? GPU_BF16 : GPU_F32,
                                                      .m = M,
                                                      .n = N,
                                                      .alpha = 1,
                                                      .a = a,
                                                      .lda = 1,
                                                      .b = b,
                                                      .ldb = N,
                                                      .bias = bias,
                                                      .stable = true,
                                                      .c = c,
                                                      .ldc = N});
            for (size_t i = 0; i < M * N; i++)
                assert_true(c[i] == bias[i % N]);
            fixture_close(&f);
        }
}

static void test_matmul_bf16(void **state)
{
    enum { M = 67, N = 83, K = 101 };
    static float a[M * K], b[K * N], c[M * N];
    static double ra[M * K], rb[K * N], rc[M * N];
    static uint16_t rounded[M * K + K * N];
    for (int isa = 0; isa < N_ISAS; isa++) {
        struct fixture f;
        if (!fixture_open(&f, isas[isa]))
            continue;
        for (int mode = 0; mode < 8; mode++) {
            bool ta = mode & 1, tb = mode & 2, accumulate = mode & 4;
            fill(&f.r, a, ra, M * K, 1);
            fill(&f.r, b, rb, K * N, 1);
            fill(&f.r, c, rc, M * N, 1);
            f.q->op->round_bf16(f.q, rounded, a, 1, M * K, M * K);
            f.q->op->round_bf16(f.q, rounded + M * K, b, 1, K * N, K * N);
            for (size_t i = 0; i < M * K; i++)
                ra[i] = widened(rounded[i]);
            for (size_t i = 0; i < K * N; i++)
                rb[i] = widened(rounded[M * K + i]);
            f.q->op->matmul(f.q, &(struct gpu_matmul){.precision = GPU_BF16,
                                                      .ta = ta,
                                                      .tb = tb,
                                                      .accumulate = accumulate,
                                                      .m = M,
                                                      .n = N,
                                                      .k = K,
                                                      .alpha = 0.5f,
                                                      .a = a,
                                                      .lda = ta ? M : K,
                                                      .b = b,
                                                      .ldb = tb ? K : N,
                                                      .c = c,
                                                      .ldc = N});
            ref_matmul(rc, ra, rb, M, N, K, ta, tb, 0.5, accumulate);
            assert_near(c, rc, M * N, 1e-5, "matmul in bf16");
        }
        fixture_close(&f);
    }
}

static void test_elementwise(void **state)
{
    enum { N = 1003, PARTS = 7, ROWS = 5, COLS = 83 };
    for (int isa = 0; isa < N_ISAS; isa++) {
        struct fixture f;
        if (!fixture_open(&f, isas[isa]))
            continue;
        static float x[PARTS][N], y[N], bias[COLS], sums[COLS];
        static double rx[PARTS][N], ry[N], rb[COLS], rs[COLS];
        const float *parts[PARTS];
        memset(ry, 0, sizeof ry);
        for (int i = 0; i < PARTS; i++) {
            fill(&f.r, x[i], rx[i], N, 1);
            parts[i] = x[i];
            for (int j = 0; j < N; j++)
                ry[j] += rx[i][j];
        }
        for (size_t count = 1; count < PARTS; count++) /* every shape of the tree is exact enough */
            f.q->op->sum_many(f.q, y, parts, count, N);
        f.q->op->sum_many(f.q, y, parts, PARTS, N);
        assert_near(y, ry, N, 1e-5, "sum_many");
        double squares;
        f.q->op->sum_squares(f.q, &squares, x[0], N);
        assert_true(fabs(squares - dot(rx[0], rx[0], N)) < 1e-9 * squares);

        fill(&f.r, bias, rb, COLS, 1);
        fill(&f.r, sums, rs, COLS, 1);
        for (int i = 0; i < ROWS * COLS; i++) {
            ry[i] = rx[0][i] + rb[i % COLS];
            rs[i % COLS] += rx[0][i];
        }
        f.q->op->add_columns(f.q, sums, x[0], ROWS, COLS);
        assert_near(sums, rs, COLS, 1e-5, "add_columns");
        f.q->op->add_bias(f.q, y, x[0], bias, ROWS, COLS);
        assert_near(y, ry, ROWS * COLS, 1e-6, "add_bias");
        f.q->op->add_bias(f.q, y, x[0], NULL, ROWS, COLS);
        assert_memory_equal(y, x[0], ROWS * COLS * sizeof *y);

        f.q->op->fill(f.q, y, N, 2);
        f.q->op->add(f.q, y, x[1], N);
        f.q->op->scale(f.q, y, N, 3);
        for (int i = 0; i < N; i++)
            ry[i] = (2 + rx[1][i]) * 3;
        assert_near(y, ry, N, 1e-6, "fill, add, scale");
        f.q->op->copy(f.q, y, x[2], N);
        assert_memory_equal(y, x[2], sizeof y);
        fixture_close(&f);
    }
}

struct activation_case {
    enum gpu_activation kind;
    double bias, weight;
};

static double activation_value(void *arg, const double *x)
{
    struct activation_case *c = arg;
    return c->weight * ref_activation(*x + c->bias, c->kind);
}

static void test_activation(void **state)
{
    enum { ROWS = 7, COLS = 45 };
    for (int isa = 0; isa < N_ISAS; isa++) {
        struct fixture f;
        if (!fixture_open(&f, isas[isa]))
            continue;
        for (int kind = 0; kind < 2; kind++) {
            float x[ROWS * COLS], y[ROWS * COLS], dy[ROWS * COLS], dx[ROWS * COLS], bias[COLS];
            double rx[ROWS * COLS], ry[ROWS * COLS], rdy[ROWS * COLS], rb[COLS];
            fill(&f.r, x, rx, ROWS * COLS, 3);
            fill(&f.r, dy, rdy, ROWS * COLS, 1);
            fill(&f.r, bias, rb, COLS, 1);
            for (int i = 0; i < ROWS * COLS; i++)
                ry[i] = ref_activation(rx[i] + rb[i % COLS], (enum gpu_activation)kind);
            f.q->op->activate(f.q, y, x, bias, ROWS, COLS, (enum gpu_activation)kind);
            assert_near(y, ry, ROWS * COLS, 1e-6, "activation");
            f.q->op->activate_back(f.q, dx, dy, kind == GPU_RELU ? y : x, bias, ROWS, COLS,
                                   (enum gpu_activation)kind);
            for (int i = 0; i < ROWS * COLS; i++) {
                struct activation_case c = {(enum gpu_activation)kind, rb[i % COLS], rdy[i]};
                assert_gradient(dx + i, activation_value, &c, rx + i, 1, 1e-5, "activation");
            }
        }
        fixture_close(&f);
    }
}

enum { NORM_ROWS = 3 };
struct norm_case {
    size_t cols;
    const double *x, *gamma, *beta, *weight;
    int which; /* of x, gamma, beta varies */
};

static double norm_value(void *arg, const double *v)
{
    struct norm_case *c = arg;
    double *y = malloc(NORM_ROWS * c->cols * sizeof *y), s;
    ref_norm(y, c->which == 0 ? v : c->x, c->which == 1 ? v : c->gamma, c->which == 2 ? v : c->beta,
             NORM_ROWS, c->cols);
    s = dot(y, c->weight, NORM_ROWS * c->cols);
    free(y);
    return s;
}

static void test_norm(void **state)
{
    enum { MOST = NORM_ROWS * 70 };
    static const size_t widths[] = {5, 16, 48, 70};
    for (int isa = 0; isa < N_ISAS; isa++) {
        struct fixture f;
        if (!fixture_open(&f, isas[isa]))
            continue;
        for (int w = 0; w < 4; w++) {
            size_t cols = widths[w], n = NORM_ROWS * cols;
            float x[MOST], y[MOST], dy[MOST], dx[MOST], gamma[70], beta[70],
                dg[70] = {0}, db[70] = {0}, mean[NORM_ROWS], rstd[NORM_ROWS];
            double rx[MOST], ry[MOST], rdy[MOST], rg[70], rb[70];
            fill(&f.r, x, rx, n, 2);
            fill(&f.r, dy, rdy, n, 1);
            fill(&f.r, gamma, rg, cols, 1);
            fill(&f.r, beta, rb, cols, 1);
            ref_norm(ry, rx, rg, rb, NORM_ROWS, cols);
            f.q->op->norm(f.q, y, mean, rstd, x, gamma, beta, NORM_ROWS, cols);
            assert_near(y, ry, n, 1e-5, "norm");
            f.q->op->norm_back(f.q, dx, dg, db, dy, x, mean, rstd, gamma, NORM_ROWS, cols, false);
            struct norm_case c = {cols, rx, rg, rb, rdy, 0};
            assert_gradient(dx, norm_value, &c, rx, n, 1e-4, "norm");
            c.which = 1;
            assert_gradient(dg, norm_value, &c, rg, cols, 1e-4, "gamma");
            c.which = 2;
            assert_gradient(db, norm_value, &c, rb, cols, 1e-4, "beta");
            float twice[MOST];
            memcpy(twice, dx, n * sizeof *dx);
            f.q->op->norm_back(f.q, twice, dg, db, dy, x, mean, rstd, gamma, NORM_ROWS, cols, true);
            for (size_t i = 0; i < n; i++)
                ry[i] = 2.0 * dx[i];
            assert_near(twice, ry, n, 1e-5, "norm accumulated");
        }
        fixture_close(&f);
    }
}

static double normalize_value(void *arg, const double *v)
{
    struct norm_case *c = arg;
    double *y = malloc(NORM_ROWS * c->cols * sizeof *y), s;
    ref_normalize(y, v, NORM_ROWS, c->cols);
    s = dot(y, c->weight, NORM_ROWS * c->cols);
    free(y);
    return s;
}

static void test_normalize(void **state)
{
    enum { COLS = 37, N = NORM_ROWS * COLS };
    for (int isa = 0; isa < N_ISAS; isa++) {
        struct fixture f;
        if (!fixture_open(&f, isas[isa]))
            continue;
        float x[N], y[N], dy[N], dx[N], norms[NORM_ROWS];
        double rx[N], ry[N], rdy[N];
        fill(&f.r, x, rx, N, 2);
        fill(&f.r, dy, rdy, N, 1);
        ref_normalize(ry, rx, NORM_ROWS, COLS);
        f.q->op->normalize(f.q, y, norms, x, NORM_ROWS, COLS);
        assert_near(y, ry, N, 1e-6, "normalize");
        f.q->op->normalize_back(f.q, dx, dy, y, norms, NORM_ROWS, COLS);
        struct norm_case c = {COLS, rx, NULL, NULL, rdy, 0};
        assert_gradient(dx, normalize_value, &c, rx, N, 1e-5, "normalize");
        memset(x, 0, sizeof x); /* nothing to normalise: zero, not NaN */
        f.q->op->normalize(f.q, y, norms, x, NORM_ROWS, COLS);
        assert_memory_equal(y, x, sizeof x);
        fixture_close(&f);
    }
}

struct attention_case {
    struct gpu_attention at; /* q, k, v: in one block, columns q_ld apart from one to the next */
    const double *weight;
    size_t queries, k, v; /* where k and v begin */
};

static double attention_value(void *arg, const double *qkv)
{
    struct attention_case *c = arg;
    size_t n = c->queries * c->at.heads * c->at.size;
    double *out = malloc(n * sizeof *out), s;
    ref_attention(out, qkv, qkv + c->k, qkv + c->v, &c->at);
    s = dot(out, c->weight, n);
    free(out);
    return s;
}

/* Self-attention over packed rows of q, k, v; and queries of one packing to keys of another, rows
 * of q followed by rows of k, v. Either may be causal. */
static void test_attention(void **state)
{
    enum { HEADS = 2, TOKENS = 44, KEYS = 49, WIDEST = HEADS * 20 };
    static const uint32_t offset[] = {0, 1, 14, 30, TOKENS}, other[] = {0, 3, 16, 33, KEYS};
    static const size_t sizes[] = {3, 16, 20};
    static float x[3 * KEYS * WIDEST], dx[3 * KEYS * WIDEST], lse[TOKENS * HEADS];
    static double rx[3 * KEYS * WIDEST], rout[TOKENS * WIDEST], rdout[TOKENS * WIDEST];
    static float out[TOKENS * WIDEST], dout[TOKENS * WIDEST];
    for (int run = 0; run < 3 * 3 * 4; run++) {
        struct fixture f;
        if (!fixture_open(&f, isas[run % 3]))
            continue;
        bool cross = run / 9 & 1;
        size_t size = sizes[run / 3 % 3], d = HEADS * size, n = TOKENS * d;
        size_t all = cross ? n + 2 * KEYS * d : 3 * n;
        const uint32_t *keys = cross ? other : offset;
        struct attention_case c = {.at = {.sequences = 4,
                                          .heads = HEADS,
                                          .size = size,
                                          .first = offset,
                                          .end = offset + 1,
                                          .key_first = keys,
                                          .key_end = keys + 1,
                                          .q_ld = cross ? d : 3 * d,
                                          .kv_ld = cross ? 2 * d : 3 * d,
                                          .lse = lse,
                                          .scale = 0.3f,
                                          .causal = run / 18 & 1},
                                   .weight = rdout,
                                   .queries = TOKENS,
                                   .k = cross ? n : d,
                                   .v = cross ? n + d : 2 * d};
        fill(&f.r, x, rx, all, 1.5);
        fill(&f.r, dout, rdout, n, 1);
        c.at.q = x;
        c.at.k = x + c.k;
        c.at.v = x + c.v;
        ref_attention(rout, rx, rx + c.k, rx + c.v, &c.at);
        f.q->op->attention(f.q, out, &c.at);
        assert_near(out, rout, n, 1e-5, "attention");
        f.q->op->attention_back(f.q, dx, dx + c.k, dx + c.v, dout, &c.at);
        assert_gradient(dx, attention_value, &c, rx, all, 1e-4, "qkv");
        fixture_close(&f);
    }
}

enum { EMBED_TOKENS = 9, EMBED_COLS = 6, EMBED_TABLE = 5, EMBED_LONGEST = 5 };
static const uint32_t embed_offset[] = {0, 5, 9};
static const uint32_t embed_token[EMBED_TOKENS] = {0, 3, 3, 1, 4, 4, 0, 2, 3};

struct embed_case {
    const double *table, *positions, *weight;
};

static double embed_table_value(void *arg, const double *table)
{
    struct embed_case *c = arg;
    double x[EMBED_TOKENS * EMBED_COLS];
    ref_embed(x, table, c->positions, embed_token, embed_offset, 2, EMBED_COLS, 1.7);
    return dot(x, c->weight, EMBED_TOKENS * EMBED_COLS);
}

static double embed_positions_value(void *arg, const double *positions)
{
    struct embed_case *c = arg;
    double x[EMBED_TOKENS * EMBED_COLS];
    ref_embed(x, c->table, positions, embed_token, embed_offset, 2, EMBED_COLS, 1.7);
    return dot(x, c->weight, EMBED_TOKENS * EMBED_COLS);
}

static void test_embed(void **state)
{
    enum {
        N = EMBED_TOKENS * EMBED_COLS,
        T = EMBED_TABLE * EMBED_COLS,
        P = EMBED_LONGEST * EMBED_COLS
    };
    for (int isa = 0; isa < N_ISAS; isa++) {
        struct fixture f;
        if (!fixture_open(&f, isas[isa]))
            continue;
        float table[T], positions[P], x[N], dx[N], dt[T] = {0}, dp[P] = {0};
        double rt[T], rp[P], rx[N], rdx[N];
        fill(&f.r, table, rt, T, 1);
        fill(&f.r, positions, rp, P, 1);
        fill(&f.r, dx, rdx, N, 1);
        ref_embed(rx, rt, rp, embed_token, embed_offset, 2, EMBED_COLS, 1.7);
        f.q->op->embed(f.q, x, table, positions, embed_token, embed_offset, 2, EMBED_COLS, 1.7f);
        assert_near(x, rx, N, 1e-6, "embed");
        f.q->op->embed_back(f.q, dt, dp, dx, embed_token, embed_offset, 2, EMBED_COLS, 1.7f);
        struct embed_case c = {rt, rp, rdx};
        assert_gradient(dt, embed_table_value, &c, rt, T, 1e-5, "table");
        assert_gradient(dp, embed_positions_value, &c, rp, P, 1e-5, "positions");
        fixture_close(&f);
    }
}

enum { POOL_ROWS = 9, POOL_COLS = 21 };
static const uint32_t pool_row[] = {0, 2, 1, 4, 8, 7, 5};
static const uint32_t pool_offset[] = {0, 2, 3, 7};

struct pool_case {
    enum gpu_pooling kind;
    const double *weight;
};

static double pool_value(void *arg, const double *x)
{
    struct pool_case *c = arg;
    double y[3 * POOL_COLS];
    ref_pool(y, x, pool_row, pool_offset, 3, POOL_COLS, c->kind);
    return dot(y, c->weight, 3 * POOL_COLS);
}

static void test_pool(void **state)
{
    enum { N = POOL_ROWS * POOL_COLS, M = 3 * POOL_COLS };
    for (int isa = 0; isa < N_ISAS; isa++) {
        struct fixture f;
        if (!fixture_open(&f, isas[isa]))
            continue;
        for (int kind = 0; kind < 2; kind++) {
            float x[N], y[M], dy[M], dx[N] = {0};
            double rx[N], ry[M], rdy[M];
            uint32_t arg[M];
            fill(&f.r, x, rx, N, 1);
            fill(&f.r, dy, rdy, M, 1);
            ref_pool(ry, rx, pool_row, pool_offset, 3, POOL_COLS, (enum gpu_pooling)kind);
            f.q->op->pool(f.q, y, arg, x, pool_row, pool_offset, 3, POOL_COLS,
                          (enum gpu_pooling)kind);
            assert_near(y, ry, M, 1e-6, "pool");
            f.q->op->pool_back(f.q, dx, dy, arg, pool_row, pool_offset, 3, POOL_COLS,
                               (enum gpu_pooling)kind);
            struct pool_case c = {(enum gpu_pooling)kind, rdy};
            assert_gradient(dx, pool_value, &c, rx, N, 1e-5, "pool");
        }
        fixture_close(&f);
    }
}

struct loss_case {
    size_t row, cols;
    uint32_t target;
    const uint32_t *group;
    bool self;
    double smoothing;
};

static double loss_value(void *arg, const double *x)
{
    struct loss_case *c = arg;
    return 0.25 * ref_cross_entropy(x, c->row, c->cols, c->target, c->group, c->self, c->smoothing);
}

static void test_cross_entropy(void **state)
{
    enum { N = 22, FIRST = 3, ROWS = 5 };
    for (int isa = 0; isa < N_ISAS; isa++) {
        struct fixture f;
        if (!fixture_open(&f, isas[isa]))
            continue;
        for (int kind = 0; kind < 3; kind++) { /* plain, with groups, smoothed */
            bool grouped = kind == 1;
            float x[ROWS * N], loss[ROWS], correct[ROWS];
            double rx[ROWS * N];
            uint32_t target[N], group[N];
            for (uint32_t i = 0; i < N; i++) {
                target[i] = (i + N / 2) % N;
                group[i] = i % (N / 2) % 4;
            }
            fill(&f.r, x, rx, ROWS * N, 4);
            x[1 * N + target[FIRST + 1]] = 50;  /* found, */
            x[2 * N + target[FIRST + 2]] = -50; /* not found, */
            x[3 * N + target[FIRST + 3]] = 50;  /* and one of three */
            x[3 * N + target[FIRST + 3] - 1] = x[3 * N + target[FIRST + 3] - 2] = 50;
            for (int i = 0; i < ROWS * N; i++)
                rx[i] = x[i];
            f.q->op->cross_entropy(f.q, x,
                                   &(struct gpu_cross_entropy){.rows = ROWS,
                                                               .cols = N,
                                                               .first_row = FIRST,
                                                               .target = target,
                                                               .group = grouped ? group : NULL,
                                                               .self = grouped,
                                                               .smoothing = kind == 2 ? 0.2f : 0,
                                                               .scale = 0.25f,
                                                               .loss = loss,
                                                               .correct = correct});
            for (size_t r = 0; r < ROWS; r++) {
                struct loss_case c = {FIRST + r,         N,
                                      target[FIRST + r], grouped ? group : NULL,
                                      grouped,           kind == 2 ? 0.2 : 0};
                double want = 4 * loss_value(&c, rx + r * N);
                assert_near(loss + r, &want, 1, 1e-5, "loss");
                assert_gradient(x + r * N, loss_value, &c, rx + r * N, N, 1e-5, "logits");
            }
            assert_true(correct[1] == 1 && correct[2] == 0);
            assert_true(grouped || correct[3] == 1.0f / 3);
        }
        fixture_close(&f);
    }
}

static void test_dropout(void **state)
{
    enum { N = 20000 };
    static float x[N], y[N], again[N], first[N];
    for (int isa = 0; isa < N_ISAS; isa++) {
        struct fixture f;
        if (!fixture_open(&f, isas[isa]))
            continue;
        size_t kept = 0;
        for (int i = 0; i < N; i++)
            x[i] = 1;
        f.q->op->dropout(f.q, y, x, N, 0.1f, 77, (UINT64_C(1) << 32) - 5000);
        for (int i = 0; i < N; i++) {
            assert_true(y[i] == 0 || fabsf(y[i] - 1 / 0.9f) < 1e-6f);
            kept += y[i] != 0;
        }
        assert_in_range(kept, 17800, 18200); /* 18,000 expected, deviation 42 */
        /* Any piece is the same as in the whole, past 2^32 too; another key is another mask. */
        f.q->op->dropout(f.q, again, x, 900, 0.1f, 77, (UINT64_C(1) << 32) - 300);
        assert_memory_equal(again, y + 4700, 900 * sizeof *y);
        f.q->op->dropout(f.q, again, x, N, 0.1f, 78, (UINT64_C(1) << 32) - 5000);
        assert_memory_not_equal(again, y, sizeof y);
        if (isa == 0)
            memcpy(first, y, sizeof y);
        assert_memory_equal(first, y, sizeof y); /* the mask is the same on each instruction set */
        fixture_close(&f);
    }
}

static void test_adamw(void **state)
{
    enum { N = 33 };
    for (int run = 0; run < 2 * N_ISAS; run++) {
        struct fixture f;
        bool coupled = run & 1; /* Adam */
        if (!fixture_open(&f, isas[run / 2]))
            continue;
        float p[N], m[N] = {0}, v[N] = {0}, g[N];
        double rp[N], rm[N] = {0}, rv[N] = {0}, rg[N];
        fill(&f.r, p, rp, N, 1);
        for (unsigned step = 1; step <= 3; step++) {
            struct gpu_adamw how = {.lr = 0.01f,
                                    .beta1 = 0.9f,
                                    .beta2 = 0.999f,
                                    .eps = 1e-8f,
                                    .weight_decay = 0.1f,
                                    .correction1 = (float)(1 - pow(0.9, step)),
                                    .correction2 = (float)(1 - pow(0.999, step)),
                                    .scale = 0.5f,
                                    .coupled = coupled};
            fill(&f.r, g, rg, N, 1);
            f.q->op->adamw(f.q, p, m, v, g, N, &how);
            for (int i = 0; i < N; i++)
                ref_adamw(&rp[i], &rm[i], &rv[i], 0.5 * rg[i] + (coupled ? 0.1 * rp[i] : 0), 0.01,
                          0.9, 0.999, 1e-8, coupled ? 0 : 0.1, step);
            assert_near(p, rp, N, 1e-5, "p");
            assert_near(m, rm, N, 1e-6, "m");
            assert_near(v, rv, N, 1e-6, "v");
        }
        fixture_close(&f);
    }
}

/* Scores of two anchors, their partners and three negatives each; every row by itself is a function
 * of its own group's columns. */
struct margin_case {
    size_t row;
    const uint32_t *group;
};

enum { MARGIN_ANCHORS = 2, MARGIN_COLS = MARGIN_ANCHORS * 5 };

static double margin_value(void *arg, const double *x)
{
    const struct margin_case *c = arg;
    double sum = 0, target = x[c->row + MARGIN_ANCHORS];
    for (size_t i = 2 * MARGIN_ANCHORS; i < MARGIN_COLS; i++)
        if (c->group[i] == c->group[c->row])
            sum += fmax(0, 0.5 - target + x[i]) / 3;
    return 0.25 * sum;
}

static void test_margin_loss(void **state)
{
    static const uint32_t group[MARGIN_COLS] = {0, 1, 0, 1, 0, 0, 0, 1, 1, 1};
    static const uint32_t target[MARGIN_ANCHORS] = {2, 3};
    for (int isa = 0; isa < N_ISAS; isa++) {
        struct fixture f;
        if (!fixture_open(&f, isas[isa]))
            continue;
        float x[MARGIN_ANCHORS * MARGIN_COLS], loss[MARGIN_ANCHORS], correct[MARGIN_ANCHORS];
        double rx[MARGIN_ANCHORS * MARGIN_COLS];
        fill(&f.r, x, rx, MARGIN_ANCHORS * MARGIN_COLS, 1);
        x[4] = (float)(rx[4] = rx[2]);     /* as good as the partner, */
        x[5] = (float)(rx[5] = rx[2] - 1); /* far off, */
        x[6] = (float)(rx[6] = rx[2] + 1); /* and better */
        f.q->op->margin_loss(f.q, x,
                             &(struct gpu_cross_entropy){.rows = MARGIN_ANCHORS,
                                                         .cols = MARGIN_COLS,
                                                         .target = target,
                                                         .group = group,
                                                         .self = true,
                                                         .own = true,
                                                         .margin = 0.5f,
                                                         .scale = 0.25f,
                                                         .loss = loss,
                                                         .correct = correct});
        for (size_t r = 0; r < MARGIN_ANCHORS; r++) {
            struct margin_case c = {r, group};
            double want = 4 * margin_value(&c, rx + r * MARGIN_COLS);
            assert_near(loss + r, &want, 1, 1e-5, "loss");
            assert_gradient(x + r * MARGIN_COLS, margin_value, &c, rx + r * MARGIN_COLS,
                            MARGIN_COLS, 1e-5, "logits");
        }
        assert_true(correct[0] == 0.5f); /* one below, one level, one above */
        fixture_close(&f);
    }
}

/* The exponential inside the softmax: sums of powers far apart must neither overflow nor vanish. */
static void test_cross_entropy_extremes(void **state)
{
    for (int isa = 0; isa < N_ISAS; isa++) {
        struct fixture f;
        if (!fixture_open(&f, isas[isa]))
            continue;
        float x[4] = {1000, -1000, 0, 999}, loss, correct;
        uint32_t target[1] = {3};
        f.q->op->cross_entropy(f.q, x,
                               &(struct gpu_cross_entropy){.rows = 1,
                                                           .cols = 4,
                                                           .target = target,
                                                           .scale = 1,
                                                           .loss = &loss,
                                                           .correct = &correct});
        assert_true(fabsf(loss - 1.3132617f) < 1e-5f);
        assert_true(fabsf(x[0] - 0.7310586f) < 1e-5f && fabsf(x[3] + 0.7310586f) < 1e-5f);
        float bad[4] = {0, NAN, 0, 0};
        f.q->op->cross_entropy(f.q, bad,
                               &(struct gpu_cross_entropy){.rows = 1,
                                                           .cols = 4,
                                                           .target = target,
                                                           .scale = 1,
                                                           .loss = &loss,
                                                           .correct = &correct});
        assert_true(isnan(loss)); /* never hidden */
        fixture_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matmul),        cmocka_unit_test(test_matmul_end),
        cmocka_unit_test(test_matmul_empty),  cmocka_unit_test(test_round_bf16),
        cmocka_unit_test(test_matmul_bf16),   cmocka_unit_test(test_elementwise),
        cmocka_unit_test(test_activation),    cmocka_unit_test(test_norm),
        cmocka_unit_test(test_normalize),     cmocka_unit_test(test_attention),
        cmocka_unit_test(test_embed),         cmocka_unit_test(test_pool),
        cmocka_unit_test(test_cross_entropy), cmocka_unit_test(test_cross_entropy_extremes),
        cmocka_unit_test(test_dropout),       cmocka_unit_test(test_adamw),
        cmocka_unit_test(test_margin_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
