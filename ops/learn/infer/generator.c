/* Beam search over a batch: as many inputs at a time as fill the rows of a step; see generator.h.
 */
#include "ops/learn/infer/generator.h"

#include "ops/learn/infer/beam.h"
#include "ops/nn/decoding.h"
#include "ops/nn/encoder.h"

/* One group of inputs: rows r of a step are the live hypotheses of all beams, in order. */
struct group {
    const struct loaded *model;
    struct nn_sequences inputs;
    struct nn_tape in;
    struct nn_block block; /* what the inputs give */
    struct nn_decoding decoding;
    struct beam *beams;                                         /* by input */
    uint32_t *token, *parent, *states_first, *states_end, *row; /* row: first of each beam */
    float *logits;                                              /* host */
};

static void lay_out(struct group *r, const struct generator_options *o, struct gpu_layout *in,
                    struct gpu_layout *l, struct arena *a)
{
    const struct nn_model *m = r->model->model;
    loaded_tape_layout(&r->in, r->model, &r->inputs, in, l, a);
    nn_decoding_layout(&r->decoding, m, r->model->type, r->inputs.n * o->beam, o->max_tokens + 1,
                       r->in.memory_rows, l, a);
}

/* The rows of the next step; how many. */
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

static enum err_code run_group(struct generated *out, struct group *r, struct loaded_memory *memory,
                               struct gpu_queue *q, const struct generator_options *o,
                               struct arena *a, struct arena *work, struct err *e)
{
    struct gpu_layout in = {0}, l = {0};
    lay_out(r, o, &in, &l, work);
    enum err_code code = loaded_reserve(&r->block, &in, &l, memory, r->model, work, e);
    if (code)
        return err_up(e, code);
    lay_out(r, o, &in, &l, work);
    search(r, q, o, work);
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
    struct loaded_memory memory = {0};
    struct arena work = {0};
    size_t n = b->n_offset - 1, rows = m->net.device->cuts.beam_rows;
    size_t at_once = o.beam < rows ? rows / o.beam : 1;
    if (o.max_tokens > c->max_length - 1)
        o.max_tokens = c->max_length - 1; /* START has a place too */
    if ((code = err_up(e, gpu_queue_new(&q, m->net.device, e))))
        return code;
    for (size_t first = 0; first < n && !code; first += at_once) {
        size_t count = n - first < at_once ? n - first : at_once;
        struct group r = {.model = m, .inputs = loaded_inputs(m, b, first, count, &work)};
        code = err_up(e, run_group(out + first, &r, &memory, q, &o, a, &work, e));
        arena_reset(&work);
    }
    gpu_free(m->net.device, memory.at);
    gpu_queue_free(q);
    arena_free(&work);
    return code;
}
