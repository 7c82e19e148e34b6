/* What tests of trainers have in common: a trainer on the CPU with room for its state and gradient,
 * golden files, and gradients beside a reference's. */
#pragma once

#include "ops/learn/transformer/transformer_training.h"
#include "tests/ref/ref.h"
#include "tests/unit.h"

struct session {
    struct arena a;
    struct gpu_device *device;
    void *trainer;
    struct trainer_state state;
    float *gradient;
};

static inline void session_open(struct session *s, const char *isa, struct pool *pool)
{
    *s = (struct session){0};
    assert_int_equal(gpu_open_cpu(&s->device, pool, isa, NULL), OK);
}

/* When it has a trainer, of such parameters. */
static inline void session_room(struct session *s, const struct nn_table *t)
{
    float **parts[] = {&s->state.weights, &s->state.m, &s->state.v, &s->gradient};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        *parts[i] = arena_array(&s->a, float, t->total);
}

/* With a transformer's trainer, and its state. */
static inline struct nn_model *session_open_trainer(struct session *s, const char *isa,
                                                    const struct nn_config *c,
                                                    const struct transformer_config *how)
{
    struct nn_model *m;
    session_open(s, isa, NULL);
    assert_int_equal(nn_model_new(&m, &s->a, c, NULL), OK);
    assert_int_equal(transformer_new(&s->trainer, s->device, m, how, NULL), OK);
    session_room(s, &m->table);
    assert_int_equal(trainer_read(&s->state, s->trainer, NULL), OK);
    return m;
}

static inline void session_close(struct session *s)
{
    trainer_free(s->trainer);
    gpu_close(s->device);
    arena_free(&s->a);
}

static inline double *to_double(struct arena *a, const float *x, size_t n)
{
    double *out = arena_array(a, double, n);
    for (size_t i = 0; i < n; i++)
        out[i] = (double)x[i];
    return out;
}

/* Of each parameter one number in `every`, or some 17 if that is 0, beside f's at w. */
static inline void assert_derivatives(const struct nn_table *t, const float *gradient,
                                      double (*f)(void *arg, const double *w), void *arg, double *w,
                                      size_t every, double absolute, double relative)
{
    for (size_t p = 0; p < t->n; p++) {
        const struct nn_param *x = &t->params[p];
        for (size_t k = 0; k < x->size; k += every ? every : 1 + x->size / 17) {
            double want = ref_derivative(f, arg, w, x->at + k), is = (double)gradient[x->at + k];
            if (!(fabs(is - want) <= absolute + relative * fabs(want)))
                fail_msg("%s[%zu]: %.8g, finite difference %.8g", x->name, k, is, want);
        }
    }
}

/* ---- golden files ---- */

struct reader {
    const uint8_t *at, *end;
};

static inline void take(void *out, struct reader *r, size_t bytes)
{
    assert_true(bytes <= (size_t)(r->end - r->at));
    memcpy(out, r->at, bytes);
    r->at += bytes;
}

/* x beside y, of which numbers from .. to-1 are left out; so much may any differ by. */
static inline void assert_near(const float *x, const float *y, const struct nn_param *p,
                               size_t from, size_t to, double least, const char *what)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < p->size; i++) {
        if (i >= from && i < to)
            continue;
        difference += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
        size += (double)y[i] * (double)y[i];
    }
    if (!(sqrt(difference) <= 1e-4 * sqrt(size) + least))
        fail_msg("%s of %s is off by %.2g of %.2g", what, p->name, sqrt(difference), sqrt(size));
}
