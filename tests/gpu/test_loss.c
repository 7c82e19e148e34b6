/* Losses; see fixture.h. */
#include "tests/gpu/fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cross_entropy),
        cmocka_unit_test(test_cross_entropy_extremes),
        cmocka_unit_test(test_margin_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
