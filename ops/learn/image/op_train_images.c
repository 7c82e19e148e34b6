/* Op train-images: trains an image network as a chain of checkpoints. */
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/image/image_corpus.h"
#include "ops/learn/train/learner.h"
#include "token.pb-c.h"

#include <inttypes.h>
#include <string.h>

enum stream { STREAM_WEIGHTS = 1, STREAM_EXAMPLES, STREAM_VALIDATION };

#define TASKS "labels|siamese|triples"
#define NEGATIVES "one|frequent|all"

static const struct op_param params[] = {
    {"objective", OP_ENUM, "triples", TASKS,
     .doc = "The training objective. labels: predict which labels an image has; label vectors "
            "are trained too, and half of the examples have a label that the image does not "
            "have. siamese: predict whether two images are of one paper. triples: make images of "
            "one paper more similar than images of two."},
    {"network", OP_ENUM, "small", IMAGE_NETWORK_NAMES,
     .doc = "small: three convolutions of 32 channels, 45,504 parameters. large: six of 64, "
            "255,040."},
    {"negatives", OP_ENUM, "one", NEGATIVES,
     .doc = "one: drawn uniformly for each example. frequent: labels are drawn in proportion to "
            "the number of their images to the power 0.75. all: nothing is drawn; the loss is "
            "the mean over all labels, or over all images of other papers in the batch. One step "
            "then carries as much information as many, for the same number of images (triples: "
            "for two thirds of them)."},
    {"margin", OP_REAL, "1", NULL, 0, 100, "siamese, triples: margin of the hinge."},
    {"squared", OP_BOOL, "true", .doc = "siamese, triples: hinges are squared."},
    {"swap_from", OP_INT, "0", NULL, 0, 1e12,
     "triples: the step from which on anchor and positive swap roles where that gives the "
     "greater loss; with `epochs`, the epoch. Harder triples from the start may make all vectors "
     "equal."},
    {"batch", OP_INT, "100", NULL, 1, 65536,
     "Examples per step; each has one, two or three images."},
    TRAIN_STEPS_PARAMS,
    {"segment", OP_INT, "100", NULL, 1, 1e6, "Steps between checkpoints."},
    {"lr", OP_REAL, "0.00025", NULL, 0, 100, "Initial learning rate of Adam."},
    {"decay_every", OP_INT, "1000000", NULL, 1, 1e12,
     "Steps between decays of the rate; with `epochs`, epochs."},
    {"decay", OP_REAL, "0.1", NULL, 0, 1, "Factor of the rate at each decay."},
    {"frozen_from", OP_INT, "1000", NULL, 0, 1e12,
     "large: the step after which batch norm freezes its running statistics and uses them; with "
     "`epochs`, the epoch."},
    TRAIN_COMMON_PARAMS("10", "Batches of examples per validation."),
    {"seed", OP_INT, "0", .doc = "Seed of weights and examples."},
    {0},
};

/* Parameters in a segment's key besides the network, frozen_from, swap_from and the learning
 * rates. */
static const char steps_params[] = "objective negatives margin squared batch log_every";

/* ---- parameters ---- */

static enum image_task task_of(const struct op_ctx *ctx)
{
    return (enum image_task)learn_choice(ctx, "objective", TASKS);
}

static enum image_negatives negatives_of(const struct op_ctx *ctx)
{
    return (enum image_negatives)learn_choice(ctx, "negatives", NEGATIVES);
}

static enum image_kind network_of(const struct op_ctx *ctx)
{
    return (enum image_kind)learn_choice(ctx, "network", IMAGE_NETWORK_NAMES);
}

static struct schedule schedule_of(const struct op_ctx *ctx)
{
    return (struct schedule){.kind = SCHEDULE_STEP,
                             .lr = op_real(ctx, "lr"),
                             .every = train_length(ctx, "decay_every"),
                             .factor = op_real(ctx, "decay")};
}

/* ---- data ---- */

struct shared {
    struct learner base;
    struct image_model *model;
    struct image_corpus corpus, valid;
    enum image_task task;
    double *odds; /* log-odds of labels among training images */
};

static void release(void *state)
{
    struct shared *s = state;
    image_corpus_free(&s->corpus);
    image_corpus_free(&s->valid);
}

static enum err_code check_labels(const Eqloom__Labels *l, const Eqloom__Image *image,
                                  const struct shared *s, struct digest vocabulary,
                                  const char *role, struct err *e)
{
    const char *paper = image->place ? image->place->paper : "";
    if (learn_vocabulary_differs(&l->vocabulary_id, vocabulary))
        return err_fail(e, ERR_INPUT, "%s: the labels have another vocabulary", role);
    if (strcmp(l->place ? l->place->paper : "", paper) != 0)
        return err_fail(e, ERR_INPUT, "%s: labels of paper '%s' for an image of '%s'", role,
                        l->place ? l->place->paper : "", paper);
    for (size_t i = 0; i < l->n_labels; i++)
        if (l->labels[i] >= s->model->config.labels || (i && l->labels[i] <= l->labels[i - 1]))
            return err_fail(e, ERR_CORRUPT, "%s: label %u is out of order or not below %u", role,
                            l->labels[i], s->model->config.labels);
    return OK;
}

static enum err_code load(struct image_corpus *c, const struct shared *s, struct op_ctx *ctx,
                          const char *role, const char *labels_role, struct err *e)
{
    bool labels = s->task == IMAGE_LABELS;
    uint64_t n = op_count(ctx, role);
    struct learn_elements x = {ctx, role};
    struct digest vocabulary = {0};
    const Eqloom__Image *image;
    enum err_code code = OK;
    if (labels && n != op_count(ctx, labels_role))
        return err_fail(e, ERR_INPUT, "%s: %" PRIu64 " for %" PRIu64 " images", labels_role,
                        op_count(ctx, labels_role), n);
    if (labels)
        vocabulary = op_input_id(ctx, "vocabulary", 0);
    while (learn_next(&image, &x, &code, e)) {
        const Eqloom__Labels *label = NULL;
        if (!labels ||
            (!(code = err_up(e, op_get_in(&label, ctx, labels_role, x.next - 1, &x.arena, e))) &&
             !(code = check_labels(label, image, s, vocabulary, labels_role, e))))
            code = err_up(e, image_corpus_add(c, image, label, e));
    }
    image_corpus_close(c);
    return code;
}

static enum err_code count_labels(uint32_t *out, struct op_ctx *ctx, struct err *e)
{
    const Eqloom__Vocabulary *message;
    *out = 0;
    if (task_of(ctx) != IMAGE_LABELS)
        return OK;
    if (!op_count(ctx, "vocabulary") || !op_count(ctx, "labels"))
        return err_fail(e, ERR_INPUT,
                        "objective labels needs the inputs 'labels' and 'vocabulary'");
    enum err_code code = op_get(&message, ctx, "vocabulary", 0, e);
    if (!code)
        *out = (uint32_t)message->n_tokens;
    return err_up(e, code);
}

/* ---- one segment ---- */

struct session {
    struct learning base;
    struct image_sampler sampler[2]; /* for training, for validation */
    size_t batch;
};

static const void *draw(struct batches *self, struct arena *a, bool measuring, uint64_t k)
{
    struct session *x = (struct session *)self;
    const struct shared *s = x->base.learner;
    struct image_batch *out = arena_new(a, struct image_batch);
    *out = image_sampler_batch(&x->sampler[measuring], a, x->batch, k);
    out->odds = s->odds;
    return out;
}

static enum err_code open_examples(void *self, struct op_ctx *ctx, bool measuring, struct err *e)
{
    struct session *x = self;
    const struct shared *s = x->base.learner;
    x->base.batches.draw = draw;
    x->batch = (size_t)op_int(ctx, "batch");
    return err_up(
        e, image_sampler_init(&x->sampler[measuring], measuring ? &s->valid : &s->corpus, s->task,
                              negatives_of(ctx), s->model->config.labels,
                              learn_seed(ctx, measuring ? STREAM_VALIDATION : STREAM_EXAMPLES),
                              measuring ? "valid" : "images", e));
}

static void close_examples(void *self)
{
    struct session *x = self;
    for (int i = 0; i < 2; i++)
        image_sampler_free(&x->sampler[i]);
}

static enum err_code open_trainer(void *self, struct op_ctx *ctx, struct gpu_device *device,
                                  struct err *e)
{
    struct session *x = self;
    const struct shared *s = x->base.learner;
    struct image_training c = {.task = s->task,
                               .all_negatives = negatives_of(ctx) == IMAGE_NEGATIVES_ALL,
                               .margin = op_real(ctx, "margin"),
                               .linear = !op_bool(ctx, "squared"),
                               .swap_from = train_length(ctx, "swap_from"),
                               .frozen_from = train_length(ctx, "frozen_from"),
                               .optimizer = optimizer_adam(schedule_of(ctx)),
                               .precision = learn_precision(ctx),
                               .seed = learn_seed(ctx, STREAM_WEIGHTS)};
    return err_up(e, image_network_new(&x->base.trainer, device, s->model, &c, e));
}

static void add_examples(struct hasher *h, void *self, bool measuring, uint64_t k, bool first)
{
    struct session *x = self;
    struct image_sampler *sampler = &x->sampler[measuring];
    const struct image_corpus *c = sampler->corpus;
    const struct shared *s = x->base.learner;
    bool all = sampler->negatives == IMAGE_NEGATIVES_ALL;
    if (all && first)
        hasher_add(h, s->odds, s->model->config.labels * sizeof *s->odds);
    for (size_t i = 0; i < x->batch; i++) {
        struct image_example one = image_sampler_draw(sampler, k * x->batch + i);
        uint32_t label[] = {one.label, one.right};
        for (size_t v = 0; v < image_views(s->task, all); v++)
            hasher_add(h, &c->image[one.image[v]].mark, sizeof(uint64_t));
        hasher_add(h, label, sizeof label);
        if (all) /* images of one paper in the batch */
            hasher_add(h, &c->paper_mark[c->image[one.image[0]].paper], sizeof *c->paper_mark);
    }
}

static const struct learner_calls calls = {.size = sizeof(struct session),
                                           .release = release,
                                           .examples = open_examples,
                                           .close = close_examples,
                                           .open = open_trainer,
                                           .add = add_examples};

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    struct image_config c = {.network = network_of(ctx)};
    if (negatives_of(ctx) == IMAGE_NEGATIVES_FREQUENT && task_of(ctx) != IMAGE_LABELS)
        return err_fail(e, ERR_INPUT, "'negatives: frequent' needs 'objective: labels'");
    enum err_code code = err_up(e, count_labels(&c.labels, ctx, e));
    if (code)
        return code;
    struct shared *s = learner_new(&calls, sizeof *s);
    struct arena *a = &s->base.arena;
    s->task = task_of(ctx);
    s->model = image_model_new(a, &c);
    s->base.architecture = image_config_text(a, &c);
    s->base.table = &s->model->table;
    s->base.vocabulary = s->task == IMAGE_LABELS ? "vocabulary" : NULL;
    s->base.differs = "labels=";
    s->base.common = s->model->labels;
    if ((code = err_up(e, load(&s->corpus, s, ctx, "images", "labels", e))) ||
        (code = err_up(e, load(&s->valid, s, ctx, "valid", "valid_labels", e))) ||
        (code = err_up(e, learner_check_validation(&s->base, ctx, e)))) {
        learner_release(s);
        return code;
    }
    s->odds = image_corpus_odds(a, &s->corpus, c.labels);
    *state = s;
    return OK;
}

/* Returns how a threshold step looks to a segment's steps, for its key. */
static uint64_t within(const struct op_ctx *ctx, const char *param, uint64_t index)
{
    uint64_t from, to, at = train_length(ctx, param);
    train_range(&from, &to, ctx, index);
    return at < from ? from : at > to ? to : at;
}

/* The key omits the vocabulary of labels: the segment's `reads` covers it. */
static enum err_code segment(struct op_segment *out, struct op_ctx *ctx, uint64_t index,
                             struct err *e)
{
    struct image_config c = {.network = network_of(ctx)};
    struct arena *a = op_arena(ctx);
    char *network = arena_printf(a, "%sfrozen_from=%" PRIu64 " swap_from=%" PRIu64 "\n",
                                 image_config_text(a, &c), within(ctx, "frozen_from", index),
                                 within(ctx, "swap_from", index));
    struct train_key key = {network, (uint64_t)op_int(ctx, "seed"), schedule_of(ctx), params,
                            steps_params};
    return err_up(e, train_segment_of(out, ctx, index, &key, e));
}

const struct op op_train_images = {
    .name = "train-images",
    .version = 4,
    LEARNER_OP,
    .doc =
        "Trains a convolutional network on pictures of equations, to predict their labels or "
        "which are of one paper. With pictures of other papers to validate on, loss and accuracy "
        "(the share of examples in order) are measured during training, and patience may stop it. "
        "Checkpoints and segments work as in `train`.",
    .params = params,
    .inputs = OP_PORTS(
        {"images", KIND_IMAGE, OP_COLLECTION, .doc = "Pictures to train on, 333 x 32 pixels."},
        {"labels", KIND_LABELS, OP_COLLECTION, true,
         "For objective labels: the labels of the images, in the same order."},
        {"vocabulary", KIND_VOCABULARY, OP_ONE, true, "For objective labels: their vocabulary."},
        {"valid", KIND_IMAGE, OP_COLLECTION, true, "Pictures of other papers to validate on."},
        {"valid_labels", KIND_LABELS, OP_COLLECTION, true,
         "For objective labels: the labels of `valid`."},
        {"init", KIND_CHECKPOINT, OP_ONE, true,
         "A network with the same layers that provides the initial weights, trained for any "
         "objective. Its label vectors, optimizer state and step are ignored."}),
    .check = train_check_common,
    .prepare = prepare,
    .segment = segment,
    .reads = learner_reads,
};
