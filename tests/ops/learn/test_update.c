/* Updates of the weights: pieces cover each number once, AdamW does not see how they are cut, and
 * Muon equals a plain reference in double for wide, tall and square matrices. */
#include "base/rng.h"
#include "ops/learn/train/update.h"
#include "ops/nn/transformer/model.h"
#include "tests/ref/ref.h"
#include "tests/unit.h"

static const struct nn_config config = {.vocabulary = 50,
                                        .d_model = 32,
                                        .layers = 2,
                                        .heads = 2,
                                        .d_ff = 80,
                                        .max_length = 16,
                                        .decoder_layers = 1,
                                        .attention_bias = true};

static const struct update_how how = {.kind = OPTIMIZER_MUON,
                                      .adamw = {.lr = 0.01F,
                                                .beta1 = 0.9F,
                                                .beta2 = 0.99F,
                                                .eps = 1e-8F,
                                                .weight_decay = 0.1F,
                                                .correction1 = 0.1F,
                                                .correction2 = 0.01F,
                                                .outcome = &(struct gpu_outcome){.scale = 0.5F}}};

/* Whether the flat vector's number i is of a matrix that Muon takes. */
static bool *matrices_of(const struct nn_model *m)
{
    bool *in = calloc(m->table.total, sizeof *in);
    assert_non_null(in);
    for (size_t i = 0; i < m->table.n; i++) {
        const struct nn_param *p = &m->table.params[i];
        bool layers = strstr(p->name, "layers.") != NULL;
        for (size_t k = 0; k < p->size && layers && p->rank == 2; k++)
            in[p->at + k] = true;
    }
    return in;
}

TEST(plans)
{
    for (int kind = OPTIMIZER_ADAMW; kind <= OPTIMIZER_RMSPROP; kind++) {
        struct arena a = {0};
        struct nn_model *m;
        struct update_plan plan;
        assert_int_equal(nn_model_new(&m, &a, &config, NULL), OK);
        update_plan_make(&plan, &a, &m->table, m->table.total, (enum optimizer_kind)kind, 1 << 14);
        bool *in = matrices_of(m);
        unsigned *times = calloc(m->table.total, sizeof *times);
        assert_non_null(times);
        for (size_t i = 0; i < plan.n_pieces; i++) {
            struct update_piece x = plan.pieces[i];
            assert_true(x.at + x.n <= m->table.total && (x.cols == 0 || x.rows * x.cols == x.n));
            for (size_t k = 0; k < x.n; k++) {
                times[x.at + k]++;
                assert_int_equal(x.cols > 0, kind == OPTIMIZER_MUON && in[x.at + k]);
            }
        }
        for (size_t i = 0; i < m->table.total; i++)
            assert_int_equal(times[i], 1);
        free(times);
        free(in);
        arena_free(&a);
    }
}

/* x (r, c) becomes a x + b x x^T x + c x x^T x x^T x, five times. */
static void orthogonalise(double *x, size_t r, size_t c)
{
    double norm = 0, *gram = calloc(r * r, sizeof *gram);
    double *third = calloc(r * c, sizeof *third), *fifth = calloc(r * c, sizeof *fifth);
    for (size_t i = 0; i < r * c; i++)
        norm += x[i] * x[i];
    for (size_t i = 0; i < r * c; i++)
        x[i] /= sqrt(norm);
    for (int step = 0; step < 5; step++) {
        ref_matmul(gram, x, x, r, r, c, false, true, 1, false);
        ref_matmul(third, gram, x, r, c, r, false, false, 1, false);
        ref_matmul(fifth, gram, third, r, c, r, false, false, 1, false);
        for (size_t i = 0; i < r * c; i++)
            x[i] = 3.4445 * x[i] - 4.7750 * third[i] + 2.0315 * fifth[i];
    }
    free(gram);
    free(third);
    free(fifth);
}

static void fill_random(float *x, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((double)(rng_at(seed, 0, i) >> 11) * 0x1p-53 - 0.5);
}

static void check_muon(size_t rows, size_t cols)
{
    enum { MOST = 40 * 40 };
    float p[MOST], m[MOST], v[MOST] = {0}, g[MOST], was[MOST];
    double u[MOST], want_m[MOST];
    size_t n = rows * cols;
    struct gpu_device *d;
    struct gpu_queue *q;
    struct update_piece x = {0, n, rows, cols};
    struct update_state s = {p, NULL, m, v, g};
    fill_random(p, n, 1);
    fill_random(m, n, 2);
    fill_random(g, n, 3);
    memcpy(was, p, sizeof was);
    for (size_t i = 0; i < n; i++) {
        double gradient = 0.5 * (double)g[i];
        want_m[i] = 0.9 * (double)m[i] + 0.1 * gradient;
        u[i] = 0.1 * gradient + 0.9 * want_m[i];
    }
    orthogonalise(u, rows, cols);
    void *work = aligned_alloc(64, 1 << 16);
    assert_non_null(work);
    assert_int_equal(gpu_open_cpu(&d, NULL, NULL, NULL), OK);
    assert_int_equal(gpu_queue_new(&q, d, NULL), OK);
    update_piece(q, &x, &s, &how, work);
    assert_int_equal(gpu_finish(q, NULL), OK);
    double reach = 0.01 * 0.2 * sqrt((double)(rows > cols ? rows : cols));
    for (size_t i = 0; i < n; i++) {
        assert_true(fabs((double)m[i] - want_m[i]) < 1e-6);
        double want = (double)was[i] * (1 - 0.01 * 0.1) - reach * u[i];
        if (fabs((double)p[i] - want) > 1e-5)
            fail_msg("%zux%zu, number %zu: %.8g, expected %.8g", rows, cols, i, (double)p[i], want);
        assert_true(v[i] == 0);
    }
    gpu_queue_free(q);
    gpu_close(d);
    free(work);
}

/* Each queue's part of the scratch begins where the device would have it begin, whatever the sizes:
 * products may go other ways from other places. */
TEST(odd_sizes)
{
    for (uint32_t d = 5; d <= 11; d++) {
        struct nn_config odd = config;
        struct arena a = {0};
        struct nn_model *m;
        struct update_plan plan;
        odd.heads = 1;
        odd.d_model = d;
        odd.d_ff = 2 * d + 1;
        assert_int_equal(nn_model_new(&m, &a, &odd, NULL), OK);
        update_plan_make(&plan, &a, &m->table, m->table.total, OPTIMIZER_MUON, 1 << 14);
        assert_true(plan.scratch > 0 && plan.scratch % 64 == 0);
        arena_free(&a);
    }
}

TEST(muon)
{
    check_muon(8, 24);
    check_muon(24, 8);
    check_muon(16, 16);
    check_muon(1, 5);
}
