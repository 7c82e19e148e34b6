/* The whole host side on the double of a card (double.h), which works late, on memory that only it
 * can touch: training by every objective, embedding and generation give what the CPU gives, with
 * few launches; every call that fails is told; a wait that is left out shows. */
#include "ops/learn/transformer/generator.h"
#include "ops/learn/transformer/loaded.h"
#include "ops/learn/infer/networks.h"
#include "tests/cuda/card_session.h"
#include "tests/ops/learn/chunk_memory.h"

/* The weights that products read are the weights, rounded. */
static void check_rounded(struct session *s)
{
    size_t n = s->m->table.total;
    struct trainer_state now = {.weights = arena_array(&s->a, float, n)};
    uint16_t *rounded = arena_array(&s->a, uint16_t, n);
    assert_int_equal(s->t->rounded != NULL, s->how.precision == GPU_BF16);
    if (!s->t->rounded)
        return;
    gpu_read(s->t->queue, rounded, s->t->rounded, n * sizeof *rounded);
    assert_int_equal(trainer_read(&now, s->t, NULL), OK);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &now.weights[i], sizeof bits);
        assert_int_equal(rounded[i], (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
}

/* How far the gradient may be off: in bf16 three times what the CPU's is, if it has units for it.
 */
static double most_off(const struct nn_config *model, const struct transformer_config *how,
                       const float *gradient)
{
    struct session s;
    struct step_result r;
    if (how->precision == GPU_F32)
        return 2e-5;
    assert_int_equal(session_open(&s, "cpu", model, how, NULL), OK);
    size_t n = s.m->table.total;
    double off = norm_of(gradient, gradient_of(&r, &s), n) / norm_of(gradient, NULL, n);
    session_close(&s);
    return gpu_cpu_bf16() ? 3 * off + 0.01 : 0.15;
}

static void check_objective(const struct nn_config *model, const struct transformer_config *how)
{
    struct session cpu, card;
    struct step_result want, r;
    struct transformer_config exact = *how;
    exact.precision = GPU_F32;
    assert_int_equal(session_open(&cpu, "cpu", model, &exact, NULL), OK);
    assert_int_equal(session_open(&card, "cuda", model, how, NULL), OK);
    float *g = gradient_of(&want, &cpu), *h = gradient_of(&r, &card);
    double off = norm_of(g, h, cpu.m->table.total) / norm_of(g, NULL, cpu.m->table.total);
    bool rounded = how->precision == GPU_BF16;
    double most = most_off(model, how, g);
    if (!near(r.loss, want.loss, rounded ? 5e-3 : 1e-5) ||
        !near(r.accuracy, want.accuracy, rounded ? 0.1 : 1e-5) || !(off < most) ||
        r.tokens != want.tokens)
        fail_msg("objective %d: loss %g, on the CPU %g; gradients differ by %g",
                 (int)how->examples.objective, r.loss, want.loss, off);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(trainer_step(&want, cpu.t, &cpu.b.base, NULL), OK);
        assert_int_equal(trainer_step(&r, card.t, &card.b.base, NULL), OK);
        if (!near(r.loss, want.loss, rounded ? 2e-2 : 5e-3) ||
            !near(r.gradient_norm, want.gradient_norm, rounded ? 0.15 : 2e-2))
            fail_msg("objective %d, step %d: loss %g, on the CPU %g; gradient norm %g, %g",
                     (int)how->examples.objective, i + 1, r.loss, want.loss, r.gradient_norm,
                     want.gradient_norm);
    }
    assert_int_equal(trainer_measure(&want, cpu.t, &cpu.b.base, 1, NULL), OK);
    assert_int_equal(trainer_measure(&r, card.t, &card.b.base, 1, NULL), OK);
    assert_true(near(r.loss, want.loss, 2e-2));
    check_rounded(&card);
    session_close(&cpu);
    session_close(&card);
    assert_int_equal(control->live, 0);
}

static void check_objectives(enum gpu_precision precision)
{
    for (int i = OBJECTIVE_CONTRASTIVE; i <= OBJECTIVE_AUTOENCODE; i++)
        for (int muon = 0; muon < 2; muon++) {
            struct nn_config model = small;
            struct transformer_config how =
                how_to((enum objective_kind)i, muon ? OPTIMIZER_MUON : OPTIMIZER_ADAMW);
            model.decoder_layers = objective_generates(how.examples.objective) ? 1 : 0;
            model.activation = muon ? GPU_GELU : GPU_RELU;
            model.positions = muon ? NN_LEARNED : NN_SINUSOIDAL;
            /* A maximum that is rounded may be another token's. */
            model.pooling = muon && precision == GPU_F32 ? GPU_MAX : GPU_MEAN;
            how.dropout = muon ? 0 : 0.1;
            how.attention_dropout = muon ? 0.1 : 0;
            how.precision = precision;
            model.memory = muon && model.decoder_layers ? NN_MEMORY_VECTOR : NN_MEMORY_STATES;
            check_objective(&model, &how);
        }
}

TEST(objectives)
{
    check_objectives(GPU_F32);
    struct transformer_config how = how_to(OBJECTIVE_CONTRASTIVE, OPTIMIZER_ADAMW);
    how.maxsim = true;
    check_objective(&small, &how);
}

TEST(objectives_bf16)
{
    check_objectives(GPU_BF16);
}

/* What a step keeps for its backward takes less memory by the parts that are stored as bf16. */
TEST(memory)
{
    struct transformer_config how = how_to(OBJECTIVE_CONTRASTIVE, OPTIMIZER_ADAMW);
    struct nn_config model = small;
    size_t bytes[3] = {0};
    model.layers = 6;
    for (int p = GPU_F32; p <= GPU_BF16; p++) {
        struct session s;
        struct step_result r;
        how.precision = (enum gpu_precision)p;
        assert_int_equal(session_open(&s, "cuda", &model, &how, NULL), OK);
        assert_int_equal(trainer_step(&r, s.t, &s.b.base, NULL), OK);
        bytes[p] = s.t->memory.size;
        session_close(&s);
    }
    print_message("a step's memory: f32 %zu, bf16 %zu bytes\n", bytes[GPU_F32], bytes[GPU_BF16]);
    assert_true(bytes[GPU_BF16] < 0.7 * (double)bytes[GPU_F32]);
}

/* Whatever the order of the threads was, and whatever was done before. */
TEST(same_bytes)
{
    struct transformer_config how = how_to(OBJECTIVE_CONTRASTIVE, OPTIMIZER_ADAMW);
    float *weights[2];
    struct session s[2];
    how.precision = GPU_BF16;
    for (int i = 0; i < 2; i++) {
        struct step_result r;
        assert_int_equal(session_open(&s[i], "cuda:0", &small, &how, NULL), OK);
        for (int k = 0; k < 3; k++)
            assert_int_equal(trainer_step(&r, s[i].t, &s[i].b.base, NULL), OK);
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
static void check_launches(enum objective_kind objective, uint32_t layers, bool dropout,
                           enum gpu_precision precision, long want)
{
    struct transformer_config how = how_to(objective, OPTIMIZER_ADAMW);
    struct nn_config model = small;
    struct session s;
    struct step_result r;
    model.layers = layers;
    model.decoder_layers = objective_generates(objective) ? layers : 0;
    how.dropout = dropout ? 0.1 : 0;
    how.precision = precision;
    how.examples.batch = 2;
    assert_int_equal(session_open(&s, "cuda", &model, &how, NULL), OK);
    for (int i = 0; i < 3; i++) /* memory grows in the first ones */
        assert_int_equal(trainer_step(&r, s.t, &s.b.base, NULL), OK);
    control->launches = control->products = control->copies = control->clears = control->waits = 0;
    assert_int_equal(trainer_begin(s.t, &s.b.base, NULL), OK);
    long all = launched();
    print_message(
        "objective %d, %u layers%s%s: %ld kernels, %ld products, %ld copies, %ld clears\n",
        (int)objective, layers, dropout ? ", dropout" : "", precision == GPU_BF16 ? ", bf16" : "",
        control->launches, control->products, control->copies, control->clears);
    assert_int_equal(control->waits, 0);
    assert_int_equal(trainer_begin(s.t, &s.b.base, NULL), OK);
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
    for (int p = GPU_F32; p <= GPU_BF16; p += GPU_BF16) {
        enum gpu_precision precision = (enum gpu_precision)p;
        check_launches(OBJECTIVE_CONTRASTIVE, 2, false, precision, 89);
        check_launches(OBJECTIVE_CONTRASTIVE, 6, false, precision, 217);
        check_launches(OBJECTIVE_CONTRASTIVE, 6, true, precision, 225);
        check_launches(OBJECTIVE_CONTRASTIVE, 2, true, precision, 93);
        check_launches(OBJECTIVE_HISTOGRAM, 2, false, precision, 93);
    }
    check_launches(OBJECTIVE_SEQ2SEQ, 6, true, GPU_F32, 565);
    check_launches(OBJECTIVE_SEQ2SEQ, 6, true, GPU_BF16, 566); /* the decoder's memory is rounded */
}

/* ---- models as they are used ---- */

static void save(Eqloom__Checkpoint *c, struct chunk_memory *memory, uint32_t decoder_layers)
{
    struct transformer_config how = how_to(OBJECTIVE_CONTRASTIVE, OPTIMIZER_ADAMW);
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
                         enum gpu_precision precision, const Eqloom__Checkpoint *c,
                         struct chunk_memory *memory, const Eqloom__TokenBatch *b, struct err *e)
{
    long before = 0;
    struct chunk_io io = {memory, chunk_memory_put, chunk_memory_get};
    struct generator_options o = {.beam = 3, .max_tokens = 5};
    struct loaded *m;
    enum err_code code = trained_new(&m, &loaded_kind, device, precision, c, &io, e);
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
    trained_free(m);
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
    assert_int_equal(use(want, want_text, NULL, "cpu", GPU_F32, &c, &memory, b, NULL), OK);
    long counts[2] = {0};
    assert_int_equal(use(got, text, counts, "cuda", GPU_F32, &c, &memory, b, NULL), OK);
    print_message("embed %ld, generate %ld\n", counts[0], counts[1]);
    assert_int_equal(counts[0], 21);
    assert_int_equal(counts[1], 212);
    for (size_t i = 0; i < MANY * D; i++)
        assert_true(fabsf(want[i] - got[i]) < 1e-5f);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(text[i].n, want_text[i].n);
        for (size_t k = 0; k < text[i].n; k++)
            assert_true(
                near(text[i].best[k].log_probability, want_text[i].best[k].log_probability, 1e-5));
    }
    assert_int_equal(control->live, 0);

    static float rounded[MANY * D];
    double norm = 0, off = 0;
    assert_int_equal(use(rounded, text, counts, "cuda", GPU_BF16, &c, &memory, b, NULL), OK);
    assert_int_equal(counts[0], 21);
    assert_int_equal(counts[1], 213);
    for (size_t i = 0; i < MANY * D; i++) {
        norm += pow((double)want[i], 2);
        off += pow((double)(want[i] - rounded[i]), 2);
    }
    print_message("vectors in bf16 differ by %g\n", sqrt(off / norm));
    assert_true(off > 0 && sqrt(off / norm) < 0.01);
    for (size_t i = 0; i < MANY; i++)
        assert_true(
            near(text[i].best[0].log_probability, want_text[i].best[0].log_probability, 0.02));

    /* A map's elements go to both cards, with the same bytes. */
    struct chunk_io io = {&memory, chunk_memory_put, chunk_memory_get};
    struct networks set = {0}, one = {0};
    long allocated = 0;
    assert_int_equal(networks_open(&set, &loaded_kind, "auto", GPU_F32, &c, &io, NULL), OK);
    assert_int_equal(set.n, 2);
    for (int i = 0; i < 4; i++) {
        long before[] = {control->submitted[0], control->submitted[1]};
        assert_int_equal(embedder_run(want, networks_turn(&set), b, true, &memory.a, NULL), OK);
        assert_memory_equal(want, got, sizeof got);
        if (i < 2) /* what a first batch took is there for the next */
            allocated = control->allocations;
        assert_int_equal(control->allocations, allocated);
        for (int card = 0; card < 2; card++)
            assert_int_equal(control->submitted[card] > before[card], card == i % 2);
    }
    networks_close(&set);
    assert_int_equal(networks_open(&one, &loaded_kind, "cuda:1", GPU_F32, &c, &io, NULL), OK);
    assert_int_equal(one.n, 1);
    networks_close(&one);
    assert_int_equal(control->live, 0);
    chunk_memory_clear(&memory);
}

/* ---- faults ---- */

static enum err_code train_once(struct err *e)
{
    struct nn_config model = small;
    struct transformer_config how = how_to(OBJECTIVE_CONTRASTIVE, OPTIMIZER_ADAMW);
    struct session s;
    struct step_result r;
    model.layers = 1;
    how.examples.batch = 2;
    how.precision = GPU_BF16;
    enum err_code code = session_open(&s, "cuda", &model, &how, e);
    if (!code)
        code = trainer_step(&r, s.t, &s.b.base, e);
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
    struct transformer_config how = how_to(OBJECTIVE_CONTRASTIVE, OPTIMIZER_ADAMW);
    struct session s;
    struct step_result r;
    struct err e;
    assert_int_equal(session_open(&s, "cuda", &small, &how, NULL), OK);
    assert_int_equal(trainer_step(&r, s.t, &s.b.base, NULL), OK);
    size_t n = s.m->table.total;
    struct trainer_state now = {arena_array(&s.a, float, n), arena_array(&s.a, float, n),
                                arena_array(&s.a, float, n)};
    struct trainer_state then = {.m = arena_array(&s.a, float, n)};
    assert_int_equal(trainer_read(&now, s.t, NULL), OK);
    now.weights[s.m->layers[1].linear1_weight + 5] = NAN;
    assert_int_equal(trainer_write(s.t, &now, NULL), OK);
    assert_int_equal(trainer_step(&r, s.t, &s.b.base, &e), ERR_FAILED);
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
    struct transformer_config how = how_to(OBJECTIVE_CONTRASTIVE, OPTIMIZER_ADAMW);
    struct session s;
    struct step_result r, want;
    assert_int_equal(session_open(&s, "cpu", &small, &how, NULL), OK);
    assert_int_equal(trainer_step(&want, s.t, &s.b.base, NULL), OK);
    session_close(&s);
    assert_int_equal(session_open(&s, "cuda", &small, &how, NULL), OK);
    assert_int_equal(trainer_begin(s.t, &s.b.base, NULL), OK);
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
    struct transformer_config how = how_to(OBJECTIVE_CONTRASTIVE, OPTIMIZER_ADAMW);
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
    assert_int_equal(trainer_step(&r, s.t, &s.b.base, &e), ERR_NOMEM);
    assert_non_null(strstr(e.message, "a batch of 4096 examples needs "));
    assert_non_null(strstr(e.message, " but 1024 are free: about "));
    session_close(&s);

    /* All networks ask for memory in one place. */
    struct gpu_device *d;
    assert_int_equal(gpu_open(&d, "cuda", NULL, NULL), OK);
    struct nn_buffer x = {.device = d};
    assert_int_equal(nn_buffer_reserve(&x, 1 << 20, 8, &e), OK);
    assert_int_equal(nn_buffer_reserve(&x, (size_t)4 << 30, 120, &e), ERR_NOMEM);
    assert_string_equal(e.message,
                        "a batch of 120 examples needs 4352 MiB, but 1024 are free: about "
                        "28 would fit");
    assert_null(x.at);
    assert_int_equal(x.size, 0);
    gpu_close(d);
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
    return find_double(argc, argv) ? unit_run(NULL) : 2;
}
