/* f32 products of digits (gpu/cpu/amx.h): what is guaranteed about their error, at which values and
 * shapes. The tests of test_matmul.c, for all instruction sets, hold here as well; where there are
 * no tile units these have nothing to do. */
#include "tests/gpu/fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { M = 35, N = 37, MOST_K = 600, RUN = 256 };

struct operands {
    float a[M * MOST_K], b[N * MOST_K], c[M * N]; /* (M, k) and (N, k), close together */
    size_t k;
};

static void multiply(struct fixture *f, struct operands *o, size_t m, size_t n)
{
    struct gpu_matmul mm = {.tb = true,
                            .m = m,
                            .n = n,
                            .k = o->k,
                            .alpha = 1,
                            .a = o->a,
                            .lda = o->k,
                            .b = o->b,
                            .ldb = o->k,
                            .c = o->c,
                            .ldc = N};
    f->q->op->matmul(f->q, &mm);
}

static double product_of(const struct operands *o, size_t i, size_t j)
{
    double x = 0;
    for (size_t k = 0; k < o->k; k++)
        x += (double)o->a[i * o->k + k] * (double)o->b[j * o->k + k];
    return x;
}

static double greatest(const float *x, size_t from, size_t end)
{
    double most = 0;
    for (size_t i = from; i < end; i++)
        most = fmax(most, fabs((double)x[i]));
    return most;
}

/* The sum over runs of what their greatest values allow, each run's `power` of its length times. */
static double allowed(const struct operands *o, size_t i, size_t j, double power)
{
    double sum = 0;
    for (size_t k = 0; k < o->k; k += RUN) {
        size_t end = k + RUN < o->k ? k + RUN : o->k;
        sum += pow((double)(end - k), power) * greatest(o->a + i * o->k, k, end) *
               greatest(o->b + j * o->k, k, end);
    }
    return sum;
}

/* Each element within the guarantee, and all of them within the average, to which the roundings of
 * scales and of the sum add some of the sum itself. */
static void assert_guaranteed(struct fixture *f, struct operands *o, const char *what)
{
    double errors = 0, averages = 0;
    multiply(f, o, M, N);
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) {
            double want = product_of(o, i, j), off = fabs((double)o->c[i * N + j] - want);
            double average = 0x1.4p-24 * (allowed(o, i, j, 0.5) + fabs(want));
            if (!(off <= 0x1p-21 * allowed(o, i, j, 1) + 0x1p-149))
                fail_msg("%s, k %zu: element %zu, %zu is off by %g of %g", what, o->k, i, j, off,
                         want);
            errors += average > 0 ? off * off / (average * average) : 0;
            averages += average > 0;
        }
    if (!(errors <= averages))
        fail_msg("%s, k %zu: the error is %.2f times the average", what, o->k,
                 sqrt(errors / averages));
}

static const size_t depths[] = {1, 3, 63, 64, 65, 255, 256, 257, 511, 600};
enum { N_DEPTHS = sizeof depths / sizeof *depths };

/* How values are spread; sizes of rows and columns differ in all. */
enum spread { GAUSSIAN, POSITIVE, OUTLIERS, WIDE, MOST_ZERO, SPREADS };

static float value(struct rng *r, enum spread how)
{
    float x = (float)rng_normal(r);
    switch (how) {
    case GAUSSIAN: return x;
    case POSITIVE: return x > 0 ? x : 0;
    case OUTLIERS: return rng_below(r, 50) ? x : 1000 * x;
    case WIDE: return ldexpf(x, (int)rng_below(r, 20) - 10);
    case MOST_ZERO: return rng_below(r, 10) ? 0 : x;
    case SPREADS: break;
    }
    return 0;
}

static void spread(struct rng *r, float *x, size_t rows, size_t k, enum spread how, int sizes)
{
    for (size_t i = 0; i < rows; i++) {
        int size = sizes ? (int)rng_below(r, (uint64_t)(2 * sizes)) - sizes : 0;
        for (size_t j = 0; j < k; j++)
            x[i * k + j] = ldexpf(value(r, how), size);
    }
}

static bool begin(struct fixture *f, struct operands **o)
{
    if (!fixture_open(f, "amx"))
        return false;
    assert_non_null(*o = calloc(1, sizeof **o));
    return true;
}

static void end(struct fixture *f, struct operands *o)
{
    free(o);
    fixture_close(f);
}

static void test_guarantee(void **state)
{
    static const char *const names[] = {"gaussian", "positive", "outliers", "wide", "zeros"};
    struct fixture f;
    struct operands *o;
    if (!begin(&f, &o))
        return;
    for (int how = 0; how < SPREADS; how++)
        for (size_t d = 0; d < N_DEPTHS; d++) {
            o->k = depths[d];
            spread(&f.r, o->a, M, o->k, (enum spread)how, 50);
            spread(&f.r, o->b, N, o->k, (enum spread)how, 9);
            assert_guaranteed(&f, o, names[how]);
        }
    end(&f, o);
}

/* Integers that need no more than a digit each come out to the last bit, whatever their sign. */
static void test_exact_integers(void **state)
{
    struct fixture f;
    struct operands *o;
    if (!begin(&f, &o))
        return;
    o->k = 300;
    for (size_t i = 0; i < M * o->k; i++)
        o->a[i] = (float)rng_below(&f.r, 255) - 127;
    for (size_t i = 0; i < N * o->k; i++)
        o->b[i] = (float)rng_below(&f.r, 255) - 127;
    multiply(&f, o, M, N);
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++)
            assert_true(fabs((double)o->c[i * N + j] - product_of(o, i, j)) <= 0.5);
    end(&f, o);
}

/* Far from 1, and where the greatest value of a run is below what scales reach. */
static void test_sizes(void **state)
{
    static const int powers[][2] = {{115, -110}, {-110, 115}, {100, -126}, {-126, 100}, {60, 60},
                                    {-60, -60},  {-140, 120}, {-90, 10},   {-149, 0},   {0, 0}};
    struct fixture f;
    struct operands *o;
    if (!begin(&f, &o))
        return;
    for (size_t p = 0; p < sizeof powers / sizeof *powers; p++) {
        o->k = 70;
        spread(&f.r, o->a, M, o->k, GAUSSIAN, 0);
        spread(&f.r, o->b, N, o->k, GAUSSIAN, 0);
        for (size_t i = 0; i < M * o->k; i++)
            o->a[i] = ldexpf(o->a[i], powers[p][0]);
        for (size_t i = 0; i < N * o->k; i++)
            o->b[i] = ldexpf(o->b[i], powers[p][1]);
        multiply(&f, o, M, N);
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < N; j++) {
                double ga = greatest(o->a, i * o->k, (i + 1) * o->k),
                       gb = greatest(o->b, j * o->k, (j + 1) * o->k);
                double off = fabs((double)o->c[i * N + j] - product_of(o, i, j));
                double most = 0x1p-21 * 70 * fmax(ga, 0x1p-96) * fmax(gb, 0x1p-96);
                if (!(off <= most + 0x1p-149))
                    fail_msg("2^%d by 2^%d: off by %g, allowed %g", powers[p][0], powers[p][1], off,
                             most);
            }
    }
    end(&f, o);
}

/* What is not finite is seen in its whole row or column, and nowhere else; it must not get lost, so
 * that a training that has gone astray is stopped. */
static void test_not_finite(void **state)
{
    static const float bad[] = {INFINITY, -INFINITY, NAN};
    struct fixture f;
    struct operands *o;
    if (!begin(&f, &o))
        return;
    for (size_t at = 0; at < 560; at += 43)
        for (size_t which = 0; which < 3; which++)
            for (int left = 0; left < 2; left++) {
                o->k = 560;
                spread(&f.r, o->a, M, o->k, POSITIVE, 3);
                spread(&f.r, o->b, N, o->k, POSITIVE, 3);
                (left ? o->a : o->b)[17 * o->k + at] = bad[which];
                multiply(&f, o, M, N);
                for (size_t i = 0; i < M; i++)
                    for (size_t j = 0; j < N; j++)
                        assert_int_equal(isnan(o->c[i * N + j]) != 0, (left ? i : j) == 17);
            }
    end(&f, o);
}

/* An element's bits depend on its row and column alone: not on what else is multiplied. */
static void test_alone(void **state)
{
    static float all[M * N];
    struct fixture f;
    struct operands *o;
    if (!begin(&f, &o))
        return;
    o->k = 600;
    spread(&f.r, o->a, M, o->k, GAUSSIAN, 5);
    spread(&f.r, o->b, N, o->k, GAUSSIAN, 5);
    multiply(&f, o, M, N);
    memcpy(all, o->c, sizeof all);
    for (size_t m = 1; m <= M; m += 3)
        for (size_t n = 1; n <= N; n += 5) {
            memset(o->c, 0, sizeof o->c);
            multiply(&f, o, m, n);
            for (size_t i = 0; i < m; i++)
                assert_memory_equal(o->c + i * N, all + i * N, n * sizeof *all);
        }
    end(&f, o);
}

/* Nor on how the operands lie in memory, or whether one is kept. */
static void test_layouts(void **state)
{
    static float all[M * N], turned_a[M * MOST_K], turned_b[N * MOST_K];
    struct fixture f;
    struct operands *o;
    if (!begin(&f, &o))
        return;
    for (size_t d = 0; d < N_DEPTHS; d++) {
        size_t k = o->k = depths[d];
        spread(&f.r, o->a, M, k, WIDE, 5);
        spread(&f.r, o->b, N, k, GAUSSIAN, 5);
        for (size_t j = 0; j < k; j++) {
            for (size_t i = 0; i < M; i++)
                turned_a[j * M + i] = o->a[i * k + j];
            for (size_t i = 0; i < N; i++)
                turned_b[j * N + i] = o->b[i * k + j];
        }
        multiply(&f, o, M, N);
        memcpy(all, o->c, sizeof all);
        for (int mode = 0; mode < 8; mode++) {
            bool ta = mode & 1, tb = mode & 2;
            struct gpu_matmul mm = {.ta = ta,
                                    .tb = tb,
                                    .stable = mode & 4,
                                    .m = M,
                                    .n = N,
                                    .k = k,
                                    .alpha = 1,
                                    .a = ta ? turned_a : o->a,
                                    .lda = ta ? M : k,
                                    .b = tb ? o->b : turned_b,
                                    .ldb = tb ? k : N,
                                    .c = o->c,
                                    .ldc = N};
            memset(o->c, 0, sizeof o->c);
            gpu_changed(f.device);
            f.q->op->matmul(f.q, &mm);
            assert_memory_equal(o->c, all, sizeof all);
        }
    }
    end(&f, o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guarantee), cmocka_unit_test(test_exact_integers),
        cmocka_unit_test(test_sizes),     cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_alone),     cmocka_unit_test(test_layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
