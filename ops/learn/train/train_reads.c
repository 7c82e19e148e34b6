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

struct reading {
    struct op_ctx *ctx;
    const struct train_shared *shared;
    struct trainer_config config;
    struct hasher *hasher;
};

static enum err_code add_batches(struct reading *r, const struct dataset *d, bool measuring,
                                 uint64_t from, uint64_t to, struct err *e)
{
    struct example_sampler sampler = {0};
    struct arena a = {0};
    enum err_code code = err_up(e, train_enough(d, r->ctx, measuring ? "valid" : "batches", e));
    for (uint64_t k = from; k < to && !code; k++) {
        struct examples x;
        arena_reset(&a);
        trainer_draw(&x, &a, &sampler, &r->config, &r->shared->model->config, d, measuring, k);
        add_examples(r->hasher, &a, &x);
        if (op_cancelled(r->ctx))
            code = err_fail(e, ERR_CANCELLED, "cancelled at step %" PRIu64, k);
    }
    example_sampler_free(&sampler);
    arena_free(&a);
    return code;
}

static void add_input(struct reading *r, const char *role)
{
    struct digest id = {0};
    if (op_count(r->ctx, role))
        id = op_input_id(r->ctx, role, 0);
    hasher_add(r->hasher, id.bytes, sizeof id.bytes);
}

enum err_code train_reads(struct digest *out, const char **reason, struct op_ctx *ctx, void *shared,
                          struct err *e)
{
    struct train_validation v = train_validation(ctx);
    struct reading r = {ctx, shared, train_trainer(ctx), hasher_new()};
    uint64_t from, to;
    enum err_code code = OK;
    train_range(&from, &to, ctx, op_segment_index(ctx));
    add_input(&r, "vocabulary");
    if (op_segment_index(ctx) == 0)
        add_input(&r, "init");
    if (to > from)
        code = err_up(e, add_batches(&r, &r.shared->dataset, false, from, to, e));
    bool validates = r.shared->validates && to / v.every > from / v.every;
    hasher_add(r.hasher, validates ? "valid" : "", validates);
    if (validates && !code)
        code = err_up(e, add_batches(&r, &r.shared->valid, true, 0, v.batches, e));
    *out = hasher_finish(r.hasher);
    hasher_free(r.hasher);
    *reason =
        to ? arena_printf(op_arena(ctx), "the same examples are drawn up to step %" PRIu64, to)
           : "the first weights depend on no example";
    return code;
}
