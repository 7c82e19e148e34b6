/* What tests of the host side have in common: a small training, on the CPU or on the double of a
 * card (double.h). */
#pragma once

#include "ops/learn/transformer/transformer_training.h"
#include "tests/cuda/find_double.h"
#include "tests/ops/learn/toy.h"
#include "tests/unit.h"

enum { CLUSTERS = 20, MEMBERS = 6, LENGTH = 16 };
static const struct nn_config small = {.vocabulary = TOY_VOCABULARY,
                                       .d_model = 16,
                                       .layers = 2,
                                       .heads = 2,
                                       .d_ff = 24,
                                       .max_length = LENGTH,
                                       .attention_bias = true};

static inline struct transformer_config how_to(enum objective_kind objective,
                                               enum optimizer_kind optimizer)
{
    bool margin = objective == OBJECTIVE_TRIPLET || objective == OBJECTIVE_SIAMESE;
    bool cosines = margin || objective == OBJECTIVE_HISTOGRAM;
    return (struct transformer_config){
        .examples = {.objective = objective, .batch = 8, .negatives = margin ? 2 : 0},
        .temperature = cosines ? 1 : 0.1,
        .margin = 0.5,
        .squared = margin,
        .swap = objective == OBJECTIVE_TRIPLET,
        .smoothing = 0.1,
        .dropout = 0.1,
        .optimizer.weight_decay = 0.01,
        .optimizer.clip = 1,
        .optimizer.beta1 = 0.9,
        .optimizer.beta2 = 0.999,
        .optimizer.eps = 1e-8,
        .optimizer.kind = optimizer,
        .optimizer.schedule = {.lr = 1e-3},
        .seed = 7};
}

struct session {
    struct arena a;
    struct nn_model *m;
    struct gpu_device *d;
    struct trainer *t;
    struct dataset data;
    struct transformer_batches b;
    struct transformer_config how;
};

/* With a failing device it may be half open. */
static inline enum err_code session_open(struct session *s, const char *device,
                                         const struct nn_config *model,
                                         const struct transformer_config *how, struct err *e)
{
    *s = (struct session){.how = *how};
    for (uint64_t i = 0; i < CLUSTERS; i++)
        assert_int_equal(dataset_add(&s->data, toy_batch(&s->a, 1, i, MEMBERS, 5, 12),
                                     TOY_VOCABULARY, LENGTH, NULL),
                         OK);
    assert_int_equal(nn_model_new(&s->m, &s->a, model, NULL), OK);
    enum err_code code = gpu_open(&s->d, device, NULL, e);
    s->b = transformer_batches(how, model, &s->data, &s->data);
    return code ? code : transformer_new(&s->t, s->d, s->m, how, e);
}

static inline void session_close(struct session *s)
{
    trainer_free(s->t);
    transformer_batches_free(&s->b);
    gpu_close(s->d);
    dataset_free(&s->data);
    arena_free(&s->a);
}

static inline float *gradient_of(struct step_result *r, struct session *s)
{
    float *g = arena_array(&s->a, float, s->m->table.total);
    const void *x = s->b.base.draw(&s->b.base, &s->a, false, 0);
    assert_int_equal(trainer_gradient(r, g, s->t, x, NULL), OK);
    return g;
}

static inline double norm_of(const float *x, const float *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += pow((double)x[i] - (y ? (double)y[i] : 0), 2);
    return sqrt(sum);
}

static inline bool near(double x, double y, double tolerance)
{
    return fabs(x - y) <= tolerance * (fabs(y) + 1e-3);
}

static inline long launched(void)
{
    return control->launches + control->products + control->copies + control->clears;
}
