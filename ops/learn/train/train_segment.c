/* One segment of a training: from the previous checkpoint to the next; see learner.h.
 *
 * With patience, checkpoints also hold the best weights so far. The last segment, or the one in
 * which training stops, emits only these; the segments after a stop pass them on. */
#include "base/os.h"
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/train/learner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- metrics, as recorded in the checkpoint ---- */

/* Means over windows of steps, and validation results. */
struct series {
    struct arena *arena;
    Eqloom__Metric **all;
    size_t n, cap;
    struct step_result sum; /* of the current window */
    uint64_t steps;
};

static void add(struct series *s, uint64_t step, const char *name, double value)
{
    s->all = arena_grow(s->arena, s->all, s->n, &s->cap, sizeof *s->all);
    Eqloom__Metric *m = s->all[s->n++] = arena_new(s->arena, Eqloom__Metric);
    eqloom__metric__init(m);
    m->step = step;
    m->name = (char *)name;
    m->value = value;
}

static void series_load(struct series *s, const Eqloom__Checkpoint *c)
{
    for (size_t i = 0; i < c->n_metrics; i++)
        add(s, c->metrics[i]->step, c->metrics[i]->name, c->metrics[i]->value);
}

/* Adds one step to the window. */
static void series_step(struct series *s, const struct step_result *r)
{
    s->sum.loss += r->loss;
    s->sum.accuracy += r->accuracy;
    s->sum.gradient_norm += r->gradient_norm;
    s->sum.lr += r->lr;
    s->sum.tokens += r->tokens;
    s->steps++;
}

/* Records the window's means at `step`, unless the window is empty. */
static void series_close_window(struct series *s, uint64_t step)
{
    if (s->steps == 0)
        return;
    double n = (double)s->steps;
    add(s, step, "loss", s->sum.loss / n);
    add(s, step, "accuracy", s->sum.accuracy / n);
    add(s, step, "gradient_norm", s->sum.gradient_norm / n);
    add(s, step, "learning_rate", s->sum.lr / n);
    add(s, step, "tokens", (double)s->sum.tokens / n);
    s->sum = (struct step_result){0};
    s->steps = 0;
}

static void series_validation(struct series *s, uint64_t step, const struct step_result *r)
{
    add(s, step, "valid_loss", r->loss);
    add(s, step, "valid_accuracy", r->accuracy);
}

/* The validation with the lowest loss, the first in case of ties. */
struct series_best {
    uint64_t count; /* of all validations; 0: none yet */
    uint64_t since; /* validations since the best one */
    uint64_t step;
    double loss;
};
static struct series_best series_best(const struct series *s)
{
    struct series_best best = {0};
    for (size_t i = 0; i < s->n; i++) {
        const Eqloom__Metric *m = s->all[i];
        if (strcmp(m->name, "valid_loss") != 0)
            continue;
        if (best.count == 0 || m->value < best.loss) {
            best.step = m->step;
            best.loss = m->value;
            best.since = 0;
        } else {
            best.since++;
        }
        best.count++;
    }
    return best;
}

/* ---- the work ---- */

/* Shows progress. The rate of tokens is displayed only: the clock is not used for any result. */
static void show(struct op_ctx *ctx, uint64_t done, uint64_t total, const struct step_result *r,
                 uint64_t tokens, uint64_t started_ns)
{
    char text[80];
    double s = (double)(os_monotonic_ns() - started_ns) * 1e-9;
    snprintf(text, sizeof text, "loss %.3f acc %.0f%% %.1fk tok/s", r->loss, 100 * r->accuracy,
             s > 0 ? (double)tokens / s / 1000 : 0);
    op_progress(ctx, done, total, text);
}

/* The state of one segment's work. */
struct session {
    struct op_ctx *ctx;
    const struct learner *learner;
    struct learning *learning;
    struct train_validation validation;
    struct series series;
    struct trainer_state state; /* host memory; best is NULL without patience */
    struct gpu_device *device;
    uint64_t steps; /* steps begun */
};

/* Validates, and keeps the weights if they are the best so far. Sets *stop if patience is
 * exhausted. */
static enum err_code validate(bool *stop, struct session *s, struct err *e)
{
    struct step_result one, r = {0};
    size_t n = s->learner->call->at_once ? 1 : s->validation.batches;
    for (size_t i = 0; i < n; i++) {
        enum err_code code =
            trainer_measure(&one, s->learning->trainer, &s->learning->batches, i, e);
        if (code)
            return err_up(e, code);
        r.loss += one.loss / (double)n;
        r.accuracy += one.accuracy / (double)n;
    }
    series_validation(&s->series, s->steps, &r);
    if (!s->validation.patience)
        return OK;
    struct series_best best = series_best(&s->series);
    *stop = best.since >= s->validation.patience && s->steps >= s->validation.min_steps;
    if (best.since)
        return OK;
    struct trainer_state weights = {.weights = s->state.best};
    return err_up(e, trainer_read(&weights, s->learning->trainer, e));
}

static enum err_code make_steps(bool *stop, struct session *s, uint64_t to, struct err *e)
{
    struct op_ctx *ctx = s->ctx;
    uint64_t from = s->steps, started = os_monotonic_ns(), tokens = 0;
    uint64_t every = (uint64_t)op_int(ctx, "log_every"), pending = 0;
    struct trainer *t = s->learning->trainer;
    bool ahead = t->network->ahead;
    while (s->steps < to && !*stop) {
        struct step_result r;
        if (op_cancelled(ctx))
            return err_fail(e, ERR_CANCELLED, "cancelled at step %" PRIu64, s->steps);
        enum err_code code = trainer_begin(t, &s->learning->batches, e);
        if (code)
            return err_up(e, code);
        s->steps++;
        bool measures = s->learner->validates && s->steps % s->validation.every == 0;
        /* Read a step's result only when the device has the next step to work on. */
        for (pending++; pending > (ahead && s->steps < to && !measures); pending--) {
            if ((code = trainer_result(&r, t, e)))
                return err_up(e, code);
            series_step(&s->series, &r);
            tokens += r.tokens;
            if (r.step % every == 0 || r.step == to)
                series_close_window(&s->series, r.step);
            show(ctx, r.step - from, to - from, &r, tokens, started);
        }
        if (measures && (code = validate(stop, s, e)))
            return err_up(e, code);
    }
    return OK;
}

static enum err_code alloc_state(struct session *s, struct err *e)
{
    const struct nn_table *t = s->learner->table;
    float **parts[] = {&s->state.weights, &s->state.m, &s->state.v, &s->state.best};
    size_t n = s->validation.patience ? 4 : 3;
    for (size_t i = 0; i < n; i++)
        if (!(*parts[i] = arena_try_alloc(op_arena(s->ctx), t->total, sizeof(float))))
            return err_fail(e, ERR_NOMEM, "no memory for %zu parameters", t->count);
    return OK;
}

/* Returns 0 if there is none. */
static struct digest vocabulary_of(const struct session *s)
{
    const char *input = s->learner->vocabulary;
    return input ? op_input_id(s->ctx, input, 0) : (struct digest){0};
}

/* ERR_INPUT with the first line that differs, ignoring lines that begin with `ignored`. */
static enum err_code compare_architectures(const char *has, const char *needs, const char *ignored,
                                           struct err *e)
{
    while (*has || *needs) {
        size_t n = strcspn(has, "\n"), m = strcspn(needs, "\n");
        bool same = n == m && memcmp(has, needs, n) == 0;
        if (!same &&
            (strncmp(has, ignored, strlen(ignored)) || strncmp(needs, ignored, strlen(ignored))))
            return err_fail(e, ERR_INPUT,
                            "init: its model has '%.*s', but this training has '%.*s'", (int)n, has,
                            (int)m, needs);
        has += n + (has[n] == '\n');
        needs += m + (needs[m] == '\n');
    }
    return OK;
}

/* Reads the weights of a model with more or fewer parameters after the common ones. */
static enum err_code read_common(float *weights, struct session *s, const Eqloom__Checkpoint *c,
                                 const struct chunk_io *io, struct err *e)
{
    const struct nn_table *table;
    struct arena *a = op_arena(s->ctx);
    struct trainer_state fresh = {.weights = weights};
    char *text = c->architecture;
    enum err_code code = checkpoint_table(&table, &text, a, e);
    if (code)
        return err_up(e, code);
    struct trainer_state other = {.weights = arena_array(a, float, table->total)};
    if ((code = checkpoint_read(&other, table, c, io, a, e)) ||
        (code = trainer_read(&fresh, s->learning->trainer, e)))
        return err_up(e, code);
    memcpy(weights, other.weights, s->learner->common * sizeof *weights);
    return OK;
}

/* Starts from another training's weights. */
static enum err_code begin_with(struct session *s, const Eqloom__Checkpoint *c, struct err *e)
{
    struct chunk_io io = learn_chunks(s->ctx);
    const struct learner *l = s->learner;
    struct trainer_state weights = {.weights = s->state.weights};
    enum err_code code = err_up(e, compare_architectures(c->architecture, l->architecture,
                                                         l->differs ? l->differs : "pooling=", e));
    if (code)
        return code;
    if (!l->differs && learn_vocabulary_differs(&c->vocabulary_id, vocabulary_of(s)))
        return err_fail(e, ERR_INPUT, "init: its model was trained with another vocabulary");
    code = l->differs ? read_common(weights.weights, s, c, &io, e)
                      : checkpoint_read(&weights, l->table, c, &io, op_arena(s->ctx), e);
    if (code)
        return err_up(e, code);
    memset(s->state.m, 0, l->table->total * sizeof *s->state.m);
    memset(s->state.v, 0, l->table->total * sizeof *s->state.v);
    s->state.steps = 0;
    return err_up(e, trainer_write(s->learning->trainer, &s->state, e));
}

/* Restores the previous checkpoint; at the start uses the input `init`, if any. */
static enum err_code restore(struct session *s, const Eqloom__Checkpoint *c, uint64_t from,
                             struct err *e)
{
    struct chunk_io io = learn_chunks(s->ctx);
    enum err_code code;
    if (!c && op_count(s->ctx, "init")) {
        ProtobufCMessage *init;
        if ((code = err_up(e, op_get(&init, s->ctx, "init", 0, e))) ||
            (code = err_up(e, begin_with(s, (const Eqloom__Checkpoint *)init, e))))
            return code;
    }
    if (c) {
        series_load(&s->series, c);
        const struct learner *l = s->learner;
        if ((code = checkpoint_read(&s->state, l->table, c, &io, op_arena(s->ctx), e)) ||
            (code = trainer_write(s->learning->trainer, &s->state, e)))
            return err_up(e, code);
        s->steps = s->state.steps;
    }
    if (s->steps != from)
        return err_fail(e, ERR_CORRUPT, "checkpoint of step %" PRIu64 " instead of step %" PRIu64,
                        s->steps, from);
    return OK;
}

/* Each step checks the weights of the previous one; this checks those of the last step. */
static enum err_code check_finite(const struct session *s, struct err *e)
{
    const struct nn_param *bad = nn_table_not_finite(s->learner->table, s->state.weights);
    return bad ? err_fail(e, ERR_FAILED, "after step %" PRIu64 ", %s is not finite", s->state.steps,
                          bad->name)
               : OK;
}

/* A card's class; or the numerics class and the units of bf16 products, which it does not cover.
 * The initial weights do not depend on them. */
static char *numerics(struct op_ctx *ctx, uint64_t steps)
{
    bool card;
    const char *units = steps ? learn_units_of(&card, ctx) : NULL;
    struct arena *a = op_arena(ctx);
    if (units && card)
        return arena_strdup(a, units);
    return units ? arena_printf(a, "%s, bf16 products: %s", op_numerics(ctx), units)
                 : arena_strdup(a, op_numerics(ctx));
}

static enum err_code emit(struct session *s, bool finished, struct err *e)
{
    struct op_ctx *ctx = s->ctx;
    struct arena *a = op_arena(ctx);
    struct chunk_io io = learn_chunks(ctx);
    struct series_best best = series_best(&s->series);
    Eqloom__Checkpoint out;
    eqloom__checkpoint__init(&out);
    const struct learner *l = s->learner;
    enum err_code code = trainer_read(&s->state, s->learning->trainer, e);
    if (!code)
        code = check_finite(s, e);
    struct trainer_state kept = s->state;
    if (finished && best.count)
        kept = (struct trainer_state){.weights = s->state.best, .steps = best.step};
    else if (finished || !best.count)
        kept.best = NULL;
    if (code || (code = checkpoint_write(&out, l->architecture, l->table, &kept, &io, a, e)))
        return err_up(e, code);
    struct digest vocabulary = vocabulary_of(s), parent = op_previous_id(ctx);
    out.metrics = s->series.all;
    out.n_metrics = s->series.n;
    out.vocabulary_id.len = l->vocabulary ? DIGEST_SIZE : 0;
    out.vocabulary_id.data = vocabulary.bytes;
    out.numerics = numerics(ctx, s->state.steps);
    out.parent_id.len = digest_is_zero(&parent) ? 0 : DIGEST_SIZE;
    out.parent_id.data = parent.bytes;
    return err_up(e, op_emit(NULL, ctx, "checkpoint", &out.base, e));
}

/* Opens the examples of the following steps. */
static enum err_code open_examples(const struct session *s, struct err *e)
{
    enum err_code code = s->learner->call->examples(s->learning, s->ctx, false, e);
    if (!code && s->learner->validates)
        code = s->learner->call->examples(s->learning, s->ctx, true, e);
    return err_up(e, code);
}

enum err_code learner_run(struct op_ctx *ctx, void *learner, struct err *e)
{
    const struct learner *l = learner;
    struct session s = {.ctx = ctx,
                        .learner = l,
                        .learning = learning_new(learner),
                        .validation = train_validation(ctx),
                        .series = {.arena = op_arena(ctx)}};
    ProtobufCMessage *message = NULL;
    uint64_t from, to;
    train_range(&from, &to, ctx, op_segment_index(ctx));
    bool stop = false;
    enum err_code code = err_up(e, op_previous(&message, ctx, e));
    const Eqloom__Checkpoint *previous = (const Eqloom__Checkpoint *)message;
    if (code)
        goto out;
    if (previous && !checkpoint_continues(previous, l->table)) {
        code = err_up(e, op_emit(NULL, ctx, "checkpoint", message, e));
        goto out;
    }
    if ((to > from && (code = err_up(e, open_examples(&s, e)))) ||
        (code = err_up(e, alloc_state(&s, e))) ||
        (code = err_up(e, learn_open_device(&s.device, ctx, e))) ||
        (code = err_up(e, l->call->open(s.learning, ctx, s.device, e))) ||
        (code = err_up(e, restore(&s, previous, from, e))) ||
        (code = err_up(e, make_steps(&stop, &s, to, e))))
        goto out;
    code = emit(&s, s.validation.patience && (stop || train_is_last(ctx, to)), e);
out:
    learning_free(s.learning);
    gpu_close(s.device);
    return code;
}
