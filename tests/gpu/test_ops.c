/* Ops on elements and rows, and the optimizer; see fixture.h. */
#include "tests/gpu/fixture.h"

TEST_ON_EACH_ISA(elementwise)
{
    enum { N = 1003, PARTS = 7, ROWS = 5, COLS = 83 };
    static float x[PARTS][N], y[N], bias[COLS], sums[COLS];
    static double rx[PARTS][N], ry[N], rb[COLS], rs[COLS];
    const float *parts[PARTS];
    memset(ry, 0, sizeof ry);
    for (int i = 0; i < PARTS; i++) {
        fill(&f->r, x[i], rx[i], N, 1);
        parts[i] = x[i];
        for (int j = 0; j < N; j++)
            ry[j] += rx[i][j];
    }
    for (size_t count = 1; count < PARTS; count++) /* every shape of the tree is exact enough */
        f->q->op->sum_many(f->q, y, parts, count, N);
    f->q->op->sum_many(f->q, y, parts, PARTS, N);
    assert_near(y, ry, N, 1e-5, "sum_many");
    double squares;
    f->q->op->sum_squares(f->q, &squares, x[0], N);
    assert_true(fabs(squares - dot(rx[0], rx[0], N)) < 1e-9 * squares);

    fill(&f->r, bias, rb, COLS, 1);
    fill(&f->r, sums, rs, COLS, 1);
    for (int i = 0; i < ROWS * COLS; i++) {
        ry[i] = rx[0][i] + rb[i % COLS];
        rs[i % COLS] += rx[0][i];
    }
    f->q->op->add_columns(f->q, sums, GPU_TYPE_F32, x[0], ROWS, COLS);
    assert_near(sums, rs, COLS, 1e-5, "add_columns");
    f->q->op->add_bias(f->q, y, x[0], bias, ROWS, COLS);
    assert_near(y, ry, ROWS * COLS, 1e-6, "add_bias");
    f->q->op->add_bias(f->q, y, x[0], NULL, ROWS, COLS);
    assert_memory_equal(y, x[0], ROWS * COLS * sizeof *y);

    f->q->op->fill(f->q, y, N, 2);
    f->q->op->add(f->q, y, x[1], N);
    f->q->op->scale(f->q, y, N, 3);
    for (int i = 0; i < N; i++)
        ry[i] = (2 + rx[1][i]) * 3;
    assert_near(y, ry, N, 1e-6, "fill, add, scale");
    f->q->op->copy(f->q, y, x[2], N);
    assert_memory_equal(y, x[2], sizeof y);
    f->q->op->add_rows(f->q, y, x[1], x[0], N / 7, 7);
    for (int i = 0; i < N / 7 * 7; i++)
        ry[i] = rx[2][i] + rx[0][i / 7] * rx[1][i];
    assert_near(y, ry, N / 7 * 7, 1e-6, "add_rows");
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

TEST_ON_EACH_ISA(activation)
{
    enum { ROWS = 7, COLS = 45 };
    for (int kind = GPU_RELU; kind <= GPU_SIGMOID; kind++) {
        float x[ROWS * COLS], y[ROWS * COLS], dy[ROWS * COLS], dx[ROWS * COLS], bias[COLS];
        double rx[ROWS * COLS], ry[ROWS * COLS], rdy[ROWS * COLS], rb[COLS];
        fill(&f->r, x, rx, ROWS * COLS, 3);
        fill(&f->r, dy, rdy, ROWS * COLS, 1);
        fill(&f->r, bias, rb, COLS, 1);
        for (int i = 0; i < ROWS * COLS; i++)
            ry[i] = ref_activation(rx[i] + rb[i % COLS], (enum gpu_activation)kind);
        f->q->op->activate(f->q, GPU_TYPE_F32, y, x, bias, ROWS, COLS, (enum gpu_activation)kind);
        assert_near(y, ry, ROWS * COLS, 1e-6, "activation");
        f->q->op->activate_back(f->q, GPU_TYPE_F32, dx, dy, kind == GPU_GELU ? x : y, bias, ROWS,
                                COLS, (enum gpu_activation)kind);
        for (int i = 0; i < ROWS * COLS; i++) {
            struct activation_case c = {(enum gpu_activation)kind, rb[i % COLS], rdy[i]};
            assert_gradient(dx + i, activation_value, &c, rx + i, 1, 1e-5, "activation");
        }
    }
}

enum { NORM_ROWS = 11 };
struct norm_case {
    size_t cols;
    const double *x, *gamma, *beta, *weight;
    int which; /* of x, gamma, beta varies */
};

/* Without gamma, of L2 normalisation. */
static double norm_value(void *arg, const double *v)
{
    struct norm_case *c = arg;
    double *y = malloc(NORM_ROWS * c->cols * sizeof *y), s;
    if (c->gamma)
        ref_norm(y, c->which == 0 ? v : c->x, c->which == 1 ? v : c->gamma,
                 c->which == 2 ? v : c->beta, NORM_ROWS, c->cols);
    else
        ref_normalize(y, v, NORM_ROWS, c->cols);
    s = dot(y, c->weight, NORM_ROWS * c->cols);
    free(y);
    return s;
}

TEST_ON_EACH_ISA(norm)
{
    enum { MOST = NORM_ROWS * 70 };
    static const size_t widths[] = {5, 16, 48, 70};
    for (int w = 0; w < 4; w++) {
        size_t cols = widths[w], n = NORM_ROWS * cols;
        float x[MOST], y[MOST], dy[MOST], dx[MOST], gamma[70], beta[70],
            dg[70] = {0}, db[70] = {0}, mean[NORM_ROWS], rstd[NORM_ROWS];
        double rx[MOST], ry[MOST], rdy[MOST], rg[70], rb[70];
        fill(&f->r, x, rx, n, 2);
        fill(&f->r, dy, rdy, n, 1);
        fill(&f->r, gamma, rg, cols, 1);
        fill(&f->r, beta, rb, cols, 1);
        ref_norm(ry, rx, rg, rb, NORM_ROWS, cols);
        struct gpu_norm how = {NORM_ROWS, cols, x, mean, rstd, gamma, beta, GPU_TYPE_F32};
        f->q->op->norm(f->q, y, &how);
        assert_near(y, ry, n, 1e-5, "norm");
        float again[MOST], branch[MOST], masked[MOST];
        struct gpu_dropout drop = {0.2f, 5, (UINT64_C(1) << 32) - 60};
        struct gpu_norm_back to = {
            .dx = dx, .dgamma = dg, .dbeta = db, .dy = dy, .y = again, .branch = branch};
        f->q->op->norm_back(f->q, &to, &how);
        assert_near(again, ry, n, 1e-5, "norm again");
        assert_memory_equal(branch, dx, n * sizeof *dx);
        struct norm_case c = {cols, rx, rg, rb, rdy, 0};
        assert_gradient(dx, norm_value, &c, rx, n, 1e-4, "norm");
        c.which = 1;
        assert_gradient(dg, norm_value, &c, rg, cols, 1e-4, "gamma");
        c.which = 2;
        assert_gradient(db, norm_value, &c, rb, cols, 1e-4, "beta");
        float twice[MOST];
        memcpy(twice, dx, n * sizeof *dx);
        to.dx = twice;
        to.y = NULL;
        to.accumulate = true;
        to.drop = &drop;
        how.beta = NULL;
        f->q->op->norm_back(f->q, &to, &how);
        for (size_t i = 0; i < n; i++)
            ry[i] = 2.0 * dx[i];
        assert_near(twice, ry, n, 1e-5, "norm accumulated");
        f->q->op->dropout(f->q, GPU_TYPE_F32, masked, twice, NULL, n, &drop);
        assert_memory_equal(branch, masked, n * sizeof *masked);
    }
}

TEST_ON_EACH_ISA(normalize)
{
    enum { COLS = 37, N = NORM_ROWS * COLS };
    float x[N], y[N], dy[N], dx[N], norms[NORM_ROWS];
    double rx[N], ry[N], rdy[N];
    fill(&f->r, x, rx, N, 2);
    fill(&f->r, dy, rdy, N, 1);
    ref_normalize(ry, rx, NORM_ROWS, COLS);
    f->q->op->normalize(f->q, y, norms, x, NORM_ROWS, COLS);
    assert_near(y, ry, N, 1e-6, "normalize");
    f->q->op->normalize_back(f->q, dx, dy, y, norms, NORM_ROWS, COLS);
    struct norm_case c = {COLS, rx, NULL, NULL, rdy, 0};
    assert_gradient(dx, norm_value, &c, rx, N, 1e-5, "normalize");
    memset(x, 0, sizeof x); /* nothing to normalise: zero, not NaN */
    f->q->op->normalize(f->q, y, norms, x, NORM_ROWS, COLS);
    assert_memory_equal(y, x, sizeof x);
}

/* What batch norm is made of. */
TEST_ON_EACH_ISA(columns)
{
    enum { ROWS = 77, MOST = 45, N = ROWS * MOST };
    for (size_t cols = 3; cols <= MOST; cols += 14) {
        float x[N], y[N], z[N], a[MOST], b[MOST], c[MOST];
        double rx[N], ry[N], rz[N], ra[MOST], rb[MOST], rc[MOST], sums[2 * MOST];
        size_t n = ROWS * cols;
        fill(&f->r, x, rx, n, 2);
        fill(&f->r, z, rz, n, 1);
        fill(&f->r, a, ra, cols, 1);
        fill(&f->r, b, rb, cols, 1);
        fill(&f->r, c, rc, cols, 1);
        f->q->op->column_sums(f->q, sums, x, z, ROWS, cols);
        for (size_t k = 0; k < cols; k++) {
            double sum = 0, products = 0, size = 0;
            for (size_t i = k; i < n; i += cols) {
                sum += rx[i];
                products += rx[i] * rz[i];
                size += fabs(rx[i]) + fabs(rx[i] * rz[i]);
            }
            assert_true(fabs(sums[k] - sum) < 1e-6 * size);
            assert_true(fabs(sums[cols + k] - products) < 1e-6 * size);
        }
        for (size_t i = 0; i < n; i++)
            ry[i] = rx[i] * ra[i % cols] + rc[i % cols];
        f->q->op->affine_columns(f->q, y, x, a, NULL, NULL, c, ROWS, cols);
        assert_near(y, ry, n, 1e-6, "affine_columns");
        for (size_t i = 0; i < n; i++)
            ry[i] += rz[i] * rb[i % cols];
        f->q->op->affine_columns(f->q, x, x, a, z, b, c, ROWS, cols);
        assert_near(x, ry, n, 1e-6, "affine_columns of two");
    }
}

TEST_ON_EACH_ISA(dropout)
{
    enum { N = 20000 };
    static float x[N], y[N], again[N], first[N];
    size_t kept = 0;
    for (int i = 0; i < N; i++)
        x[i] = 1;
    struct gpu_dropout drop = {0.1f, 77, (UINT64_C(1) << 32) - 5000}, other = drop;
    f->q->op->dropout(f->q, GPU_TYPE_F32, y, x, NULL, N, &drop);
    for (int i = 0; i < N; i++) {
        assert_true(y[i] == 0 || fabsf(y[i] - 1 / 0.9f) < 1e-6f);
        kept += y[i] != 0;
    }
    assert_in_range(kept, 17800, 18200); /* 18,000 expected, deviation 42 */
    /* Any piece is the same as in the whole, past 2^32 too; another key is another mask. */
    other.first += 4700;
    f->q->op->dropout(f->q, GPU_TYPE_F32, again, x, NULL, 900, &other);
    assert_memory_equal(again, y + 4700, 900 * sizeof *y);
    other = drop;
    other.key++;
    f->q->op->dropout(f->q, GPU_TYPE_F32, again, x, NULL, N, &other);
    assert_memory_not_equal(again, y, sizeof y);
    for (int i = 0; i < N; i++) /* added to what is there */
        again[i] = 0.25f * (float)(i % 7) - 1;
    f->q->op->dropout(f->q, GPU_TYPE_F32, again, x, again, N, &drop);
    for (int i = 0; i < N; i++)
        assert_true(fabsf(again[i] - (0.25f * (float)(i % 7) - 1 + y[i])) < 1e-6f);
    /* The mask is the same on each instruction set, and on a card. */
    struct gpu_device *d;
    struct gpu_queue *q;
    assert_int_equal(gpu_open_cpu(&d, NULL, "base", NULL), OK);
    assert_int_equal(gpu_queue_new(&q, d, NULL), OK);
    q->op->dropout(q, GPU_TYPE_F32, first, x, NULL, N, &drop);
    assert_memory_equal(first, y, sizeof y);
    gpu_queue_free(q);
    gpu_close(d);
}

/* The same as dropout and norm, one after the other. */
TEST_ON_EACH_ISA(residual_norm)
{
    enum { R = 5, C = 37 };
    float sum[R * C], base[R * C], x[2][R * C], y[2][R * C], mean[2][R], rstd[2][R], gamma[C],
        beta[C];
    struct gpu_dropout drop = {0.2f, 5, (UINT64_C(1) << 32) - 60};
    fill(&f->r, sum, NULL, R * C, 1);
    fill(&f->r, base, NULL, R * C, 1);
    fill(&f->r, gamma, NULL, C, 1);
    fill(&f->r, beta, NULL, C, 1);
    struct gpu_norm how[] = {{R, C, x[0], mean[0], rstd[0], gamma, beta, GPU_TYPE_F32},
                             {R, C, x[1], mean[1], rstd[1], gamma, beta, GPU_TYPE_F32}};
    f->q->op->residual_norm(f->q, y[0], GPU_TYPE_F32, sum, base, &drop, &how[0]);
    f->q->op->dropout(f->q, GPU_TYPE_F32, x[1], sum, base, R * C, &drop);
    f->q->op->norm(f->q, y[1], &how[1]);
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_memory_equal(mean[0], mean[1], sizeof mean[0]);
    assert_memory_equal(rstd[0], rstd[1], sizeof rstd[0]);
}

TEST_ON_EACH_ISA(adamw)
{
    enum { N = 33 };
    for (int coupled = 0; coupled < 2; coupled++) { /* Adam, if so */
        float p[N], m[N] = {0}, v[N] = {0}, g[N];
        double rp[N], rm[N] = {0}, rv[N] = {0}, rg[N];
        fill(&f->r, p, rp, N, 1);
        uint16_t narrow[2][N], *rounded = f->device->stores_bf16 ? narrow[0] : NULL;
        for (unsigned step = 1; step <= 3; step++) {
            struct gpu_adamw how = {.lr = 0.01f,
                                    .beta1 = 0.9f,
                                    .beta2 = 0.999f,
                                    .eps = 1e-8f,
                                    .weight_decay = 0.1f,
                                    .correction1 = (float)(1 - pow(0.9, step)),
                                    .correction2 = (float)(1 - pow(0.999, step)),
                                    .coupled = coupled,
                                    .outcome = &(struct gpu_outcome){.scale = 0.5f}};
            fill(&f->r, g, rg, N, 1);
            f->q->op->adamw(f->q, p, rounded, m, v, g, N, &how);
            for (int i = 0; i < N; i++)
                ref_adamw(&rp[i], &rm[i], &rv[i], 0.5 * rg[i] + (coupled ? 0.1 * rp[i] : 0), 0.01,
                          0.9, 0.999, 1e-8, coupled ? 0 : 0.1, step);
            assert_near(p, rp, N, 1e-5, "p");
            assert_near(m, rm, N, 1e-6, "m");
            assert_near(v, rv, N, 1e-6, "v");
            f->q->op->round_bf16(f->q, narrow[1], p, 1, N, N);
            assert_true(!rounded || memcmp(narrow[0], narrow[1], sizeof narrow[0]) == 0);
        }
        struct gpu_adamw skip = {.beta1 = 0.9f, .outcome = &(struct gpu_outcome){.skip = 1}};
        f->q->op->adamw(f->q, p, NULL, m, v, g, N, &skip);
        assert_near(p, rp, N, 1e-5, "p");
    }
}

TEST_ON_EACH_ISA(rmsprop)
{
    enum { N = 33 };
    float p[N], m[N] = {0}, v[N] = {0}, g[N];
    double rp[N], rm[N] = {0}, rv[N] = {0}, rg[N];
    struct gpu_rmsprop how = {0.01f, 0.8f, 0.9f, 0.2f, &(struct gpu_outcome){.scale = 0.5f}};
    fill(&f->r, p, rp, N, 1);
    for (unsigned step = 1; step <= 4; step++) {
        fill(&f->r, g, rg, N, 1); /* some beyond the clip */
        f->q->op->rmsprop(f->q, p, m, v, g, N, &how);
        for (int i = 0; i < N; i++)
            ref_rmsprop(&rp[i], &rm[i], &rv[i], fmax(-0.2, fmin(0.2, 0.5 * rg[i])), 0.01, 0.8, 0.9);
        assert_near(p, rp, N, 1e-5, "p");
        assert_near(m, rm, N, 1e-5, "m");
        assert_near(v, rv, N, 1e-6, "v");
    }
    how.outcome = &(struct gpu_outcome){.skip = 1};
    f->q->op->rmsprop(f->q, p, m, v, g, N, &how);
    assert_near(p, rp, N, 1e-5, "p");
}

TEST_ON_EACH_ISA(combine)
{
    enum { N = 300 };
    float x[N], y[N], z[N];
    double rx[N], ry[N], want[N];
    fill(&f->r, x, rx, N, 1);
    fill(&f->r, y, ry, N, 1);
    struct gpu_outcome o = {.scale = 0.25f};
    uint16_t narrow[2][N], *rounded = f->device->stores_bf16 ? narrow[0] : NULL;
    for (int clipped = 0; clipped < 2; clipped++) {
        f->q->op->combine(f->q, z, rounded, 0.9f, x, -3, y, N, &o, clipped);
        f->q->op->round_bf16(f->q, narrow[1], z, 1, N, N);
        assert_true(!rounded || memcmp(narrow[0], narrow[1], sizeof narrow[0]) == 0);
        for (int i = 0; i < N; i++)
            want[i] = 0.9 * rx[i] - (clipped ? 0.75 : 3) * ry[i];
        assert_near(z, want, N, 1e-6, "z");
    }
    f->q->op->combine(f->q, z, NULL, 0, x, 1, y, N, NULL, false);
    assert_near(z, ry, N, 0, "z");
    o.skip = 1;
    f->q->op->combine(f->q, z, NULL, 1, x, 0, y, N, &o, true);
    assert_near(z, ry, N, 0, "z");
}

/* Loss and norm of a step, clipped and not; what is not finite is told, and stays. */
TEST_ON_EACH_ISA(conclude)
{
    enum { N = 700 };
    float loss[N], correct[N];
    double rl[N], rc[N], sums[6], squares[3] = {1, 4, 11}, l = 0, c = 0;
    struct gpu_outcome o = {0};
    fill(&f->r, loss, rl, N, 1);
    fill(&f->r, correct, rc, N, 1);
    for (int i = 0; i < N; i++) {
        l += rl[i] / 7;
        c += rc[i] / 7;
    }
    for (int i = 0; i < 3; i++) {
        sums[2 * i] = -1;
        f->q->op->sum_losses(f->q, sums + 2 * i, i == 1 ? NULL : loss, correct, N, 7);
        assert_true(fabs(sums[2 * i] - (i == 1 ? -1 : l)) < 1e-9 &&
                    fabs(sums[2 * i + 1] - c) < 1e-9);
    }
    f->q->op->conclude(f->q, &o, sums, 3, 2, squares, 3, 0);
    assert_true(fabs(o.loss - (2 * l - 1) / 2) < 1e-9 && fabs(o.accuracy - 1.5 * c) < 1e-9);
    assert_true(o.norm == 4 && o.scale == 1 && !o.skip);
    f->q->op->conclude(f->q, &o, sums, 3, 2, squares, 3, 1);
    assert_true(fabsf(o.scale - 0.25f) < 1e-6f && !o.skip);
    squares[1] = INFINITY;
    f->q->op->conclude(f->q, &o, sums, 3, 2, squares, 3, 1);
    assert_true(o.skip && isinf(o.norm));
    squares[1] = 4;
    f->q->op->conclude(f->q, &o, sums, 3, 2, squares, 3, 1);
    assert_true(o.skip && isinf(o.norm));
    o = (struct gpu_outcome){0};
    sums[2] = NAN;
    f->q->op->conclude(f->q, &o, sums, 3, 2, squares, 3, 1);
    assert_true(o.skip && isnan(o.loss) && o.norm == 4);
}
