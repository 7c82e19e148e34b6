/* Configurations as text, and the table of parameters. */
#include "ops/nn/graph/graph_model.h"
#include "ops/nn/transformer/model.h"
#include "tests/unit.h"

static const struct nn_config small = {.vocabulary = 59,
                                       .d_model = 32,
                                       .layers = 2,
                                       .heads = 4,
                                       .d_ff = 64,
                                       .max_length = 40,
                                       .positions = NN_LEARNED,
                                       .activation = GPU_GELU,
                                       .pooling = GPU_MAX,
                                       .attention_bias = true};

TEST_IN_ARENA(text)
{
    struct nn_config back;
    const char *text = nn_config_text(a, &small);
    assert_string_equal(text, "activation=gelu\nattention_bias=true\nd_ff=64\nd_model=32\nheads=4\n"
                              "layers=2\nmax_length=40\npooling=max\npositions=learned\n"
                              "vocabulary=59\n");
    assert_int_equal(nn_config_parse(&back, text, NULL), OK);
    assert_string_equal(nn_config_text(a, &back), text);
}

/* With a decoder; lines that would say 0 or false are optional. */
TEST_IN_ARENA(text_decoder)
{
    struct nn_config c = small, back;
    c.pooling = GPU_MEAN;
    c.wrap = c.tied_output = true;
    c.decoder_layers = 3;
    c.memory = NN_MEMORY_VECTOR;
    const char *text = nn_config_text(a, &c);
    assert_string_equal(
        text, "activation=gelu\nattention_bias=true\nd_ff=64\nd_model=32\ndecoder_layers=3\n"
              "heads=4\nlayers=2\nmax_length=40\nmemory=vector\npooling=mean\n"
              "positions=learned\ntied_output=true\nvocabulary=59\nwrap=true\n");
    assert_int_equal(nn_config_parse(&back, text, NULL), OK);
    assert_string_equal(nn_config_text(a, &back), text);
    text = arena_printf(a, "%swrap=false\n", nn_config_text(a, &small));
    assert_int_equal(nn_config_parse(&back, text, NULL), OK);
    assert_string_equal(nn_config_text(a, &back), nn_config_text(a, &small));
    text = arena_printf(a, "%swrap=no\n", nn_config_text(a, &small));
    assert_int_equal(nn_config_parse(&back, text, NULL), ERR_CORRUPT);
}

/* Every cut and every changed byte is refused, or gives another valid configuration whose text is
 * what was read. */
TEST_IN_ARENA(text_damaged)
{
    struct nn_config back;
    const char *text = nn_config_text(a, &small);
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(nn_config_parse(&back, arena_strndup(a, text, i), NULL), ERR_CORRUPT);
        for (int bit = 0; bit < 7; bit++) {
            char *bad = arena_strdup(a, text);
            bad[i] ^= (char)(1 << bit);
            if (nn_config_parse(&back, bad, NULL) == OK && bad[i] != '0' && !strstr(bad, "=0"))
                assert_string_equal(nn_config_text(a, &back), bad);
        }
    }
    assert_int_equal(nn_config_parse(&back, arena_printf(a, "%sx=1\n", text), NULL), ERR_CORRUPT);
}

TEST(refused)
{
    struct nn_config c = small;
    struct err e;
    c.heads = 5;
    assert_int_equal(nn_config_check(&c, &e), ERR_INPUT);
    assert_string_equal(e.message, "d_model 32 is not divisible by heads 5");
    c = small;
    c.layers = 0;
    assert_int_equal(nn_config_check(&c, &e), ERR_INPUT);
    c = small;
    c.wrap = true;
    c.max_length = 2;
    assert_int_equal(nn_config_check(&c, &e), ERR_INPUT);
    assert_string_equal(e.message, "max_length 2 leaves no room between start and end tokens");
    c = small;
    c.tied_output = true;
    assert_int_equal(nn_config_check(&c, &e), ERR_INPUT);
    c = small;
    c.d_model = UINT32_MAX;
    assert_int_equal(nn_config_check(&c, &e), ERR_INPUT);
}

TEST_IN_ARENA(params)
{
    struct nn_model *m;
    assert_int_equal(nn_model_new(&m, a, &small, NULL), OK);
    size_t d = 32, ff = 64, layer = 3 * d * d + 3 * d + d * d + d + 2 * d * ff + ff + d + 4 * d;
    assert_int_equal(m->table.count, 59 * d + 40 * d + 2 * layer + 2 * d);
    assert_string_equal(m->table.params[0].name, "embedding.weight");
    assert_string_equal(m->table.params[2].name, "layers.0.self_attn.in_proj_weight");
    assert_string_equal(m->table.params[m->table.n - 1].name, "norm.bias");
    size_t end = 0;
    for (size_t i = 0; i < m->table.n; i++) { /* in order, aligned, without overlap */
        assert_true(m->table.params[i].at >= end && m->table.params[i].at % 16 == 0);
        end = m->table.params[i].at + m->table.params[i].size;
    }
    assert_true(end <= m->table.total);
    struct nn_config plain = small;
    plain.attention_bias = false;
    plain.positions = NN_SINUSOIDAL;
    assert_int_equal(nn_model_new(&m, a, &plain, NULL), OK);
    assert_int_equal(m->table.count, 59 * d + 2 * (layer - 4 * d) + 2 * d);
}

/* A graph network: its text is read back; what has no size, or too much, is no network. */
TEST_IN_ARENA(graph_networks)
{
    const struct graph_config good = {.d = 3, .layers = 2, .out = 4, .positions = 5};
    const uint32_t least[] = {1, 1, 1, 1}, most[] = {1u << 14, 64, 1u << 14, 1u << 16};
    for (uint32_t counts = 0; counts < 2; counts++) {
        struct graph_config c = good, back;
        c.counts = counts;
        const char *text = graph_config_text(a, &c);
        assert_true(graph_config_is(text));
        assert_int_equal(graph_config_parse(&back, text, NULL), OK);
        assert_memory_equal(&back, &c, sizeof c);
        for (size_t i = 1; i < strlen(text); i++) {
            const char *cut = arena_strndup(a, text, i);
            if (graph_config_parse(&back, cut, NULL) == OK)
                assert_string_equal(graph_config_text(a, &back), cut);
        }
        assert_int_equal(graph_config_parse(&back, arena_printf(a, "%s ", text), NULL),
                         ERR_CORRUPT);
    }
    assert_false(graph_config_is(nn_config_text(a, &small)));
    for (size_t k = 0; k < 4; k++) {
        struct graph_config low = good, high = good, back;
        uint32_t *fields[2][4] = {{&low.d, &low.layers, &low.out, &low.positions},
                                  {&high.d, &high.layers, &high.out, &high.positions}};
        struct graph_model *m;
        *fields[0][k] = least[k];
        *fields[1][k] = most[k];
        assert_int_equal(graph_config_check(&low, NULL), OK);
        assert_int_equal(graph_config_check(&high, NULL), OK);
        *fields[0][k] = 0;
        *fields[1][k] = most[k] + 1;
        assert_int_equal(graph_model_new(&m, a, &low, NULL), ERR_INPUT);
        assert_int_equal(graph_model_new(&m, a, &high, NULL), ERR_INPUT);
        assert_int_equal(graph_config_parse(&back, graph_config_text(a, &high), NULL), ERR_INPUT);
    }
}

/* SemVec's transformers (Gangwar and Kani 2023, their table of model sizes): 6 + 6 layers of 8
 * heads, feed-forward layers four times as wide as the model, biases everywhere, 23 tokens, an
 * embedding that inputs and targets share and output weights of their own. */
TEST(semvec_counts)
{
    static const struct {
        uint32_t d_model;
        size_t count;
    } sizes[] = {{32, 179799}, {64, 703639}, {128, 2783511}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct arena a = {0};
        struct nn_model *m;
        struct nn_config c = {.vocabulary = 23,
                              .d_model = sizes[i].d_model,
                              .layers = 6,
                              .decoder_layers = 6,
                              .heads = 8,
                              .d_ff = 4 * sizes[i].d_model,
                              .max_length = 64,
                              .pooling = GPU_MAX,
                              .attention_bias = true,
                              .wrap = true};
        assert_int_equal(nn_model_new(&m, &a, &c, NULL), OK);
        assert_int_equal(m->table.count, sizes[i].count);
        arena_free(&a);
    }
}

/* Names and number of a decoder's parameters. */
TEST_IN_ARENA(decoder_params)
{
    struct nn_model *m;
    struct nn_config c = small;
    c.decoder_layers = 1;
    c.tied_output = true;
    assert_int_equal(nn_model_new(&m, a, &c, NULL), OK);
    assert_string_equal(m->table.params[2].name, "encoder.layers.0.self_attn.in_proj_weight");
    assert_string_equal(m->table.params[m->table.n - 4].name, "decoder.layers.0.norm3.bias");
    assert_string_equal(m->table.params[m->table.n - 1].name, "output.bias");
    size_t tied = m->table.count;
    c.tied_output = false;
    assert_int_equal(nn_model_new(&m, a, &c, NULL), OK);
    assert_int_equal(m->table.count, tied + 59 * 32);
}

TEST_IN_ARENA(init)
{
    struct nn_model *m;
    assert_int_equal(nn_model_new(&m, a, &small, NULL), OK);
    float *w = arena_array(a, float, m->table.total),
          *again = arena_array(a, float, m->table.total);
    nn_table_init(w, &m->table, 1);
    nn_table_init(again, &m->table, 1);
    assert_memory_equal(w, again, m->table.total * sizeof *w);
    nn_table_init(again, &m->table, 2);
    for (size_t i = 0; i < m->table.n; i++) {
        const struct nn_param *p = &m->table.params[i];
        double sum = 0, squares = 0, bound = sqrt(6.0 / (p->shape[0] + p->shape[1]));
        for (size_t j = p->at; j < p->at + p->size; j++) {
            sum += w[j];
            squares += (double)w[j] * w[j];
            if (p->init == NN_INIT_XAVIER)
                assert_true(fabs(w[j]) <= bound);
        }
        if (p->init != NN_INIT_XAVIER) {
            assert_true(sum == (p->init == NN_INIT_ONE ? (double)p->size : 0));
            continue;
        }
        assert_memory_not_equal(w + p->at, again + p->at, p->size * sizeof *w);
        assert_true(fabs(squares / (double)p->size / (bound * bound / 3) - 1) < 0.1);
    }
}
