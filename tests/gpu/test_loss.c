/* Losses; see fixture.h. */
#include "tests/gpu/fixture.h"

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

TEST_ON_EACH_ISA(cross_entropy)
{
    enum { N = 22, FIRST = 3, ROWS = 5 };
    for (int kind = 0; kind < 3; kind++) { /* plain, with groups, smoothed */
        bool grouped = kind == 1;
        float x[ROWS * N], loss[ROWS], correct[ROWS];
        double rx[ROWS * N];
        uint32_t target[N], group[N];
        for (uint32_t i = 0; i < N; i++) {
            target[i] = (i + N / 2) % N;
            group[i] = i % (N / 2) % 4;
        }
        fill(&f->r, x, rx, ROWS * N, 4);
        x[1 * N + target[FIRST + 1]] = 50;  /* found, */
        x[2 * N + target[FIRST + 2]] = -50; /* not found, */
        x[3 * N + target[FIRST + 3]] = 50;  /* and one of three */
        x[3 * N + target[FIRST + 3] - 1] = x[3 * N + target[FIRST + 3] - 2] = 50;
        for (int i = 0; i < ROWS * N; i++)
            rx[i] = x[i];
        f->q->op->cross_entropy(f->q, x,
                                &(struct gpu_loss){.rows = ROWS,
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
}

/* The exponential inside the softmax: sums of powers far apart must neither overflow nor vanish. */
TEST_ON_EACH_ISA(cross_entropy_extremes)
{
    float x[4] = {1000, -1000, 0, 999}, loss, correct;
    uint32_t target[1] = {3};
    struct gpu_loss how = {
        .rows = 1, .cols = 4, .target = target, .scale = 1, .loss = &loss, .correct = &correct};
    f->q->op->cross_entropy(f->q, x, &how);
    assert_true(fabsf(loss - 1.3132617f) < 1e-5f);
    assert_true(fabsf(x[0] - 0.7310586f) < 1e-5f && fabsf(x[3] + 0.7310586f) < 1e-5f);
    float bad[4] = {0, NAN, 0, 0};
    f->q->op->cross_entropy(f->q, bad, &how);
    assert_true(isnan(loss)); /* never hidden */
}

/* Scores of two anchors, their partners and three negatives each; every row by itself is a function
 * of its own group's columns, and with swapped roles of those of its partner's scores, which lie
 * behind. */
enum { MARGIN_ANCHORS = 2, MARGIN_COLS = MARGIN_ANCHORS * 5 };

static const uint32_t margin_group[MARGIN_COLS] = {0, 1, 0, 1, 0, 0, 0, 1, 1, 1};
static const uint32_t margin_target[MARGIN_ANCHORS] = {2, 3};

struct hinge_case {
    size_t row;
    bool pairs, squared, swapped, euclidean;
    double margin; /* euclidean */
};

static double hinge(const struct hinge_case *c, double over)
{
    return c->squared ? pow(fmax(0, over), 2) : fmax(0, over);
}

static double pair_value(const struct hinge_case *c, double score, bool equal)
{
    double d = sqrt(2 - 2 * score);
    if (!c->euclidean)
        return hinge(c, equal ? 0.5 - score : 0.5 + score);
    return equal ? d * d : pow(fmax(0, c->margin - d), 2);
}

static double hinge_value(void *arg, const double *x)
{
    const struct hinge_case *c = arg;
    double sum = 0, target = x[c->row + MARGIN_ANCHORS];
    for (size_t i = 2 * MARGIN_ANCHORS; i < MARGIN_COLS; i++) {
        if (margin_group[i] != margin_group[c->row])
            continue;
        double score = c->swapped ? fmax(x[i], x[MARGIN_COLS + i]) : x[i];
        sum += c->pairs ? pair_value(c, score, false) : hinge(c, 0.5 - target + score);
    }
    return 0.25 * (c->pairs ? (sum + pair_value(c, target, true)) / 4 : sum / 3);
}

static void check_hinge(struct fixture *f, struct hinge_case c)
{
    enum { N = MARGIN_COLS };
    float x[MARGIN_ANCHORS * N], y[MARGIN_ANCHORS * N], loss[MARGIN_ANCHORS];
    float correct[MARGIN_ANCHORS], gradient[2 * N];
    double rx[MARGIN_ANCHORS * N], ry[MARGIN_ANCHORS * N], both[2 * N];
    fill(&f->r, x, rx, MARGIN_ANCHORS * N, 1);
    fill(&f->r, y, ry, MARGIN_ANCHORS * N, 1);
    x[4] = (float)(rx[4] = rx[2]);                              /* as good as the partner, */
    x[5] = (float)(rx[5] = rx[2] - 1);                          /* far off, */
    x[6] = (float)(rx[6] = rx[2] + 1);                          /* and better */
    y[4] = (float)(ry[4] = rx[2] + 2);                          /* the partner is nearer, */
    y[6] = (float)(ry[6] = rx[2]);                              /* or further off */
    for (int i = 0; c.euclidean && i < MARGIN_ANCHORS * N; i++) /* cosines */
        x[i] = (float)(rx[i] = tanh(0.5 * rx[i]));
    struct gpu_loss ce = {.rows = MARGIN_ANCHORS,
                          .cols = N,
                          .target = margin_target,
                          .group = margin_group,
                          .self = true,
                          .own = true,
                          .margin = c.euclidean ? (float)c.margin : 0.5f,
                          .squared = c.squared,
                          .euclidean = c.euclidean,
                          .swapped = c.swapped ? y : NULL,
                          .scale = 0.25f,
                          .loss = loss,
                          .correct = correct};
    if (c.pairs)
        f->q->op->siamese_loss(f->q, x, &ce);
    else
        f->q->op->triplet_loss(f->q, x, &ce);
    for (c.row = 0; c.row < MARGIN_ANCHORS; c.row++) {
        memcpy(both, rx + c.row * N, N * sizeof *both);
        memcpy(both + N, ry + c.row * N, N * sizeof *both);
        memcpy(gradient, x + c.row * N, N * sizeof *gradient);
        memcpy(gradient + N, y + c.row * N, N * sizeof *gradient);
        double want = 4 * hinge_value(&c, both);
        assert_near(loss + c.row, &want, 1, 1e-5, "loss");
        assert_gradient(gradient, hinge_value, &c, both, c.swapped ? 2 * N : N, 1e-5, "logits");
    }
    assert_true(correct[0] == 0.5f); /* one below, one level, one above */
}

TEST_ON_EACH_ISA(margins)
{
    for (int i = 0; i < 6; i++) /* pairs have no roles to swap */
        check_hinge(f, (struct hinge_case){.pairs = i >= 4, .squared = i & 1, .swapped = i & 2});
    for (int i = 1; i < 4; i++)
        check_hinge(f, (struct hinge_case){.pairs = true, .euclidean = true, .margin = 0.5 * i});
}

/* A random weighting of the two histograms of two rows, each of which has its target and others
 * that count. */
enum { HISTOGRAM_ROWS = 2, HISTOGRAM_COLS = 8 };

static const uint32_t histogram_group[HISTOGRAM_COLS] = {0, 1, 2, 3, 0, 1, 2, 0};
static const uint32_t histogram_target[HISTOGRAM_ROWS] = {4, 5};

static double bins_value(const double *weight, double x)
{
    const double width = 2.0 / (GPU_BINS - 1);
    double sum = 0;
    for (size_t i = 0; i < GPU_BINS; i++)
        sum += weight[i] * fmax(0, 1 - fabs(x + 1 - (double)i * width) / width);
    return sum;
}

static double histogram_value(void *arg, const double *x)
{
    const double *weight = arg;
    double sum = 0;
    for (size_t r = 0; r < HISTOGRAM_ROWS; r++)
        for (size_t c = 0; c < HISTOGRAM_COLS; c++) {
            double at = x[r * HISTOGRAM_COLS + c];
            if (c == histogram_target[r])
                sum += bins_value(weight, at);
            else if (histogram_group[c] != histogram_group[r])
                sum += bins_value(weight + GPU_BINS, at);
        }
    return sum;
}

TEST_ON_EACH_ISA(histogram)
{
    enum { N = HISTOGRAM_ROWS * HISTOGRAM_COLS };
    float x[N], correct[HISTOGRAM_ROWS];
    double rx[N], bins[2 * GPU_BINS], weight[2 * GPU_BINS];
    for (int i = 0; i < 2 * GPU_BINS; i++)
        weight[i] = rng_normal(&f->r);
    for (int i = 0; i < N; i++)
        x[i] = (float)(rx[i] = 2 * rng_double(&f->r) - 1);
    struct gpu_loss ce = {.rows = HISTOGRAM_ROWS,
                          .cols = HISTOGRAM_COLS,
                          .target = histogram_target,
                          .group = histogram_group,
                          .self = true,
                          .scale = 1,
                          .correct = correct};
    f->q->op->histogram(f->q, bins, x, &ce);
    double got = dot(bins, weight, 2 * GPU_BINS), want = histogram_value(weight, rx);
    assert_true(fabs(got - want) < 1e-4);
    f->q->op->histogram_back(f->q, x, weight, &ce);
    assert_gradient(x, histogram_value, weight, rx, N, 1e-4, "logits");
}

/* At the ends, and beyond where rounding takes cosines; and what is not a number is told. */
TEST_ON_EACH_ISA(histogram_ends)
{
    static const uint32_t target[1] = {0};
    float x[5] = {1, -1, 1.0000001f, -1.0000001f, 1}, correct;
    double bins[2 * GPU_BINS];
    struct gpu_loss ce = {.rows = 1, .cols = 5, .target = target, .scale = 1, .correct = &correct};
    f->q->op->histogram(f->q, bins, x, &ce);
    assert_true(bins[GPU_BINS - 1] == 1 && fabs(bins[GPU_BINS] - 2) < 1e-4);
    assert_true(fabs(bins[2 * GPU_BINS - 1] - 2) < 1e-4);
    assert_true(correct == 0.625f); /* two below, one level, one above */
    x[1] = NAN;
    f->q->op->histogram(f->q, bins, x, &ce);
    assert_true(isnan(bins[GPU_BINS]));
}
