/* Op train: a model as a chain of checkpoints. */
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/train/train.h"

#include <inttypes.h>
#include <stdlib.h>

static void release(void *state)
{
    struct train_shared *s = state;
    if (!s)
        return;
    dataset_free(&s->dataset);
    dataset_free(&s->valid);
    arena_free(&s->arena);
    free(s);
}

typedef enum err_code dataset_adder(struct dataset *d, const Eqloom__TokenBatch *batch,
                                    uint32_t vocabulary, uint32_t max_length, struct err *e);

static enum err_code load_batches(struct dataset *d, const struct nn_config *c, const char *role,
                                  dataset_adder *add, struct op_ctx *ctx, struct err *e)
{
    struct digest vocabulary = op_input_id(ctx, "vocabulary", 0);
    struct arena work = {0};
    enum err_code code = OK;
    uint64_t n = op_count(ctx, role);
    for (uint64_t i = 0; i < n && !code; i++) {
        const Eqloom__TokenBatch *b;
        arena_reset(&work);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "cancelled");
        else
            code = err_up(e, op_get_in(&b, ctx, role, i, &work, e));
        if (code)
            break;
        if (learn_vocabulary_differs(&b->vocabulary_id, vocabulary))
            code = err_fail(e, ERR_INPUT,
                            "%s: element %" PRIu64 " was made with another vocabulary", role, i);
        else
            code = err_up(e, add(d, b, c->vocabulary, nn_config_room(c), e));
    }
    arena_free(&work);
    return code;
}

static enum err_code load_validation(struct train_shared *s, struct op_ctx *ctx, struct err *e)
{
    bool patience = train_validation(ctx).patience > 0;
    s->validates = op_count(ctx, "valid") > 0;
    if (!s->validates && patience)
        return err_fail(e, ERR_INPUT, "patience needs the input 'valid', and clusters in it");
    if (!s->validates)
        return OK;
    enum err_code code = load_batches(&s->valid, &s->model->config, "valid", dataset_add, ctx, e);
    if (!code)
        code = train_enough(&s->valid, ctx, "valid", e);
    return err_up(e, code);
}

static enum err_code load_near_misses(struct train_shared *s, struct op_ctx *ctx, struct err *e)
{
    struct examples_config c = train_trainer(ctx).examples;
    if (!op_count(ctx, "near_misses"))
        return OK;
    if (c.objective != OBJECTIVE_CONTRASTIVE || c.negatives)
        return err_fail(e, ERR_INPUT,
                        "the input 'near_misses' needs objective contrastive, without 'negatives'");
    enum err_code code = err_up(e, load_batches(&s->dataset, &s->model->config, "near_misses",
                                                dataset_add_near_misses, ctx, e));
    dataset_order_near_misses(&s->dataset);
    return code;
}

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    const Eqloom__Vocabulary *v;
    struct train_shared *s = must_calloc(1, sizeof *s);
    enum err_code code = err_up(e, op_get(&v, ctx, "vocabulary", 0, e));
    if (code)
        goto out;
    struct nn_config c = train_model(ctx, (uint32_t)v->n_tokens);
    if ((code = err_up(e, nn_model_new(&s->model, &s->arena, &c, e))))
        goto out;
    if ((code = err_up(e, load_batches(&s->dataset, &c, "batches", dataset_add, ctx, e))))
        goto out;
    size_t related = (size_t)op_int(ctx, "related");
    if (related > 1 && (code = err_up(e, dataset_relate(&s->dataset, related, c.vocabulary, e))))
        goto out;
    if ((code = err_up(e, load_near_misses(s, ctx, e))))
        goto out;
    code = load_validation(s, ctx, e);
out:
    if (code)
        release(s);
    else
        *state = s;
    return code;
}

/* ---- one segment ---- */

struct learning {
    const struct train_shared *shared;
    struct trainer *trainer;
};

static enum err_code open_trainer(void *self, struct op_ctx *ctx, struct gpu_device *device,
                                  struct err *e)
{
    struct learning *x = self;
    struct trainer_config c = train_trainer(ctx);
    return err_up(e, trainer_new(&x->trainer, device, x->shared->model, &c, e));
}

static void close_trainer(void *self)
{
    trainer_free(((struct learning *)self)->trainer);
}

static enum err_code begin(struct step_result *r, void *self, uint64_t steps, struct err *e)
{
    struct learning *x = self;
    return err_up(e, trainer_begin(x->trainer, &x->shared->dataset, e));
}

static enum err_code result(struct step_result *r, void *self, struct err *e)
{
    return err_up(e, trainer_result(r, ((struct learning *)self)->trainer, e));
}

static enum err_code measure(struct step_result *r, void *self, size_t batches, struct err *e)
{
    struct learning *x = self;
    return err_up(e, trainer_measure(r, x->trainer, &x->shared->valid, batches, e));
}

static enum err_code read(struct trainer_state *out, void *self, struct err *e)
{
    return err_up(e, trained_read(out, ((struct learning *)self)->trainer, e));
}

static enum err_code write(void *self, const struct trainer_state *state, struct err *e)
{
    return err_up(e, trainer_write(((struct learning *)self)->trainer, state, e));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    static const struct learner_calls calls = {open_trainer, close_trainer, begin, result,
                                               measure,      read,          write};
    struct learning x = {.shared = state};
    const struct nn_model *m = x.shared->model;
    struct learner l = {nn_config_text(op_arena(ctx), &m->config),
                        &m->table,
                        "vocabulary",
                        x.shared->validates,
                        &x,
                        &calls};
    uint64_t from, to;
    train_range(&from, &to, ctx, op_segment_index(ctx));
    enum err_code code = OK;
    if (to > from)
        code = err_up(e, train_enough(&x.shared->dataset, ctx, "batches", e));
    return code ? code : err_up(e, learner_run(ctx, &l, e));
}

const struct op op_train = {
    .name = "train",
    .version = 15,
    .node = OP_CHAIN,
    .numerics = true,
    .parallel = true,
    .cards = learn_cards,
    .doc =
        "Trains a transformer on clusters of equivalent expressions: an encoder that gives "
        "equivalent ones the same vector, or an encoder and a decoder that write one for the "
        "other (see docs/models.md). With validation clusters, loss and accuracy are measured "
        "during training, and patience may stop it. There is one checkpoint per segment: more "
        "steps continue a training, a crash resumes at the last segment, and after a change of the "
        "data all segments before the first example that differs are reused.",
    .params = train_params,
    .inputs = OP_PORTS({"batches", KIND_TOKEN_BATCH, OP_COLLECTION,
                        .doc = "What to train on: clusters of sequences."},
                       {"vocabulary", KIND_VOCABULARY, OP_ONE, .doc = "Of the batches."},
                       {"valid", KIND_TOKEN_BATCH, OP_COLLECTION, true, "Clusters to validate on."},
                       {"near_misses", KIND_TOKEN_BATCH, OP_COLLECTION, true,
                        "contrastive, without `negatives`: pairs of a member of a cluster and a "
                        "near miss of it, from `near-misses` by `tokenize-exercises`."},
                       {"init", KIND_CHECKPOINT, OP_ONE, true,
                        "A model whose weights are the initial ones, of the same architecture "
                        "(except pooling) and "
                        "vocabulary. Its optimizer state and step are not used."}),
    .outputs = OP_PORTS(
        {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "Weights, optimizer, step and metrics."}),
    .check = train_check,
    .units = learn_card_units,
    .prepare = prepare,
    .release = release,
    .run = run,
    .segments = train_segments,
    .segment = train_segment,
    .reads = train_reads,
};
