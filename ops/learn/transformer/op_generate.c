/* Op generate: generates expressions for each sequence of a token batch with a trained
 * encoder-decoder, by beam search. */
#include "engine/op.h"
#include "generation.pb-c.h"
#include "ops/learn/transformer/detokenize.h"
#include "ops/learn/transformer/generator.h"
#include "ops/learn/infer/networks.h"

static enum err_code check_model(struct networks *s, struct op_ctx *ctx, struct err *e)
{
    const struct nn_config *c = &((const struct loaded *)networks_turn(s))->model->config;
    struct digest given = op_input_id(ctx, "vocabulary", 0);
    const Eqloom__Vocabulary *v;
    if (!digest_is_zero(&s->vocabulary) && !digest_equal(&s->vocabulary, &given))
        return err_fail(e, ERR_INPUT, "the model was trained with another vocabulary");
    enum err_code code = op_get(&v, ctx, "vocabulary", 0, e);
    if (code)
        return err_up(e, code);
    if (c->vocabulary != v->n_tokens)
        return err_fail(e, ERR_INPUT, "the model has %u tokens, the vocabulary %zu", c->vocabulary,
                        v->n_tokens);
    if (!c->decoder_layers)
        return err_fail(e, ERR_INPUT, "the model has no decoder: it can embed, not generate");
    return OK;
}

static enum err_code prepare(void **state, struct op_ctx *ctx, struct err *e)
{
    void *s = NULL;
    enum err_code code = networks_prepare(&s, &loaded_kind, ctx, e);
    if (!code && (code = check_model(s, ctx, e)))
        networks_release(s);
    else
        *state = s;
    return err_up(e, code);
}

static Eqloom__Written *written_new(struct arena *a, char *const *names, const char *input,
                                    const struct generated *g)
{
    Eqloom__Written *w = arena_new(a, Eqloom__Written);
    eqloom__written__init(w);
    w->input = (char *)input;
    w->n_candidates = g->n;
    w->candidates = arena_array(a, Eqloom__Candidate *, g->n);
    for (size_t i = 0; i < g->n; i++) {
        Eqloom__Candidate *c = w->candidates[i] = arena_new(a, Eqloom__Candidate);
        eqloom__candidate__init(c);
        c->prefix = detokenize(a, g->best[i].tokens, g->best[i].n, names);
        c->log_probability = g->best[i].log_probability;
    }
    return w;
}

/* Keeps the first n sequences. */
static void cut(Eqloom__TokenBatch *b, size_t n)
{
    if (n == 0 || b->n_offset <= n + 1)
        return;
    b->n_offset = n + 1;
    b->n_tokens = b->offset[n];
    b->n_cluster = n;
    b->n_text = b->n_text < n ? b->n_text : n;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    const struct loaded *m = networks_turn(state);
    struct arena *a = op_arena(ctx);
    Eqloom__TokenBatch *b;
    const Eqloom__Vocabulary *v;
    struct generator_options options = {.beam = (uint32_t)op_int(ctx, "beam"),
                                        .max_tokens = (uint32_t)op_int(ctx, "max_tokens")};
    enum err_code code;
    if ((code = op_get(&b, ctx, "batches", 0, e)) || (code = op_get(&v, ctx, "vocabulary", 0, e)) ||
        (code = loaded_check(m, b, e)))
        return err_up(e, code);
    cut(b, (size_t)op_int(ctx, "limit"));
    size_t n = b->n_offset - 1;
    struct generated *out = arena_array(a, struct generated, n);
    if ((code = err_up(e, generator_run(out, m, b, &options, a, e))))
        return code;
    Eqloom__Generation g;
    eqloom__generation__init(&g);
    g.n_written = n;
    g.written = arena_array(a, Eqloom__Written *, n);
    g.source_id = b->source_id;
    g.language = b->language;
    for (size_t i = 0; i < n; i++)
        g.written[i] = written_new(a, v->tokens, i < b->n_text ? b->text[i] : "", &out[i]);
    return err_up(e, op_emit(NULL, ctx, "generations", &g.base, e));
}

const struct op op_generate = {
    .name = "generate",
    .version = 10,
    NETWORKS_OP,
    .doc =
        "Generates expressions with a model trained by seq2seq or autoencode: for each sequence "
        "the most probable ones that beam search finds, with their log-probabilities. They may be "
        "malformed or not equal to the input: see evaluate-generation.",
    .params =
        OP_PARAMS({"beam", OP_INT, "5", NULL, 1, 1024,
                   "Hypotheses kept at each step, and the maximum number of results; 1: greedy."},
                  {"max_tokens", OP_INT, "64", NULL, 1, 1048576,
                   "Maximum number of tokens of a result; also limited by the model's max_length."},
                  LEARN_PRECISION_PARAM, LEARN_DEVICE_PARAM,
                  {"limit", OP_INT, "0", NULL, 0, 1e9,
                   "Use only the first sequences of each batch; 0: all."}),
    .inputs = OP_PORTS({"batches", KIND_TOKEN_BATCH, OP_COLLECTION,
                        .doc = "Sequences to generate expressions for."},
                       {"checkpoint", KIND_CHECKPOINT, OP_ONE, .doc = "A model with a decoder."},
                       {"vocabulary", KIND_VOCABULARY, OP_ONE,
                        .doc = "The vocabulary of the batches and the model."}),
    .outputs =
        OP_PORTS({"generations", KIND_GENERATION, OP_COLLECTION, .doc = "One per token batch."}),
    .prepare = prepare,
    .run = run,
};
