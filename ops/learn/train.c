/* Op train: contrastive training of an encoder, as a chain of checkpoints. Segment 0 is the
 * initialised model; segment i > 0 makes the steps (i-1) * segment .. min(i * segment, steps). A
 * segment's key holds only what its steps depend on, so that a longer training continues a
 * shorter one.
 *
 * With patience, checkpoints carry the best weights so far. The last segment, or the one in which
 * training stops, gives these alone; the segments after a stop pass them on. */
#include "base/os.h"
#include "engine/op.h"
#include "ops/learn/checkpoint.h"
#include "ops/learn/series.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct op_param params[] = {
    {"objective", OP_ENUM, "contrastive", "contrastive", .doc = "What is learnt."},
    {"d_model", OP_INT, "128", NULL, 1, 65536, "Width of the model and of its vectors."},
    {"layers", OP_INT, "2", NULL, 1, 1024, "Transformer layers."},
    {"heads", OP_INT, "4", NULL, 1, 65536, "Attention heads; divides d_model."},
    {"d_ff", OP_INT, "512", NULL, 1, 262144, "Width of the feed-forward layers."},
    {"max_length", OP_INT, "256", NULL, 1, 1048576, "Longest sequence, in tokens."},
    {"positions", OP_ENUM, "sinusoidal", "sinusoidal|learned", .doc = "Encoding of positions."},
    {"activation", OP_ENUM, "relu", "relu|gelu", .doc = "Of the feed-forward layers."},
    {"attention_bias", OP_BOOL, "false", .doc = "Biases in the attention's projections."},
    {"pooling", OP_ENUM, "mean", "mean|max|first",
     .doc = "How a sequence's rows become its vector; special tokens do not count."},
    {"dropout", OP_REAL, "0", NULL, 0, 0.9,
     "Rate, on embeddings, activations and residual branches."},
    {"temperature", OP_REAL, "0.1", NULL, 1e-4, 100, "Cosines are divided by it."},
    {"batch", OP_INT, "256", NULL, 2, 65536, "Pairs of equivalent expressions in a step."},
    {"steps", OP_INT, "1000", NULL, 0, 1e12, "Steps in all; 0: only initialise."},
    {"segment", OP_INT, "200", NULL, 1, 1e12, "Steps from checkpoint to checkpoint."},
    {"lr", OP_REAL, "0.001", NULL, 0, 100, "Learning rate after the warm-up."},
    {"lr_min", OP_REAL, "1e-8", NULL, 0, 100, "Where the schedule ends."},
    {"warmup", OP_INT, "0", NULL, 0, 1e12, "Steps of linear rise of the learning rate."},
    {"schedule", OP_ENUM, "constant", "constant|linear|cosine|cosine-restarts",
     .doc = "Of the learning rate after the warm-up."},
    {"restart_period", OP_INT, "1000", NULL, 1, 1e12, "cosine-restarts: steps of the first one."},
    {"restart_growth", OP_INT, "2", NULL, 1, 1000, "cosine-restarts: factor from one to the next."},
    {"weight_decay", OP_REAL, "0.01", NULL, 0, 10, "AdamW's."},
    {"beta1", OP_REAL, "0.9", NULL, 0, 0.9999999, "AdamW's."},
    {"beta2", OP_REAL, "0.999", NULL, 0, 0.9999999, "AdamW's."},
    {"eps", OP_REAL, "1e-8", NULL, 0, 1, "AdamW's."},
    {"clip", OP_REAL, "1", NULL, 0, 1e9, "Greatest norm of the gradient; 0: any."},
    {"log_every", OP_INT, "10", NULL, 1, 1e9, "Steps over which a recorded metric is a mean."},
    {"precision", OP_ENUM, "f32", "f32|bf16",
     .doc = "Of the values that matrix products read; sums, weights and all else are f32."},
    {"valid_every", OP_INT, "100", NULL, 1, 1e12, "Steps from one validation to the next."},
    {"valid_batches", OP_INT, "1", NULL, 1, 1e6, "Batches of pairs that a validation looks at."},
    {"patience", OP_INT, "0", NULL, 0, 1e9,
     "Validations without a lower loss after which training stops; the best weights are kept. 0: "
     "all steps, last weights."},
    {"seed", OP_INT, "0", .doc = "Of weights, pairs and dropout."},
    {0},
};

static const struct op_port inputs[] = {
    {"batches", KIND_TOKEN_BATCH, OP_COLLECTION, .doc = "What to train on: clusters of sequences."},
    {"vocabulary", KIND_VOCABULARY, OP_ONE, .doc = "Of the batches."},
    {"valid", KIND_TOKEN_BATCH, OP_COLLECTION, true, "Clusters to validate on."},
    {0},
};

static const struct op_port outputs[] = {
    {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "Weights, optimizer, step and metrics."},
    {0},
};

/* ---- parameters ---- */

static struct nn_config model_config(const struct op_ctx *ctx, uint32_t vocabulary)
{
    const char *pooling = op_string(ctx, "pooling");
    return (struct nn_config){
        .vocabulary = vocabulary,
        .d_model = (uint32_t)op_int(ctx, "d_model"),
        .layers = (uint32_t)op_int(ctx, "layers"),
        .heads = (uint32_t)op_int(ctx, "heads"),
        .d_ff = (uint32_t)op_int(ctx, "d_ff"),
        .max_length = (uint32_t)op_int(ctx, "max_length"),
        .positions =
            strcmp(op_string(ctx, "positions"), "learned") == 0 ? NN_LEARNED : NN_SINUSOIDAL,
        .activation = strcmp(op_string(ctx, "activation"), "gelu") == 0 ? GPU_GELU : GPU_RELU,
        .pooling = strcmp(pooling, "mean") == 0  ? NN_POOL_MEAN
                   : strcmp(pooling, "max") == 0 ? NN_POOL_MAX
                                                 : NN_POOL_FIRST,
        .attention_bias = op_bool(ctx, "attention_bias"),
    };
}

static struct schedule schedule_of(const struct op_ctx *ctx)
{
    const char *name = op_string(ctx, "schedule");
    return (struct schedule){
        .kind = strcmp(name, "constant") == 0 ? SCHEDULE_CONSTANT
                : strcmp(name, "linear") == 0 ? SCHEDULE_LINEAR
                : strcmp(name, "cosine") == 0 ? SCHEDULE_COSINE
                                              : SCHEDULE_RESTARTS,
        .lr = op_real(ctx, "lr"),
        .lr_min = op_real(ctx, "lr_min"),
        .warmup = (uint64_t)op_int(ctx, "warmup"),
        .steps = (uint64_t)op_int(ctx, "steps"),
        .period = (uint64_t)op_int(ctx, "restart_period"),
        .growth = (uint64_t)op_int(ctx, "restart_growth"),
    };
}

static struct trainer_config trainer_config(const struct op_ctx *ctx)
{
    return (struct trainer_config){
        .batch = (size_t)op_int(ctx, "batch"),
        .temperature = op_real(ctx, "temperature"),
        .dropout = op_real(ctx, "dropout"),
        .weight_decay = op_real(ctx, "weight_decay"),
        .clip = op_real(ctx, "clip"),
        .beta1 = op_real(ctx, "beta1"),
        .beta2 = op_real(ctx, "beta2"),
        .eps = op_real(ctx, "eps"),
        .schedule = schedule_of(ctx),
        .precision = strcmp(op_string(ctx, "precision"), "bf16") == 0 ? GPU_BF16 : GPU_F32,
        .seed = (uint64_t)op_int(ctx, "seed"),
    };
}

/* When to measure on validation data, and when to stop. */
struct validation {
    uint64_t every, patience;
    size_t batches;
};

static struct validation validation_of(const struct op_ctx *ctx)
{
    return (struct validation){.every = (uint64_t)op_int(ctx, "valid_every"),
                               .patience = (uint64_t)op_int(ctx, "patience"),
                               .batches = (size_t)op_int(ctx, "valid_batches")};
}

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    struct nn_config c = model_config(ctx, 1);
    return err_up(e, nn_config_check(&c, e));
}

/* ---- segments ---- */

static enum err_code segments(uint64_t *n, struct op_ctx *ctx, struct err *e)
{
    uint64_t steps = (uint64_t)op_int(ctx, "steps"), length = (uint64_t)op_int(ctx, "segment");
    *n = 1 + (steps + length - 1) / length;
    return OK;
}

static void segment_range(uint64_t *from, uint64_t *to, const struct op_ctx *ctx, uint64_t index)
{
    uint64_t steps = (uint64_t)op_int(ctx, "steps"), length = (uint64_t)op_int(ctx, "segment");
    *from = index ? (index - 1) * length : 0;
    *to = index * length < steps ? index * length : steps;
}

/* What of the schedule the steps from..to depend on. */
static char *schedule_key(struct arena *a, const struct schedule *s, uint64_t from)
{
    char *key = arena_printf(a, "lr=%.17g", s->lr);
    if (from < s->warmup || s->kind != SCHEDULE_CONSTANT)
        key = arena_printf(a, "%s warmup=%" PRIu64, key, s->warmup);
    switch (s->kind) {
    case SCHEDULE_CONSTANT: return key;
    case SCHEDULE_LINEAR:
        return arena_printf(a, "%s linear min=%.17g steps=%" PRIu64, key, s->lr_min, s->steps);
    case SCHEDULE_COSINE:
        return arena_printf(a, "%s cosine min=%.17g steps=%" PRIu64, key, s->lr_min, s->steps);
    case SCHEDULE_RESTARTS:
        return arena_printf(a, "%s restarts min=%.17g period=%" PRIu64 " growth=%" PRIu64, key,
                            s->lr_min, s->period, s->growth);
    }
    return key;
}

static bool is_last(const struct op_ctx *ctx, uint64_t to)
{
    return to == (uint64_t)op_int(ctx, "steps");
}

static char *validation_key(struct arena *a, const struct op_ctx *ctx, uint64_t to)
{
    struct validation v = validation_of(ctx);
    char *key = arena_printf(a, "valid_every=%" PRIu64 " valid_batches=%zu", v.every, v.batches);
    if (v.patience)
        key = arena_printf(a, "%s patience=%" PRIu64 "%s", key, v.patience,
                           is_last(ctx, to) ? " last" : "");
    return key;
}

static enum err_code segment(struct op_segment *out, struct op_ctx *ctx, uint64_t index,
                             struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct nn_config m = model_config(ctx, 1); /* the true size comes with the input's id */
    struct trainer_config c = trainer_config(ctx);
    uint64_t from, to;
    segment_range(&from, &to, ctx, index);
    out->index = index;
    if (index == 0) {
        out->key = arena_printf(a, "%sseed=%" PRIu64 "\n", nn_config_text(a, &m), c.seed);
        out->label = "initialisation";
        return OK;
    }
    /* The numerics class speaks of f32 alone. */
    const char *precision = c.precision == GPU_BF16 ? gpu_cpu_bf16() : "";
    out->label = arena_printf(a, "steps %" PRIu64 "-%" PRIu64, from, to);
    out->key = arena_printf(
        a,
        "%sseed=%" PRIu64 "\nobjective=%s\nbatch=%zu\ntemperature=%.17g\ndropout=%.17g\n"
        "weight_decay=%.17g\nclip=%.17g\nbeta1=%.17g\nbeta2=%.17g\neps=%.17g\nlog_every=%" PRId64
        "\nprecision=%s %s\n%s\n%s\nsteps %" PRIu64 "-%" PRIu64 "\n",
        nn_config_text(a, &m), c.seed, op_string(ctx, "objective"), c.batch, c.temperature,
        c.dropout, c.weight_decay, c.clip, c.beta1, c.beta2, c.eps, op_int(ctx, "log_every"),
        op_string(ctx, "precision"), precision, schedule_key(a, &c.schedule, from),
        validation_key(a, ctx, to), from, to);
    return OK;
}

/* ---- what all segments share ---- */

struct shared {
    struct arena arena;
    struct nn_model *model;
    struct dataset dataset, valid;
    bool validates;
};

static void release(void *state)
{
    struct shared *s = state;
    if (!s)
        return;
    dataset_free(&s->dataset);
    dataset_free(&s->valid);
    arena_free(&s->arena);
    free(s);
}

static enum err_code load_batches(struct dataset *d, const struct nn_config *c, const char *role,
                                  struct op_ctx *ctx, struct err *e)
{
    struct digest vocabulary = op_input_id(ctx, "vocabulary", 0);
    struct arena work = {0};
    enum err_code code = OK;
    uint64_t n = op_count(ctx, role);
    for (uint64_t i = 0; i < n && !code; i++) {
        ProtobufCMessage *message;
        arena_reset(&work);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "cancelled");
        else
            code = err_up(e, op_get_in(&message, ctx, role, i, &work, e));
        if (code)
            break;
        const Eqloom__TokenBatch *b = (const Eqloom__TokenBatch *)message;
        if (b->vocabulary_id.len &&
            !span_equal(span_of(b->vocabulary_id.data, b->vocabulary_id.len),
                        span_of(vocabulary.bytes, DIGEST_SIZE)))
            code = err_fail(e, ERR_INPUT,
                            "%s: element %" PRIu64 " was made with another vocabulary", role, i);
        else
            code = err_up(e, dataset_add(d, b, c->vocabulary, c->max_length, e));
    }
    arena_free(&work);
    return code;
}

static enum err_code load_validation(struct shared *s, struct op_ctx *ctx, struct err *e)
{
    bool patience = op_int(ctx, "patience") > 0;
    s->validates = op_count(ctx, "valid") > 0;
    if (!s->validates && patience)
        return err_fail(e, ERR_INPUT, "patience needs the input 'valid', and clusters in it");
    if (!s->validates)
        return OK;
    enum err_code code = load_batches(&s->valid, &s->model->config, "valid", ctx, e);
    if (!code && s->valid.clusters < 2)
        code = err_fail(e, ERR_INPUT,
                        "validation needs at least two clusters of two expressions; valid has %zu",
                        s->valid.clusters);
    return err_up(e, code);
}

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    ProtobufCMessage *message;
    struct shared *s = calloc(1, sizeof *s);
    if (!s)
        return err_fail(e, ERR_NOMEM, "no memory to prepare training");
    enum err_code code = err_up(e, op_get(&message, ctx, "vocabulary", 0, e));
    if (code)
        goto out;
    const Eqloom__Vocabulary *v = (const Eqloom__Vocabulary *)message;
    struct nn_config c = model_config(ctx, (uint32_t)v->n_tokens);
    if ((code = err_up(e, nn_model_new(&s->model, &s->arena, &c, e))))
        goto out;
    if ((code = err_up(e, load_batches(&s->dataset, &c, "batches", ctx, e))))
        goto out;
    code = load_validation(s, ctx, e);
out:
    if (code)
        release(s);
    else
        *state = s;
    return code;
}

/* ---- a segment ---- */

static enum err_code put_chunk(struct digest *id, void *arg, struct span data, struct err *e)
{
    return err_up(e, op_emit_chunk(id, arg, data, e));
}

static enum err_code get_chunk(struct span *out, void *arg, const uint8_t id[32], struct arena *a,
                               struct err *e)
{
    return err_up(e, op_get_chunk(out, arg, id, a, e));
}

/* The rate is shown and forgotten: the only use of a clock, outside every result. */
static void show(struct op_ctx *ctx, uint64_t done, uint64_t total, const struct step_result *r,
                 uint64_t tokens, uint64_t started_ns)
{
    char text[80];
    double s = (double)(os_monotonic_ns() - started_ns) * 1e-9;
    snprintf(text, sizeof text, "loss %.3f acc %.0f%% %.1fk tok/s", r->loss, 100 * r->accuracy,
             s > 0 ? (double)tokens / s / 1000 : 0);
    op_progress(ctx, done, total, text);
}

/* All that one segment works with. */
struct session {
    struct op_ctx *ctx;
    const struct shared *shared;
    struct validation validation;
    struct series series;
    struct trainer_state state; /* host memory; best is NULL without patience */
    struct gpu_device *device;
    struct trainer *trainer;
};

/* Measures; keeps the weights if they are the best so far; *stop when patience is at its end. */
static enum err_code validate(bool *stop, struct session *s, struct err *e)
{
    struct step_result r;
    enum err_code code =
        trainer_measure(&r, s->trainer, &s->shared->valid, s->validation.batches, e);
    if (code)
        return err_up(e, code);
    series_validation(&s->series, trainer_steps(s->trainer), &r);
    if (!s->validation.patience)
        return OK;
    struct series_best best = series_best(&s->series);
    *stop = best.since >= s->validation.patience;
    if (best.since)
        return OK;
    struct trainer_state weights = {.weights = s->state.best};
    return err_up(e, trainer_read(&weights, s->trainer, e));
}

static enum err_code train_steps(bool *stop, struct session *s, uint64_t to, struct err *e)
{
    struct op_ctx *ctx = s->ctx;
    struct trainer *t = s->trainer;
    uint64_t from = trainer_steps(t), started = os_monotonic_ns(), tokens = 0;
    uint64_t every = (uint64_t)op_int(ctx, "log_every");
    while (trainer_steps(t) < to && !*stop) {
        struct step_result r;
        if (op_cancelled(ctx))
            return err_fail(e, ERR_CANCELLED, "cancelled at step %" PRIu64, trainer_steps(t));
        enum err_code code = trainer_step(&r, t, &s->shared->dataset, e);
        if (code)
            return err_up(e, code);
        uint64_t done = trainer_steps(t);
        series_step(&s->series, &r);
        tokens += r.tokens;
        if (done % every == 0 || done == to)
            series_close_window(&s->series, done);
        if (s->shared->validates && done % s->validation.every == 0 &&
            (code = validate(stop, s, e)))
            return err_up(e, code);
        show(ctx, done - from, to - from, &r, tokens, started);
    }
    return OK;
}

static enum err_code alloc_state(struct session *s, struct err *e)
{
    const struct nn_model *m = s->shared->model;
    float **parts[] = {&s->state.weights, &s->state.m, &s->state.v, &s->state.best};
    size_t n = s->validation.patience ? 4 : 3;
    for (size_t i = 0; i < n; i++)
        if (!(*parts[i] = arena_try_alloc(op_arena(s->ctx), m->total, sizeof(float))))
            return err_fail(e, ERR_NOMEM, "no memory for %zu parameters", m->count);
    return OK;
}

/* From the record before, if there is one. */
static enum err_code restore(struct session *s, const Eqloom__Checkpoint *c, uint64_t from,
                             struct err *e)
{
    struct chunk_io io = {s->ctx, put_chunk, get_chunk};
    enum err_code code;
    if (c) {
        series_load(&s->series, c);
        if ((code = checkpoint_read(&s->state, s->shared->model, c, &io, op_arena(s->ctx), e)) ||
            (code = trainer_write(s->trainer, &s->state, e)))
            return err_up(e, code);
    }
    if (trainer_steps(s->trainer) != from)
        return err_fail(e, ERR_CORRUPT,
                        "checkpoint of step %" PRIu64 " where step %" PRIu64 " was expected",
                        trainer_steps(s->trainer), from);
    return OK;
}

static enum err_code emit(struct session *s, bool finished, struct err *e)
{
    struct op_ctx *ctx = s->ctx;
    struct arena *a = op_arena(ctx);
    struct chunk_io io = {ctx, put_chunk, get_chunk};
    struct series_best best = series_best(&s->series);
    Eqloom__Checkpoint out;
    eqloom__checkpoint__init(&out);
    enum err_code code = trainer_read(&s->state, s->trainer, e);
    struct trainer_state kept = s->state;
    if (finished && best.count)
        kept = (struct trainer_state){.weights = s->state.best, .steps = best.step};
    else if (finished || !best.count)
        kept.best = NULL;
    if (code || (code = checkpoint_write(&out, s->shared->model, &kept, &io, a, e)))
        return err_up(e, code);
    struct digest vocabulary = op_input_id(ctx, "vocabulary", 0), parent = op_previous_id(ctx);
    out.metrics = s->series.all;
    out.n_metrics = s->series.n;
    out.vocabulary_id.len = DIGEST_SIZE;
    out.vocabulary_id.data = vocabulary.bytes;
    out.numerics = arena_strdup(a, op_numerics(ctx));
    out.parent_id.len = digest_is_zero(&parent) ? 0 : DIGEST_SIZE;
    out.parent_id.data = parent.bytes;
    return err_up(e, op_emit(NULL, ctx, "checkpoint", &out.base, e));
}

static enum err_code run(struct op_ctx *ctx, void *shared, struct err *e)
{
    struct session s = {.ctx = ctx,
                        .shared = shared,
                        .validation = validation_of(ctx),
                        .series = {.arena = op_arena(ctx)}};
    struct trainer_config c = trainer_config(ctx);
    ProtobufCMessage *message = NULL;
    uint64_t from, to;
    segment_range(&from, &to, ctx, op_segment_index(ctx));
    if (to > from && s.shared->dataset.clusters < 2)
        return err_fail(e, ERR_INPUT,
                        "training needs at least two clusters of two expressions; batches have %zu",
                        s.shared->dataset.clusters);
    enum err_code code;
    if ((code = err_up(e, op_previous(&message, ctx, e))))
        return code;
    const Eqloom__Checkpoint *previous = (const Eqloom__Checkpoint *)message;
    if (previous && !checkpoint_continues(previous, s.shared->model))
        return err_up(e, op_emit(NULL, ctx, "checkpoint", message, e));
    bool stop = false;
    if ((code = err_up(e, alloc_state(&s, e))) ||
        (code = err_up(e, gpu_open_cpu(&s.device, op_pool(ctx), NULL, e))) ||
        (code = err_up(e, trainer_new(&s.trainer, s.device, s.shared->model, &c, e))) ||
        (code = err_up(e, restore(&s, previous, from, e))) ||
        (code = err_up(e, train_steps(&stop, &s, to, e))))
        goto out;
    code = emit(&s, s.validation.patience && (stop || is_last(ctx, to)), e);
out:
    trainer_free(s.trainer);
    gpu_close(s.device);
    return code;
}

const struct op op_train = {
    .name = "train",
    .version = 2,
    .node = OP_CHAIN,
    .numerics = true,
    .parallel = true,
    .doc =
        "Trains a transformer encoder to give equivalent expressions the same vector: InfoNCE on "
        "pairs from the clusters, with in-batch negatives; AdamW. With clusters to validate on, "
        "their "
        "loss and accuracy are measured as training goes on, and patience stops it.",
    .params = params,
    .inputs = inputs,
    .outputs = outputs,
    .check = check,
    .prepare = prepare,
    .release = release,
    .run = run,
    .segments = segments,
    .segment = segment,
};
