/* Op train-graphs: trains a graph network as a chain of checkpoints. */
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/graph/graph_network.h"
#include "ops/learn/graph/graph_sampler.h"
#include "ops/learn/train/learner.h"
#include "paper.pb-c.h"
#include "token.pb-c.h"

#include <inttypes.h>
#include <string.h>

enum stream { STREAM_WEIGHTS = 1, STREAM_EXAMPLES, STREAM_VALIDATION };

static const struct op_param params[] = {
    {"objective", OP_ENUM, "histogram+masking",
     "triplet|histogram|masking|triplet+masking|histogram+masking",
     .doc =
         "The training objective: make related equations more similar than those of other papers "
         "(triplet, histogram), predict hidden nodes (masking), or the sum of both."},
    {"d", OP_INT, "512", NULL, 1, 16384, "Width of the layers."},
    {"layers", OP_INT, "3", NULL, 1, 64, "Graph convolutions after the first layer."},
    {"out", OP_INT, "64", NULL, 1, 16384, "Dimension of the vectors."},
    {"positions", OP_INT, "128", NULL, 1, 65536,
     "Distinct positions under a parent; the last one stands for all later ones."},
    {"margin", OP_REAL, "1", NULL, 0, 100,
     "triplet: the required difference between the two similarities."},
    {"hidden", OP_REAL, "0.15", NULL, 0.001, 0.9,
     "masking: share of nodes to hide, at least one per equation."},
    {"swaps", OP_REAL, "32", NULL, 0, 500,
     "Augmentation: the mean number (Poisson) of swaps of two characters in the names of an "
     "equation's identifiers; 0: none."},
    {"same_section", OP_REAL, "0.459", NULL, 0, 1e6,
     "Weight of examples whose two equations are of one section."},
    {"same_paper", OP_REAL, "0.422", NULL, 0, 1e6,
     "Weight of examples whose two equations are of one paper."},
    {"cited", OP_REAL, "0.139", NULL, 0, 1e6,
     "Weight of examples whose second equation is of a paper that the first one's cites. Weights "
     "are normalised; those of relations that do not occur are ignored."},
    {"batch", OP_INT, "128", NULL, 2, 65536, "Triplets per step."},
    TRAIN_STEPS_PARAMS,
    {"segment", OP_INT, "100", NULL, 1, 1e6, "Steps between checkpoints."},
    {"lr", OP_REAL, "0.0001", NULL, 0, 100,
     "Initial learning rate of Adam; it decays linearly to 0."},
    TRAIN_COMMON_PARAMS("10", "Batches of triplets per validation."),
    {"seed", OP_INT, "0", .doc = "Seed of weights, triplets, names and hidden nodes."},
    {0},
};

/* Parameters in a segment's key besides the network and the learning rates. */
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

/* Validation compares unmodified equations; it hides nodes only if there is nothing to compare. */
static struct graph_examples_config examples(const struct op_ctx *ctx, int identifier,
                                             bool measuring)
{
    bool plain = measuring && similarity(ctx) != GRAPH_NO_SIMILARITY;
    return (struct graph_examples_config){
        .batch = (size_t)op_int(ctx, "batch"),
        .swaps = measuring ? 0 : op_real(ctx, "swaps"),
        .hidden = masks(ctx) && !plain ? op_real(ctx, "hidden") : 0,
        .identifier = identifier,
        .seed = learn_seed(ctx, measuring ? STREAM_VALIDATION : STREAM_EXAMPLES)};
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
    struct learner base;
    struct graph_model *model;
    struct graph_corpus corpus, valid;
    int identifier;
};

static void release(void *state)
{
    struct shared *s = state;
    graph_corpus_free(&s->corpus);
    graph_corpus_free(&s->valid);
}

static enum err_code load_graphs(struct graph_corpus *c, struct op_ctx *ctx, const char *role,
                                 struct err *e)
{
    struct digest alphabet = op_input_id(ctx, "alphabet", 0);
    struct learn_elements x = {ctx, role};
    const Eqloom__Graph *g;
    enum err_code code = OK;
    while (learn_next(&g, &x, &code, e))
        if (learn_vocabulary_differs(&g->vocabulary_id, alphabet))
            code = err_fail(e, ERR_INPUT, "%s: element %" PRIu64 " was made with another alphabet",
                            role, x.next - 1);
        else
            code = err_up(e, graph_corpus_add(c, g, e));
    return code;
}

static enum err_code load_citations(struct shared *s, struct op_ctx *ctx, struct err *e)
{
    struct learn_elements x = {ctx, "papers"};
    const Eqloom__Paper *p;
    enum err_code code = OK;
    while (learn_next(&p, &x, &code, e))
        for (size_t k = 0; k < p->n_cites; k++) {
            graph_corpus_cite(&s->corpus, p->paper, p->cites[k]);
            graph_corpus_cite(&s->valid, p->paper, p->cites[k]);
        }
    return code;
}

static enum err_code load_alphabet(struct shared *s, struct op_ctx *ctx, struct err *e)
{
    const Eqloom__Vocabulary *v;
    enum err_code code = op_get(&v, ctx, "alphabet", 0, e);
    if (code)
        return err_up(e, code);
    if (strcmp(v->encoding, "mathml") || v->n_tokens != GRAPH_FEATURES)
        return err_fail(e, ERR_INPUT, "the vocabulary is not an alphabet of MathML");
    s->identifier = -1;
    for (int i = 0; i < GRAPH_TAGS; i++)
        if (strcmp(v->tokens[i], "mi") == 0)
            s->identifier = i;
    return OK;
}

/* ---- one segment ---- */

/* Index 0 is for training, 1 for validation. */
struct session {
    struct learning base;
    struct graph_sampler sampler[2]; /* unused without papers */
    struct graph_examples_config examples[2];
};

static const void *draw(struct batches *self, struct arena *a, bool measuring, uint64_t k)
{
    struct session *x = (struct session *)self;
    struct graph_set *out = arena_new(a, struct graph_set);
    graph_examples_draw(out, a, &x->sampler[measuring], &x->examples[measuring], k);
    return out;
}

static enum err_code open_examples(void *self, struct op_ctx *ctx, bool measuring, struct err *e)
{
    struct session *x = self;
    const struct shared *s = x->base.learner;
    double shares[GRAPH_WAYS] = {[GRAPH_SAME_SECTION] = op_real(ctx, "same_section"),
                                 [GRAPH_SAME_PAPER] = op_real(ctx, "same_paper"),
                                 [GRAPH_CITED] = op_real(ctx, "cited")};
    x->base.batches.draw = draw;
    x->examples[measuring] = examples(ctx, s->identifier, measuring);
    return err_up(e, graph_sampler_init(&x->sampler[measuring], measuring ? &s->valid : &s->corpus,
                                        shares, x->examples[measuring].seed,
                                        measuring ? "valid" : "graphs", e));
}

static void close_examples(void *self)
{
    struct session *x = self;
    for (int i = 0; i < 2; i++)
        graph_sampler_free(&x->sampler[i]);
}

static enum err_code open_trainer(void *self, struct op_ctx *ctx, struct gpu_device *device,
                                  struct err *e)
{
    struct session *x = self;
    const struct shared *s = x->base.learner;
    struct graph_training c = {.similarity = similarity(ctx),
                               .margin = op_real(ctx, "margin"),
                               .optimizer = optimizer_adam(schedule_of(ctx)),
                               .precision = learn_precision(ctx),
                               .seed = learn_seed(ctx, STREAM_WEIGHTS)};
    return err_up(e, graph_network_new(&x->base.trainer, device, s->model, &c, e));
}

static void add_triplets(struct hasher *h, void *self, bool measuring, uint64_t k, bool first)
{
    struct session *x = self;
    struct graph_sampler *sampler = &x->sampler[measuring];
    size_t batch = x->examples[measuring].batch;
    for (size_t i = 0; i < batch; i++) {
        struct graph_triplet t = graph_sampler_draw(sampler, k * batch + i);
        const uint32_t graphs[] = {t.anchor, t.positive, t.negative};
        for (size_t j = 0; j < 3; j++)
            hasher_add(h, &sampler->corpus->graph[graphs[j]].mark, sizeof(uint64_t));
    }
}

static const struct learner_calls calls = {.size = sizeof(struct session),
                                           .release = release,
                                           .examples = open_examples,
                                           .close = close_examples,
                                           .open = open_trainer,
                                           .add = add_triplets};

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    struct graph_config c = network(ctx);
    struct shared *s = learner_new(&calls, sizeof *s);
    enum err_code code;
    if ((code = err_up(e, graph_model_new(&s->model, &s->base.arena, &c, e))) ||
        (code = err_up(e, load_alphabet(s, ctx, e))) ||
        (code = err_up(e, load_graphs(&s->corpus, ctx, "graphs", e))) ||
        (code = err_up(e, load_graphs(&s->valid, ctx, "valid", e))) ||
        (code = err_up(e, load_citations(s, ctx, e)))) {
        learner_release(s);
        return code;
    }
    graph_corpus_close(&s->corpus);
    graph_corpus_close(&s->valid);
    s->base.architecture = graph_config_text(&s->base.arena, &c);
    s->base.table = &s->model->table;
    s->base.vocabulary = "alphabet";
    if ((code = err_up(e, learner_check_validation(&s->base, ctx, e))))
        learner_release(s);
    else
        *state = s;
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

const struct op op_train_graphs = {
    .name = "train-graphs",
    .version = 3,
    LEARNER_OP,
    .doc = "Trains a graph network on the equations of papers: the vectors of equations in one "
           "section or paper, or in a paper and one that it cites, should be more similar than "
           "those of equations of different papers (histogram: of all pairs in the batch). Each "
           "equation is an anchor in turn. With equations of other papers to validate on, loss "
           "and accuracy (the share of triplets in order) are measured during training, and "
           "patience may stop it. Checkpoints and segments work as in `train`.",
    .params = params,
    .inputs =
        OP_PORTS({"graphs", KIND_GRAPH, OP_COLLECTION, .doc = "Equations to train on."},
                 {"alphabet", KIND_VOCABULARY, OP_ONE, .doc = "The alphabet of the graphs."},
                 {"papers", KIND_PAPER, OP_COLLECTION, true, "The papers, for their citations."},
                 {"valid", KIND_GRAPH, OP_COLLECTION, true,
                  "Equations of other papers to validate on. If they have no triplets there is "
                  "no validation."},
                 {"init", KIND_CHECKPOINT, OP_ONE, true,
                  "A network of the same sizes and alphabet that provides the initial weights. "
                  "Its optimizer state and step are ignored."}),
    .check = check,
    .prepare = prepare,
    .segment = segment,
    .reads = learner_reads,
};
