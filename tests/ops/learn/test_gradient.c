/* The whole model's loss and gradient, by the trainer, against the reference encoder in double
 * precision and its finite differences: every parameter, every option. What tokens share changes
 * nothing. */
#include "ops/learn/transformer/transformer_step.h"
#include "tests/ops/learn/trainers.h"

#include "base/rng.h"

/* Three pairs; sequences of special tokens only, of one token, and some with start and end. */
static const uint32_t tokens[] = {1, 5, 6, 2, 7, 1, 2, 1, 8, 9, 2, 4, 4, 6, 5, 3, 10, 9, 1, 3, 2};
static const uint32_t offset[] = {0, 4, 5, 7, 11, 17, 21};
static const struct nn_sequences sequences = {tokens, offset, 6};
/* The second and third pairs are of one cluster: no negatives of each other. */
static const uint32_t group[] = {0, 1, 1, 0, 1, 1};

/* Two pairs, and two near misses. */
static const uint32_t with_near_misses[] = {0, 1, 0, 1, UINT32_MAX, UINT32_MAX - 1};

/* As targets. */
static const uint32_t more[] = {9, 3, 3, 10, 8, 5, 6, 7, 7, 4};
static const uint32_t more_offset[] = {0, 2, 3, 6, 7, 9, 10};
static const struct nn_sequences targets = {more, more_offset, 6};

struct setting {
    const struct nn_model *m;
    const struct transformer_config *how;
};

/* Over the batch. */
static double histogram_of(const double *vectors, size_t d)
{
    double u[6 * 8], positive[6], negative[36];
    size_t m = 0, n = 0;
    assert_true(d == 8);
    ref_normalize(u, vectors, 6, d);
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++) {
            double s;
            ref_matmul(&s, u + i * d, u + j * d, 1, 1, d, false, true, 1, false);
            if (j == (i + 3) % 6)
                positive[m++] = s;
            else if (group[i] != group[j])
                negative[n++] = s;
        }
    return ref_histogram(positive, m, negative, n);
}

static double loss_of_vectors(const double *vectors, size_t d, const struct transformer_config *how)
{
    size_t anchors = how->examples.batch, negatives = how->examples.negatives;
    switch (how->examples.objective) {
    case OBJECTIVE_TRIPLET:
        return ref_triplets(vectors, anchors, negatives, d, how->margin, how->squared, how->swap);
    case OBJECTIVE_SIAMESE:
        return ref_siamese(vectors, anchors, negatives, d, how->margin, how->squared,
                           how->euclidean);
    case OBJECTIVE_HISTOGRAM: return histogram_of(vectors, d);
    case OBJECTIVE_CONTRASTIVE:
    case OBJECTIVE_SIMCSE:
    case OBJECTIVE_SEQ2SEQ:
    case OBJECTIVE_AUTOENCODE: break;
    }
    return negatives ? ref_own_negatives(vectors, anchors, negatives, d, how->temperature)
                     : ref_info_nce(vectors, 2 * anchors, 6, d,
                                    anchors == 2 ? with_near_misses : group, how->temperature);
}

static double loss_of(void *arg, const double *w)
{
    const struct setting *s = arg;
    const struct examples_config *x = &s->how->examples;
    size_t d = s->m->config.d_model;
    double *vectors = calloc(6 * d, sizeof *vectors), loss;
    if (objective_generates(x->objective)) {
        loss = ref_seq2seq(s->m, w, &sequences, &targets, s->how->smoothing);
    } else if (s->how->maxsim) {
        loss = ref_maxsim(s->m, w, &sequences, 2 * x->batch,
                          x->batch == 2 ? with_near_misses : group, s->how->temperature);
    } else {
        ref_encoder(vectors, s->m, w, &sequences);
        loss = loss_of_vectors(vectors, d, s->how);
    }
    free(vectors);
    return loss;
}

/* Biases and norms are not to stay 0 and 1. */
static void add_noise(struct session *s, const struct nn_table *t)
{
    struct rng noise = rng_new(3, 0);
    for (size_t i = 0; i < t->n; i++)
        for (size_t j = t->params[i].at; j < t->params[i].at + t->params[i].size; j++)
            s->state.weights[j] += (float)(0.1 * rng_normal(&noise));
    assert_int_equal(trainer_write(s->trainer, &s->state, NULL), OK);
}

static void check_model(const struct nn_config *c, const struct transformer_config *how)
{
    struct session s;
    struct step_result r;
    static const uint32_t owner[] = {0, 1, 0, 1, 0, 1};
    struct examples x = {.inputs = sequences,
                         .group = how->examples.negatives    ? owner
                                  : how->examples.batch == 2 ? with_near_misses
                                                             : group,
                         .targets = targets};
    const struct nn_model *m = session_open_trainer(&s, NULL, c, how);
    struct setting setting = {m, how};
    add_noise(&s, &m->table);
    double *w = to_double(&s.a, s.state.weights, m->table.total), squares = 0;
    struct examples before = x; /* what it leaves in the groups' memory is not to be seen */
    before.inputs = targets;
    before.targets = sequences;
    assert_int_equal(trainer_gradient(&r, s.gradient, s.trainer, &before, NULL), OK);
    assert_int_equal(trainer_gradient(&r, s.gradient, s.trainer, &x, NULL), OK);
    assert_true(fabs(r.loss - loss_of(&setting, w)) < 1e-5);
    for (size_t j = 0; j < m->table.total; j++)
        squares += (double)s.gradient[j] * (double)s.gradient[j];
    assert_derivatives(&m->table, s.gradient, loss_of, &setting, w, test_stride(5), 2e-5, 2e-4);
    assert_true(fabs(r.gradient_norm - sqrt(squares)) <= 1e-4 * sqrt(squares) + 1e-9);
    session_close(&s);
}

/* All options of the model, in as few runs as show each. */
static struct nn_config model_number(int i)
{
    return (struct nn_config){.vocabulary = 11,
                              .d_model = 8,
                              .layers = 2,
                              .heads = 2,
                              .d_ff = 12,
                              .max_length = 8,
                              .positions = i & 1 ? NN_LEARNED : NN_SINUSOIDAL,
                              .activation = i & 2 ? GPU_GELU : GPU_RELU,
                              .pooling = (i ^ i >> 2) & 1 ? GPU_MAX : GPU_MEAN,
                              .attention_bias = i & 1};
}

TEST(contrastive)
{
    struct transformer_config how = {.examples = {.batch = 3}, .temperature = 0.5};
    for (int i = 0; i < 8; i++) {
        struct nn_config c = model_number(i);
        check_model(&c, &how);
    }
}

TEST(near_misses)
{
    struct transformer_config how = {.examples = {.batch = 2, .near_misses = 1},
                                     .temperature = 0.5};
    for (int i = 0; i < 2; i++) {
        struct nn_config c = model_number(i);
        check_model(&c, &how);
    }
}

/* All pairs of the batch, and two of it with near misses. */
TEST(maxsim)
{
    struct transformer_config how = {.maxsim = true, .temperature = 2};
    for (int i = 0; i < 4; i++) {
        struct nn_config c = model_number(i);
        how.examples = (struct examples_config){.batch = i < 2 ? 3 : 2, .near_misses = i >= 2};
        check_model(&c, &how);
    }
}

TEST(own_negatives)
{
    struct transformer_config how = {
        .examples = {.batch = 2, .negatives = 1}, .temperature = 0.5, .margin = 0.3};
    struct nn_config c = model_number(1);
    check_model(&c, &how);
}

/* Triplets and pairs, linear and squared, the former with and without swapped roles; pairs by
 * their distances. */
TEST(margins)
{
    struct transformer_config how = {.examples = {.batch = 2, .negatives = 1}, .temperature = 1};
    struct nn_config c = model_number(1);
    for (int i = 0; i < 8; i++) {
        how.examples.objective = i < 4 ? OBJECTIVE_TRIPLET : OBJECTIVE_SIAMESE;
        how.margin = i & 1 ? 1 : 0.3;
        how.squared = i & 1;
        how.swap = i == 2 || i == 3;
        how.euclidean = i >= 6;
        check_model(&c, &how);
    }
}

TEST(histogram)
{
    struct transformer_config how = {.examples = {.objective = OBJECTIVE_HISTOGRAM, .batch = 3},
                                     .temperature = 1};
    for (int i = 0; i < 2; i++) {
        struct nn_config c = model_number(i);
        check_model(&c, &how);
    }
}

TEST(seq2seq)
{
    struct transformer_config how = {.examples = {.objective = OBJECTIVE_SEQ2SEQ, .batch = 6}};
    for (int i = 0; i < 8; i++) {
        struct nn_config c = model_number(i);
        c.decoder_layers = 1 + i % 2;
        c.tied_output = i & 2;
        c.memory = i & 4 ? NN_MEMORY_VECTOR : NN_MEMORY_STATES;
        how.smoothing = i & 1 ? 0.1 : 0;
        check_model(&c, &how);
    }
}

/* ---- dropout: the trainer's own loss, which has the same mask each time ---- */

/* With weights p moved by `step` along `way`. */
static double loss_along(const struct session *s, const struct examples *x, float *ignored,
                         const struct nn_param *p, const float *way, double step)
{
    struct step_result r;
    float *weights = s->state.weights + p->at;
    for (size_t j = 0; j < p->size; j++)
        weights[j] += (float)(step * way[j]);
    assert_int_equal(trainer_write(s->trainer, &s->state, NULL), OK);
    assert_int_equal(trainer_gradient(&r, ignored, s->trainer, x, NULL), OK);
    for (size_t j = 0; j < p->size; j++)
        weights[j] -= (float)(step * way[j]);
    return r.loss;
}

/* Each parameter's gradient is as long as the loss is steep along it. */
static void check_dropout(const struct nn_config *c, enum objective_kind objective, double rate,
                          double attention)
{
    struct session s;
    struct step_result r;
    struct transformer_config how = {
        .examples = {.objective = objective, .batch = objective == OBJECTIVE_SEQ2SEQ ? 6 : 3},
        .temperature = 0.5,
        .dropout = rate,
        .attention_dropout = attention,
        .seed = 4};
    struct examples x = {.inputs = sequences, .group = group, .targets = targets};
    const struct nn_table *t = &session_open_trainer(&s, NULL, c, &how)->table;
    float *ignored = arena_array(&s.a, float, t->total), *way = arena_array(&s.a, float, t->total);
    add_noise(&s, t);
    assert_int_equal(trainer_gradient(&r, s.gradient, s.trainer, &x, NULL), OK);
    for (size_t i = 0; i < t->n; i++) {
        const struct nn_param *p = &t->params[i];
        const float *gradient = s.gradient + p->at;
        double length = 0, step = 1e-4;
        for (size_t j = 0; j < p->size; j++)
            length += (double)gradient[j] * gradient[j];
        length = sqrt(length);
        for (size_t j = 0; j < p->size; j++)
            way[j] = (float)(length > 0 ? gradient[j] / length : 0);
        double up = loss_along(&s, &x, ignored, p, way, step);
        double steep = (up - loss_along(&s, &x, ignored, p, way, -step)) / (2 * step);
        if (!(fabs(steep - length) <= 2e-3 + 0.02 * length))
            fail_msg("%s: %.6g, finite difference %.6g", p->name, length, steep);
    }
    session_close(&s);
}

TEST(dropout)
{
    for (int i = 0; i < 4; i++) {
        struct nn_config c = model_number(i);
        double rate = i < 3 ? 0.3 : 0, attention = i & 1 ? 0.2 : 0;
        check_dropout(&c, OBJECTIVE_CONTRASTIVE, rate, attention);
        c.decoder_layers = 2;
        check_dropout(&c, OBJECTIVE_SEQ2SEQ, rate, attention);
    }
}

/* Batches in which most tokens share their rows, beside the same ones in which none may. */
static void check_shared(const struct nn_config *c, size_t batch)
{
    struct session s;
    struct step_result r[2];
    struct transformer_config how = {.examples = {.batch = batch}, .temperature = 0.5, .seed = 4};
    struct rng rng = rng_new(6, batch);
    size_t n = 2 * batch, total = session_open_trainer(&s, NULL, c, &how)->table.total;
    uint32_t *at = arena_array(&s.a, uint32_t, n + 1), *of = arena_array(&s.a, uint32_t, n);
    uint32_t *words = arena_array(&s.a, uint32_t, n * c->max_length);
    for (size_t i = 0; i < n; i++) {
        of[i] = (uint32_t)(i % batch);
        at[i + 1] = at[i] + 1 + (uint32_t)rng_below(&rng, c->max_length);
        for (uint32_t j = at[i]; j < at[i + 1]; j++) /* some rarely, one never */
            words[j] = (uint32_t)rng_below(&rng, 1 + rng_below(&rng, c->vocabulary - 1));
    }
    struct examples x = {.inputs = {words, at, n}, .group = of};
    float *gradient[] = {s.gradient, arena_array(&s.a, float, total)};
    for (int i = 0; i < 2; i++) {
        const struct transformer *t = s.trainer;
        assert_int_equal(trainer_gradient(&r[i], gradient[i], s.trainer, &x, NULL), OK);
        assert_true((t->shared.first == NULL) == (i > 0));
        s.device->cuts.shared_rows = 0;
    }
    assert_true(fabs(r[0].loss - r[1].loss) < 1e-5);
    for (size_t i = 0; i < total; i++)
        if (!(fabs(gradient[0][i] - gradient[1][i]) <= 2e-5 * r[1].gradient_norm))
            fail_msg("%zu: %.8g, with nothing shared %.8g", i, gradient[0][i], gradient[1][i]);
    session_close(&s);
}

TEST(shared)
{
    for (int i = 0; i < 4; i++) {
        struct nn_config c = model_number(i);
        check_shared(&c, 40);
        check_shared(&c, 300);
    }
}
