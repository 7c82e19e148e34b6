/* Convolution and max pooling of images; see fixture.h. */
#include "tests/gpu/fixture.h"

/* The library's kernels are the process's instruction set's, whatever the device's. */
static double tolerance_of(const struct gpu_convolution *c)
{
    return c->precision == GPU_BF16 && (gpu_cpu_bf16() || ON_CARD) ? 0.03 : 2e-5;
}

static size_t out_height(const struct gpu_convolution *c)
{
    return c->height - c->filter_height + 1;
}

static size_t out_width(const struct gpu_convolution *c)
{
    return c->width - c->filter_width + 1;
}

enum { X, FILTERS, BIAS, PARTS };

/* The weighted sum of y as a function of one of its arguments. */
struct convolution_case {
    const struct gpu_convolution *how;
    const double *parts[PARTS], *weight;
    int varied;
    double *y;
    size_t n;
};

static double convolution_value(void *arg, const double *x)
{
    struct convolution_case *c = arg;
    const double *parts[PARTS];
    for (int i = 0; i < PARTS; i++)
        parts[i] = i == c->varied ? x : c->parts[i];
    ref_convolve(c->y, parts[X], parts[FILTERS], parts[BIAS], c->how);
    return dot(c->y, c->weight, c->n);
}

/* The whole value is computed for each number that is varied: some of them, drawn. */
static void check_gradient(struct fixture *f, const float *g, struct convolution_case *c, double *x,
                           size_t n, double tolerance)
{
    static const char *const what[] = {"images", "filters", "bias"};
    for (int i = 0; i < 24; i++) {
        size_t k = i == 0 ? 0 : i == 1 ? n - 1 : (size_t)rng_below(&f->r, n);
        double want = ref_derivative(convolution_value, c, x, k);
        if (!(fabs(g[k] - want) <= tolerance * (1 + fabs(want))))
            fail_msg("d%s[%zu]: %.9g, finite difference %.9g", what[c->varied], k, g[k], want);
    }
}

static void check_convolution(struct fixture *f, struct gpu_convolution how, bool bias)
{
    size_t sizes[PARTS] = {how.images * how.height * how.width * how.in,
                           how.out * how.filter_height * how.filter_width * how.in, how.out};
    size_t n = how.images * out_height(&how) * out_width(&how) * how.out;
    /* Sums of about 1. */
    double spread = 1 / sqrt((double)(how.in * how.filter_height * how.filter_width));
    double near = tolerance_of(&how);
    struct arena a = {0};
    float *x[PARTS], *g[PARTS], *y = arena_array(&a, float, n), *dy = arena_array(&a, float, n);
    double *rx[PARTS], *ry = arena_array(&a, double, n), *rdy = arena_array(&a, double, n);
    for (int i = 0; i < PARTS; i++) {
        x[i] = arena_array(&a, float, sizes[i]);
        g[i] = arena_array(&a, float, sizes[i]);
        rx[i] = arena_array(&a, double, sizes[i]);
        if (i != BIAS || bias)
            fill(&f->r, x[i], rx[i], sizes[i], i == FILTERS ? spread : 1);
    }
    for (int relu = 0; relu < 2; relu++) {
        how.relu = relu;
        f->q->op->convolve(f->q, y, x[X], x[FILTERS], bias ? x[BIAS] : NULL, &how);
        ref_convolve(ry, rx[X], rx[FILTERS], rx[BIAS], &how);
        assert_int_equal(gpu_finish(f->q, NULL), OK);
        assert_near(y, ry, n, near, relu ? "convolution with ReLU" : "convolution");
    }
    how.relu = false;
    fill(&f->r, dy, rdy, n, 1 / sqrt((double)n));
    fill(&f->r, g[X], NULL, sizes[X], 1); /* is overwritten */
    f->q->op->convolve_back_input(f->q, g[X], dy, x[FILTERS], &how);
    for (int i = 0; i < 2; i++) /* adds up */
        f->q->op->convolve_back_filters(f->q, g[FILTERS], g[BIAS], dy, x[X], &how);
    for (size_t i = 0; i < sizes[FILTERS]; i++)
        g[FILTERS][i] /= 2;
    for (size_t i = 0; i < sizes[BIAS]; i++)
        g[BIAS][i] /= 2;
    assert_int_equal(gpu_finish(f->q, NULL), OK);
    for (int i = 0; i < PARTS; i++) {
        struct convolution_case c = {&how, {rx[X], rx[FILTERS], rx[BIAS]}, rdy, i, ry, n};
        check_gradient(f, g[i], &c, rx[i], sizes[i], 4 * near);
    }
    arena_free(&a);
}

TEST_ON_EACH_ISA(convolution)
{
    static const struct gpu_convolution shapes[] = {
        {2, 6, 11, 1, 32, 3, 3}, /* the networks' first layer, */
        {3, 7, 9, 32, 32, 5, 5}, /* others, */
        {2, 5, 8, 64, 64, 3, 5}, {1, 3, 5, 64, 64, 3, 3}, {1, 4, 4, 3, 5, 2, 1}, /* and odd ones */
        {2, 1, 1, 17, 19, 1, 1}, {1, 3, 7, 1, 1, 3, 7},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int bf16 = 0; bf16 < 2; bf16++) {
            struct gpu_convolution how = shapes[i];
            how.precision = bf16 ? GPU_BF16 : GPU_F32;
            check_convolution(f, how, i % 2 == 0);
        }
}

/* No image: nothing happens. */
TEST_ON_EACH_ISA(none)
{
    struct gpu_convolution c = {0, 6, 11, 1, 32, 3, 3};
    struct gpu_max_pool m = {0, 4, 4, 3, 2, 2};
    float one[32 * 9] = {0}, sum[32] = {7};
    f->q->op->convolve(f->q, one, one, one, one, &c);
    f->q->op->convolve_back_filters(f->q, one, sum, one, one, &c);
    f->q->op->max_pool(f->q, one, NULL, one, &m);
    assert_int_equal(gpu_finish(f->q, NULL), OK);
    assert_true(sum[0] == 7);
}

static void check_pool(struct fixture *f, const struct gpu_max_pool *how, bool equals)
{
    size_t n = how->images * how->height * how->width * how->channels;
    size_t m = how->images * (how->height / how->window_height) * (how->width / how->window_width) *
               how->channels;
    struct arena a = {0};
    float *x = arena_array(&a, float, n), *y = arena_array(&a, float, m);
    float *dx = arena_array(&a, float, n), *dy = arena_array(&a, float, m);
    double *rx = arena_array(&a, double, n), *ry = arena_array(&a, double, m);
    double *rdx = arena_array(&a, double, n);
    uint8_t *at = arena_alloc(&a, m + 1), *rat = arena_alloc(&a, m + 1);
    for (size_t i = 0; i < n; i++) {
        x[i] = (float)(equals ? (double)rng_below(&f->r, 3) : rng_normal(&f->r));
        rx[i] = x[i];
    }
    ref_max_pool(ry, rat, rx, how);
    f->q->op->max_pool(f->q, y, NULL, x, how);
    assert_near(y, ry, m, 0, "max_pool without places");
    memset(y, 0, m * sizeof *y);
    f->q->op->max_pool(f->q, y, at, x, how);
    assert_near(y, ry, m, 0, "max_pool");
    assert_memory_equal(at, rat, m);
    fill(&f->r, dy, NULL, m, 1);
    fill(&f->r, dx, NULL, n, 1); /* is overwritten */
    f->q->op->max_pool_back(f->q, dx, dy, at, how);
    ref_max_pool_back(rdx, dy, rat, how);
    assert_near(dx, rdx, n, 0, "max_pool_back");
    assert_int_equal(gpu_finish(f->q, NULL), OK);
    arena_free(&a);
}

TEST_ON_EACH_ISA(max_pool)
{
    static const struct gpu_max_pool shapes[] = {
        {2, 6, 11, 32, 2, 4}, {3, 3, 17, 32, 3, 3}, {1, 1, 14, 64, 1, 3},
        {2, 5, 5, 3, 2, 2},   {1, 4, 4, 17, 1, 1},  {1, 9, 28, 1, 9, 28},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check_pool(f, &shapes[i], false);
        check_pool(f, &shapes[i], true);
    }
}
