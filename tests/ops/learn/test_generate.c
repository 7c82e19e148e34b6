/* Beam search: on a vocabulary so small that all sequences can be listed it finds them all, in
 * order; a beam of 1 is the greedy choice by a decoder without a cache; log-probabilities are the
 * reference's; what else is in the batch changes nothing. */
#include "ops/learn/transformer/generator.h"
#include "ops/nn/transformer/transformer.h"
#include "tests/ops/learn/toy.h"
#include "tests/ref/ref.h"
#include "tests/unit.h"

#include "base/rng.h"

/* A model of random weights, larger than initial ones so that it has opinions. */
static struct loaded *model_new(const struct nn_config *c, double **w)
{
    struct loaded *m = calloc(1, sizeof *m);
    struct nn_model *plain;
    assert_int_equal(nn_model_new(&plain, &m->net.arena, c, NULL), OK);
    m->model = nn_model_transposed(&m->net.arena, c);
    assert_int_equal(gpu_open_cpu(&m->net.device, NULL, NULL, NULL), OK);
    size_t n = plain->table.total;
    float *flat = arena_array(&m->net.arena, float, n);
    size_t places = c->max_length * c->d_model;
    assert_int_equal(
        trained_alloc(&m->weights, &m->net, m->model->table.total * sizeof(float), NULL), OK);
    assert_int_equal(trained_alloc(&m->sinusoids, &m->net, places * sizeof(float), NULL), OK);
    nn_table_init(flat, &plain->table, 5);
    nn_sinusoids(m->sinusoids, c->max_length, c->d_model);
    struct rng r = rng_new(8, 0);
    for (size_t i = 0; i < n; i++) {
        flat[i] += (float)(0.3 * rng_normal(&r));
        if (c->decoder_layers && i == plain->output_bias + NN_END)
            flat[i] += 3.3f; /* so that sequences end */
    }
    *w = arena_array(&m->net.arena, double,
                     m->model->table.total); /* placed so, but not transposed */
    for (size_t i = 0; i < plain->table.n; i++)
        for (size_t j = 0; j < plain->table.params[i].size; j++)
            (*w)[m->model->table.params[i].at + j] = flat[plain->table.params[i].at + j];
    nn_transpose(m->weights, m->model, flat, plain);
    return m;
}

static Eqloom__TokenBatch *batch_new(struct arena *a, const struct nn_config *c, size_t n,
                                     uint32_t most)
{
    Eqloom__TokenBatch *b = arena_new(a, Eqloom__TokenBatch);
    struct rng r = rng_new(3, n);
    eqloom__token_batch__init(b);
    b->tokens = arena_array(a, uint32_t, n * most);
    b->offset = arena_array(a, uint32_t, n + 1);
    b->cluster = arena_array(a, uint32_t, n);
    b->n_cluster = n;
    b->n_offset = n + 1;
    for (size_t i = 0; i < n; i++) {
        size_t length = 1 + rng_below(&r, most);
        for (size_t j = 0; j < length; j++)
            b->tokens[b->n_tokens++] = 3 + (uint32_t)rng_below(&r, c->vocabulary - 3);
        b->offset[i + 1] = (uint32_t)b->n_tokens;
    }
    return b;
}

/* By the reference, all tokens and the end. */
static double log_probability(const struct loaded *m, const double *w,
                              const struct nn_sequences *input, const uint32_t *tokens, size_t n)
{
    uint32_t offset[2] = {0, (uint32_t)n};
    struct nn_sequences target = {tokens, offset, 1};
    return -ref_seq2seq(m->model, w, input, &target, 0) * (double)(n + 1);
}

static int by_probability(const void *x, const void *y)
{
    const struct hypothesis *a = x, *b = y;
    return (a->log_probability < b->log_probability) - (a->log_probability > b->log_probability);
}

TEST_IN_ARENA(exhaustive)
{
    enum { LONGEST = 3, ALL = 1 + 2 + 4 + 8 };
    struct nn_config c = {.vocabulary = 5,
                          .d_model = 8,
                          .layers = 1,
                          .decoder_layers = 2,
                          .heads = 2,
                          .d_ff = 16,
                          .max_length = 8};
    double *w;
    struct loaded *m = model_new(&c, &w);
    Eqloom__TokenBatch *b = batch_new(a, &c, 5, 4);
    struct generated out[5];
    struct generator_options o = {.beam = 64, .max_tokens = LONGEST};
    assert_int_equal(generator_run(out, m, b, &o, a, NULL), OK);
    for (size_t i = 0; i < 5; i++) {
        struct nn_sequences input = loaded_inputs(m, b, i, 1, a);
        static uint32_t tokens[ALL][LONGEST];
        struct hypothesis all[ALL];
        size_t n = 0;
        for (size_t length = 0; length <= LONGEST; length++)
            for (uint32_t bits = 0; bits < 1u << length; bits++, n++) {
                for (size_t j = 0; j < length; j++)
                    tokens[n][j] = 3 + (bits >> j & 1);
                all[n] = (struct hypothesis){tokens[n], length,
                                             log_probability(m, w, &input, tokens[n], length)};
            }
        assert_int_equal(n, ALL);
        qsort(all, ALL, sizeof *all, by_probability);
        assert_int_equal(out[i].n, ALL);
        for (size_t j = 0; j < ALL; j++) {
            assert_true(fabs(out[i].best[j].log_probability - all[j].log_probability) < 1e-4);
            assert_int_equal(out[i].best[j].n, all[j].n);
            assert_memory_equal(out[i].best[j].tokens, all[j].tokens, all[j].n * sizeof(uint32_t));
        }
    }
    trained_free(m);
}

/* The best next token by a decoder that computes the whole target anew. */
static uint32_t next_token(double *log_probability, const struct loaded *m,
                           const struct nn_sequences *input, const uint32_t *fed, size_t n,
                           struct arena *a)
{
    uint32_t offset[2] = {0, (uint32_t)n}, *label = arena_array(a, uint32_t, n), best = NN_END;
    struct nn_sequences targets = {fed, offset, 1};
    struct nn_weights w = loaded_weights(m);
    struct gpu_layout l = {0}, block_layout = {0};
    struct gpu_queue *q;
    struct nn_tape in;
    struct nn_block block = {0};
    struct nn_decoder_tape out;
    struct nn_scratch scratch;
    void *memory = NULL;
    for (int pass = 0; pass < 2; pass++) {
        nn_tape_layout(&in, m->model, input, GPU_TYPE_F32, true, NULL, &block_layout, &l, a);
        nn_decoder_layout(&out, m->model, &targets, &in, GPU_TYPE_F32, &block_layout, &l, a);
        nn_scratch_layout(&scratch, m->model, GPU_TYPE_F32, in.tokens > n ? in.tokens : n,
                          in.tokens, &l);
        if (pass == 0) {
            block = nn_block_new(block_layout.used, a);
            assert_int_equal(gpu_alloc(&memory, m->net.device, block.bytes + l.used, NULL), OK);
            block.device = memory;
        }
        block_layout = (struct gpu_layout){.base = memory};
        l = (struct gpu_layout){.base = block.device + block.bytes};
    }
    assert_int_equal(gpu_queue_new(&q, m->net.device, NULL), OK);
    nn_tape_load(&block, &in, m->model, input);
    nn_decoder_load(&block, &out, &targets, label);
    gpu_write(q, block.device, block.host, block.bytes);
    nn_encoder_forward(q, m->model, &w, &in, nn_memory_is_pooled(m->model), &scratch, NULL);
    nn_decoder_forward(q, m->model, &w, &out, &scratch, NULL);
    assert_int_equal(gpu_finish(q, NULL), OK);
    const float *logits = out.logits + (n - 1) * m->model->config.vocabulary;
    double sum = 0;
    for (uint32_t i = 0; i < m->model->config.vocabulary; i++) {
        sum += exp(logits[i]);
        if (i >= NN_END && logits[i] > logits[best])
            best = i;
    }
    *log_probability = logits[best] - log(sum);
    gpu_queue_free(q);
    gpu_free(m->net.device, memory);
    return best;
}

static const struct nn_config options[] = {
    {.vocabulary = 9,
     .d_model = 12,
     .layers = 2,
     .decoder_layers = 2,
     .heads = 3,
     .d_ff = 20,
     .max_length = 16,
     .wrap = true},
    {.vocabulary = 9,
     .d_model = 16,
     .layers = 1,
     .decoder_layers = 1,
     .heads = 1,
     .d_ff = 16,
     .max_length = 16,
     .positions = NN_LEARNED,
     .activation = GPU_GELU,
     .attention_bias = true,
     .tied_output = true},
    {.vocabulary = 9,
     .d_model = 12,
     .layers = 1,
     .decoder_layers = 2,
     .heads = 2,
     .d_ff = 16,
     .max_length = 16,
     .pooling = GPU_MAX,
     .memory = NN_MEMORY_VECTOR},
};
enum { N_OPTIONS = sizeof options / sizeof *options };

TEST(greedy)
{
    enum { N = 12, LONGEST = 10 };
    size_t ended = 0, tokens = 0;
    for (size_t k = 0; k < N_OPTIONS; k++) {
        struct arena a = {0};
        double *w;
        struct loaded *m = model_new(&options[k], &w);
        Eqloom__TokenBatch *b = batch_new(&a, &options[k], N, 12);
        struct generated out[N];
        struct generator_options o = {.beam = 1, .max_tokens = LONGEST};
        assert_int_equal(generator_run(out, m, b, &o, &a, NULL), OK);
        for (size_t i = 0; i < N; i++) {
            struct nn_sequences input = loaded_inputs(m, b, i, 1, &a);
            uint32_t fed[LONGEST + 2] = {NN_START};
            size_t n = 1;
            double sum = 0, step;
            do {
                fed[n] = next_token(&step, m, &input, fed, n, &a);
                sum += step;
            } while (fed[n] != NN_END && ++n <= LONGEST + 1);
            if (n > LONGEST + 1) { /* never ends */
                assert_int_equal(out[i].n, 0);
                continue;
            }
            ended++;
            tokens += n;
            assert_int_equal(out[i].n, 1);
            assert_int_equal(out[i].best->n, n - 1);
            assert_memory_equal(out[i].best->tokens, fed + 1, (n - 1) * sizeof *fed);
            assert_true(fabs(out[i].best->log_probability - sum) < 1e-4);
        }
        trained_free(m);
        arena_free(&a);
    }
    print_message("%zu ended, %zu tokens\n", ended, tokens);
    assert_true(ended > N / 2 && tokens > ended + N); /* not all at once */
}

static void assert_same(const struct generated *x, const struct generated *y)
{
    assert_int_equal(x->n, y->n);
    for (size_t i = 0; i < x->n; i++) {
        assert_int_equal(x->best[i].n, y->best[i].n);
        assert_memory_equal(x->best[i].tokens, y->best[i].tokens, x->best[i].n * sizeof(uint32_t));
        assert_true(fabs(x->best[i].log_probability - y->best[i].log_probability) < 1e-5);
    }
}

/* Many inputs at once, in several rounds, give what each gives alone; order and probabilities. */
TEST(beams)
{
    enum { N = 70, LONGEST = 8, BEAM = 5 };
    for (size_t k = 0; k < N_OPTIONS; k++) {
        struct arena a = {0};
        double *w;
        struct loaded *m = model_new(&options[k], &w);
        Eqloom__TokenBatch *b = batch_new(&a, &options[k], N, 12);
        static struct generated out[N], one[1];
        struct generator_options o = {.beam = BEAM, .max_tokens = LONGEST};
        assert_int_equal(generator_run(out, m, b, &o, &a, NULL), OK);
        for (size_t i = 0; i < N; i++) {
            struct nn_sequences input = loaded_inputs(m, b, i, 1, &a);
            for (size_t j = 0; j < out[i].n; j++) {
                const struct hypothesis *h = &out[i].best[j];
                assert_true(h->n <= LONGEST);
                assert_true(j == 0 || h->log_probability <= h[-1].log_probability);
                assert_true(fabs(h->log_probability -
                                 log_probability(m, w, &input, h->tokens, h->n)) < 1e-4);
            }
            if (i % 7)
                continue;
            uint32_t offset[2] = {0, b->offset[i + 1] - b->offset[i]};
            Eqloom__TokenBatch single;
            toy_view(&single, b->tokens + b->offset[i], offset, b->cluster, 1);
            assert_int_equal(generator_run(one, m, &single, &o, &a, NULL), OK);
            assert_same(&out[i], one);
        }
        trained_free(m);
        arena_free(&a);
    }
}

TEST_IN_ARENA(refused)
{
    struct nn_config c = options[0];
    struct err e;
    double *w;
    struct generated out[1];
    struct generator_options o = {.beam = 2, .max_tokens = 4};
    c.decoder_layers = 0;
    struct loaded *m = model_new(&c, &w);
    assert_int_equal(generator_run(out, m, batch_new(a, &c, 1, 3), &o, a, &e), ERR_INPUT);
    assert_string_equal(e.message, "the model has no decoder: it can embed, not generate");
    trained_free(m);
}
