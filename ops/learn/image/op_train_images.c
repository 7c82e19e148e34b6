/* Op train-images: a network on images as a chain of checkpoints. */
#include "base/rng.h"
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/image/image_corpus.h"
#include "token.pb-c.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum stream { STREAM_WEIGHTS = 1, STREAM_EXAMPLES, STREAM_VALIDATION };

static const struct op_param params[] = {
    {"objective", OP_ENUM, "triples", "labels|siamese|triples",
     .doc = "What the network learns: which labels an image has (labels: vectors of labels are "
            "learnt, too, and half of the examples are of a label that the image has not); which "
            "two images are of one paper (siamese); that images of one paper are more alike than "
            "of two (triples)."},
    {"network", OP_ENUM, "small", IMAGE_NETWORK_NAMES,
     .doc = "Three convolutions of 32 channels, 45,504 parameters; or six of 64, 255,040."},
    {"negatives", OP_ENUM, "one", "one|frequent|all",
     .doc = "one: drawn for each example, each as likely. frequent: labels are drawn in proportion "
            "to how many images have them, to the power 0.75. all: no draw, but the mean over all "
            "labels, or over all images of the batch that are of other papers; one step says as "
            "much as many, for the same images (triples: for two of three)."},
    {"margin", OP_REAL, "1", NULL, 0, 100, "siamese, triples: of the hinge."},
    {"squared", OP_BOOL, "true", .doc = "siamese, triples: hinges are squared."},
    {"swap_from", OP_INT, "0", NULL, 0, 1e12,
     "triples: the step from which on anchor and positive swap roles where that is worse; with "
     "`epochs`, the epoch. Harder triples from the start may end in vectors that are all alike."},
    {"batch", OP_INT, "100", NULL, 1, 65536, "Examples of a step, of one, two or three images."},
    TRAIN_STEPS_PARAMS,
    {"segment", OP_INT, "100", NULL, 1, 1e6, "Steps between checkpoints."},
    {"lr", OP_REAL, "0.00025", NULL, 0, 100, "Learning rate of Adam at the start."},
    {"decay_every", OP_INT, "1000000", NULL, 1, 1e12,
     "Steps after which the rate is multiplied by decay, each time; with `epochs`, epochs."},
    {"decay", OP_REAL, "0.1", NULL, 0, 1, "That factor."},
    {"frozen_from", OP_INT, "1000", NULL, 0, 1e12,
     "large: the step after which batch norm keeps its running statistics and uses them; with "
     "`epochs`, the epoch."},
    TRAIN_COMMON_PARAMS("10", "Batches of examples in a validation."),
    {"seed", OP_INT, "0", .doc = "Of weights and examples."},
    {0},
};

/* Those that a segment's key holds besides the network, frozen_from, swap_from and the learning
 * rates. */
static const char steps_params[] = "objective negatives margin squared batch log_every";

/* ---- parameters ---- */

static enum image_task task_of(const struct op_ctx *ctx)
{
    const char *name = op_string(ctx, "objective");
    return strcmp(name, "labels") == 0    ? IMAGE_LABELS
           : strcmp(name, "siamese") == 0 ? IMAGE_SIAMESE
                                          : IMAGE_TRIPLES;
}

static enum image_negatives negatives_of(const struct op_ctx *ctx)
{
    const char *name = op_string(ctx, "negatives");
    return strcmp(name, "all") == 0        ? IMAGE_NEGATIVES_ALL
           : strcmp(name, "frequent") == 0 ? IMAGE_NEGATIVES_FREQUENT
                                           : IMAGE_NEGATIVES_ONE;
}

static bool all_negatives(const struct op_ctx *ctx)
{
    return negatives_of(ctx) == IMAGE_NEGATIVES_ALL;
}

static enum image_network network_of(const struct op_ctx *ctx)
{
    return strcmp(op_string(ctx, "network"), "large") == 0 ? IMAGE_LARGE : IMAGE_SMALL;
}

static struct schedule schedule_of(const struct op_ctx *ctx)
{
    return (struct schedule){.kind = SCHEDULE_STEP,
                             .lr = op_real(ctx, "lr"),
                             .every = train_length(ctx, "decay_every"),
                             .factor = op_real(ctx, "decay")};
}

static uint64_t seed_of(const struct op_ctx *ctx, enum stream stream)
{
    return rng_at((uint64_t)op_int(ctx, "seed"), stream, 0);
}

static size_t batch_of(const struct op_ctx *ctx)
{
    return (size_t)op_int(ctx, "batch");
}

/* ---- data ---- */

struct shared {
    struct arena arena;
    struct image_model *model;
    struct image_corpus corpus, valid;
    enum image_task task;
    double *odds; /* of labels, among images to learn from */
    bool validates;
};

static void release(void *state)
{
    struct shared *s = state;
    if (!s)
        return;
    image_corpus_free(&s->corpus);
    image_corpus_free(&s->valid);
    arena_free(&s->arena);
    free(s);
}

static enum err_code check_labels(const Eqloom__Labels *l, const Eqloom__Image *image,
                                  const struct shared *s, struct digest vocabulary,
                                  const char *role, struct err *e)
{
    const char *paper = image->place ? image->place->paper : "";
    if (learn_vocabulary_differs(&l->vocabulary_id, vocabulary))
        return err_fail(e, ERR_INPUT, "%s: labels of another vocabulary", role);
    if (strcmp(l->place ? l->place->paper : "", paper) != 0)
        return err_fail(e, ERR_INPUT, "%s: labels of paper '%s' where the image is of '%s'", role,
                        l->place ? l->place->paper : "", paper);
    for (size_t i = 0; i < l->n_labels; i++)
        if (l->labels[i] >= s->model->config.labels || (i && l->labels[i] <= l->labels[i - 1]))
            return err_fail(e, ERR_CORRUPT, "%s: label %u is not in order, or beyond %u", role,
                            l->labels[i], s->model->config.labels);
    return OK;
}

static enum err_code load(struct image_corpus *c, const struct shared *s, struct op_ctx *ctx,
                          const char *role, const char *labels_role, struct err *e)
{
    struct arena work = {0};
    bool labels = s->task == IMAGE_LABELS;
    uint64_t n = op_count(ctx, role);
    struct digest vocabulary = {0};
    enum err_code code = OK;
    if (labels && n != op_count(ctx, labels_role))
        return err_fail(e, ERR_INPUT, "%s: %" PRIu64 " for %" PRIu64 " images", labels_role,
                        op_count(ctx, labels_role), n);
    if (labels)
        vocabulary = op_input_id(ctx, "vocabulary", 0);
    for (uint64_t i = 0; i < n && !code; i++) {
        ProtobufCMessage *image, *label = NULL;
        arena_reset(&work);
        if ((code = op_cancelled(ctx) ? err_fail(e, ERR_CANCELLED, "cancelled") : OK) ||
            (code = err_up(e, op_get_in(&image, ctx, role, i, &work, e))) ||
            (labels &&
             ((code = err_up(e, op_get_in(&label, ctx, labels_role, i, &work, e))) ||
              (code = check_labels((const Eqloom__Labels *)label, (const Eqloom__Image *)image, s,
                                   vocabulary, labels_role, e)))))
            break;
        code = err_up(
            e, image_corpus_add(c, (const Eqloom__Image *)image, (const Eqloom__Labels *)label, e));
    }
    arena_free(&work);
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

/* The sampler of examples to learn from, or to measure by. */
static enum err_code open_sampler(struct image_sampler *x, const struct shared *s,
                                  const struct op_ctx *ctx, bool measuring, struct err *e)
{
    return err_up(e,
                  image_sampler_init(x, measuring ? &s->valid : &s->corpus, s->task,
                                     negatives_of(ctx), s->model->config.labels,
                                     seed_of(ctx, measuring ? STREAM_VALIDATION : STREAM_EXAMPLES),
                                     measuring ? "valid" : "images", e));
}

/* Images that give no example validate nothing, unless patience needs them. */
static enum err_code check_validation(struct shared *s, struct op_ctx *ctx, struct err *e)
{
    struct image_sampler probe;
    struct err why;
    s->validates = !open_sampler(&probe, s, ctx, true, &why);
    image_sampler_free(&probe);
    if (!s->validates && train_validation(ctx).patience > 0)
        return err_fail(e, ERR_INPUT, "patience needs the input 'valid': %s", why.message);
    return OK;
}

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    struct image_config c = {.network = network_of(ctx)};
    if (negatives_of(ctx) == IMAGE_NEGATIVES_FREQUENT && task_of(ctx) != IMAGE_LABELS)
        return err_fail(e, ERR_INPUT, "'negatives: frequent' is for 'objective: labels'");
    enum err_code code = err_up(e, count_labels(&c.labels, ctx, e));
    if (code)
        return code;
    struct shared *s = must_calloc(1, sizeof *s);
    s->task = task_of(ctx);
    s->model = image_model_new(&s->arena, &c);
    if ((code = err_up(e, load(&s->corpus, s, ctx, "images", "labels", e))) ||
        (code = err_up(e, load(&s->valid, s, ctx, "valid", "valid_labels", e))) ||
        (code = err_up(e, check_validation(s, ctx, e)))) {
        release(s);
        return code;
    }
    s->odds = image_corpus_odds(&s->arena, &s->corpus, c.labels);
    *state = s;
    return OK;
}

/* ---- one segment ---- */

struct learning {
    const struct shared *shared;
    struct image_trainer *trainer;
    struct image_sampler sampler, measured;
    size_t batch;
    struct arena arena; /* of the step */
};

static enum err_code open_trainer(void *self, struct op_ctx *ctx, struct gpu_device *device,
                                  struct err *e)
{
    struct learning *x = self;
    struct image_trainer_config c = {.task = x->shared->task,
                                     .all_negatives = all_negatives(ctx),
                                     .margin = op_real(ctx, "margin"),
                                     .linear = !op_bool(ctx, "squared"),
                                     .swap_from = train_length(ctx, "swap_from"),
                                     .frozen_from = train_length(ctx, "frozen_from"),
                                     .schedule = schedule_of(ctx),
                                     .precision = learn_precision(ctx),
                                     .seed = seed_of(ctx, STREAM_WEIGHTS)};
    return err_up(e, image_trainer_new(&x->trainer, device, x->shared->model, &c, e));
}

static void close_trainer(void *self)
{
    struct learning *x = self;
    trained_free(x->trainer);
    image_sampler_free(&x->sampler);
    image_sampler_free(&x->measured);
    arena_free(&x->arena);
}

/* A step ends at once: the host computes the loss. */
static enum err_code begin(struct step_result *r, void *self, uint64_t steps, struct err *e)
{
    struct learning *x = self;
    arena_reset(&x->arena);
    struct image_batch b = image_sampler_batch(&x->sampler, &x->arena, x->batch, steps);
    b.odds = x->shared->odds;
    return err_up(e, image_trainer_step(r, x->trainer, &b, e));
}

static enum err_code measure(struct step_result *r, void *self, size_t batches, struct err *e)
{
    struct learning *x = self;
    struct step_result one, sum = {0};
    for (size_t i = 0; i < batches; i++) {
        arena_reset(&x->arena);
        struct image_batch b = image_sampler_batch(&x->measured, &x->arena, x->batch, i);
        b.odds = x->shared->odds;
        enum err_code code = image_trainer_measure(&one, x->trainer, &b, e);
        if (code)
            return err_up(e, code);
        sum.loss += one.loss / (double)batches;
        sum.accuracy += one.accuracy / (double)batches;
    }
    *r = sum;
    return OK;
}

static enum err_code read_state(struct trainer_state *out, void *self, struct err *e)
{
    return err_up(e, trained_read(out, ((struct learning *)self)->trainer, e));
}

static enum err_code write_state(void *self, const struct trainer_state *state, struct err *e)
{
    return err_up(e, image_trainer_write(((struct learning *)self)->trainer, state, e));
}

/* Weights of a network that may have learnt other labels: all but theirs. */
static enum err_code begin_with(float *weights, void *self, const Eqloom__Checkpoint *c,
                                const struct chunk_io *io, struct arena *a, struct err *e)
{
    const struct learning *x = self;
    struct image_config config;
    enum err_code code = image_config_parse(&config, c->architecture, e);
    if (code)
        return err_up(e, code);
    const struct image_model *from = image_model_new(a, &config);
    struct trainer_state other = {.weights = arena_array(a, float, from->table.total)};
    struct trainer_state fresh = {.weights = weights};
    if ((code = checkpoint_read(&other, &from->table, c, io, a, e)) ||
        (code = trained_read(&fresh, x->trainer, e)))
        return err_up(e, code);
    memcpy(weights, other.weights, from->labels * sizeof *weights);
    return OK;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    static const struct learner_calls calls = {open_trainer, close_trainer, begin,      NULL,
                                               measure,      read_state,    write_state};
    const struct shared *s = state;
    struct learning x = {.shared = s, .batch = batch_of(ctx)};
    struct learner l = {image_config_text(op_arena(ctx), &s->model->config),
                        &s->model->table,
                        s->task == IMAGE_LABELS ? "vocabulary" : NULL,
                        s->validates,
                        &x,
                        &calls,
                        "labels=",
                        begin_with};
    uint64_t from, to;
    train_range(&from, &to, ctx, op_segment_index(ctx));
    enum err_code code = OK;
    if (to > from)
        code = err_up(e, open_sampler(&x.sampler, s, ctx, false, e));
    if (!code && to > from && s->validates)
        code = err_up(e, open_sampler(&x.measured, s, ctx, true, e));
    if (!code)
        return err_up(e, learner_run(ctx, &l, e));
    close_trainer(&x);
    return code;
}

/* What a segment's steps see of a step from which on something else is done. */
static uint64_t within(const struct op_ctx *ctx, const char *param, uint64_t index)
{
    uint64_t from, to, at = train_length(ctx, param);
    train_range(&from, &to, ctx, index);
    return at < from ? from : at > to ? to : at;
}

/* The vocabulary of labels is among what a segment reads. */
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

/* ---- what a segment reads ---- */

static enum err_code add_examples(struct hasher *h, struct op_ctx *ctx, const void *shared,
                                  bool measuring, uint64_t from, uint64_t to, struct err *e)
{
    const struct shared *s = shared;
    struct image_sampler sampler;
    size_t batch = batch_of(ctx), views = image_views(s->task, all_negatives(ctx));
    enum err_code code = err_up(e, open_sampler(&sampler, s, ctx, measuring, e));
    if (all_negatives(ctx) && from < to)
        hasher_add(h, s->odds, s->model->config.labels * sizeof *s->odds);
    for (uint64_t k = from * batch; k < to * batch && !code; k++) {
        struct image_example x = image_sampler_draw(&sampler, k);
        uint32_t label[] = {x.label, x.right};
        for (size_t i = 0; i < views; i++)
            hasher_add(h, &sampler.corpus->mark[x.image[i]], sizeof *sampler.corpus->mark);
        hasher_add(h, label, sizeof label);
        if (all_negatives(ctx)) /* which of the batch are of one paper */
            hasher_add(h, &sampler.corpus->paper_mark[sampler.corpus->paper[x.image[0]]],
                       sizeof *sampler.corpus->paper_mark);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "cancelled at step %" PRIu64, k / batch);
    }
    image_sampler_free(&sampler);
    return code;
}

static enum err_code reads(struct digest *out, const char **reason, struct op_ctx *ctx, void *state,
                           struct err *e)
{
    const struct shared *s = state;
    const char *vocabulary = s->task == IMAGE_LABELS ? "vocabulary" : NULL;
    return err_up(e,
                  train_reads_of(out, reason, ctx, vocabulary, s->validates, add_examples, s, e));
}

const struct op op_train_images = {
    .name = "train-images",
    .version = 4,
    .node = OP_CHAIN,
    .numerics = true,
    .parallel = true,
    .cards = learn_cards,
    .doc =
        "Trains a convolutional network on pictures of equations: to tell their labels, or which "
        "are of one paper. With pictures of other papers to validate on, loss and accuracy (the "
        "share of examples in order) are measured during training, and patience may stop it. "
        "Checkpoints and segments are as those of `train`.",
    .params = params,
    .inputs = OP_PORTS(
        {"images", KIND_IMAGE, OP_COLLECTION, .doc = "Pictures to train on, 333 x 32 pixels."},
        {"labels", KIND_LABELS, OP_COLLECTION, true,
         "labels: those of the images, in their order."},
        {"vocabulary", KIND_VOCABULARY, OP_ONE, true, "labels: what they are of."},
        {"valid", KIND_IMAGE, OP_COLLECTION, true, "Pictures of other papers to validate on."},
        {"valid_labels", KIND_LABELS, OP_COLLECTION, true, "labels: theirs."},
        {"init", KIND_CHECKPOINT, OP_ONE, true,
         "A network of the same layers whose weights are the initial ones, whatever it has learnt. "
         "Its vectors of labels, optimizer state and step are not used."}),
    .outputs = OP_PORTS(
        {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "Weights, optimizer, step and metrics."}),
    .check = train_check_common,
    .units = learn_card_units,
    .prepare = prepare,
    .release = release,
    .run = run,
    .segments = train_segments,
    .segment = segment,
    .reads = reads,
};
