/* What the tests of tensor ops share: each runs on every instruction set of this machine, against
 * the reference in double precision; forward directly, backward by finite differences of the
 * reference. The scalar that is differentiated is a random weighting of the op's outputs. */
#ifndef TESTS_GPU_FIXTURE_H
#define TESTS_GPU_FIXTURE_H

#include "base/rng.h"
#include "tests/ref/ref.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
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

static inline bool fixture_open(struct fixture *f, const char *isa)
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

static inline void fixture_close(struct fixture *f)
{
    assert_int_equal(gpu_finish(f->q, NULL), OK);
    gpu_queue_free(f->q);
    gpu_close(f->device);
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

static inline void assert_near(const float *x, const double *y, size_t n, double tolerance,
                               const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i] - y[i]) <= tolerance * (1 + fabs(y[i]))))
            fail_msg("%s[%zu]: %.9g, reference %.9g", what, i, x[i], y[i]);
}

/* gradient[i] of f at x, for all i. */
static inline void assert_gradient(const float *gradient, double (*f)(void *, const double *),
                                   void *arg, const double *x, size_t n, double tolerance,
                                   const char *what)
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

static inline double dot(const double *a, const double *b, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}

#endif
