/* The fixture of the tests of tensor ops: each test runs once for each instruction set and is
 * skipped where the processor lacks it; or, ON_CUDA, with the emulated kernels of the CUDA back
 * end. Forward is compared with the reference in double precision, backward with finite differences
 * of the reference; the scalar that is differentiated is a random weighting of the op's outputs. */
#pragma once

#include "base/rng.h"
#include "tests/ref/ref.h"
#include "tests/unit.h"

#ifdef ON_CUDA
#include "gpu/cuda_plugin.h"
#include "tests/cuda/double.h"
#endif

#ifdef ON_CUDA
enum { ON_CARD = 1 };
#else
enum { ON_CARD };
#endif

struct fixture {
    const char *isa;
    struct gpu_device *device;
    struct gpu_queue *q;
    struct rng r;
};

/* The initial state is the instruction set's name; one that this processor lacks has no device. */
static inline int fixture_open(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct err e;
    assert_non_null(f);
    f->isa = *state;
    f->r = rng_new(11, 0);
    *state = f;
#ifdef ON_CUDA
    eqloom_double.now = true;
    if (getenv("SEED"))
        eqloom_double.seed = strtoull(getenv("SEED"), NULL, 0);
    assert_int_equal(eqloom_cuda_plugin.open(&f->device, 0, &e), OK);
#else
    if (gpu_open_cpu(&f->device, NULL, f->isa, &e)) {
        assert_int_equal(e.code, ERR_UNSUPPORTED);
        return 0;
    }
#endif
    assert_int_equal(gpu_queue_new(&f->q, f->device, &e), OK);
    return 0;
}

static inline int fixture_close(void **state)
{
    struct fixture *f = *state;
    if (f->device) {
        assert_int_equal(gpu_finish(f->q, NULL), OK);
        gpu_queue_free(f->q);
        gpu_close(f->device);
    }
#ifdef ON_CUDA
    assert_int_equal(eqloom_double.live, 0);
#endif
    free(f);
    return 0;
}

static inline struct fixture *fixture_of(void **state)
{
    struct fixture *f = *state;
    if (!f->device) {
        print_message("this processor does not support '%s'\n", f->isa);
        skip();
    }
    return f;
}

#ifdef ON_CUDA
#define ISAS "cuda"
#else
#define ISAS "base", "avx2", "avx512", "amx"
#endif

/* With `struct fixture *f`. */
#define TEST_ON_EACH_ISA(name)                                                                     \
    static void name##_on(struct fixture *f);                                                      \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        name##_on(fixture_of(state));                                                              \
    }                                                                                              \
    __attribute__((constructor)) static void test_##name##_stands(void)                            \
    {                                                                                              \
        add_on_each_isa(__FILE__, __LINE__, "test_" #name, test_##name);                           \
    }                                                                                              \
    static void name##_on(struct fixture *f)

static inline void add_on_each_isa(const char *file, int line, const char *name,
                                   CMUnitTestFunction test)
{
    static const char *const isas[] = {ISAS};
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        unit_add(file, line, name, test, fixture_open, fixture_close, (char *)isas[i]);
}

/* Random values, the same in both precisions. */
static inline void fill(struct rng *r, float *x, double *y, size_t n, double spread)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = (float)(spread * rng_normal(r));
        if (y)
            y[i] = x[i];
    }
}

/* The number that is stored as bf16. */
static inline float widened(uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float y;
    memcpy(&y, &bits, sizeof y);
    return y;
}

/* n numbers as the device stores activations: x and y become what that holds. Returns where they
 * are, in `to` or x itself. */
static inline void *store(const struct fixture *f, uint16_t *to, float *x, double *y, size_t n)
{
    if (!f->device->stores_bf16)
        return x;
    f->q->op->round_bf16(f->q, to, x, 1, n, n);
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] = widened(to[i]);
    return to;
}

/* And back: n numbers of x, where it is not the same memory. */
static inline void load(float *x, const void *stored, size_t n)
{
    const uint16_t *from = stored;
    for (size_t i = 0; i < n && stored != x; i++)
        x[i] = widened(from[i]);
}

static inline void assert_near(const float *x, const double *y, size_t n, double tolerance,
                               const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i] - y[i]) <= tolerance * (1 + fabs(y[i]))))
            fail_msg("%s[%zu]: %.9g, reference %.9g", what, i, x[i], y[i]);
}

/* gradient[i] of f at x, for all i; of many, for every seventh, and of very many for every 23rd,
 * beginning anywhere: they are of all rows and columns. */
static inline void assert_gradient(const float *gradient, double (*f)(void *, const double *),
                                   void *arg, const double *x, size_t n, double tolerance,
                                   const char *what)
{
    double *y = malloc((n + 1) * sizeof *y);
    size_t stride = n > 3000 ? 23 : n > 1000 ? 7 : 1;
    memcpy(y, x, n * sizeof *y);
    for (size_t i = n % stride; i < n; i += stride) {
        double want = ref_derivative(f, arg, y, i);
        if (!(fabs(gradient[i] - want) <= tolerance * (1 + fabs(want))))
            fail_msg("d%s[%zu]: %.9g, finite difference %.9g", what, i, gradient[i], want);
    }
    free(y);
}

static inline double dot(const double *a, const double *b, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}
