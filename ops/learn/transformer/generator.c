/* Beam search over a batch, with as many inputs at a time as fit in a step's rows; see
 * generator.h. */
#include "ops/learn/transformer/generator.h"

#include "ops/nn/transformer/transformer.h"

#include <math.h>
#include <string.h>

/* ---- beam search for one input, independent of the model ---- */

/* A hypothesis as its last token; the parent has the earlier ones. */
struct beam_node {
    uint32_t parent; /* in `nodes`; BEAM_ROOT for none */
    uint32_t token;
    double score; /* log-probability so far */
};
#define BEAM_ROOT UINT32_MAX

struct beam_candidate {
    uint32_t live, token; /* continues live hypothesis `live` */
    double score;
};

struct beam {
    uint32_t width, max_tokens, at; /* at: tokens so far */
    struct beam_node *nodes;
    size_t n_nodes, cap;
    uint32_t *live;   /* nodes, best first; BEAM_ROOT at the start */
    uint32_t *parent; /* index of each one's parent in the previous `live` */
    size_t n_live;
    struct beam_candidate *candidates; /* the best 2 * width of a step, best first */
    size_t n_candidates;
    struct {
        uint32_t node; /* its last token */
        uint32_t length;
        double score; /* its log-probability */
    } * ended;        /* (width), best first */
    size_t n_ended;
};

static void beam_init(struct beam *b, const struct generator_options *options, struct arena *a)
{
    uint32_t width = options->beam;
    *b = (struct beam){.width = width, .max_tokens = options->max_tokens, .n_live = 1};
    b->live = arena_array(a, uint32_t, width);
    b->parent = arena_array(a, uint32_t, width);
    b->candidates = arena_array(a, struct beam_candidate, 2 * (size_t)width);
    b->ended = arena_alloc(a, width * sizeof *b->ended);
    b->live[0] = BEAM_ROOT;
}

static double score_of(const struct beam *b, size_t i)
{
    return b->live[i] == BEAM_ROOT ? 0 : b->nodes[b->live[i]].score;
}

/* Returns log(sum(exp(x))). */
static double log_sum(const float *x, uint32_t n)
{
    double max = -INFINITY, sum = 0;
    for (uint32_t i = 0; i < n; i++)
        max = x[i] > max ? x[i] : max;
    for (uint32_t i = 0; i < n; i++)
        sum += exp(x[i] - max);
    return max + log(sum);
}

/* Inserts c among the best 2 * width if it belongs there, after its equals. */
static void keep(struct beam *b, struct beam_candidate c)
{
    size_t cap = 2 * (size_t)b->width, at = b->n_candidates;
    if (at == cap && !(c.score > b->candidates[cap - 1].score))
        return;
    while (at > 0 && c.score > b->candidates[at - 1].score)
        at--;
    if (b->n_candidates < cap)
        b->n_candidates++;
    memmove(&b->candidates[at + 1], &b->candidates[at],
            (b->n_candidates - 1 - at) * sizeof *b->candidates);
    b->candidates[at] = c;
}

/* One step: call with the logits (vocabulary) of each live hypothesis i, in order ... */
static void beam_offer(struct beam *b, uint32_t i, const float *logits, uint32_t vocabulary)
{
    double base = score_of(b, i) - log_sum(logits, vocabulary);
    if (i == 0)
        b->n_candidates = 0;
    for (uint32_t token = 0; token < vocabulary; token++)
        if (token != NN_PAD && token != NN_START)
            keep(b, (struct beam_candidate){i, token, base + logits[token]});
}

static void end(struct beam *b, const struct beam_candidate *c)
{
    if (b->n_ended == b->width && !(c->score > b->ended[b->n_ended - 1].score))
        return;
    size_t at = b->n_ended < b->width ? b->n_ended++ : b->n_ended - 1;
    for (; at > 0 && c->score > b->ended[at - 1].score; at--)
        b->ended[at] = b->ended[at - 1];
    b->ended[at].node = b->live[c->live];
    b->ended[at].length = b->at;
    b->ended[at].score = c->score;
}

static uint32_t add_node(struct beam *b, const struct beam_candidate *c, struct arena *a)
{
    b->nodes = arena_grow(a, b->nodes, b->n_nodes, &b->cap, sizeof *b->nodes);
    b->nodes[b->n_nodes] = (struct beam_node){b->live[c->live], c->token, c->score};
    return (uint32_t)b->n_nodes++;
}

/* ... then choose. Afterwards n_live is 0 if the search is done. */
static void beam_choose(struct beam *b, struct arena *a)
{
    uint32_t *next = arena_array(a, uint32_t, b->width);
    size_t n = 0;
    for (size_t i = 0; i < b->n_candidates && n < b->width; i++) {
        const struct beam_candidate *c = &b->candidates[i];
        if (c->token == NN_END) {
            if (i < b->width)
                end(b, c);
        } else if (b->at < b->max_tokens) {
            b->parent[n] = c->live;
            next[n++] = add_node(b, c, a);
        }
    }
    memcpy(b->live, next, n * sizeof *next);
    b->n_live = n;
    b->at++;
    /* At best a hypothesis ends with its current probability. */
    if (n && b->n_ended == b->width && score_of(b, 0) <= b->ended[b->width - 1].score)
        b->n_live = 0;
}

/* Returns the last token of live hypothesis i. */
static uint32_t beam_token(const struct beam *b, size_t i)
{
    return b->live[i] == BEAM_ROOT ? NN_START : b->nodes[b->live[i]].token;
}

static void beam_results(struct generated *out, const struct beam *b, struct arena *a)
{
    out->n = b->n_ended;
    out->best = arena_array(a, struct hypothesis, b->n_ended);
    for (size_t i = 0; i < b->n_ended; i++) {
        struct hypothesis *h = &out->best[i];
        h->n = b->ended[i].length;
        h->log_probability = b->ended[i].score;
        h->tokens = arena_array(a, uint32_t, h->n);
        for (uint32_t node = b->ended[i].node, at = (uint32_t)h->n; node != BEAM_ROOT;
             node = b->nodes[node].parent)
            h->tokens[--at] = b->nodes[node].token;
    }
}

/* ---- a batch ---- */

/* One group of inputs: the rows of a step are the live hypotheses of all beams, in order. */
struct group {
    const struct loaded *model;
    const struct generator_options *options;
    struct arena *work;
    struct nn_sequences inputs;
    struct nn_tape in;
    struct nn_block block; /* inputs of the encoder */
    struct nn_decoding decoding;
    struct beam *beams;                                         /* by input */
    uint32_t *token, *parent, *states_first, *states_end, *row; /* row: first of each beam */
    float *logits;                                              /* host */
};

static void lay_out(void *arg, struct gpu_layout *in, struct gpu_layout *l)
{
    struct group *r = arg;
    const struct nn_model *m = r->model->model;
    const struct generator_options *o = r->options;
    loaded_tape_layout(&r->in, r->model, &r->inputs, in, l, r->work);
    nn_decoding_layout(&r->decoding, m, r->model->type, r->inputs.n * o->beam, o->max_tokens + 1,
                       r->in.memory_rows, l, r->work);
}

/* Collects the rows of the next step; returns their number. */
static size_t gather(struct group *r)
{
    size_t n = 0;
    bool vector = r->model->model->config.memory == NN_MEMORY_VECTOR;
    for (size_t i = 0; i < r->inputs.n; i++) {
        struct beam *b = &r->beams[i];
        uint32_t first = r->row[i];
        r->row[i] = (uint32_t)n;
        for (size_t j = 0; j < b->n_live; j++, n++) {
            r->token[n] = beam_token(b, j);
            r->parent[n] = first + b->parent[j];
            r->states_first[n] = vector ? (uint32_t)i : r->inputs.offset[i];
            r->states_end[n] = vector ? (uint32_t)i + 1 : r->inputs.offset[i + 1];
        }
    }
    return n;
}

static void choose(struct group *r, struct arena *a)
{
    uint32_t v = r->model->model->config.vocabulary;
    for (size_t i = 0; i < r->inputs.n; i++) {
        struct beam *b = &r->beams[i];
        if (b->n_live == 0)
            continue;
        for (uint32_t j = 0; j < b->n_live; j++)
            beam_offer(b, j, r->logits + (r->row[i] + j) * (size_t)v, v);
        beam_choose(b, a);
    }
}

static void search(struct group *r, struct gpu_queue *q, const struct generator_options *o,
                   struct arena *a)
{
    const struct nn_model *m = r->model->model;
    struct nn_weights w = loaded_weights(r->model);
    size_t rows = r->inputs.n * o->beam, v = m->config.vocabulary, n;
    r->beams = arena_array(a, struct beam, r->inputs.n);
    uint32_t **numbers[] = {&r->token, &r->parent, &r->states_first, &r->states_end};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = arena_array(a, uint32_t, rows);
    r->row = arena_array(a, uint32_t, r->inputs.n);
    r->logits = arena_array(a, float, rows *v);
    for (size_t i = 0; i < r->inputs.n; i++)
        beam_init(&r->beams[i], o, a);
    loaded_tape_load(&r->block, &r->in, r->model, &r->inputs);
    gpu_write(q, r->block.device, r->block.host, r->block.bytes);
    nn_encoder_forward(q, m, &w, &r->in, nn_memory_is_pooled(m), &(struct nn_scratch){0}, NULL);
    nn_decoding_begin(q, &r->decoding, m, &w, r->in.memory, a);
    while ((n = gather(r)) > 0) {
        struct nn_decoding_step step = {n, r->token, r->parent, r->states_first, r->states_end};
        nn_decoding_next(q, &r->decoding, m, &w, &step, a);
        gpu_read(q, r->logits, r->decoding.logits, n * v * sizeof *r->logits);
        choose(r, a);
    }
}

static enum err_code run_group(struct generated *out, struct group *r, struct nn_buffer *memory,
                               struct gpu_queue *q, struct arena *a, struct err *e)
{
    enum err_code code = nn_buffer_lay_out(&r->block, memory, 0, lay_out, r, r->work, e);
    if (code)
        return err_up(e, code);
    search(r, q, r->options, r->work);
    for (size_t i = 0; i < r->inputs.n; i++)
        beam_results(&out[i], &r->beams[i], a);
    return err_up(e, gpu_finish(q, e));
}

enum err_code generator_run(struct generated *out, const struct loaded *m,
                            const Eqloom__TokenBatch *b, const struct generator_options *options,
                            struct arena *a, struct err *e)
{
    const struct nn_config *c = &m->model->config;
    struct generator_options o = *options;
    if (!c->decoder_layers)
        return err_fail(e, ERR_INPUT, "the model has no decoder: it can embed, not generate");
    enum err_code code = err_up(e, loaded_check(m, b, e));
    if (code)
        return code;
    struct gpu_queue *q = NULL;
    struct nn_buffer memory = {.device = m->net.device};
    struct arena work = {0};
    size_t n = b->n_offset - 1, rows = m->net.device->cuts.beam_rows;
    size_t at_once = o.beam < rows ? rows / o.beam : 1;
    if (o.max_tokens > c->max_length - 1)
        o.max_tokens = c->max_length - 1; /* START takes a position too */
    if ((code = err_up(e, gpu_queue_new(&q, m->net.device, e))))
        return code;
    for (size_t first = 0; first < n && !code; first += at_once) {
        size_t count = n - first < at_once ? n - first : at_once;
        struct group r = {.model = m,
                          .options = &o,
                          .work = &work,
                          .inputs = loaded_inputs(m, b, first, count, &work)};
        code = err_up(e, run_group(out + first, &r, &memory, q, a, e));
        arena_reset(&work);
    }
    nn_buffer_free(&memory);
    gpu_queue_free(q);
    arena_free(&work);
    return code;
}
