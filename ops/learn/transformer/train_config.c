/* The parameters of op train; see train.h. */
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/transformer/train.h"

#include <inttypes.h>
#include <string.h>

const struct op_param train_params[] = {
    {"objective", OP_ENUM, "contrastive", OBJECTIVE_NAMES,
     .doc = "The training objective: equal vectors for equivalent expressions (contrastive, "
            "triplet, siamese, histogram) or for one expression under dropout (simcse); "
            "generating an equivalent expression (seq2seq) or the same one (autoencode)."},
    {"d_model", OP_INT, "128", NULL, 1, 65536, "Width of the model and of its vectors."},
    {"layers", OP_INT, "2", NULL, 1, 1024, "Layers of the encoder."},
    {"decoder_layers", OP_INT, "0", NULL, 0, 1024,
     "Layers of the decoder, for seq2seq and autoencode."},
    {"heads", OP_INT, "4", NULL, 1, 65536, "Attention heads; must divide d_model."},
    {"d_ff", OP_INT, "512", NULL, 0, 262144,
     "Width of the feed-forward layers; 0: four times `d_model`."},
    {"max_length", OP_INT, "256", NULL, 1, 1048576, "Longest sequence, in tokens."},
    {"positions", OP_ENUM, "sinusoidal", "sinusoidal|learned", .doc = "Encoding of positions."},
    {"activation", OP_ENUM, "relu", "relu|gelu", .doc = "Activation of the feed-forward layers."},
    {"attention_bias", OP_BOOL, "false", .doc = "Use biases in the attention's projections."},
    {"pooling", OP_ENUM, "mean", "mean|max",
     .doc = "How the states of a sequence's tokens are pooled to its vector."},
    {"wrap", OP_BOOL, "false", .doc = "Add start and end tokens around the encoder's inputs."},
    {"memory", OP_ENUM, "states", "states|vector",
     .doc = "What the decoder attends to: the states of the input's tokens, or only the pooled "
            "vector, which must then encode everything that the target needs."},
    {"tied_output", OP_BOOL, "false", .doc = "Use the embedding as the decoder's output weights."},
    {"dropout", OP_REAL, "0", NULL, 0, 0.9,
     "Dropout rate of embeddings, activations and residual branches."},
    {"attention_dropout", OP_REAL, "0", NULL, 0, 0.9,
     "Dropout rate of attention's probabilities, as in PyTorch's transformers."},
    {"temperature", OP_REAL, "0.1", NULL, 1e-4, 100,
     "contrastive, simcse: cosines are divided by it."},
    {"similarity", OP_ENUM, "cosine", "cosine|maxsim",
     .doc = "contrastive, simcse: the cosine of the vectors of two expressions, or ColBERT's "
            "MaxSim: the sum over the tokens of one of the largest cosine with a token of the "
            "other. MaxSim needs larger temperatures."},
    {"negatives", OP_INT, "0", NULL, 0, 64,
     "Negatives of each pair, drawn from other clusters. contrastive, histogram: 0 uses the "
     "vectors of all other clusters in the batch. triplet, siamese: at least one."},
    {"related", OP_INT, "1", NULL, 1, 65536,
     "contrastive, histogram, with negatives=0: hard negatives. Batches consist of groups of "
     "this many clusters that use similar tokens; must divide `batch`."},
    {"near_share", OP_REAL, "0.5", NULL, 0, 1,
     "With the input `near_misses`: the share of a step's expressions that contribute one of "
     "their near misses as an additional negative for the whole batch."},
    {"target", OP_ENUM, "any", "any|shortest",
     .doc = "The second of a pair (seq2seq: the target): any other member of the cluster, or "
            "always the shortest; ties are broken by token numbers."},
    {"class_pairs", OP_INT, "0", NULL, 0, 1e12,
     "For pairs: draw each cluster in proportion to its number of pairs of members, counting at "
     "most this many (SemVec: 100000); 0: clusters come in turn, each once per epoch."},
    {"margin", OP_REAL, "0.5", NULL, 0, 2,
     "triplet: the required difference between the cosines of positive and negative. siamese: "
     "cosines of pairs should exceed it, those of negatives should be below its negative."},
    {"hinge", OP_ENUM, "linear", "linear|squared|euclidean",
     .doc = "triplet, siamese: the hinge loss, or its square. euclidean, for siamese: the "
            "squared distance of a pair's unit vectors, and for negatives the square of max(0, "
            "`margin` - distance)."},
    {"swap", OP_BOOL, "false",
     .doc = "triplet: use the maximum of the negative's cosines with the anchor and with the "
            "positive."},
    {"label_smoothing", OP_REAL, "0.1", NULL, 0, 0.9,
     "seq2seq, autoencode: share of the target probability that is spread over all tokens."},
    {"batch", OP_INT, "256", NULL, 2, 65536, "Examples (pairs, sequences) per step."},
    TRAIN_STEPS_PARAMS,
    {"segment", OP_INT, "200", NULL, 1, 1e6, "Steps between checkpoints."},
    {"lr", OP_REAL, "0.001", NULL, 0, 100, "Learning rate after the warm-up."},
    {"lr_min", OP_REAL, "1e-8", NULL, 0, 100, "Final learning rate of the schedule."},
    {"warmup", OP_INT, "0", NULL, 0, 1e12,
     "Steps over which the learning rate rises linearly; with `epochs`, epochs."},
    {"schedule", OP_ENUM, "constant", "constant|linear|step|cosine|cosine-restarts",
     .doc = "Schedule of the learning rate after the warm-up."},
    {"restart_period", OP_INT, "1000", NULL, 1, 1e12,
     "cosine-restarts: steps of the first period; with `epochs`, epochs."},
    {"restart_growth", OP_INT, "2", NULL, 1, 1000,
     "cosine-restarts: factor of each period's length over the previous one."},
    {"decay_every", OP_INT, "1000", NULL, 1, 1e12,
     "step: steps between decays; with `epochs`, epochs."},
    {"decay_factor", OP_REAL, "0.1", NULL, 0, 1,
     "step: factor of the learning rate at each decay."},
    {"optimizer", OP_ENUM, "adamw", OPTIMIZER_NAMES,
     .doc = "adamw, adam: decoupled weight decay, or decay added to the gradient. muon: "
            "orthogonalised updates of the layers' matrices, with momentum beta1 and step sizes "
            "like AdamW's; AdamW for everything else."},
    {"weight_decay", OP_REAL, "0.01", NULL, 0, 10, "Of the optimizer."},
    {"beta1", OP_REAL, "0.9", NULL, 0, 0.9999999, "Of the optimizer."},
    {"beta2", OP_REAL, "0.999", NULL, 0, 0.9999999, "Of the optimizer."},
    {"eps", OP_REAL, "1e-8", NULL, 0, 1, "Of the optimizer."},
    {"clip", OP_REAL, "1", NULL, 0, 1e9, "Maximum norm of the gradient; 0: unlimited."},
    TRAIN_COMMON_PARAMS("1", "Batches of pairs per validation."),
    {"seed", OP_INT, "0", .doc = "Seed of weights, pairs and dropout."},
    {0},
};

struct nn_config train_model(const struct op_ctx *ctx, uint32_t vocabulary)
{
    return (struct nn_config){
        .vocabulary = vocabulary,
        .d_model = (uint32_t)op_int(ctx, "d_model"),
        .layers = (uint32_t)op_int(ctx, "layers"),
        .heads = (uint32_t)op_int(ctx, "heads"),
        .d_ff = (uint32_t)(op_int(ctx, "d_ff") ? op_int(ctx, "d_ff") : 4 * op_int(ctx, "d_model")),
        .max_length = (uint32_t)op_int(ctx, "max_length"),
        .positions =
            learn_choice(ctx, "positions", "sinusoidal|learned") ? NN_LEARNED : NN_SINUSOIDAL,
        .activation = learn_choice(ctx, "activation", "relu|gelu") ? GPU_GELU : GPU_RELU,
        .pooling = (enum gpu_pooling)learn_choice(ctx, "pooling", "mean|max"),
        .wrap = op_bool(ctx, "wrap"),
        .decoder_layers = (uint32_t)op_int(ctx, "decoder_layers"),
        .memory = (enum nn_memory)learn_choice(ctx, "memory", "states|vector"),
        .tied_output = op_bool(ctx, "tied_output"),
        .attention_bias = op_bool(ctx, "attention_bias"),
    };
}

static struct schedule schedule_of(const struct op_ctx *ctx)
{
    return (struct schedule){
        .kind = (enum schedule_kind)learn_choice(ctx, "schedule", SCHEDULE_NAMES),
        .lr = op_real(ctx, "lr"),
        .lr_min = op_real(ctx, "lr_min"),
        .warmup = train_length(ctx, "warmup"),
        .steps = train_steps(ctx),
        .period = train_length(ctx, "restart_period"),
        .growth = (uint64_t)op_int(ctx, "restart_growth"),
        .every = train_length(ctx, "decay_every"),
        .factor = op_real(ctx, "decay_factor"),
    };
}

static bool has_margin(enum objective_kind objective)
{
    return objective == OBJECTIVE_TRIPLET || objective == OBJECTIVE_SIAMESE;
}

static bool has_temperature(enum objective_kind objective)
{
    return objective == OBJECTIVE_CONTRASTIVE || objective == OBJECTIVE_SIMCSE;
}

/* Returns the number of negatives drawn for each example. */
static size_t negatives(const struct op_ctx *ctx, enum objective_kind objective)
{
    size_t n = (size_t)op_int(ctx, "negatives");
    if (has_margin(objective))
        return n ? n : 1;
    return objective == OBJECTIVE_CONTRASTIVE || objective == OBJECTIVE_HISTOGRAM ? n : 0;
}

struct transformer_config train_config(const struct op_ctx *ctx)
{
    enum objective_kind objective =
        (enum objective_kind)learn_choice(ctx, "objective", OBJECTIVE_NAMES);
    return (struct transformer_config){
        .examples = {.objective = objective,
                     .batch = (size_t)op_int(ctx, "batch"),
                     .target = (enum target_kind)learn_choice(ctx, "target", "any|shortest"),
                     .class_pairs = (uint64_t)op_int(ctx, "class_pairs"),
                     .near_misses =
                         objective == OBJECTIVE_CONTRASTIVE ? op_real(ctx, "near_share") : 0,
                     .negatives = negatives(ctx, objective)},
        .temperature = has_temperature(objective) ? op_real(ctx, "temperature") : 1,
        .maxsim = learn_choice(ctx, "similarity", "cosine|maxsim"),
        .margin = op_real(ctx, "margin"),
        .squared = strcmp(op_string(ctx, "hinge"), "squared") == 0,
        .euclidean = strcmp(op_string(ctx, "hinge"), "euclidean") == 0,
        .swap = op_bool(ctx, "swap"),
        .smoothing = op_real(ctx, "label_smoothing"),
        .dropout = op_real(ctx, "dropout"),
        .attention_dropout = op_real(ctx, "attention_dropout"),
        .optimizer = {.kind = (enum optimizer_kind)learn_choice(ctx, "optimizer", OPTIMIZER_NAMES),
                      .beta1 = op_real(ctx, "beta1"),
                      .beta2 = op_real(ctx, "beta2"),
                      .eps = op_real(ctx, "eps"),
                      .weight_decay = op_real(ctx, "weight_decay"),
                      .clip = op_real(ctx, "clip"),
                      .schedule = schedule_of(ctx)},
        .precision = learn_precision(ctx),
        .seed = (uint64_t)op_int(ctx, "seed"),
    };
}

static enum err_code check_negatives(const struct op_ctx *ctx, enum objective_kind objective,
                                     struct err *e)
{
    int64_t related = op_int(ctx, "related"), batch = op_int(ctx, "batch");
    bool of_batch = objective == OBJECTIVE_CONTRASTIVE || objective == OBJECTIVE_HISTOGRAM;
    if (related > 1 && (!of_batch || op_int(ctx, "negatives") > 0))
        return err_fail(e, ERR_INPUT,
                        "'related' needs objective contrastive or histogram, without 'negatives'");
    if (batch % related)
        return err_fail(e, ERR_INPUT,
                        "'batch' (%" PRId64 ") is not a multiple of 'related' (%" PRId64 ")", batch,
                        related);
    if (op_int(ctx, "negatives") > 0 && negatives(ctx, objective) == 0)
        return err_fail(e, ERR_INPUT, "objective %s has no 'negatives'",
                        op_string(ctx, "objective"));
    return OK;
}

/* Rejects options that would have no effect, or the opposite of the intended one. */
static enum err_code check_idle(const struct op_ctx *ctx, enum objective_kind objective,
                                struct err *e)
{
    struct transformer_config c = train_config(ctx);
    const char *name = op_string(ctx, "objective");
    bool triplet = objective == OBJECTIVE_TRIPLET, siamese = objective == OBJECTIVE_SIAMESE;
    const struct {
        bool idle;
        const char *why;
    } options[] = {
        {c.swap && !triplet, "'swap' belongs to objective triplet"},
        {c.euclidean && !siamese, "'hinge: euclidean' belongs to objective siamese"},
        {c.squared && !has_margin(objective), "'hinge' belongs to objectives triplet and siamese"},
        {c.maxsim && !has_temperature(objective),
         "'similarity: maxsim' belongs to objectives contrastive and simcse"},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].idle)
            return err_fail(e, ERR_INPUT, "%s, not to %s", options[i].why, name);
    if (c.examples.class_pairs &&
        (objective == OBJECTIVE_SIMCSE || objective == OBJECTIVE_AUTOENCODE))
        return err_fail(e, ERR_INPUT, "objective %s has no pairs for 'class_pairs'", name);
    if (c.examples.class_pairs && op_int(ctx, "related") > 1)
        return err_fail(e, ERR_INPUT,
                        "'class_pairs' and 'related' both choose clusters: give only one");
    if (c.optimizer.schedule.kind != SCHEDULE_CONSTANT &&
        c.optimizer.schedule.lr_min > c.optimizer.schedule.lr)
        return err_fail(e, ERR_INPUT,
                        "'lr_min' (%g) is greater than 'lr' (%g): the schedule would rise",
                        c.optimizer.schedule.lr_min, c.optimizer.schedule.lr);
    return OK;
}

enum err_code train_check(struct op_ctx *ctx, struct err *e)
{
    struct nn_config c = train_model(ctx, 1);
    enum objective_kind objective = train_config(ctx).examples.objective;
    if (objective_generates(objective) && !c.decoder_layers)
        return err_fail(e, ERR_INPUT, "objective %s needs decoder_layers",
                        op_string(ctx, "objective"));
    if (!objective_generates(objective) && c.decoder_layers)
        return err_fail(e, ERR_INPUT, "objective %s does not use decoder_layers",
                        op_string(ctx, "objective"));
    if (objective == OBJECTIVE_SIMCSE && op_real(ctx, "dropout") == 0)
        return err_fail(e, ERR_INPUT,
                        "objective simcse needs dropout: otherwise the two passes of a sequence "
                        "are equal");
    enum err_code code;
    if ((code = err_up(e, train_check_common(ctx, e))) ||
        (code = err_up(e, check_negatives(ctx, objective, e))) ||
        (code = err_up(e, check_idle(ctx, objective, e))))
        return code;
    return err_up(e, nn_config_check(&c, e));
}

enum err_code train_enough(const struct dataset *d, const struct op_ctx *ctx, const char *role,
                           struct err *e)
{
    enum objective_kind objective = train_config(ctx).examples.objective;
    bool clusters = objective != OBJECTIVE_AUTOENCODE &&
                    (objective != OBJECTIVE_SIMCSE || strcmp(role, "valid") == 0);
    if (clusters && d->clusters < 2)
        return err_fail(e, ERR_INPUT,
                        "at least two clusters of two expressions are needed; %s has %zu", role,
                        d->clusters);
    if (d->sequences < 2)
        return err_fail(e, ERR_INPUT, "at least two expressions are needed; %s has %zu", role,
                        d->sequences);
    return OK;
}

/* The parameters that all steps depend on, except those of the model, which are in nn_config_text,
 * of the schedule and of validation. */
static const char steps_params[] =
    "objective dropout attention_dropout temperature similarity negatives related target margin "
    "hinge swap label_smoothing near_share class_pairs batch optimizer weight_decay beta1 beta2 "
    "eps clip log_every";

enum err_code train_segment(struct op_segment *out, struct op_ctx *ctx, uint64_t index,
                            struct err *e)
{
    struct nn_config m = train_model(ctx, 1); /* the input's id covers the true size */
    struct transformer_config c = train_config(ctx);
    struct train_key key = {nn_config_text(op_arena(ctx), &m), c.seed, c.optimizer.schedule,
                            train_params, steps_params};
    return err_up(e, train_segment_of(out, ctx, index, &key, e));
}
