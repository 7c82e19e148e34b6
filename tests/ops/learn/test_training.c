/* Training as a whole, on a toy corpus: the loss falls and held-out clusters are told apart; the
 * bytes are the same for any number of threads and across an interruption; numbers that are not
 * finite stop it. */
#include "ops/learn/graph/graph_network.h"
#include "ops/learn/transformer/loaded.h"
#include "ops/learn/transformer/transformer_training.h"
#include "tests/ops/learn/chunk_memory.h"
#include "tests/ops/learn/toy.h"
#include "tests/scarce.h"
#include "tests/unit.h"

enum { CLUSTERS = 60, MEMBERS = 12, HELD_OUT = 12 };

static const struct nn_config config = {.vocabulary = TOY_VOCABULARY,
                                        .d_model = 32,
                                        .layers = 2,
                                        .heads = 2,
                                        .d_ff = 64,
                                        .max_length = 16};
static const struct transformer_config how = {.examples = {.batch = 32},
                                              .temperature = 0.1,
                                              .dropout = 0.1,
                                              .optimizer.weight_decay = 0.01,
                                              .optimizer.clip = 1,
                                              .optimizer.beta1 = 0.9,
                                              .optimizer.beta2 = 0.999,
                                              .optimizer.eps = 1e-8,
                                              .optimizer.schedule = {.lr = 3e-3, .warmup = 5},
                                              .seed = 42};

struct session {
    struct arena a;
    struct nn_model *m;
    struct pool *pool;
    struct gpu_device *d;
    struct trainer *t;
    struct dataset data;
    struct transformer_batches b;
};

/* What each objective needs beside `how`. */
static struct transformer_config how_to(enum objective_kind objective)
{
    struct transformer_config c = how;
    c.examples.objective = objective;
    bool margin = objective == OBJECTIVE_TRIPLET || objective == OBJECTIVE_SIAMESE;
    c.examples.negatives = margin ? 2 : 0;
    c.temperature = margin || objective == OBJECTIVE_HISTOGRAM ? 1 : how.temperature;
    c.squared = margin;
    c.swap = objective == OBJECTIVE_TRIPLET;
    c.margin = 0.5;
    c.smoothing = 0.1;
    return c;
}

static void session_open(struct session *s, unsigned threads, const struct transformer_config *c)
{
    struct nn_config model = config;
    model.decoder_layers = objective_generates(c->examples.objective) ? 2 : 0;
    *s = (struct session){.pool = pool_new(threads)};
    for (uint64_t i = 0; i < CLUSTERS; i++)
        assert_int_equal(
            dataset_add(&s->data, toy_batch(&s->a, 1, i, MEMBERS, 5, 12), TOY_VOCABULARY, 16, NULL),
            OK);
    assert_int_equal(nn_model_new(&s->m, &s->a, &model, NULL), OK);
    assert_int_equal(gpu_open_cpu(&s->d, s->pool, NULL, NULL), OK);
    s->b = transformer_batches(c, &model, &s->data, &s->data);
    assert_int_equal(transformer_new(&s->t, s->d, s->m, c, NULL), OK);
}

static void session_close(struct session *s)
{
    trainer_free(s->t);
    transformer_batches_free(&s->b);
    gpu_close(s->d);
    pool_free(s->pool);
    dataset_free(&s->data);
    arena_free(&s->a);
}

static struct step_result steps(struct session *s, int n)
{
    struct step_result r = {0};
    for (int i = 0; i < n; i++)
        assert_int_equal(trainer_step(&r, s->t, &s->b.base, NULL), OK);
    return r;
}

static struct trainer_state state_new(struct session *s)
{
    size_t n = s->m->table.total;
    return (struct trainer_state){arena_array(&s->a, float, n), arena_array(&s->a, float, n),
                                  arena_array(&s->a, float, n), 0};
}

static void assert_same_state(struct session *a, struct session *b)
{
    struct trainer_state x = state_new(a), y = state_new(b);
    size_t bytes = a->m->table.total * sizeof(float);
    assert_int_equal(trainer_read(&x, a->t, NULL), OK);
    assert_int_equal(trainer_read(&y, b->t, NULL), OK);
    assert_int_equal(x.steps, y.steps);
    assert_memory_equal(x.weights, y.weights, bytes);
    assert_memory_equal(x.m, y.m, bytes);
    assert_memory_equal(x.v, y.v, bytes);
}

static void check_threads(const struct transformer_config *c)
{
    struct session one, more;
    session_open(&one, 1, c);
    struct step_result want = steps(&one, 5);
    for (unsigned threads = 2; threads <= 3; threads++) {
        session_open(&more, threads, c);
        struct step_result r = steps(&more, 5);
        assert_true(r.loss == want.loss && r.gradient_norm == want.gradient_norm);
        assert_same_state(&one, &more);
        session_close(&more);
    }
    session_close(&one);
}

TEST(threads)
{
    for (int i = OBJECTIVE_CONTRASTIVE; i <= OBJECTIVE_AUTOENCODE; i++) {
        struct transformer_config c = how_to((enum objective_kind)i);
        check_threads(&c);
        c.optimizer.kind = OPTIMIZER_MUON;
        check_threads(&c);
    }
    struct transformer_config c = how_to(OBJECTIVE_CONTRASTIVE);
    c.maxsim = true;
    check_threads(&c);
    c.examples.negatives = 2;
    check_threads(&c);
}

/* Products of bf16: near the f32 step, the same only without bf16 units; and the same for any
 * number of threads. */
TEST(bf16)
{
    struct transformer_config c = how;
    struct session f32, one, two;
    session_open(&f32, 1, &c);
    c.precision = GPU_BF16;
    session_open(&one, 1, &c);
    session_open(&two, 2, &c);
    struct step_result want = steps(&f32, 1), r = steps(&one, 1);
    assert_true(fabs(r.loss - want.loss) < 0.02 * want.loss);
    assert_int_equal(r.loss != want.loss, gpu_cpu_bf16() != NULL);
    assert_true(fabs(r.gradient_norm - want.gradient_norm) < 0.05 * want.gradient_norm);
    steps(&one, 4);
    steps(&two, 5);
    assert_same_state(&one, &two);
    session_close(&f32);
    session_close(&one);
    session_close(&two);
}

static void save(Eqloom__Checkpoint *c, struct chunk_memory *memory, struct session *s)
{
    struct trainer_state now = state_new(s);
    struct chunk_io io = {memory, chunk_memory_put, chunk_memory_get};
    eqloom__checkpoint__init(c);
    assert_int_equal(trainer_read(&now, s->t, NULL), OK);
    assert_int_equal(checkpoint_write(c, nn_config_text(&memory->a, &s->m->config), &s->m->table,
                                      &now, &io, &memory->a, NULL),
                     OK);
}

TEST(resume)
{
    struct session whole, before, after;
    static struct chunk_memory memory;
    struct chunk_io io = {&memory, chunk_memory_put, chunk_memory_get};
    for (int run = 0; run < 4; run++) { /* from the initialisation, and from the middle */
        struct transformer_config c_run =
            how_to(run & 1 ? OBJECTIVE_SEQ2SEQ : OBJECTIVE_CONTRASTIVE);
        c_run.optimizer.kind = run & 1 ? OPTIMIZER_MUON : OPTIMIZER_ADAMW;
        int at = run & 2 ? 4 : 0;
        session_open(&whole, 1, &c_run);
        steps(&whole, 9);
        session_open(&before, 1, &c_run);
        steps(&before, at);
        Eqloom__Checkpoint c;
        save(&c, &memory, &before);
        assert_int_equal(c.n_tensors, (at ? 3 : 1) * before.m->table.n);
        session_close(&before);
        session_open(&after, 2, &c_run);
        struct trainer_state loaded = state_new(&after);
        assert_int_equal(checkpoint_read(&loaded, &after.m->table, &c, &io, &after.a, NULL), OK);
        assert_int_equal(trainer_write(after.t, &loaded, NULL), OK);
        steps(&after, 9 - at);
        assert_same_state(&whole, &after);
        session_close(&whole);
        session_close(&after);
        chunk_memory_clear(&memory);
    }
}

TEST(checkpoint_damaged)
{
    struct session s;
    static struct chunk_memory memory;
    struct chunk_io io = {&memory, chunk_memory_put, chunk_memory_get};
    Eqloom__Checkpoint c;
    struct err e;
    session_open(&s, 1, &how);
    save(&c, &memory, &s);
    struct trainer_state loaded = state_new(&s);
    char *name = c.tensors[3]->name;
    c.tensors[3]->name = (char *)"other";
    assert_int_equal(checkpoint_read(&loaded, &s.m->table, &c, &io, &s.a, &e), ERR_CORRUPT);
    c.tensors[3]->name = name;
    c.tensors[1]->shape[0]++;
    assert_int_equal(checkpoint_read(&loaded, &s.m->table, &c, &io, &s.a, &e), ERR_CORRUPT);
    c.tensors[1]->shape[0]--;
    c.n_tensors--;
    assert_int_equal(checkpoint_read(&loaded, &s.m->table, &c, &io, &s.a, &e), ERR_CORRUPT);
    c.n_tensors++;
    memory.chunks[2].data.len--;
    assert_int_equal(checkpoint_read(&loaded, &s.m->table, &c, &io, &s.a, &e), ERR_CORRUPT);
    memory.chunks[2].data.len++;
    assert_int_equal(checkpoint_read(&loaded, &s.m->table, &c, &io, &s.a, &e), OK);
    session_close(&s);
    chunk_memory_clear(&memory);
}

/* How many vectors of held-out clusters have their nearest other vector in their own cluster. */
static double nearest_share(struct session *s)
{
    static struct chunk_memory memory;
    struct chunk_io io = {&memory, chunk_memory_put, chunk_memory_get};
    struct loaded *em;
    Eqloom__Checkpoint c;
    enum { N = HELD_OUT * MEMBERS, D = 32 };
    static float v[N * D];
    save(&c, &memory, s);
    assert_int_equal(trained_new(&em, &loaded_kind, "cpu", GPU_F32, &c, &io, NULL), OK);
    for (uint64_t i = 0; i < HELD_OUT; i++)
        assert_int_equal(embedder_run(v + i * MEMBERS * D, em,
                                      toy_batch(&s->a, 99, i, MEMBERS, 5, 12), true, &s->a, NULL),
                         OK);
    size_t right = 0;
    for (size_t i = 0; i < N; i++) {
        size_t best = N;
        double most = -2;
        for (size_t j = 0; j < N; j++) {
            double cosine = 0;
            for (size_t k = 0; k < D; k++)
                cosine += (double)v[i * D + k] * v[j * D + k];
            if (i == j)
                assert_true(fabs(cosine - 1) < 1e-5);
            else if (cosine > most) {
                most = cosine;
                best = j;
            }
        }
        right += best / MEMBERS == i / MEMBERS;
    }
    trained_free(em);
    chunk_memory_clear(&memory);
    return (double)right / N;
}

TEST(learns)
{
    struct session s;
    session_open(&s, 1, &how);
    double untrained = nearest_share(&s);
    struct step_result first = steps(&s, 1), last = steps(&s, 300);
    double trained = nearest_share(&s);
    print_message("loss %.3f -> %.3f, accuracy %.2f, nearest %.3f -> %.3f\n", first.loss, last.loss,
                  last.accuracy, untrained, trained);
    assert_true(last.loss < 0.5 * first.loss);
    assert_true(last.accuracy > 0.7);
    assert_true(trained > 0.9 && trained > untrained);
    session_close(&s);
}

/* The others: the loss falls, and what is asked for is found. */
TEST(others_learn)
{
    for (int i = OBJECTIVE_SIMCSE; i <= OBJECTIVE_AUTOENCODE; i++) {
        struct transformer_config c = how_to((enum objective_kind)i);
        struct session s;
        struct step_result valid;
        session_open(&s, 1, &c);
        struct step_result first = steps(&s, 1), last = steps(&s, 150);
        assert_int_equal(trainer_measure(&valid, s.t, &s.b.base, 1, NULL), OK);
        print_message("objective %d: loss %.3f -> %.3f, accuracy %.2f -> %.2f\n", i, first.loss,
                      last.loss, first.accuracy, valid.accuracy);
        assert_true(last.loss < 0.9 * first.loss);
        /* Validation of simcse is on pairs, which it has not seen. */
        assert_true((i == OBJECTIVE_SIMCSE ? last : valid).accuracy > first.accuracy);
        assert_true(valid.accuracy > 0.2);
        session_close(&s);
    }
}

/* A decoder is needed where something is to be written. */
TEST_IN_ARENA(no_decoder)
{
    struct transformer_config c = how_to(OBJECTIVE_SEQ2SEQ);
    struct nn_model *m;
    struct gpu_device *d;
    struct trainer *t;
    struct err e;
    assert_int_equal(nn_model_new(&m, a, &config, NULL), OK);
    assert_int_equal(gpu_open_cpu(&d, NULL, NULL, NULL), OK);
    assert_int_equal(transformer_new(&t, d, m, &c, &e), ERR_INPUT);
    assert_string_equal(e.message, "this objective needs a model with a decoder");
    gpu_close(d);
}

/* Whichever large allocation fails, there is no trainer. */
TEST_IN_ARENA(memory_runs_out)
{
    struct transformer_config c = how_to(OBJECTIVE_CONTRASTIVE);
    struct graph_training of_graphs = {.similarity = GRAPH_TRIPLET};
    struct graph_config graph = {.d = 8, .layers = 3, .out = 4, .positions = 4};
    struct graph_model *graphs;
    struct nn_model *m;
    struct gpu_device *d;
    void *t;
    long failures;
    assert_int_equal(nn_model_new(&m, a, &config, NULL), OK);
    assert_int_equal(graph_model_new(&graphs, a, &graph, NULL), OK);
    assert_int_equal(gpu_open_cpu(&d, NULL, NULL, NULL), OK);
    SCARCE_UNTIL_OK(&failures, transformer_new(&t, d, m, &c, NULL));
    assert_int_equal(failures, 1);
    trainer_free(t);
    SCARCE_UNTIL_OK(&failures, graph_network_new(&t, d, graphs, &of_graphs, NULL));
    assert_int_equal(failures, 2);
    trainer_free(t);
    gpu_close(d);
}

/* A vector does not depend on the other sequences of its batch, except by the rounding of the
 * matrix library, which with some instructions depends on the number of rows. The same batch gives
 * the same bits. */
TEST(embed_shards)
{
    enum { MANY = 300, D = 32 };
    struct session s;
    static struct chunk_memory memory;
    static float all[MANY * D], one[D];
    struct chunk_io io = {&memory, chunk_memory_put, chunk_memory_get};
    struct loaded *em;
    Eqloom__Checkpoint c;
    session_open(&s, 1, &how);
    save(&c, &memory, &s);
    assert_int_equal(trained_new(&em, &loaded_kind, "cpu", GPU_F32, &c, &io, NULL), OK);
    Eqloom__TokenBatch *b = toy_batch(&s.a, 3, 0, MANY, 5, 12), single;
    assert_int_equal(embedder_run(all, em, b, false, &s.a, NULL), OK);
    uint32_t offset[] = {0, 0};
    for (size_t i = 0; i < MANY; i += 41) {
        offset[1] = b->offset[i + 1] - b->offset[i];
        toy_view(&single, b->tokens + b->offset[i], offset, b->cluster, 1);
        assert_int_equal(embedder_run(one, em, &single, false, &s.a, NULL), OK);
        for (size_t k = 0; k < D; k++)
            assert_true(fabsf(one[k] - all[i * D + k]) < 1e-5f);
    }
    static float again[MANY * D];
    assert_int_equal(embedder_run(again, em, b, false, &s.a, NULL), OK);
    assert_memory_equal(again, all, sizeof all);
    b->tokens[7] = TOY_VOCABULARY;
    assert_int_equal(embedder_run(all, em, b, false, &s.a, NULL), ERR_INPUT);
    trained_free(em);
    session_close(&s);
    chunk_memory_clear(&memory);
}

static void check_not_finite(const struct transformer_config *c)
{
    struct session s;
    struct err e = {0};
    struct step_result r;
    session_open(&s, 1, c);
    struct trainer_state now = state_new(&s), then = state_new(&s);
    steps(&s, 2);
    assert_int_equal(trainer_read(&now, s.t, NULL), OK);
    now.weights[s.m->layers[1].linear1_weight + 5] = NAN;
    assert_int_equal(trainer_write(s.t, &now, NULL), OK);
    assert_int_equal(trainer_step(&r, s.t, &s.b.base, &e), ERR_FAILED);
    assert_non_null(strstr(e.message, "step 3: "));
    assert_non_null(strstr(e.message, "layers.1.linear1.weight is not finite"));
    assert_non_null(strstr(e.message, "examples 64 to 95"));
    assert_int_equal(trainer_read(&then, s.t, NULL), OK);
    assert_int_equal(then.steps, 2);
    assert_memory_equal(now.m, then.m, s.m->table.total * sizeof(float));
    session_close(&s);
}

TEST(not_finite)
{
    for (int i = OBJECTIVE_CONTRASTIVE; i <= OBJECTIVE_AUTOENCODE; i++) {
        struct transformer_config c = how_to((enum objective_kind)i);
        check_not_finite(&c);
    }
}

/* With the next step begun before a result is asked for, all is the same; a step that is not finite
 * is told a step late, both are undone, and what it names is its own. */
TEST(ahead)
{
    struct session s, plain;
    struct step_result r, want;
    struct err e;
    session_open(&s, 1, &how);
    session_open(&plain, 1, &how);
    assert_int_equal(trainer_begin(s.t, &s.b.base, NULL), OK);
    for (uint64_t i = 1; i <= 4; i++) {
        assert_int_equal(trainer_begin(s.t, &s.b.base, NULL), OK);
        assert_int_equal(trainer_result(&r, s.t, NULL), OK);
        want = steps(&plain, 1);
        assert_true(r.step == i && r.step == want.step && r.tokens == want.tokens);
        assert_true(r.loss == want.loss && r.accuracy == want.accuracy && r.lr == want.lr);
        assert_true(r.gradient_norm == want.gradient_norm);
    }
    assert_int_equal(trainer_result(&r, s.t, NULL), OK);
    steps(&plain, 1);
    assert_same_state(&s, &plain);

    struct trainer_state now = state_new(&s), then = state_new(&s);
    assert_int_equal(trainer_read(&now, s.t, NULL), OK);
    float good = now.weights[s.m->layers[0].linear2_bias];
    now.weights[s.m->layers[0].linear2_bias] = INFINITY;
    assert_int_equal(trainer_write(s.t, &now, NULL), OK);
    for (int i = 0; i < TRAINER_AHEAD; i++)
        assert_int_equal(trainer_begin(s.t, &s.b.base, NULL), OK);
    assert_int_equal(trainer_result(&r, s.t, &e), ERR_FAILED);
    assert_non_null(strstr(e.message, "step 6: layers.0.linear2.bias is not finite"));
    assert_non_null(strstr(e.message, "examples 160 to 191"));
    assert_int_equal(trainer_read(&then, s.t, NULL), OK);
    assert_int_equal(then.steps, 5);
    assert_memory_equal(now.weights, then.weights, s.m->table.total * sizeof(float));
    assert_memory_equal(now.v, then.v, s.m->table.total * sizeof(float));
    now.weights[s.m->layers[0].linear2_bias] = good; /* it goes on from there */
    assert_int_equal(trainer_write(s.t, &now, NULL), OK);
    steps(&s, 1);
    steps(&plain, 1);
    assert_same_state(&s, &plain);
    session_close(&s);
    session_close(&plain);
}
