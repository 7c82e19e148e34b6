/* Op train: trains a transformer as a chain of checkpoints. */
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/transformer/train.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- data ---- */

struct shared {
    struct learner base;
    struct nn_model *model;
    struct dataset dataset, valid;
};

static void release(void *state)
{
    struct shared *s = state;
    dataset_free(&s->dataset);
    dataset_free(&s->valid);
}

typedef enum err_code dataset_adder(struct dataset *d, const Eqloom__TokenBatch *batch,
                                    uint32_t vocabulary, uint32_t max_length, struct err *e);

static enum err_code load_batches(struct dataset *d, const struct nn_config *c, const char *role,
                                  dataset_adder *add, struct op_ctx *ctx, struct err *e)
{
    struct digest vocabulary = op_input_id(ctx, "vocabulary", 0);
    struct learn_elements x = {ctx, role};
    const Eqloom__TokenBatch *b;
    enum err_code code = OK;
    while (learn_next(&b, &x, &code, e))
        if (learn_vocabulary_differs(&b->vocabulary_id, vocabulary))
            code =
                err_fail(e, ERR_INPUT, "%s: element %" PRIu64 " was made with another vocabulary",
                         role, x.next - 1);
        else
            code = err_up(e, add(d, b, c->vocabulary, nn_config_room(c), e));
    return code;
}

static enum err_code load_validation(struct shared *s, struct op_ctx *ctx, struct err *e)
{
    bool patience = train_validation(ctx).patience > 0;
    s->base.validates = op_count(ctx, "valid") > 0;
    if (!s->base.validates && patience)
        return err_fail(e, ERR_INPUT, "patience needs the input 'valid', and clusters in it");
    if (!s->base.validates)
        return OK;
    enum err_code code = load_batches(&s->valid, &s->model->config, "valid", dataset_add, ctx, e);
    if (!code)
        code = train_enough(&s->valid, ctx, "valid", e);
    return err_up(e, code);
}

static enum err_code load_near_misses(struct shared *s, struct op_ctx *ctx, struct err *e)
{
    struct examples_config c = train_config(ctx).examples;
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

/* ---- one segment ---- */

struct session {
    struct learning base;
    struct transformer_batches batches;
};

static const void *draw(struct batches *self, struct arena *a, bool measuring, uint64_t k)
{
    struct session *x = (struct session *)self;
    return x->batches.base.draw(&x->batches.base, a, measuring, k);
}

static enum err_code open_examples(void *self, struct op_ctx *ctx, bool measuring, struct err *e)
{
    struct session *x = self;
    const struct shared *s = x->base.learner;
    const struct dataset *d = measuring ? &s->valid : &s->dataset;
    struct transformer_config c = train_config(ctx);
    x->base.batches.draw = draw;
    if (!x->batches.base.draw)
        x->batches = transformer_batches(&c, &s->model->config, &s->dataset, &s->valid);
    return err_up(e, train_enough(d, ctx, measuring ? "valid" : "batches", e));
}

static void close_examples(void *self)
{
    struct session *x = self;
    transformer_batches_free(&x->batches);
}

static enum err_code open_trainer(void *self, struct op_ctx *ctx, struct gpu_device *device,
                                  struct err *e)
{
    struct session *x = self;
    const struct shared *s = x->base.learner;
    struct transformer_config c = train_config(ctx);
    return err_up(e, transformer_new(&x->base.trainer, device, s->model, &c, e));
}

/* ---- what a segment reads: not texts, sources, or sequences that are never drawn ---- */

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

/* Groups matter up to renaming: each is hashed as the index of its first member. */
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

static void add_examples(struct hasher *h, void *self, bool measuring, uint64_t k, bool first)
{
    struct session *x = self;
    const struct examples *one = draw(&x->base.batches, &x->base.arena, measuring, k);
    add_sequences(h, &one->inputs);
    add_sequences(h, &one->targets);
    if (one->group)
        add_groups(h, &x->base.arena, one->group, one->inputs.n);
}

static const struct learner_calls calls = {.size = sizeof(struct session),
                                           .release = release,
                                           .examples = open_examples,
                                           .close = close_examples,
                                           .open = open_trainer,
                                           .add = add_examples};

static enum err_code load(struct shared *s, const struct nn_config *c, struct op_ctx *ctx,
                          struct err *e)
{
    enum err_code code;
    size_t related = (size_t)op_int(ctx, "related");
    if ((code = err_up(e, nn_model_new(&s->model, &s->base.arena, c, e))) ||
        (code = err_up(e, load_batches(&s->dataset, c, "batches", dataset_add, ctx, e))) ||
        (code = err_up(e, load_near_misses(s, ctx, e))))
        return code;
    if (related > 1)
        dataset_relate(&s->dataset, related, c->vocabulary);
    s->base.architecture = nn_config_text(&s->base.arena, c);
    s->base.table = &s->model->table;
    s->base.vocabulary = "vocabulary";
    return err_up(e, load_validation(s, ctx, e));
}

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    const Eqloom__Vocabulary *v;
    enum err_code code = err_up(e, op_get(&v, ctx, "vocabulary", 0, e));
    if (code)
        return code;
    struct nn_config c = train_model(ctx, (uint32_t)v->n_tokens);
    struct shared *s = learner_new(&calls, sizeof *s);
    if ((code = err_up(e, load(s, &c, ctx, e))))
        learner_release(s);
    else
        *state = s;
    return code;
}

const struct op op_train = {
    .name = "train",
    .version = 15,
    LEARNER_OP,
    .doc =
        "Trains a transformer on clusters of equivalent expressions: an encoder that maps "
        "equivalent ones to the same vector, or an encoder and a decoder that translate one into "
        "another (see docs/models.md). With validation clusters, loss and accuracy are measured "
        "during training, and patience may stop it. Each segment has a checkpoint: more steps "
        "continue a training, a crash resumes at the last segment, and after a change of the data "
        "all segments before the first different example are reused.",
    .params = train_params,
    .inputs = OP_PORTS(
        {"batches", KIND_TOKEN_BATCH, OP_COLLECTION, .doc = "Clusters of sequences to train on."},
        {"vocabulary", KIND_VOCABULARY, OP_ONE, .doc = "The vocabulary of the batches."},
        {"valid", KIND_TOKEN_BATCH, OP_COLLECTION, true, "Clusters to validate on."},
        {"near_misses", KIND_TOKEN_BATCH, OP_COLLECTION, true,
         "For contrastive without `negatives`: pairs of a cluster's member and a near miss of "
         "it, from `near-misses` by `tokenize-exercises`."},
        {"init", KIND_CHECKPOINT, OP_ONE, true,
         "A model of the same architecture (except pooling) and vocabulary that provides the "
         "initial weights. Its optimizer state and step are ignored."}),
    .check = train_check,
    .prepare = prepare,
    .segment = train_segment,
    .reads = learner_reads,
};
