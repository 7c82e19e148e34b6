/* The segments of op train, and what of its parameters the key of each holds; see train.h. */
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/train/train.h"

#include <inttypes.h>
#include <string.h>

enum err_code train_segments(uint64_t *n, struct op_ctx *ctx, struct err *e)
{
    uint64_t steps = (uint64_t)op_int(ctx, "steps"), length = (uint64_t)op_int(ctx, "segment");
    *n = 1 + (steps + length - 1) / length;
    return OK;
}

void train_range(uint64_t *from, uint64_t *to, const struct op_ctx *ctx, uint64_t index)
{
    uint64_t steps = (uint64_t)op_int(ctx, "steps"), length = (uint64_t)op_int(ctx, "segment");
    *from = index ? (index - 1) * length : 0;
    *to = index * length < steps ? index * length : steps;
}

/* What of the schedule the steps from..to depend on: their learning rates, however they came about.
 * So a schedule that is changed from some step on leaves what came before. */
static char *schedule_key(struct arena *a, const struct schedule *s, uint64_t from, uint64_t to)
{
    enum { RATES_MAX = 1 << 20 }; /* a longer segment names what its rates are made from */
    double first = schedule_lr(s, from);
    if (to - from > RATES_MAX)
        return arena_printf(a,
                            "schedule=%d lr=%.17g min=%.17g warmup=%" PRIu64 " steps=%" PRIu64
                            " period=%" PRIu64 " growth=%" PRIu64 " every=%" PRIu64 " factor=%.17g",
                            (int)s->kind, s->lr, s->lr_min, s->warmup, s->steps, s->period,
                            s->growth, s->every, s->factor);
    struct hasher *h = hasher_new();
    bool constant = true;
    for (uint64_t step = from; step < to; step++) {
        double lr = schedule_lr(s, step);
        uint64_t bits;
        uint8_t bytes[sizeof bits];
        memcpy(&bits, &lr, sizeof bits);
        constant = constant && lr == first;
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)(bits >> 8 * k);
        hasher_add(h, bytes, sizeof bytes);
    }
    struct digest rates = hasher_finish(h);
    char hex[DIGEST_HEX];
    hasher_free(h);
    return constant ? arena_printf(a, "lr=%.17g", first)
                    : arena_printf(a, "rates=%.32s", digest_hex(hex, &rates));
}

bool train_is_last(const struct op_ctx *ctx, uint64_t to)
{
    return to == (uint64_t)op_int(ctx, "steps");
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

/* What of the objective they depend on. */
static char *objective_key(struct arena *a, const struct op_ctx *ctx,
                           const struct trainer_config *c)
{
    const char *name = op_string(ctx, "objective");
    switch (c->examples.objective) {
    case OBJECTIVE_CONTRASTIVE:
        return arena_printf(a, "%s negatives=%zu related=%" PRId64 " temperature=%.17g", name,
                            c->examples.negatives, op_int(ctx, "related"), c->temperature);
    case OBJECTIVE_SIMCSE: return arena_printf(a, "%s temperature=%.17g", name, c->temperature);
    case OBJECTIVE_TRIPLET:
    case OBJECTIVE_SIAMESE:
        return arena_printf(a, "%s negatives=%zu margin=%.17g%s%s", name, c->examples.negatives,
                            c->margin, c->squared ? " squared" : "", c->swap ? " swap" : "");
    case OBJECTIVE_HISTOGRAM:
        return arena_printf(a, "%s negatives=%zu related=%" PRId64, name, c->examples.negatives,
                            op_int(ctx, "related"));
    case OBJECTIVE_SEQ2SEQ:
    case OBJECTIVE_AUTOENCODE: return arena_printf(a, "%s smoothing=%.17g", name, c->smoothing);
    }
    return NULL;
}

enum err_code train_segment(struct op_segment *out, struct op_ctx *ctx, uint64_t index,
                            struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct nn_config m = train_model(ctx, 1); /* the true size comes with the input's id */
    struct trainer_config c = train_trainer(ctx);
    uint64_t from, to;
    train_range(&from, &to, ctx, index);
    out->index = index;
    if (index == 0) {
        out->key = arena_printf(a, "%sseed=%" PRIu64 "\n", nn_config_text(a, &m), c.seed);
        out->label = "initialisation";
        return OK;
    }
    const char *units = learn_bf16_units(ctx);
    out->label = arena_printf(a, "steps %" PRIu64 "-%" PRIu64, from, to);
    out->key = arena_printf(
        a,
        "%sseed=%" PRIu64 "\nobjective=%s\ntarget=%s\nbatch=%zu\ndropout=%.17g\n"
        "optimizer=%s\nweight_decay=%.17g\nclip=%.17g\nbeta1=%.17g\nbeta2=%.17g\neps=%.17g\nlog_"
        "every=%" PRId64 "\nprecision=%s\n%s\n%s\nsteps %" PRIu64 "-%" PRIu64 "\n",
        nn_config_text(a, &m), c.seed, objective_key(a, ctx, &c), op_string(ctx, "target"),
        c.examples.batch, c.dropout, op_string(ctx, "optimizer"), c.weight_decay, c.clip, c.beta1,
        c.beta2, c.eps, op_int(ctx, "log_every"), units ? units : "f32",
        schedule_key(a, &c.schedule, from, to), validation_key(a, ctx, to), from, to);
    return OK;
}
