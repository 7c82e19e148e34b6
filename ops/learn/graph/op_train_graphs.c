/* Op train-graphs: a graph network as a chain of checkpoints. */
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/graph/graph_examples.h"
#include "ops/learn/graph/graph_trainer.h"
#include "paper.pb-c.h"
#include "token.pb-c.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum stream { STREAM_WEIGHTS = 1, STREAM_EXAMPLES, STREAM_VALIDATION };

static const struct op_param params[] = {
    {"objective", OP_ENUM, "histogram+masking",
     "triplet|histogram|masking|triplet+masking|histogram+masking",
     .doc =
         "What the network learns: that equations which stand near each other are more alike than "
         "those of other papers (triplet, histogram), to tell what hidden nodes were (masking), "
         "or the sum of two."},
    {"d", OP_INT, "512", NULL, 1, 16384, "Width of the layers."},
    {"layers", OP_INT, "3", NULL, 1, 64, "Graph convolutions behind the first layer."},
    {"out", OP_INT, "64", NULL, 1, 16384, "Numbers of a vector."},
    {"positions", OP_INT, "128", NULL, 1, 65536,
     "Places under a parent that are told apart; the last one stands for all from it on."},
    {"margin", OP_REAL, "1", NULL, 0, 100,
     "triplet: the difference wanted of the two similarities."},
    {"hidden", OP_REAL, "0.15", NULL, 0.001, 0.9,
     "masking: the share of nodes that are hidden, at least one of each equation."},
    {"swaps", OP_REAL, "32", NULL, 0, 500,
     "Augmentation: how many times, in the mean of a Poisson distribution, two characters exchange "
     "their places as names of identifiers, in each equation; 0: none."},
    {"same_section", OP_REAL, "0.459", NULL, 0, 1e6,
     "Share of the examples whose two equations are of one section,"},
    {"same_paper", OP_REAL, "0.422", NULL, 0, 1e6, "of one paper,"},
    {"cited", OP_REAL, "0.139", NULL, 0, 1e6,
     "and of a paper and one that it cites. Shares of ways that the papers do not have go to the "
     "others."},
    {"batch", OP_INT, "128", NULL, 2, 65536, "Triplets of a step."},
    TRAIN_STEPS_PARAMS,
    {"segment", OP_INT, "100", NULL, 1, 1e6, "Steps between checkpoints."},
    {"lr", OP_REAL, "0.0001", NULL, 0, 100,
     "Learning rate of Adam at the start; it falls linearly to 0."},
    TRAIN_COMMON_PARAMS("10", "Batches of triplets in a validation."),
    {"seed", OP_INT, "0", .doc = "Of weights, triplets, names and hidden nodes."},
    {0},
};

/* Those that a segment's key holds besides the network and the learning rates. */
static const char steps_params[] =
    "objective margin hidden swaps same_section same_paper cited batch log_every";

/* ---- parameters ---- */

static struct graph_config network(const struct op_ctx *ctx)
{
    return (struct graph_config){.d = (uint32_t)op_int(ctx, "d"),
                                 .layers = (uint32_t)op_int(ctx, "layers"),
                                 .out = (uint32_t)op_int(ctx, "out"),
                                 .positions = (uint32_t)op_int(ctx, "positions")};
}

static bool masks(const struct op_ctx *ctx)
{
    return strstr(op_string(ctx, "objective"), "masking") != NULL;
}

static enum graph_similarity similarity(const struct op_ctx *ctx)
{
    const char *objective = op_string(ctx, "objective");
    return strncmp(objective, "triplet", 7) == 0     ? GRAPH_TRIPLET
           : strncmp(objective, "histogram", 9) == 0 ? GRAPH_HISTOGRAM
                                                     : GRAPH_NO_SIMILARITY;
}

static struct schedule schedule_of(const struct op_ctx *ctx)
{
    return (struct schedule){
        .kind = SCHEDULE_LINEAR, .lr = op_real(ctx, "lr"), .steps = train_steps(ctx)};
}

static uint64_t seed_of(const struct op_ctx *ctx, enum stream stream)
{
    return rng_at((uint64_t)op_int(ctx, "seed"), stream, 0);
}

static struct graph_trainer_config trainer_config(const struct op_ctx *ctx)
{
    return (struct graph_trainer_config){.similarity = similarity(ctx),
                                         .margin = op_real(ctx, "margin"),
                                         .schedule = schedule_of(ctx),
                                         .precision = learn_precision(ctx),
                                         .seed = seed_of(ctx, STREAM_WEIGHTS)};
}

/* Validation compares equations as they are; only where there is nothing to compare it hides nodes.
 */
static struct graph_examples_config examples(const struct op_ctx *ctx, int identifier,
                                             bool measuring)
{
    bool plain = measuring && similarity(ctx) != GRAPH_NO_SIMILARITY;
    return (struct graph_examples_config){
        .batch = (size_t)op_int(ctx, "batch"),
        .swaps = measuring ? 0 : op_real(ctx, "swaps"),
        .hidden = masks(ctx) && !plain ? op_real(ctx, "hidden") : 0,
        .identifier = identifier,
        .seed = seed_of(ctx, measuring ? STREAM_VALIDATION : STREAM_EXAMPLES)};
}

static enum err_code check(struct op_ctx *ctx, struct err *e)
{
    struct graph_config c = network(ctx);
    enum err_code code = err_up(e, train_check_common(ctx, e));
    if (code)
        return code;
    if (op_real(ctx, "same_section") + op_real(ctx, "same_paper") + op_real(ctx, "cited") <= 0)
        return err_fail(e, ERR_INPUT, "'same_section', 'same_paper' and 'cited' are all 0");
    return err_up(e, graph_config_check(&c, e));
}

/* ---- data ---- */

struct shared {
    struct arena arena;
    struct graph_model *model;
    struct graph_corpus corpus, valid;
    int identifier;
    bool validates;
};

static void release(void *state)
{
    struct shared *s = state;
    if (!s)
        return;
    graph_corpus_free(&s->corpus);
    graph_corpus_free(&s->valid);
    arena_free(&s->arena);
    free(s);
}

static enum err_code load_graphs(struct graph_corpus *c, struct op_ctx *ctx, const char *role,
                                 struct err *e)
{
    struct digest alphabet = op_input_id(ctx, "alphabet", 0);
    struct arena work = {0};
    enum err_code code = OK;
    uint64_t n = op_count(ctx, role);
    for (uint64_t i = 0; i < n && !code; i++) {
        const Eqloom__Graph *g;
        arena_reset(&work);
        code = op_cancelled(ctx) ? err_fail(e, ERR_CANCELLED, "cancelled")
                                 : err_up(e, op_get_in(&g, ctx, role, i, &work, e));
        if (code)
            break;
        if (learn_vocabulary_differs(&g->vocabulary_id, alphabet))
            code = err_fail(e, ERR_INPUT, "%s: element %" PRIu64 " was made with another alphabet",
                            role, i);
        else
            code = err_up(e, graph_corpus_add(c, g, e));
    }
    arena_free(&work);
    return code;
}

static enum err_code load_citations(struct shared *s, struct op_ctx *ctx, struct err *e)
{
    struct arena work = {0};
    enum err_code code = OK;
    uint64_t n = op_count(ctx, "papers");
    for (uint64_t i = 0; i < n && !code; i++) {
        const Eqloom__Paper *p;
        arena_reset(&work);
        if ((code = err_up(e, op_get_in(&p, ctx, "papers", i, &work, e))))
            break;
        for (size_t k = 0; k < p->n_cites; k++) {
            graph_corpus_cite(&s->corpus, p->paper, p->cites[k]);
            graph_corpus_cite(&s->valid, p->paper, p->cites[k]);
        }
    }
    arena_free(&work);
    return code;
}

static enum err_code load_alphabet(struct shared *s, struct op_ctx *ctx, struct err *e)
{
    const Eqloom__Vocabulary *v;
    enum err_code code = op_get(&v, ctx, "alphabet", 0, e);
    if (code)
        return err_up(e, code);
    if (strcmp(v->encoding, "mathml") || v->n_tokens != GRAPH_FEATURES)
        return err_fail(e, ERR_INPUT, "the vocabulary is no alphabet of MathML");
    s->identifier = -1;
    for (int i = 0; i < GRAPH_TAGS; i++)
        if (strcmp(v->tokens[i], "mi") == 0)
            s->identifier = i;
    return OK;
}

/* The sampler of triplets to learn from, or to measure by. */
static enum err_code open_sampler(struct graph_sampler *x, const struct shared *s,
                                  const struct op_ctx *ctx, bool measuring, struct err *e)
{
    double shares[GRAPH_WAYS] = {[GRAPH_SAME_SECTION] = op_real(ctx, "same_section"),
                                 [GRAPH_SAME_PAPER] = op_real(ctx, "same_paper"),
                                 [GRAPH_CITED] = op_real(ctx, "cited")};
    return err_up(e, graph_sampler_init(x, measuring ? &s->valid : &s->corpus, shares,
                                        examples(ctx, -1, measuring).seed,
                                        measuring ? "valid" : "graphs", e));
}

/* Equations that give no triplet validate nothing, unless patience needs them. */
static enum err_code check_validation(struct shared *s, struct op_ctx *ctx, struct err *e)
{
    struct graph_sampler probe;
    struct err why;
    s->validates = !open_sampler(&probe, s, ctx, true, &why);
    graph_sampler_free(&probe);
    if (!s->validates && train_validation(ctx).patience > 0)
        return err_fail(e, ERR_INPUT, "patience needs the input 'valid': %s", why.message);
    return OK;
}

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    struct graph_config c = network(ctx);
    struct shared *s = must_calloc(1, sizeof *s);
    enum err_code code;
    if ((code = err_up(e, graph_model_new(&s->model, &s->arena, &c, e))) ||
        (code = err_up(e, load_alphabet(s, ctx, e))) ||
        (code = err_up(e, load_graphs(&s->corpus, ctx, "graphs", e))) ||
        (code = err_up(e, load_graphs(&s->valid, ctx, "valid", e))) ||
        (code = err_up(e, load_citations(s, ctx, e)))) {
        release(s);
        return code;
    }
    graph_corpus_close(&s->corpus);
    graph_corpus_close(&s->valid);
    if ((code = err_up(e, check_validation(s, ctx, e))))
        release(s);
    else
        *state = s;
    return code;
}

/* ---- one segment ---- */

struct learning {
    const struct shared *shared;
    struct graph_trainer *trainer;
    struct graph_sampler sampler, measured; /* no papers: not needed */
    struct graph_examples_config examples, measuring;
    struct arena arena; /* of the step */
};

static enum err_code open_trainer(void *self, struct op_ctx *ctx, struct gpu_device *device,
                                  struct err *e)
{
    struct learning *x = self;
    struct graph_trainer_config c = trainer_config(ctx);
    return err_up(e, graph_trainer_new(&x->trainer, device, x->shared->model, &c, e));
}

static void close_trainer(void *self)
{
    struct learning *x = self;
    trained_free(x->trainer);
    graph_sampler_free(&x->sampler);
    graph_sampler_free(&x->measured);
    arena_free(&x->arena);
}

/* A step ends at once: batch norm has the host wait for the device in any case. */
static enum err_code begin(struct step_result *r, void *self, uint64_t steps, struct err *e)
{
    struct learning *x = self;
    struct graph_set set;
    arena_reset(&x->arena);
    graph_examples_draw(&set, &x->arena, &x->sampler, &x->examples, steps);
    return err_up(e, graph_trainer_step(r, x->trainer, &set, e));
}

static enum err_code measure(struct step_result *r, void *self, size_t batches, struct err *e)
{
    struct learning *x = self;
    struct step_result one, sum = {0};
    for (size_t i = 0; i < batches; i++) {
        struct graph_set set;
        arena_reset(&x->arena);
        graph_examples_draw(&set, &x->arena, &x->measured, &x->measuring, i);
        enum err_code code = graph_trainer_measure(&one, x->trainer, &set, e);
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
    return err_up(e, graph_trainer_write(((struct learning *)self)->trainer, state, e));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    static const struct learner_calls calls = {open_trainer, close_trainer, begin,      NULL,
                                               measure,      read_state,    write_state};
    const struct shared *s = state;
    struct learning x = {.shared = s,
                         .examples = examples(ctx, s->identifier, false),
                         .measuring = examples(ctx, s->identifier, true)};
    struct learner l = {graph_config_text(op_arena(ctx), &s->model->config),
                        &s->model->table,
                        "alphabet",
                        s->validates,
                        &x,
                        &calls};
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

static enum err_code segment(struct op_segment *out, struct op_ctx *ctx, uint64_t index,
                             struct err *e)
{
    struct graph_config c = network(ctx);
    struct train_key key = {graph_config_text(op_arena(ctx), &c), (uint64_t)op_int(ctx, "seed"),
                            schedule_of(ctx), params, steps_params};
    return err_up(e, train_segment_of(out, ctx, index, &key, e));
}

/* ---- what a segment reads ---- */

static enum err_code add_triplets(struct hasher *h, struct op_ctx *ctx, const void *shared,
                                  bool measuring, uint64_t from, uint64_t to, struct err *e)
{
    const struct shared *s = shared;
    struct graph_sampler sampler;
    struct graph_examples_config c = examples(ctx, s->identifier, measuring);
    enum err_code code = err_up(e, open_sampler(&sampler, s, ctx, measuring, e));
    for (uint64_t k = from * c.batch; k < to * c.batch && !code; k++) {
        struct graph_triplet t = graph_sampler_draw(&sampler, k);
        const uint32_t graphs[] = {t.anchor, t.positive, t.negative};
        for (size_t i = 0; i < 3; i++)
            hasher_add(h, &sampler.corpus->mark[graphs[i]], sizeof *sampler.corpus->mark);
        if (op_cancelled(ctx))
            code = err_fail(e, ERR_CANCELLED, "cancelled at step %" PRIu64, k / c.batch);
    }
    graph_sampler_free(&sampler);
    return code;
}

static enum err_code reads(struct digest *out, const char **reason, struct op_ctx *ctx, void *state,
                           struct err *e)
{
    const struct shared *s = state;
    return err_up(e,
                  train_reads_of(out, reason, ctx, "alphabet", s->validates, add_triplets, s, e));
}

const struct op op_train_graphs = {
    .name = "train-graphs",
    .version = 3,
    .node = OP_CHAIN,
    .numerics = true,
    .parallel = true,
    .cards = learn_cards,
    .doc = "Trains a graph network on the equations of papers: those which stand in one section or "
           "paper, or in a paper and one that it cites, are to have vectors that are more alike "
           "than those of equations of different papers (histogram: all of the batch). Each "
           "equation is an anchor in turn. With equations of other papers to validate on, loss and "
           "accuracy (the share of triplets in order) are measured during training, and patience "
           "may stop it. Checkpoints and segments are as those of `train`.",
    .params = params,
    .inputs = OP_PORTS({"graphs", KIND_GRAPH, OP_COLLECTION, .doc = "Equations to train on."},
                       {"alphabet", KIND_VOCABULARY, OP_ONE, .doc = "Of the graphs."},
                       {"papers", KIND_PAPER, OP_COLLECTION, true, "Which papers cite which."},
                       {"valid", KIND_GRAPH, OP_COLLECTION, true,
                        "Equations of other papers to validate on. If they give no triplets "
                        "nothing is validated."},
                       {"init", KIND_CHECKPOINT, OP_ONE, true,
                        "A network whose weights are the initial ones, of the same sizes and "
                        "alphabet. Its optimizer state and step are not used."}),
    .outputs = OP_PORTS(
        {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "Weights, optimizer, step and metrics."}),
    .check = check,
    .units = learn_card_units,
    .prepare = prepare,
    .release = release,
    .run = run,
    .segments = train_segments,
    .segment = segment,
    .reads = reads,
};
