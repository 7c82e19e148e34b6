/* Op train-trees: trains EqNet, or a network of functions, as a chain of checkpoints. */
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/train/learner.h"
#include "ops/learn/tree/tree_corpus.h"
#include "ops/learn/tree/tree_network.h"

#include <math.h>

enum stream { STREAM_TRAINER = 1, STREAM_EXAMPLES, STREAM_VALIDATION };

#define SCHEDULES "constant|linear|cosine"

static const struct op_param params[] = {
    {"d", OP_INT, "64", NULL, 1, 4096, "Dimension of the vectors."},
    {"hidden", OP_INT, "8", NULL, 1, 4096, "Width of an operator's hidden layer."},
    {"points", OP_INT, "0", NULL, 0, 64,
     "Number of points of a network of functions, whose nodes have a vector of dimension `d` at "
     "each point and predict their values there; 0: EqNet, to which the parameters from `code` "
     "to `size_every` and `init_scale` apply."},
    {"temperature", OP_REAL, "0.05", NULL, 1e-6, 100,
     "Functions: divides the cosines of the contrastive loss."},
    {"values", OP_REAL, "1", NULL, 0, 1e6, "Functions: weight of the errors of values."},
    {"near_share", OP_REAL, "0.5", NULL, 0, 1,
     "Functions: share of a batch's expressions that contribute a near miss as an additional "
     "negative: one token altered, or two operands exchanged."},
    {"code", OP_INT, "8", NULL, 1, 4096, "Width of the subexpression auto-encoder's code."},
    {"outer", OP_INT, "0", NULL, 0, 4096,
     "Width of a second layer on either side of the code, as in EqNet-L; 0: none."},
    {"hidden_dropout", OP_REAL, "0", NULL, 0, 0.99,
     "Dropout rate of hidden layers, as in EqNet-L."},
    {"dropout", OP_REAL, "0.11", NULL, 0, 0.99,
     "Dropout rate of the elements of operators' matrices and classes' vectors."},
    {"noise", OP_REAL, "0.61", NULL, 0, 0.99, "Share of the auto-encoder's input that is masked."},
    {"intro", OP_REAL, "0.9999", NULL, 0, 1,
     "The auto-encoder's weight is 1 - intro^n after n times size_every steps; 1: no "
     "auto-encoder."},
    {"margin", OP_REAL, "0.5", NULL, 0, 100,
     "Margin of a class's score over the greatest other score."},
    {"first_size", OP_REAL, "6.96", NULL, 1, 1e9,
     "Maximum number of tokens of an expression in the first stage."},
    {"size_step", OP_REAL, "2.72", NULL, 0, 1e9, "Increase of that maximum in each further stage."},
    {"size_every", OP_INT, "10", NULL, 1, 1e9, "Steps per stage; each stage has a new order."},
    {"batch", OP_INT, "900", NULL, 1, 1e6, "Expressions per step; functions: pairs of equal ones."},
    TRAIN_STEPS_PARAMS,
    {"segment", OP_INT, "100", NULL, 1, 1e6, "Steps between checkpoints."},
    {"lr", OP_REAL, "0.0079432823", NULL, 0, 100, "Learning rate of RMSprop."},
    {"schedule", OP_ENUM, "constant", SCHEDULES,
     .doc = "Schedule of the learning rate, down to 0."},
    {"warmup", OP_INT, "0", NULL, 0, 1e12, "Steps over which the learning rate rises to `lr`."},
    {"rho", OP_REAL, "0.88", NULL, 0, 1, "Decay of the squared gradients' mean."},
    {"momentum", OP_REAL, "0.88", NULL, 0, 1, "Nesterov's."},
    {"clip", OP_REAL, "1.82", NULL, 1e-9, 1e9, "Elements of the gradient are clipped to it."},
    {"init_scale", OP_REAL, "0.0089125094", NULL, 0, 100,
     "Standard deviation of the initial parameters, and of the noise on leaves."},
    TRAIN_COMMON_PARAMS("1", "A validation uses this many times `batch` expressions."),
    {"seed", OP_INT, "0", .doc = "Seed of weights, order and noise."},
    {0},
};

/* Parameters in a segment's key besides the network and the learning rate. */
static const char steps_params[] =
    "hidden_dropout dropout noise intro margin first_size size_step size_every batch rho momentum "
    "clip log_every temperature values near_share";

static struct tree_config config_of(const struct op_ctx *ctx)
{
    return (struct tree_config){.d = (uint32_t)op_int(ctx, "d"),
                                .hidden = (uint32_t)op_int(ctx, "hidden"),
                                .code = (uint32_t)op_int(ctx, "code"),
                                .outer = (uint32_t)op_int(ctx, "outer"),
                                .points = (uint32_t)op_int(ctx, "points"),
                                .arity = ""};
}

static struct schedule schedule_of(const struct op_ctx *ctx)
{
    static const enum schedule_kind kinds[] = {SCHEDULE_CONSTANT, SCHEDULE_LINEAR, SCHEDULE_COSINE};
    return (struct schedule){.kind = kinds[learn_choice(ctx, "schedule", SCHEDULES)],
                             .lr = op_real(ctx, "lr"),
                             .warmup = train_length(ctx, "warmup"),
                             .steps = train_steps(ctx)};
}

/* ---- data ---- */

struct shared {
    struct learner base;
    struct tree_model *model;
    struct tree_corpus corpus, valid;
    struct tree_pairs pairs;            /* of functions */
    const struct tree_meaning *meaning; /* by token; of functions */
    float *prior;
};

static void release(void *state)
{
    struct shared *s = state;
    tree_corpus_free(&s->corpus);
    tree_corpus_free(&s->valid);
}

static enum err_code load(struct tree_corpus *c, const struct shared *s, struct op_ctx *ctx,
                          const char *role, struct err *e)
{
    struct digest vocabulary = op_input_id(ctx, "vocabulary", 0);
    struct learn_elements x = {ctx, role};
    const Eqloom__TokenBatch *b;
    enum err_code code = OK;
    while (learn_next(&b, &x, &code, e))
        if (learn_vocabulary_differs(&b->vocabulary_id, vocabulary))
            code = err_fail(e, ERR_INPUT, "%s: a batch has a different vocabulary", role);
        else
            code = err_up(e, tree_corpus_add(c, b, s->model, e));
    return code;
}

/* Computes the log frequencies of the classes. */
static void count_classes(struct shared *s)
{
    const struct tree_corpus *c = &s->corpus;
    s->prior = arena_array(&s->base.arena, float, c->classes);
    for (size_t i = 0; i < c->trees; i++)
        s->prior[c->class[i]]++;
    for (size_t i = 0; i < c->classes; i++)
        s->prior[i] = (float)log((double)s->prior[i] / (double)c->trees);
}

static enum err_code check_corpus(const struct shared *s, struct op_ctx *ctx, struct err *e)
{
    double first = op_real(ctx, "first_size");
    const struct tree_corpus *c = &s->corpus;
    if (c->classes < 2)
        return err_fail(e, ERR_INPUT, "batches: %u classes, but at least two are needed",
                        c->classes);
    if (train_validation(ctx).patience > 0 && s->valid.trees == 0)
        return err_fail(e, ERR_INPUT, "patience needs the input 'valid'");
    if (s->model->config.points)
        return s->pairs.n_classes > 1 ? OK
                                      : err_fail(e, ERR_INPUT,
                                                 "batches: two classes of two expressions are "
                                                 "needed");
    for (size_t i = 0; i < c->trees; i++)
        if ((double)(c->offset[i + 1] - c->offset[i]) <= first)
            return OK;
    return err_fail(e, ERR_INPUT, "no expression has at most first_size = %g tokens", first);
}

static enum err_code load_all(struct shared *s, struct op_ctx *ctx, struct err *e)
{
    enum err_code code = load(&s->corpus, s, ctx, "batches", e);
    if (code || (code = load(&s->valid, s, ctx, "valid", e)))
        return err_up(e, code);
    tree_pairs_make(&s->pairs, &s->base.arena, &s->corpus);
    return err_up(e, check_corpus(s, ctx, e));
}

/* ---- one segment ---- */

struct session {
    struct learning base;
    struct tree_curriculum curriculum;
    struct tree_order order;
    struct tree_pairs_config pairs;
    size_t measured; /* expressions, */
    uint64_t valid_seed;
};

static const void *draw(struct batches *self, struct arena *a, bool measuring, uint64_t k)
{
    struct session *x = (struct session *)self;
    const struct shared *s = x->base.learner;
    struct tree_batch *b = arena_new(a, struct tree_batch);
    if (measuring)
        tree_batch_sample(b, a, &s->valid, x->measured, x->valid_seed);
    else if (s->model->config.points)
        tree_pairs_draw(b, a, &s->pairs, s->model, s->meaning, &x->pairs, k);
    else
        tree_batch_draw(b, a, &x->order, &s->corpus, &x->curriculum, k);
    return b;
}

static enum err_code open_examples(void *self, struct op_ctx *ctx, bool measuring, struct err *e)
{
    struct session *x = self;
    x->base.batches.draw = draw;
    size_t batch = (size_t)op_int(ctx, "batch");
    uint64_t seed = learn_seed(ctx, STREAM_EXAMPLES);
    x->curriculum = (struct tree_curriculum){op_real(ctx, "first_size"), op_real(ctx, "size_step"),
                                             (uint64_t)op_int(ctx, "size_every"), batch, seed};
    x->pairs = (struct tree_pairs_config){batch, op_real(ctx, "near_share"), seed};
    x->measured = train_validation(ctx).batches * batch;
    x->valid_seed = learn_seed(ctx, STREAM_VALIDATION);
    return OK;
}

static void close_examples(void *self)
{
    struct session *x = self;
    tree_order_free(&x->order);
}

static enum err_code open_trainer(void *self, struct op_ctx *ctx, struct gpu_device *device,
                                  struct err *e)
{
    struct session *x = self;
    const struct shared *s = x->base.learner;
    struct tree_training c = {.margin = op_real(ctx, "margin"),
                              .optimizer = {.kind = OPTIMIZER_RMSPROP,
                                            .beta1 = op_real(ctx, "momentum"),
                                            .beta2 = op_real(ctx, "rho"),
                                            .elements = op_real(ctx, "clip"),
                                            .schedule = schedule_of(ctx)},
                              .deviation = op_real(ctx, "init_scale"),
                              .dropout = op_real(ctx, "dropout"),
                              .hidden_dropout = op_real(ctx, "hidden_dropout"),
                              .noise = op_real(ctx, "noise"),
                              .intro = op_real(ctx, "intro"),
                              .stage = (uint64_t)op_int(ctx, "size_every"),
                              .precision = learn_precision(ctx),
                              .seed = learn_seed(ctx, STREAM_TRAINER),
                              .prior = s->prior,
                              .values = op_real(ctx, "values"),
                              .temperature = op_real(ctx, "temperature"),
                              .meaning = s->meaning};
    return err_up(e, tree_network_new(&x->base.trainer, device, s->model, &c, e));
}

static const struct learner_calls calls = {.size = sizeof(struct session),
                                           .release = release,
                                           .examples = open_examples,
                                           .close = close_examples,
                                           .open = open_trainer,
                                           .at_once = true};

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    const Eqloom__Vocabulary *message;
    enum err_code code = err_up(e, op_get(&message, ctx, "vocabulary", 0, e));
    if (code)
        return code;
    struct shared *s = learner_new(&calls, sizeof *s);
    struct arena *a = &s->base.arena;
    struct tree_config c = config_of(ctx);
    c.arity = tree_arities(a, message);
    s->model = tree_model_new(a, &c);
    if (c.points)
        s->meaning = tree_meanings(a, message);
    if ((code = err_up(e, load_all(s, ctx, e)))) {
        learner_release(s);
        return code;
    }
    c.classes = c.points ? 0 : s->corpus.classes;
    s->model = tree_model_new(a, &c);
    count_classes(s);
    s->base.architecture = tree_config_text(a, &c);
    s->base.table = &s->model->table;
    s->base.vocabulary = "vocabulary";
    s->base.validates = s->valid.trees > 0;
    s->base.differs = "classes=";
    s->base.common = s->model->classes;
    *state = s;
    return OK;
}

/* The key omits operators and classes: the segment's `reads` covers them. */
static enum err_code segment(struct op_segment *out, struct op_ctx *ctx, uint64_t index,
                             struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct tree_config c = config_of(ctx);
    struct train_key key = {arena_printf(a, "%sinit_scale=%.17g\n", tree_config_text(a, &c),
                                         op_real(ctx, "init_scale")),
                            (uint64_t)op_int(ctx, "seed"), schedule_of(ctx), params, steps_params};
    return err_up(e, train_segment_of(out, ctx, index, &key, e));
}

const struct op op_train_trees = {
    .name = "train-trees",
    .version = 5,
    LEARNER_OP,
    .doc = "Trains EqNet, a network that computes an expression's vector from those of its "
           "operands, to distinguish classes of equal expressions; or, with `points`, a network "
           "of functions, which learns the values of expressions and which are equal. With "
           "expressions to validate on, valid_accuracy is the share whose nearest neighbour is of "
           "the same class, and valid_loss is 1 - score_5. Checkpoints and segments work as in "
           "`train`.",
    .params = params,
    .inputs = OP_PORTS(
        {"batches", KIND_TOKEN_BATCH, OP_COLLECTION,
         .doc = "Expressions to train on; each cluster is a class."},
        {"vocabulary", KIND_VOCABULARY, OP_ONE, .doc = "Their vocabulary, plain or placed."},
        {"valid", KIND_TOKEN_BATCH, OP_COLLECTION, true,
         "Expressions to validate on, of the same vocabulary."},
        {"init", KIND_CHECKPOINT, OP_ONE, true,
         "A network of the same sizes and vocabulary that provides the initial weights. Its "
         "classes, optimizer state and step are ignored."}),
    .check = train_check_common,
    .prepare = prepare,
    .segment = segment,
};
