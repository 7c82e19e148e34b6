/* The whole host side on the double of a card (double.h), which works late, on memory that only it
 * can touch: training by every objective, embedding and generation give what the CPU gives, with
 * few launches; every call that fails is told; a wait that is left out shows. */
#include "ops/learn/infer/embedder.h"
#include "ops/learn/infer/generator.h"
#include "ops/learn/train/trainer.h"
#include "tests/cuda/double.h"
#include "tests/ops/learn/chunk_memory.h"
#include "tests/ops/learn/toy.h"
#include "tests/unit.h"

#include <dlfcn.h>

static struct double_control *control;

enum { CLUSTERS = 20, MEMBERS = 6, LENGTH = 16 };
static const struct nn_config small = {.vocabulary = TOY_VOCABULARY,
                                       .d_model = 16,
                                       .layers = 2,
                                       .heads = 2,
                                       .d_ff = 24,
                                       .max_length = LENGTH,
                                       .attention_bias = true};

static struct trainer_config how_to(enum objective_kind objective, enum optimizer_kind optimizer)
{
    bool margin = objective == OBJECTIVE_TRIPLET || objective == OBJECTIVE_SIAMESE;
    bool cosines = margin || objective == OBJECTIVE_HISTOGRAM;
    return (struct trainer_config){
        .examples = {.objective = objective, .batch = 8, .negatives = margin ? 2 : 0},
        .temperature = cosines ? 1 : 0.1,
        .margin = 0.5,
        .squared = margin,
        .swap = objective == OBJECTIVE_TRIPLET,
        .smoothing = 0.1,
        .dropout = 0.1,
        .weight_decay = 0.01,
        .clip = 1,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .eps = 1e-8,
        .optimizer = optimizer,
        .schedule = {.lr = 1e-3},
        .seed = 7};
}

struct session {
    struct arena a;
    struct nn_model *m;
    struct gpu_device *d;
    struct trainer *t;
    struct dataset data;
    struct trainer_config how;
};

/* With a failing device it may be half open. */
static enum err_code session_open(struct session *s, const char *device,
                                  const struct nn_config *model, const struct trainer_config *how,
                                  struct err *e)
{
    *s = (struct session){.how = *how};
    for (uint64_t i = 0; i < CLUSTERS; i++)
        assert_int_equal(dataset_add(&s->data, toy_batch(&s->a, 1, i, MEMBERS, 5, 12),
                                     TOY_VOCABULARY, LENGTH, NULL),
                         OK);
    assert_int_equal(nn_model_new(&s->m, &s->a, model, NULL), OK);
    enum err_code code = gpu_open(&s->d, device, NULL, e);
    return code ? code : trainer_new(&s->t, s->d, s->m, how, e);
}

static void session_close(struct session *s)
{
    trainer_free(s->t);
    gpu_close(s->d);
    dataset_free(&s->data);
    arena_free(&s->a);
}

static float *gradient_of(struct step_result *r, struct session *s)
{
    struct example_sampler sampler = {0};
    struct examples x;
    float *g = arena_array(&s->a, float, s->m->table.total);
    trainer_draw(&x, &s->a, &sampler, &s->how, &s->m->config, &s->data, false, 0);
    assert_int_equal(trainer_gradient(r, g, s->t, &x, NULL), OK);
    example_sampler_free(&sampler);
    return g;
}

static double norm_of(const float *x, const float *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += pow((double)x[i] - (y ? (double)y[i] : 0), 2);
    return sqrt(sum);
}

static bool near(double x, double y, double tolerance)
{
    return fabs(x - y) <= tolerance * (fabs(y) + 1e-3);
}

static void check_objective(const struct nn_config *model, const struct trainer_config *how)
{
    struct session cpu, card;
    struct step_result want, r;
    assert_int_equal(session_open(&cpu, "cpu", model, how, NULL), OK);
    assert_int_equal(session_open(&card, "cuda", model, how, NULL), OK);
    float *g = gradient_of(&want, &cpu), *h = gradient_of(&r, &card);
    double off = norm_of(g, h, cpu.m->table.total) / norm_of(g, NULL, cpu.m->table.total);
    if (!near(r.loss, want.loss, 1e-5) || !near(r.accuracy, want.accuracy, 1e-5) || !(off < 2e-5) ||
        r.tokens != want.tokens)
        fail_msg("objective %d: loss %g, on the CPU %g; gradients differ by %g",
                 (int)how->examples.objective, r.loss, want.loss, off);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(trainer_step(&want, cpu.t, &cpu.data, NULL), OK);
        assert_int_equal(trainer_step(&r, card.t, &card.data, NULL), OK);
        if (!near(r.loss, want.loss, 5e-3) || !near(r.gradient_norm, want.gradient_norm, 2e-2))
            fail_msg("objective %d, step %d: loss %g, on the CPU %g; gradient norm %g, %g",
                     (int)how->examples.objective, i + 1, r.loss, want.loss, r.gradient_norm,
                     want.gradient_norm);
    }
    assert_int_equal(trainer_measure(&want, cpu.t, &cpu.data, 1, NULL), OK);
    assert_int_equal(trainer_measure(&r, card.t, &card.data, 1, NULL), OK);
    assert_true(near(r.loss, want.loss, 1e-2));
    session_close(&cpu);
    session_close(&card);
    assert_int_equal(control->live, 0);
}

TEST(objectives)
{
    for (int i = OBJECTIVE_CONTRASTIVE; i <= OBJECTIVE_AUTOENCODE; i++)
        for (int muon = 0; muon < 2; muon++) {
            struct nn_config model = small;
            struct trainer_config how =
                how_to((enum objective_kind)i, muon ? OPTIMIZER_MUON : OPTIMIZER_ADAMW);
            model.decoder_layers = objective_generates(how.examples.objective) ? 1 : 0;
            model.activation = muon ? GPU_GELU : GPU_RELU;
            model.positions = muon ? NN_LEARNED : NN_SINUSOIDAL;
            model.pooling = muon ? GPU_MAX : GPU_MEAN;
            how.dropout = muon ? 0 : 0.1;
            check_objective(&model, &how);
        }
}

/* Whatever the order of the threads was, and whatever was done before. */
TEST(same_bytes)
{
    struct trainer_config how = how_to(OBJECTIVE_CONTRASTIVE, OPTIMIZER_ADAMW);
    float *weights[2];
    struct session s[2];
    for (int i = 0; i < 2; i++) {
        struct step_result r;
        assert_int_equal(session_open(&s[i], "cuda:0", &small, &how, NULL), OK);
        for (int k = 0; k < 3; k++)
            assert_int_equal(trainer_step(&r, s[i].t, &s[i].data, NULL), OK);
        struct trainer_state now = {.weights = arena_array(&s[i].a, float, s[i].m->table.total)};
        assert_int_equal(trainer_read(&now, s[i].t, NULL), OK);
        weights[i] = now.weights;
    }
    assert_memory_equal(weights[0], weights[1], s[0].m->table.total * sizeof(float));
    session_close(&s[0]);
    session_close(&s[1]);
}

/* What a card is given to do in a step, pinned: it depends on sizes only where cuBLASLt does not
 * take a bias, which is a launch more. The host waits for it once, for the result of the step
 * before. */
static void check_launches(enum objective_kind objective, uint32_t layers, bool dropout, long want)
{
    struct trainer_config how = how_to(objective, OPTIMIZER_ADAMW);
    struct nn_config model = small;
    struct session s;
    struct step_result r;
    model.layers = layers;
    model.decoder_layers = objective_generates(objective) ? layers : 0;
    how.dropout = dropout ? 0.1 : 0;
    how.examples.batch = 2;
    assert_int_equal(session_open(&s, "cuda", &model, &how, NULL), OK);
    for (int i = 0; i < 3; i++) /* memory grows in the first ones */
        assert_int_equal(trainer_step(&r, s.t, &s.data, NULL), OK);
    control->launches = control->products = control->copies = control->clears = control->waits = 0;
    assert_int_equal(trainer_begin(s.t, &s.data, NULL), OK);
    long all = control->launches + control->products + control->copies + control->clears;
    print_message("objective %d, %u layers%s: %ld kernels, %ld products, %ld copies, %ld clears\n",
                  (int)objective, layers, dropout ? ", dropout" : "", control->launches,
                  control->products, control->copies, control->clears);
    assert_int_equal(control->waits, 0);
    assert_int_equal(trainer_begin(s.t, &s.data, NULL), OK);
    assert_int_equal(control->waits, 0);
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(trainer_result(&r, s.t, NULL), OK);
        assert_int_equal(control->waits, i);
        assert_true(isfinite(r.loss) && r.gradient_norm > 0);
    }
    session_close(&s);
    assert_int_equal(all, want);
}

TEST(launches)
{
    check_launches(OBJECTIVE_CONTRASTIVE, 2, false, 89);
    check_launches(OBJECTIVE_CONTRASTIVE, 6, false, 217);
    check_launches(OBJECTIVE_CONTRASTIVE, 6, true, 237);
    check_launches(OBJECTIVE_CONTRASTIVE, 2, true, 97);
    check_launches(OBJECTIVE_HISTOGRAM, 2, false, 93);
    check_launches(OBJECTIVE_SEQ2SEQ, 6, true, 595);
}

/* ---- models as they are used ---- */

static long launched(void)
{
    return control->launches + control->products + control->copies + control->clears;
}

static void save(Eqloom__Checkpoint *c, struct chunk_memory *memory, uint32_t decoder_layers)
{
    struct trainer_config how = how_to(OBJECTIVE_CONTRASTIVE, OPTIMIZER_ADAMW);
    struct nn_config model = small;
    struct session s;
    struct chunk_io io = {memory, chunk_memory_put, chunk_memory_get};
    model.decoder_layers = decoder_layers;
    assert_int_equal(session_open(&s, "cpu", &model, &how, NULL), OK);
    struct trainer_state now = {.weights = arena_array(&memory->a, float, s.m->table.total)};
    assert_int_equal(trainer_read(&now, s.t, NULL), OK);
    eqloom__checkpoint__init(c);
    assert_int_equal(checkpoint_write(c, nn_config_text(&memory->a, &s.m->config), &s.m->table,
                                      &now, &io, &memory->a, NULL),
                     OK);
    session_close(&s);
}

/* counts: what a card is given to do to embed, and to generate, or NULL. */
static enum err_code use(float *vectors, struct generated *out, long counts[2], const char *device,
                         const Eqloom__Checkpoint *c, struct chunk_memory *memory,
                         const Eqloom__TokenBatch *b, struct err *e)
{
    long before = 0;
    struct chunk_io io = {memory, chunk_memory_put, chunk_memory_get};
    struct generator_options o = {.beam = 3, .max_tokens = 5};
    struct loaded *m;
    enum err_code code = loaded_new(&m, device, c, &io, e);
    if (code)
        return code;
    if (counts)
        before = launched();
    code = embedder_run(vectors, m, b, true, &memory->a, e);
    if (counts)
        counts[0] = launched() - before;
    if (!code && out)
        code = generator_run(out, m, b, &o, &memory->a, e);
    if (counts)
        counts[1] = launched() - before - counts[0];
    loaded_free(m);
    return code;
}

TEST(use)
{
    enum { MANY = 9, D = 16 };
    static struct chunk_memory memory;
    static float want[MANY * D], got[MANY * D];
    struct generated want_text[MANY], text[MANY];
    Eqloom__Checkpoint c;
    save(&c, &memory, 2);
    Eqloom__TokenBatch *b = toy_batch(&memory.a, 3, 0, MANY, 3, 12);
    assert_int_equal(use(want, want_text, NULL, "cpu", &c, &memory, b, NULL), OK);
    long counts[2] = {0};
    assert_int_equal(use(got, text, counts, "cuda", &c, &memory, b, NULL), OK);
    print_message("embed %ld, generate %ld\n", counts[0], counts[1]);
    assert_int_equal(counts[0], 21);
    assert_int_equal(counts[1], 207);
    for (size_t i = 0; i < MANY * D; i++)
        assert_true(fabsf(want[i] - got[i]) < 1e-5f);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(text[i].n, want_text[i].n);
        for (size_t k = 0; k < text[i].n; k++)
            assert_true(
                near(text[i].best[k].log_probability, want_text[i].best[k].log_probability, 1e-5));
    }
    assert_int_equal(control->live, 0);

    /* A map's elements go to both cards, with the same bytes. */
    struct chunk_io io = {&memory, chunk_memory_put, chunk_memory_get};
    struct loaded_set set = {0}, one = {0};
    long allocated = 0;
    assert_int_equal(loaded_set_open(&set, "auto", GPU_F32, &c, &io, NULL), OK);
    assert_int_equal(set.n, 2);
    for (int i = 0; i < 4; i++) {
        long before[] = {control->submitted[0], control->submitted[1]};
        assert_int_equal(embedder_run(want, loaded_turn(&set), b, true, &memory.a, NULL), OK);
        assert_memory_equal(want, got, sizeof got);
        if (i < 2) /* what a first batch took is there for the next */
            allocated = control->allocations;
        assert_int_equal(control->allocations, allocated);
        for (int card = 0; card < 2; card++)
            assert_int_equal(control->submitted[card] > before[card], card == i % 2);
    }
    loaded_set_close(&set);
    assert_int_equal(loaded_set_open(&one, "cuda:1", GPU_F32, &c, &io, NULL), OK);
    assert_int_equal(one.n, 1);
    loaded_set_close(&one);
    assert_int_equal(control->live, 0);
    chunk_memory_clear(&memory);
}

/* ---- faults ---- */

static enum err_code train_once(struct err *e)
{
    struct nn_config model = small;
    struct trainer_config how = how_to(OBJECTIVE_CONTRASTIVE, OPTIMIZER_ADAMW);
    struct session s;
    struct step_result r;
    model.layers = 1;
    how.examples.batch = 2;
    enum err_code code = session_open(&s, "cuda", &model, &how, e);
    if (!code)
        code = trainer_step(&r, s.t, &s.data, e);
    if (!code) {
        struct trainer_state now = {.weights = arena_array(&s.a, float, s.m->table.total)};
        code = trainer_read(&now, s.t, e);
    }
    long calls = control->calls;
    session_close(&s);
    control->calls = calls; /* those that count */
    return code;
}

/* An error at every single call is told, and nothing is left behind. */
TEST(every_call_fails)
{
    struct err e;
    assert_int_equal(train_once(&e), OK); /* the cards are counted at the first time only */
    control->calls = 0;
    assert_int_equal(train_once(&e), OK);
    long n = control->calls;
    print_message("%ld calls\n", n);
    assert_true(n > 200);
    for (long at = 1; at <= n; at++) {
        err_clear(&e);
        control->calls = 0;
        control->fail_at = at;
        enum err_code code = train_once(&e);
        control->fail_at = 0;
        if (code == OK || !e.message[0])
            fail_msg("call %ld of %ld fails, and nobody says so", at, n);
        assert_int_equal(control->live, 0);
    }
}

TEST(not_finite)
{
    struct trainer_config how = how_to(OBJECTIVE_CONTRASTIVE, OPTIMIZER_ADAMW);
    struct session s;
    struct step_result r;
    struct err e;
    assert_int_equal(session_open(&s, "cuda", &small, &how, NULL), OK);
    assert_int_equal(trainer_step(&r, s.t, &s.data, NULL), OK);
    size_t n = s.m->table.total;
    struct trainer_state now = {arena_array(&s.a, float, n), arena_array(&s.a, float, n),
                                arena_array(&s.a, float, n)};
    struct trainer_state then = {.m = arena_array(&s.a, float, n)};
    assert_int_equal(trainer_read(&now, s.t, NULL), OK);
    now.weights[s.m->layers[1].linear1_weight + 5] = NAN;
    assert_int_equal(trainer_write(s.t, &now, NULL), OK);
    assert_int_equal(trainer_step(&r, s.t, &s.data, &e), ERR_FAILED);
    assert_non_null(strstr(e.message, "layers.1.linear1.weight is not finite"));
    assert_int_equal(trainer_read(&then, s.t, NULL), OK);
    assert_memory_equal(now.m, then.m, n * sizeof(float));
    session_close(&s);
}

/* Copies that do not fit the page-locked memory at once, with and without the waits. */
static bool copies_hold(void)
{
    enum { N = 6 << 20 };
    static uint32_t there[N], back[N];
    struct gpu_device *d;
    struct gpu_queue *q;
    void *p;
    for (uint32_t i = 0; i < N; i++)
        there[i] = i;
    assert_int_equal(gpu_open(&d, "cuda", NULL, NULL), OK);
    assert_int_equal(gpu_queue_new(&q, d, NULL), OK);
    assert_int_equal(gpu_alloc(&p, d, sizeof there, NULL), OK);
    gpu_write(q, p, there, sizeof there);
    gpu_read(q, back, p, sizeof back);
    control->no_event_waits = control->no_stream_waits = false;
    assert_int_equal(gpu_finish(q, NULL), OK);
    bool same = memcmp(there, back, sizeof there) == 0;
    gpu_free(d, p);
    gpu_queue_free(q);
    gpu_close(d);
    return same;
}

/* Whether the result of a step is the step's. */
static bool results_hold(void)
{
    struct trainer_config how = how_to(OBJECTIVE_CONTRASTIVE, OPTIMIZER_ADAMW);
    struct session s;
    struct step_result r, want;
    assert_int_equal(session_open(&s, "cpu", &small, &how, NULL), OK);
    assert_int_equal(trainer_step(&want, s.t, &s.data, NULL), OK);
    session_close(&s);
    assert_int_equal(session_open(&s, "cuda", &small, &how, NULL), OK);
    assert_int_equal(trainer_begin(s.t, &s.data, NULL), OK);
    bool hold = trainer_result(&r, s.t, NULL) == OK && near(r.loss, want.loss, 1e-5);
    session_close(&s);
    return hold;
}

TEST(waits)
{
    assert_true(results_hold());
    control->no_event_waits = true;
    assert_false(results_hold());
    control->no_event_waits = false;
    assert_true(copies_hold());
    control->no_event_waits = true;
    assert_false(copies_hold());
    control->no_stream_waits = true;
    assert_false(copies_hold());
}

/* The double's card has 8 GiB, 1 of which is free. */
TEST(no_memory)
{
    struct nn_config model = small;
    struct trainer_config how = how_to(OBJECTIVE_CONTRASTIVE, OPTIMIZER_ADAMW);
    struct session s;
    struct step_result r;
    struct err e;
    model.layers = 200;
    model.d_model = model.d_ff = 1024;
    how.examples.batch = 4096;
    assert_int_equal(session_open(&s, "cuda", &model, &how, &e), ERR_NOMEM);
    assert_non_null(strstr(e.message, "cuda:0: no memory for "));
    session_close(&s);
    model.layers = 2;
    assert_int_equal(session_open(&s, "cuda", &model, &how, &e), OK);
    assert_int_equal(trainer_step(&r, s.t, &s.data, &e), ERR_NOMEM);
    assert_non_null(strstr(e.message, "a batch of 4096 examples needs "));
    assert_non_null(strstr(e.message, " and 1024 are free: about "));
    session_close(&s);
    assert_int_equal(control->live, 0);
}

TEST(names)
{
    static const char *const bad[] = {"",        "gpu",   "cuda:",    "cuda:x",
                                      "cuda:-1", "cuda0", "cuda:1024"};
    struct gpu_device *d;
    struct err e;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(gpu_open(&d, bad[i], NULL, &e), ERR_INPUT);
    assert_int_equal(gpu_open(&d, "cuda:2", NULL, &e), ERR_INPUT);
    assert_string_equal(e.message, "cuda:2: there are 2 cards, from cuda:0 on");
    assert_int_equal(gpu_open(&d, "auto", NULL, &e), OK);
    assert_string_equal(d->ops.name, "cuda");
    gpu_close(d);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        cmocka_set_test_filter(argv[2]);
    void *library = argc >= 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library || !(control = dlsym(library, "eqloom_double"))) {
        fprintf(stderr, "usage: test_late DOUBLE.so [TEST]: %s\n", argc >= 2 ? dlerror() : "");
        return 2;
    }
    setenv("EQLOOM_CUDA", argv[1], 1);
    return unit_run();
}
