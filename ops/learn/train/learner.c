/* See learner.h: lifetimes, segments, the parameters in each segment's key, and `reads`. The work
 * itself is in train_segment.c. */
#include "ops/learn/train/learner.h"
#include "base/buf.h"
#include "base/text/words.h"
#include "ops/learn/checkpoint/learn_ctx.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t STEPS_MAX = 1000000000000;

static bool is_given(const struct op_ctx *ctx, const char *param)
{
    return *op_string(ctx, param) != 0;
}

enum err_code train_check_common(struct op_ctx *ctx, struct err *e)
{
    if (is_given(ctx, "steps") && is_given(ctx, "epochs"))
        return err_fail(e, ERR_INPUT,
                        "'steps' and 'epochs' both set the length of the training: give only one");
    if (op_int(ctx, "patience") > 0 && op_int(ctx, "patience_steps") > 0)
        return err_fail(e, ERR_INPUT,
                        "'patience' counts validations, 'patience_steps' steps: give only one");
    if (op_int(ctx, "min_steps") > 0 && !train_validation(ctx).patience)
        return err_fail(e, ERR_INPUT, "'min_steps' needs 'patience' or 'patience_steps'");
    return err_up(e, learn_check_device(ctx, e));
}

uint64_t train_length(const struct op_ctx *ctx, const char *param)
{
    uint64_t n = (uint64_t)op_int(ctx, param), batch = (uint64_t)op_int(ctx, "batch"),
             elements = op_elements(ctx);
    if (!is_given(ctx, "epochs"))
        return n;
    if (elements < batch) /* an epoch is at least one step */
        return n;
    return n > STEPS_MAX / elements ? STEPS_MAX : (n * elements + batch - 1) / batch;
}

uint64_t train_steps(const struct op_ctx *ctx)
{
    return is_given(ctx, "epochs")  ? train_length(ctx, "epochs")
           : is_given(ctx, "steps") ? (uint64_t)op_int(ctx, "steps")
                                    : 1000;
}

enum err_code train_segments(uint64_t *n, struct op_ctx *ctx, struct err *e)
{
    uint64_t steps = train_steps(ctx), length = (uint64_t)op_int(ctx, "segment");
    *n = 1 + (steps + length - 1) / length;
    return OK;
}

void train_range(uint64_t *from, uint64_t *to, const struct op_ctx *ctx, uint64_t index)
{
    uint64_t steps = train_steps(ctx), length = (uint64_t)op_int(ctx, "segment");
    *from = index ? (index - 1) * length : 0;
    *to = index * length < steps ? index * length : steps;
}

/* The key of the learning rates of steps from .. to, however they are computed: changing a schedule
 * from some step on does not affect earlier segments. */
static char *rates_key(struct arena *a, const struct schedule *s, uint64_t from, uint64_t to)
{
    struct hasher *h = hasher_new();
    for (uint64_t step = from; step < to; step++) {
        double lr = schedule_lr(s, step);
        hasher_add(h, &lr, sizeof lr);
    }
    struct digest rates = hasher_finish(h);
    char hex[DIGEST_HEX];
    hasher_free(h);
    return arena_printf(a, "rates=%.32s\n", digest_hex(hex, &rates));
}

bool train_is_last(const struct op_ctx *ctx, uint64_t to)
{
    return to == train_steps(ctx);
}

struct train_validation train_validation(const struct op_ctx *ctx)
{
    uint64_t every = (uint64_t)op_int(ctx, "valid_every"),
             steps = (uint64_t)op_int(ctx, "patience_steps");
    uint64_t validations = (steps + every - 1) / every;
    return (struct train_validation){.every = every,
                                     .patience =
                                         steps ? validations : (uint64_t)op_int(ctx, "patience"),
                                     .min_steps = (uint64_t)op_int(ctx, "min_steps"),
                                     .batches = (size_t)op_int(ctx, "valid_batches")};
}

static char *validation_key(struct arena *a, const struct op_ctx *ctx, uint64_t to)
{
    struct train_validation v = train_validation(ctx);
    char *key = arena_printf(a, "valid_every=%" PRIu64 " valid_batches=%zu", v.every, v.batches);
    if (v.patience)
        key = arena_printf(a, "%s patience=%" PRIu64 "%s", key, v.patience,
                           train_is_last(ctx, to) ? " last" : "");
    if (v.min_steps)
        key = arena_printf(a, "%s min_steps=%" PRIu64, key, v.min_steps);
    return key;
}

static void add_param(struct buf *b, const struct op_ctx *ctx, const struct op_param *p)
{
    switch (p->type) {
    case OP_INT: buf_printf(b, "%s=%" PRId64 "\n", p->name, op_int(ctx, p->name)); break;
    case OP_REAL: buf_printf(b, "%s=%.17g\n", p->name, op_real(ctx, p->name)); break;
    case OP_BOOL: buf_printf(b, "%s=%d\n", p->name, op_bool(ctx, p->name)); break;
    case OP_ENUM:
    case OP_STRING: buf_printf(b, "%s=%s\n", p->name, op_string(ctx, p->name)); break;
    case OP_STRINGS: break; /* none */
    }
}

static char *steps_key(struct arena *a, const struct op_ctx *ctx, const struct train_key *key)
{
    struct buf b = {0};
    for (const struct op_param *p = key->params; p->name; p++)
        if (word_in(key->steps_params, p->name, strlen(p->name)))
            add_param(&b, ctx, p);
    return buf_text(&b, a);
}

enum err_code train_segment_of(struct op_segment *out, struct op_ctx *ctx, uint64_t index,
                               const struct train_key *key, struct err *e)
{
    struct arena *a = op_arena(ctx);
    uint64_t from, to;
    train_range(&from, &to, ctx, index);
    out->index = index;
    out->key = arena_printf(a, "%sseed=%" PRIu64 "\n", key->architecture, key->seed);
    out->label = "initialisation";
    if (index == 0)
        return OK;
    const char *units = learn_units(ctx);
    out->label = arena_printf(a, "steps %" PRIu64 "-%" PRIu64, from, to);
    out->key =
        arena_printf(a, "%s%sprecision=%s\n%s%s\nsteps %" PRIu64 "-%" PRIu64 "\n", out->key,
                     steps_key(a, ctx, key), units ? units : "f32",
                     rates_key(a, &key->schedule, from, to), validation_key(a, ctx, to), from, to);
    return OK;
}

/* ---- learner and learning ---- */

void *learner_new(const struct learner_calls *call, size_t size)
{
    struct learner *l = must_calloc(1, size);
    l->call = call;
    return l;
}

void learner_release(void *learner)
{
    struct learner *l = learner;
    if (!l)
        return;
    l->call->release(l);
    arena_free(&l->arena);
    free(l);
}

struct learning *learning_new(void *learner)
{
    const struct learner *l = learner;
    struct learning *x = must_calloc(1, l->call->size);
    x->learner = learner;
    return x;
}

void learning_free(struct learning *x)
{
    const struct learner *l = x->learner;
    trainer_free(x->trainer);
    l->call->close(x);
    arena_free(&x->arena);
    free(x);
}

enum err_code learner_check_validation(struct learner *l, struct op_ctx *ctx, struct err *e)
{
    struct learning *probe = learning_new(l);
    struct err why;
    l->validates = !l->call->examples(probe, ctx, true, &why);
    learning_free(probe);
    if (!l->validates && train_validation(ctx).patience > 0)
        return err_fail(e, ERR_INPUT, "patience needs the input 'valid': %s", why.message);
    return OK;
}

/* ---- what a segment reads ---- */

static void add_input(struct hasher *h, struct op_ctx *ctx, const char *role)
{
    struct digest id = {0};
    if (op_count(ctx, role))
        id = op_input_id(ctx, role, 0);
    hasher_add(h, id.bytes, sizeof id.bytes);
}

static enum err_code add_batches(struct hasher *h, struct learning *x, struct op_ctx *ctx,
                                 bool measuring, uint64_t from, uint64_t to, struct err *e)
{
    const struct learner *l = x->learner;
    enum err_code code = err_up(e, l->call->examples(x, ctx, measuring, e));
    for (uint64_t k = from; k < to && !code; k++) {
        arena_reset(&x->arena);
        l->call->add(h, x, measuring, k, k == from);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "cancelled at step %" PRIu64, k);
    }
    return code;
}

enum err_code learner_reads(struct digest *out, const char **reason, struct op_ctx *ctx,
                            void *learner, struct err *e)
{
    const struct learner *l = learner;
    struct train_validation v = train_validation(ctx);
    struct learning *x = learning_new(learner);
    struct hasher *h = hasher_new();
    enum err_code code = OK;
    uint64_t from, to;
    train_range(&from, &to, ctx, op_segment_index(ctx));
    if (l->vocabulary)
        add_input(h, ctx, l->vocabulary);
    if (op_segment_index(ctx) == 0)
        add_input(h, ctx, "init");
    if (to > from)
        code = add_batches(h, x, ctx, false, from, to, e);
    bool validates = l->validates && to / v.every > from / v.every;
    hasher_add(h, validates ? "valid" : "", validates);
    if (validates && !code)
        code = add_batches(h, x, ctx, true, 0, v.batches, e);
    *out = hasher_finish(h);
    hasher_free(h);
    learning_free(x);
    *reason =
        to ? arena_printf(op_arena(ctx), "the same examples are drawn up to step %" PRIu64, to)
           : "the initial weights depend on no example";
    return err_up(e, code);
}
