/* The parameters of op train; see train.h. */
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/train/train.h"

#include <inttypes.h>
#include <string.h>

const struct op_param train_params[] = {
    {"objective", OP_ENUM, "contrastive", OBJECTIVE_NAMES,
     .doc =
         "What is learnt: equal vectors for equivalent expressions (contrastive, triplet, siamese, "
         "histogram) or for one expression under dropout (simcse); to write an equivalent "
         "expression (seq2seq) or the same one (autoencode)."},
    {"d_model", OP_INT, "128", NULL, 1, 65536, "Width of the model and of its vectors."},
    {"layers", OP_INT, "2", NULL, 1, 1024, "Layers of the encoder."},
    {"decoder_layers", OP_INT, "0", NULL, 0, 1024,
     "Layers of the decoder, for seq2seq and autoencode."},
    {"heads", OP_INT, "4", NULL, 1, 65536, "Attention heads; divides d_model."},
    {"d_ff", OP_INT, "512", NULL, 1, 262144, "Width of the feed-forward layers."},
    {"max_length", OP_INT, "256", NULL, 1, 1048576, "Longest sequence, in tokens."},
    {"positions", OP_ENUM, "sinusoidal", "sinusoidal|learned", .doc = "Encoding of positions."},
    {"activation", OP_ENUM, "relu", "relu|gelu", .doc = "Of the feed-forward layers."},
    {"attention_bias", OP_BOOL, "false", .doc = "Biases in the attention's projections."},
    {"pooling", OP_ENUM, "mean", "mean|max|first|last",
     .doc = "How the rows of a sequence's tokens become its vector."},
    {"wrap", OP_BOOL, "false", .doc = "Start and end tokens around the encoder's inputs."},
    {"pool_special", OP_BOOL, "false", .doc = "Start and end tokens are pooled as well."},
    {"memory", OP_ENUM, "states", "states|vector",
     .doc = "What the decoder sees of its input: the state of each token, or the pooled vector "
            "alone, which must then say all that the target needs."},
    {"tied_output", OP_BOOL, "false",
     .doc = "The decoder's output weights are the embedding's, not their own."},
    {"dropout", OP_REAL, "0", NULL, 0, 0.9,
     "Rate, on embeddings, activations and residual branches."},
    {"temperature", OP_REAL, "0.1", NULL, 1e-4, 100,
     "contrastive, simcse: cosines are divided by it."},
    {"negatives", OP_INT, "0", NULL, 0, 64,
     "contrastive, histogram: so many for each pair, drawn from other clusters; 0: the vectors of "
     "all other clusters in the batch. triplet, siamese: so many for each pair, at least one."},
    {"related", OP_INT, "1", NULL, 1, 65536,
     "contrastive, histogram, without negatives of their own: so many clusters that use much the "
     "same tokens "
     "come together in a batch, which is a multiple of it; they are hard to tell apart."},
    {"target", OP_ENUM, "any", "any|shortest",
     .doc =
         "The second of a pair (seq2seq: what is to be written): any other member of the cluster, "
         "or always its shortest, of equally long ones the first by its tokens' numbers."},
    {"margin", OP_REAL, "0.5", NULL, 0, 2,
     "triplet: by which cosines are to differ. siamese: above which those of pairs are to be, and "
     "those of others below its negative."},
    {"hinge", OP_ENUM, "linear", "linear|squared",
     .doc = "triplet, siamese: what a cosine is short of its margin counts as it is, or squared."},
    {"swap", OP_BOOL, "false",
     .doc = "triplet: the negative's cosine is that with the anchor or with its partner, whichever "
            "is the greater."},
    {"label_smoothing", OP_REAL, "0.1", NULL, 0, 0.9,
     "seq2seq, autoencode: share of the wanted probability that is spread over all tokens."},
    {"batch", OP_INT, "256", NULL, 2, 65536, "Examples (pairs, sequences) in a step."},
    {"accumulate", OP_INT, "1", NULL, 1, 4096,
     "Contrastive objectives: parts that a batch is worked on in. Takes as much less memory, and a "
     "second forward pass; the result is the same. The others work in parts anyway."},
    {"steps", OP_INT, "1000", NULL, 0, 1e12, "Steps in all; 0: only initialise."},
    {"segment", OP_INT, "200", NULL, 1, 1e12, "Steps from checkpoint to checkpoint."},
    {"lr", OP_REAL, "0.001", NULL, 0, 100, "Learning rate after the warm-up."},
    {"lr_min", OP_REAL, "1e-8", NULL, 0, 100, "Where the schedule ends."},
    {"warmup", OP_INT, "0", NULL, 0, 1e12, "Steps of linear rise of the learning rate."},
    {"schedule", OP_ENUM, "constant", "constant|linear|step|cosine|cosine-restarts",
     .doc = "Of the learning rate after the warm-up."},
    {"restart_period", OP_INT, "1000", NULL, 1, 1e12, "cosine-restarts: steps of the first one."},
    {"restart_growth", OP_INT, "2", NULL, 1, 1000, "cosine-restarts: factor from one to the next."},
    {"decay_every", OP_INT, "1000", NULL, 1, 1e12, "step: steps from one decay to the next."},
    {"decay_factor", OP_REAL, "0.1", NULL, 0, 1, "step: by which the learning rate is multiplied."},
    {"optimizer", OP_ENUM, "adamw", OPTIMIZER_NAMES,
     .doc =
         "adamw, adam: weight decay acts beside the gradient, or is added to it. muon: each "
         "matrix of the layers goes equally far in all directions (Muon, with momentum beta1 and "
         "steps as large as AdamW's); all else by AdamW."},
    {"weight_decay", OP_REAL, "0.01", NULL, 0, 10, "Of the optimizer."},
    {"beta1", OP_REAL, "0.9", NULL, 0, 0.9999999, "Of the optimizer."},
    {"beta2", OP_REAL, "0.999", NULL, 0, 0.9999999, "Of the optimizer."},
    {"eps", OP_REAL, "1e-8", NULL, 0, 1, "Of the optimizer."},
    {"clip", OP_REAL, "1", NULL, 0, 1e9, "Greatest norm of the gradient; 0: any."},
    {"log_every", OP_INT, "10", NULL, 1, 1e9, "Steps over which a recorded metric is a mean."},
    LEARN_PRECISION_PARAM,
    {"valid_every", OP_INT, "100", NULL, 1, 1e12, "Steps from one validation to the next."},
    {"valid_batches", OP_INT, "1", NULL, 1, 1e6, "Batches of pairs that a validation looks at."},
    {"patience", OP_INT, "0", NULL, 0, 1e9,
     "Validations without a lower loss after which training stops; the best weights are kept. 0: "
     "all steps, last weights."},
    {"min_steps", OP_INT, "0", NULL, 0, 1e12, "Steps before which patience does not end training."},
    {"seed", OP_INT, "0", .doc = "Of weights, pairs and dropout."},
    {0},
};

/* Which of "a|b|c" a parameter is. */
static unsigned choice(const struct op_ctx *ctx, const char *param, const char *names)
{
    const char *value = op_string(ctx, param);
    size_t n = strlen(value);
    for (unsigned i = 0;; i++) {
        if (strncmp(names, value, n) == 0 && (names[n] == '|' || !names[n]))
            return i;
        names += strcspn(names, "|") + 1; /* the engine has checked that it is among them */
    }
}

struct nn_config train_model(const struct op_ctx *ctx, uint32_t vocabulary)
{
    return (struct nn_config){
        .vocabulary = vocabulary,
        .d_model = (uint32_t)op_int(ctx, "d_model"),
        .layers = (uint32_t)op_int(ctx, "layers"),
        .heads = (uint32_t)op_int(ctx, "heads"),
        .d_ff = (uint32_t)op_int(ctx, "d_ff"),
        .max_length = (uint32_t)op_int(ctx, "max_length"),
        .positions = choice(ctx, "positions", "sinusoidal|learned") ? NN_LEARNED : NN_SINUSOIDAL,
        .activation = choice(ctx, "activation", "relu|gelu") ? GPU_GELU : GPU_RELU,
        .pooling = (enum nn_pooling)choice(ctx, "pooling", "mean|max|first|last"),
        .wrap = op_bool(ctx, "wrap"),
        .pool_special = op_bool(ctx, "pool_special"),
        .decoder_layers = (uint32_t)op_int(ctx, "decoder_layers"),
        .memory = (enum nn_memory)choice(ctx, "memory", "states|vector"),
        .tied_output = op_bool(ctx, "tied_output"),
        .attention_bias = op_bool(ctx, "attention_bias"),
    };
}

static struct schedule schedule_of(const struct op_ctx *ctx)
{
    return (struct schedule){
        .kind = (enum schedule_kind)choice(ctx, "schedule", SCHEDULE_NAMES),
        .lr = op_real(ctx, "lr"),
        .lr_min = op_real(ctx, "lr_min"),
        .warmup = (uint64_t)op_int(ctx, "warmup"),
        .steps = (uint64_t)op_int(ctx, "steps"),
        .period = (uint64_t)op_int(ctx, "restart_period"),
        .growth = (uint64_t)op_int(ctx, "restart_growth"),
        .every = (uint64_t)op_int(ctx, "decay_every"),
        .factor = op_real(ctx, "decay_factor"),
    };
}

/* How many negatives of their own the examples have. */
static size_t negatives(const struct op_ctx *ctx, enum objective_kind objective)
{
    size_t n = (size_t)op_int(ctx, "negatives");
    switch (objective) {
    case OBJECTIVE_CONTRASTIVE:
    case OBJECTIVE_HISTOGRAM: return n;
    case OBJECTIVE_TRIPLET:
    case OBJECTIVE_SIAMESE: return n ? n : 1;
    case OBJECTIVE_SIMCSE:
    case OBJECTIVE_SEQ2SEQ:
    case OBJECTIVE_AUTOENCODE: return 0;
    }
    return 0;
}

static bool has_margin(enum objective_kind objective)
{
    return objective == OBJECTIVE_TRIPLET || objective == OBJECTIVE_SIAMESE;
}

static bool has_temperature(enum objective_kind objective)
{
    return objective == OBJECTIVE_CONTRASTIVE || objective == OBJECTIVE_SIMCSE;
}

struct trainer_config train_trainer(const struct op_ctx *ctx)
{
    enum objective_kind objective = (enum objective_kind)choice(ctx, "objective", OBJECTIVE_NAMES);
    return (struct trainer_config){
        .examples = {.objective = objective,
                     .batch = (size_t)op_int(ctx, "batch"),
                     .target = (enum target_kind)choice(ctx, "target", "any|shortest"),
                     .negatives = negatives(ctx, objective)},
        .temperature = has_temperature(objective) ? op_real(ctx, "temperature") : 1,
        .margin = op_real(ctx, "margin"),
        .squared = strcmp(op_string(ctx, "hinge"), "squared") == 0,
        .swap = op_bool(ctx, "swap"),
        .smoothing = op_real(ctx, "label_smoothing"),
        .dropout = op_real(ctx, "dropout"),
        .weight_decay = op_real(ctx, "weight_decay"),
        .clip = op_real(ctx, "clip"),
        .beta1 = op_real(ctx, "beta1"),
        .beta2 = op_real(ctx, "beta2"),
        .eps = op_real(ctx, "eps"),
        .optimizer = (enum optimizer_kind)choice(ctx, "optimizer", OPTIMIZER_NAMES),
        .schedule = schedule_of(ctx),
        .parts = (size_t)op_int(ctx, "accumulate"),
        .precision = learn_precision(ctx),
        .seed = (uint64_t)op_int(ctx, "seed"),
    };
}

struct train_validation train_validation(const struct op_ctx *ctx)
{
    return (struct train_validation){.every = (uint64_t)op_int(ctx, "valid_every"),
                                     .patience = (uint64_t)op_int(ctx, "patience"),
                                     .min_steps = (uint64_t)op_int(ctx, "min_steps"),
                                     .batches = (size_t)op_int(ctx, "valid_batches")};
}

static enum err_code check_negatives(const struct op_ctx *ctx, enum objective_kind objective,
                                     struct err *e)
{
    int64_t related = op_int(ctx, "related"), batch = op_int(ctx, "batch");
    bool of_batch = objective == OBJECTIVE_CONTRASTIVE || objective == OBJECTIVE_HISTOGRAM;
    if (related > 1 && (!of_batch || op_int(ctx, "negatives") > 0))
        return err_fail(e, ERR_INPUT,
                        "'related' is for contrastive training on the batch's own "
                        "negatives");
    if (batch % related)
        return err_fail(e, ERR_INPUT,
                        "'batch' (%" PRId64 ") is not a multiple of 'related' (%" PRId64 ")", batch,
                        related);
    if (op_int(ctx, "negatives") > 0 && negatives(ctx, objective) == 0)
        return err_fail(e, ERR_INPUT, "objective %s draws no 'negatives'",
                        op_string(ctx, "objective"));
    return OK;
}

/* Options that were given and would do nothing, or the contrary of what they say. */
static enum err_code check_idle(const struct op_ctx *ctx, enum objective_kind objective,
                                struct err *e)
{
    struct trainer_config c = train_trainer(ctx);
    const char *name = op_string(ctx, "objective");
    if (c.swap && objective != OBJECTIVE_TRIPLET)
        return err_fail(e, ERR_INPUT, "'swap' is of triplets; the objective is %s", name);
    if (c.squared && !has_margin(objective))
        return err_fail(e, ERR_INPUT, "'hinge' is of the objectives triplet and siamese, not of %s",
                        name);
    if (op_int(ctx, "min_steps") > 0 && op_int(ctx, "patience") == 0)
        return err_fail(e, ERR_INPUT, "'min_steps' holds 'patience' back, and there is none");
    if (schedule_falls(&c.schedule) && c.schedule.lr_min > c.schedule.lr)
        return err_fail(e, ERR_INPUT,
                        "the schedule would rise: 'lr_min' (%g) is greater than 'lr' (%g)",
                        c.schedule.lr_min, c.schedule.lr);
    return OK;
}

enum err_code train_check(struct op_ctx *ctx, struct err *e)
{
    struct nn_config c = train_model(ctx, 1);
    enum objective_kind objective = train_trainer(ctx).examples.objective;
    if (objective_generates(objective) && !c.decoder_layers)
        return err_fail(e, ERR_INPUT, "objective %s needs decoder_layers",
                        op_string(ctx, "objective"));
    if (!objective_generates(objective) && c.decoder_layers)
        return err_fail(e, ERR_INPUT, "objective %s has no use for decoder_layers",
                        op_string(ctx, "objective"));
    if (objective == OBJECTIVE_SIMCSE && op_real(ctx, "dropout") == 0)
        return err_fail(e, ERR_INPUT,
                        "objective simcse needs dropout: nothing else tells the two "
                        "passes of a sequence apart");
    enum err_code code;
    if ((code = err_up(e, check_negatives(ctx, objective, e))) ||
        (code = err_up(e, check_idle(ctx, objective, e))))
        return code;
    return err_up(e, nn_config_check(&c, e));
}

/* Whether examples are drawn from clusters, rather than from all sequences. */
static bool needs_clusters(enum objective_kind objective, bool validation)
{
    switch (objective) {
    case OBJECTIVE_CONTRASTIVE:
    case OBJECTIVE_TRIPLET:
    case OBJECTIVE_SIAMESE:
    case OBJECTIVE_HISTOGRAM:
    case OBJECTIVE_SEQ2SEQ: return true;
    case OBJECTIVE_SIMCSE: return validation;
    case OBJECTIVE_AUTOENCODE: return false;
    }
    return true;
}

enum err_code train_enough(const struct dataset *d, const struct op_ctx *ctx, const char *role,
                           struct err *e)
{
    bool clusters =
        needs_clusters(train_trainer(ctx).examples.objective, strcmp(role, "valid") == 0);
    if (clusters && d->clusters < 2)
        return err_fail(e, ERR_INPUT,
                        "at least two clusters of two expressions are needed; %s has %zu", role,
                        d->clusters);
    if (d->sequences < 2)
        return err_fail(e, ERR_INPUT, "at least two expressions are needed; %s has %zu", role,
                        d->sequences);
    return OK;
}
