/* Op evaluate-masking: measures how well a graph network predicts the hidden nodes of equations, as
 * in its training, but on equations that it need not have seen. */
#include "ops/eval/evaluation.h"
#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/graph/graph_corpus.h"
#include "ops/learn/graph/graph_embedder.h"
#include "ops/learn/graph/graph_sampler.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>

enum { SHOWN = 20, SHOWN_CHARACTERS = 40, SHOWN_GUESSES = 3 };
enum head { HEAD_TAG, HEAD_ATTRIBUTE, HEAD_CHARACTER };

/* The network's predictions for an equation; allocated outside its arena. */
struct outcome {
    size_t hidden, with_character, right[GRAPH_HEADS];
    double loss; /* summed over hidden nodes and heads */
    char *text;  /* its characters, hidden ones as squares; NULL: not shown */
    struct guess {
        uint32_t character, is[SHOWN_GUESSES];
        float p[SHOWN_GUESSES];
    } guess; /* for the first hidden character */
};

struct masking {
    struct op_ctx *ctx;
    struct graph_embedder *network;
    const Eqloom__Vocabulary *alphabet;
    struct digest vocabulary; /* of the network */
    uint64_t step;            /* one equation in so many is evaluated */
    struct outcome *outcomes;
    uint64_t *times; /* (GRAPH_CHARACTERS + 1): how often each is hidden */
};

static const char *character_name(const struct masking *m, uint32_t character)
{
    static const uint32_t first = GRAPH_TAGS + GRAPH_ATTRIBUTES - 1;
    return character == 0                  ? "none"
           : character == GRAPH_CHARACTERS ? "a rare one"
                                           : m->alphabet->tokens[first + character];
}

static uint32_t class_of(const struct graph_vertex *v, size_t head)
{
    return head == HEAD_TAG ? v->tag : head == HEAD_ATTRIBUTE ? v->attribute : v->character;
}

static uint32_t likeliest(const float *p, uint32_t n)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < n; i++)
        best = p[i] > p[best] ? i : best;
    return best;
}

/* Overwrites the probabilities. */
static struct guess guess_of(float *p, uint32_t character)
{
    struct guess g = {.character = character};
    for (size_t i = 0; i < SHOWN_GUESSES; i++) {
        g.is[i] = likeliest(p, GRAPH_CHARACTERS + 1);
        g.p[i] = p[g.is[i]];
        p[g.is[i]] = -1;
    }
    return g;
}

/* The characters in order, with a full square for the one to predict and empty squares for the
 * other hidden ones. NULL if there are too many, or none is hidden. */
static char *text_of(const struct masking *m, const struct graph_vertex *v, size_t n)
{
    struct buf b = {0};
    size_t shown = 0, asked = 0;
    for (size_t i = 0; i < n; i++)
        if (v[i].character) {
            buf_puts(&b, !v[i].hidden ? character_name(m, v[i].character)
                         : asked++    ? "\u25a1"
                                      : "\u25a0");
            shown++;
        }
    char *text =
        asked && shown <= SHOWN_CHARACTERS ? arena_strndup(op_arena(m->ctx), b.data, b.len) : NULL;
    buf_free(&b);
    return text;
}

static void judge(struct outcome *o, const struct graph_vertex *v, size_t n, float **p)
{
    bool first = true;
    for (size_t i = 0, k = 0; i < n; i++) {
        if (!v[i].hidden)
            continue;
        for (size_t head = 0; head < GRAPH_HEADS; head++) {
            uint32_t classes = graph_head_classes[head], is = class_of(&v[i], head);
            float *q = p[head] + k * classes;
            o->loss -= log(fmax((double)q[is], 1e-30));
            if (head == HEAD_CHARACTER && !is)
                continue;
            o->right[head] += likeliest(q, classes) == is;
            if (head == HEAD_CHARACTER && first)
                o->guess = guess_of(q, is), first = false;
        }
        o->with_character += v[i].character > 0;
        k++;
    }
}

static enum err_code ask(struct masking *m, size_t item, struct arena *a, struct err *e)
{
    struct outcome *o = &m->outcomes[item];
    const Eqloom__Graph *g;
    enum err_code code = op_get_in(&g, m->ctx, "graphs", item * m->step, a, e);
    if (code)
        return err_up(e, code);
    if (learn_vocabulary_differs(&g->vocabulary_id, m->vocabulary))
        return err_fail(e, ERR_INPUT, "the graph and the model have different alphabets");
    size_t n = g->n_parent;
    uint32_t first[] = {0, (uint32_t)n};
    struct graph_vertex *v = arena_array(a, struct graph_vertex, n + 1);
    struct graph_set set = {v, first, 1};
    float *p[GRAPH_HEADS];
    if ((code = graph_vertices_read(v, g, e)))
        return err_up(e, code);
    struct rng rng = rng_new(rng_at((uint64_t)op_int(m->ctx, "seed"), 0, item), 0);
    o->hidden = graph_hide(v, n, op_real(m->ctx, "hidden"), rng);
    if ((code = graph_embedder_fill(p, m->network, &set, o->hidden, a, e)))
        return err_up(e, code);
    for (size_t i = 0; i < n; i++)
        m->times[v[i].character] += v[i].hidden;
    judge(o, v, n, p);
    o->text = text_of(m, v, n);
    return OK;
}

static Eqloom__Table *table_of_guesses(const struct masking *m, size_t n)
{
    static char *columns[] = {"equation", "hidden", "taken for"};
    struct arena *a = op_arena(m->ctx);
    Eqloom__Table *t = table_of(a, "Hidden characters", columns, 3, SHOWN);
    t->note = (char *)"\u25a0: the one that is asked for, with the probabilities of the likeliest; "
                      "\u25a1: hidden, too";
    for (size_t i = 0; i < n && t->n_rows < SHOWN; i++) {
        const struct outcome *o = &m->outcomes[i];
        char *guesses = (char *)"";
        if (!o->text)
            continue;
        for (size_t k = 0; k < SHOWN_GUESSES; k++)
            guesses = arena_printf(a, "%s%s%s %.2f", guesses, k ? ", " : "",
                                   character_name(m, o->guess.is[k]), (double)o->guess.p[k]);
        char **cells = table_row(a, t);
        *cells++ = o->text;
        *cells++ = (char *)character_name(m, o->guess.character);
        *cells = guesses;
    }
    return t;
}

static enum err_code report(const struct masking *m, size_t n, struct err *e)
{
    struct figures f = evaluation_figures(m->ctx, "masking");
    struct outcome all = {0};
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++) {
        const struct outcome *o = &m->outcomes[i];
        all.hidden += o->hidden;
        all.with_character += o->with_character;
        all.loss += o->loss;
        for (size_t k = 0; k < GRAPH_HEADS; k++)
            all.right[k] += o->right[k];
    }
    for (size_t i = 1; i <= GRAPH_CHARACTERS; i++)
        most = m->times[i] > most ? m->times[i] : most;
    double nodes = all.hidden ? (double)all.hidden : 1;
    double characters = all.with_character ? (double)all.with_character : 1;
    figures_add(&f, "character_accuracy", (double)all.right[HEAD_CHARACTER] / characters);
    figures_add(&f, "most_frequent", (double)most / characters);
    figures_add(&f, "tag_accuracy", (double)all.right[HEAD_TAG] / nodes);
    figures_add(&f, "attribute_accuracy", (double)all.right[HEAD_ATTRIBUTE] / nodes);
    figures_add(&f, "masking_loss", all.loss / GRAPH_HEADS / nodes);
    figures_add(&f, "hidden_nodes", (double)all.hidden);
    figures_add(&f, "hidden_characters", (double)all.with_character);
    figures_add(&f, "equations", (double)n);
    return err_up(e, evaluation_emit(m->ctx, &f, table_of_guesses(m, n), e));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    struct masking m = {.ctx = ctx, .times = arena_array(a, uint64_t, GRAPH_CHARACTERS + 1)};
    struct chunk_io io = learn_chunks(ctx);
    const Eqloom__Checkpoint *c;
    uint64_t all = op_count(ctx, "graphs"), most = (uint64_t)op_int(ctx, "sample");
    enum err_code code;
    if ((code = op_get(&c, ctx, "checkpoint", 0, e)) ||
        (code = op_get(&m.alphabet, ctx, "alphabet", 0, e)))
        return err_up(e, code);
    m.vocabulary = learn_vocabulary(c);
    m.step = all > most ? (all + most - 1) / most : 1;
    size_t n = (all + m.step - 1) / m.step;
    m.outcomes = arena_array(a, struct outcome, n + 1);
    if (m.alphabet->n_tokens != GRAPH_FEATURES)
        return err_fail(e, ERR_INPUT, "the vocabulary is not an alphabet of MathML");
    code = trained_new(&m.network, &graph_embedder_kind, "cpu", GPU_F32, c, &io, e);
    for (size_t i = 0; i < n && !code; i++) {
        struct arena work = {0};
        op_progress(ctx, i, n, "equations");
        code = op_cancelled(ctx) ? err_fail(e, ERR_CANCELLED, "evaluate-masking was interrupted")
                                 : ask(&m, i, &work, e);
        arena_free(&work);
    }
    trained_free(m.network);
    return code ? err_up(e, code) : err_up(e, report(&m, n, e));
}

const struct op op_evaluate_masking = {
    .name = "evaluate-masking",
    .version = 1,
    .node = OP_TASK,
    .numerics = true,
    .doc = "Measures how well a graph network trained by masking predicts the hidden nodes of "
           "equations. character_accuracy: among hidden nodes with a character, the share for "
           "which the most probable one is right; most_frequent: the share that always predicting "
           "the most frequent character would get right. tag_accuracy, attribute_accuracy: the "
           "same for tags and attributes, over all hidden nodes. masking_loss: the mean cross "
           "entropy of the three.",
    .params = OP_PARAMS(EVALUATION_LABEL,
                        {"hidden", OP_REAL, "0.15", NULL, 0.001, 0.9,
                         "Share of nodes to hide, at least one per equation."},
                        {"sample", OP_INT, "1000", NULL, 1, 1e7,
                         "Maximum number of equations to evaluate, evenly spaced."},
                        {"seed", OP_INT, "0", NULL, 0, 0, "Seed of the choice of hidden nodes."}),
    .inputs = OP_PORTS({"graphs", KIND_GRAPH, OP_COLLECTION, .doc = "Equations."},
                       {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "The network."},
                       {"alphabet", KIND_VOCABULARY, OP_ONE, .doc = "The alphabet of the graphs."}),
    .outputs = OP_PORTS({"report", KIND_REPORT, OP_ONE,
                         .doc = "These figures, and predictions for some hidden characters with "
                                "probabilities."}),
    .run = run,
};
