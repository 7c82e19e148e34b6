/* What a segment of a training reads of its inputs: the vocabulary's id, the initial weights, and
 * the examples that its steps and validations draw. Nothing else in the batches affects the result:
 * neither texts nor sources nor sequences that are never drawn. */
#include "ops/learn/train/train.h"

#include <inttypes.h>
#include <stdlib.h>

static void add_sequences(struct hasher *h, const struct nn_sequences *s)
{
    uint64_t n = s->n;
    hasher_add(h, &n, sizeof n);
    if (!n)
        return;
    hasher_add(h, s->offset, (n + 1) * sizeof *s->offset);
    hasher_add(h, s->tokens, s->offset[n] * sizeof *s->tokens);
}

static int compare_groups(const void *x, const void *y)
{
    const uint64_t *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

/* Groups matter up to renaming: each is written as the number of its first member. */
static void add_groups(struct hasher *h, struct arena *a, const uint32_t *group, size_t n)
{
    uint64_t *order = arena_array(a, uint64_t, n);
    uint32_t *first = arena_array(a, uint32_t, n);
    for (size_t i = 0; i < n; i++)
        order[i] = (uint64_t)group[i] << 32 | i;
    qsort(order, n, sizeof *order, compare_groups);
    for (size_t i = 0, begin = 0; i < n; i++) {
        if (order[i] >> 32 != order[begin] >> 32)
            begin = i;
        first[(uint32_t)order[i]] = (uint32_t)order[begin];
    }
    hasher_add(h, first, n * sizeof *first);
}

static void add_examples(struct hasher *h, struct arena *a, const struct examples *x)
{
    add_sequences(h, &x->inputs);
    add_sequences(h, &x->targets);
    if (x->group)
        add_groups(h, a, x->group, x->inputs.n);
}

static enum err_code add_batches(struct hasher *h, struct op_ctx *ctx, const void *shared,
                                 bool measuring, uint64_t from, uint64_t to, struct err *e)
{
    const struct train_shared *s = shared;
    const struct dataset *d = measuring ? &s->valid : &s->dataset;
    struct trainer_config config = train_trainer(ctx);
    struct example_sampler sampler = {0};
    struct arena a = {0};
    enum err_code code = err_up(e, train_enough(d, ctx, measuring ? "valid" : "batches", e));
    for (uint64_t k = from; k < to && !code; k++) {
        struct examples x;
        arena_reset(&a);
        trainer_draw(&x, &a, &sampler, &config, &s->model->config, d, measuring, k);
        add_examples(h, &a, &x);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "cancelled at step %" PRIu64, k);
    }
    example_sampler_free(&sampler);
    arena_free(&a);
    return code;
}

enum err_code train_reads(struct digest *out, const char **reason, struct op_ctx *ctx, void *shared,
                          struct err *e)
{
    const struct train_shared *s = shared;
    return err_up(e,
                  train_reads_of(out, reason, ctx, "vocabulary", s->validates, add_batches, s, e));
}
