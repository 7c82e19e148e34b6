/* The graph network's loss and gradient: against the reference in double precision and its finite
 * differences, for every parameter; and losses, gradients and three steps against PyTorch's, from
 * tests/golden/make_torch_graph.py, with every set of instructions that this machine has. */
#include "base/isa.h"
#include "base/os.h"
#include "base/rng.h"
#include "ops/learn/graph/graph_network.h"
#include "tests/ops/learn/trainers.h"
#include "tests/ref/ref_graph.h"

/* Trees of 1 to 9 nodes, about a seventh of them hidden, of four papers. */
static struct graph_set random_graphs(struct arena *a, struct rng *r, size_t n, bool hide)
{
    uint32_t *first = arena_array(a, uint32_t, n + 1), *paper = arena_array(a, uint32_t, n);
    struct graph_vertex *v = arena_array(a, struct graph_vertex, 9 * n);
    for (size_t g = 0; g < n; g++) {
        paper[g] = (uint32_t)((g + (3 * g >= 2 * n)) % (n / 3) % 4);
        uint32_t nodes = 1 + (uint32_t)rng_below(r, 9);
        for (uint32_t i = 0; i < nodes; i++)
            v[first[g] + i] =
                (struct graph_vertex){.parent = i ? 1 + (uint32_t)rng_below(r, i) : 0,
                                      .position = (uint32_t)rng_below(r, 6),
                                      .tag = (uint8_t)rng_below(r, 32),
                                      .attribute = (uint8_t)(rng_below(r, 2) * rng_below(r, 33)),
                                      .character = (uint8_t)(rng_below(r, 2) * rng_below(r, 193)),
                                      .hidden = hide && rng_below(r, 7) == 0};
        first[g + 1] = first[g] + nodes;
    }
    paper[n / 3] = 3; /* a citation */
    return (struct graph_set){v, first, n, paper};
}

struct setting {
    const struct graph_model *m;
    const struct graph_set *s;
    enum graph_similarity kind;
};

static double loss_of(const struct setting *x, const double *w)
{
    return ref_graph_loss(x->m, w, x->s, x->kind, 1, true);
}

/* Central differences of a small step, as there are many bends that it might reach over. */
static double derivative(struct setting *s, double *w, size_t i)
{
    const double h = 1e-7;
    double old = w[i], up, down;
    w[i] = old + h;
    up = loss_of(s, w);
    w[i] = old - h;
    down = loss_of(s, w);
    w[i] = old;
    return (up - down) / (2 * h);
}

static struct graph_model *open_session(struct session *x, const struct graph_config *c,
                                        const struct graph_training *how, const char *isa,
                                        struct pool *pool)
{
    struct graph_model *m;
    session_open(x, isa, pool);
    assert_int_equal(graph_model_new(&m, &x->a, c, NULL), OK);
    assert_int_equal(graph_network_new(&x->trainer, x->device, m, how, NULL), OK);
    session_room(x, &m->table);
    assert_int_equal(trainer_read(&x->state, x->trainer, NULL), OK);
    return m;
}

/* A gradient beside the reference's; of large parameters, one number in 13. */
static void check_gradient(const struct session *x, struct setting *s, double *w)
{
    size_t checked = 0, every = test_stride(5);
    for (size_t i = 0; i < s->m->table.n; i++) {
        const struct nn_param *p = &s->m->table.params[i];
        for (size_t k = p->at;
             k<p->at + p->size; k += p->size> 100 ? 13 * every : every, checked++) {
            double want = k < s->m->learnt ? derivative(s, w, k) : 0;
            if (!(fabs(x->gradient[k] - want) <= 5e-5 + 1e-3 * fabs(want)))
                fail_msg("%s[%zu]: %.8g, finite difference %.8g", p->name, k - p->at,
                         (double)x->gradient[k], want);
        }
    }
    assert_true(checked * every > 200);
}

static void check_network(uint32_t layers, enum graph_similarity kind, bool hide, uint64_t seed)
{
    struct graph_config c = {.d = 6, .layers = layers, .out = 4, .positions = 4};
    struct graph_training how = {.similarity = kind, .margin = 1};
    struct session x;
    struct step_result r;
    struct graph_model *m = open_session(&x, &c, &how, NULL, NULL);
    struct rng noise = rng_new(seed, 1);
    struct graph_set s = random_graphs(&x.a, &noise, 15, hide);
    double *w = arena_array(&x.a, double, m->table.total);
    for (size_t i = 0; i < m->table.n; i++)
        for (size_t k = m->table.params[i].at; k < m->table.params[i].at + m->table.params[i].size;
             k++) {
            x.state.weights[k] += (float)fabs(0.1 * rng_normal(&noise));
            w[k] = (double)x.state.weights[k];
        }
    struct setting setting = {m, &s, kind};
    assert_int_equal(trainer_write(x.trainer, &x.state, NULL), OK);
    assert_int_equal(trainer_gradient(&r, x.gradient, x.trainer, &s, NULL), OK);
    assert_true(fabs(r.loss - loss_of(&setting, w)) < 2e-5);
    assert_int_equal(r.tokens, s.first[s.graphs]);
    check_gradient(&x, &setting, w);
    double squares = 0;
    for (size_t i = 0; i < m->table.total; i++)
        squares += (double)x.gradient[i] * (double)x.gradient[i];
    assert_true(fabs(r.gradient_norm - sqrt(squares)) <= 1e-5 * sqrt(squares));
    /* As it is used: by running statistics, which gradients have not changed. */
    assert_int_equal(trainer_measure_on(&r, x.trainer, &s, NULL), OK);
    double used = ref_graph_loss(m, w, &s, kind, 1, false);
    assert_true(fabs(r.loss - used) < 2e-5 * (1 + used));
    session_close(&x);
}

TEST(gradient)
{
    uint64_t seed = test_seed(5);
    for (uint32_t layers = 1; layers <= 4; layers++) {
        check_network(layers, GRAPH_TRIPLET, false, seed);
        check_network(layers, GRAPH_HISTOGRAM, true, seed);
        check_network(layers, GRAPH_NO_SIMILARITY, true, seed);
    }
}

/* ---- PyTorch's ---- */

static void check_file_on(const char *name, const char *isa)
{
    struct arena a = {0};
    struct span file;
    uint32_t head[8];
    double how[5]; /* margin, lr, losses */
    struct step_result r;
    assert_int_equal(
        os_read_file(&file, &a, arena_printf(&a, "%s/%s", GOLDEN_DIR, name), 1 << 20, NULL), OK);
    struct reader in = {file.data, file.data + file.len};
    take(head, &in, sizeof head);
    assert_int_equal(head[0], 0x48505247);
    struct graph_config c = {head[2], head[3], head[4], head[5]};
    size_t graphs = 3 * head[6];
    uint32_t *first = arena_array(&a, uint32_t, graphs + 1);
    uint32_t *paper = arena_array(&a, uint32_t, graphs);
    struct graph_vertex *v = arena_array(&a, struct graph_vertex, head[7]);
    take(first, &in, (graphs + 1) * sizeof *first);
    take(paper, &in, graphs * sizeof *paper);
    for (size_t i = 0; i < head[7]; i++) {
        uint32_t n[6];
        take(n, &in, sizeof n);
        v[i] = (struct graph_vertex){n[0],          n[1],          (uint8_t)n[2],
                                     (uint8_t)n[3], (uint8_t)n[4], n[5] != 0};
    }
    take(how, &in, sizeof how);
    struct graph_set s = {v, first, graphs, paper};
    struct graph_training config = {
        .similarity = (enum graph_similarity)head[1],
        .margin = how[0],
        .optimizer = optimizer_adam((struct schedule){.kind = SCHEDULE_CONSTANT, .lr = how[1]})};
    struct session x;
    struct graph_model *m = open_session(&x, &c, &config, isa, NULL);
    const struct nn_table *t = &m->table;
    float *gradient = arena_array(&a, float, t->total), *after = arena_array(&a, float, t->total);
    assert_int_equal(in.end - in.at, 3 * t->count * sizeof(float));
    for (size_t i = 0; i < t->n; i++) {
        size_t at = t->params[i].at, bytes = t->params[i].size * sizeof(float);
        take(x.state.weights + at, &in, bytes);
        take(gradient + at, &in, bytes);
        take(after + at, &in, bytes);
    }
    assert_int_equal(trainer_write(x.trainer, &x.state, NULL), OK);
    assert_int_equal(trainer_gradient(&r, x.gradient, x.trainer, &s, NULL), OK);
    for (size_t i = 0; i < t->n; i++)
        assert_near(x.gradient + t->params[i].at, gradient + t->params[i].at, &t->params[i], 0, 0,
                    1e-6, "gradient");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(trainer_step_on(&r, x.trainer, &s, NULL), OK);
        if (!(fabs(r.loss / how[2 + i] - 1) < 1e-4))
            fail_msg("%s on %s: loss %d is %.9g, PyTorch's %.9g", name, isa, i + 1, r.loss,
                     how[2 + i]);
    }
    assert_int_equal(trainer_read(&x.state, x.trainer, NULL), OK);
    for (size_t i = 0; i < t->n; i++)
        assert_near(x.state.weights + t->params[i].at, after + t->params[i].at, &t->params[i], 0, 0,
                    1e-6, "value after three steps");
    session_close(&x);
    arena_free(&a);
}

TEST(golden)
{
    static const char *const isas[] = {"base", "avx2", "avx512", "amx"};
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        if (!cpu_supports(isas[i]))
            continue;
        check_file_on("torch-graph-triplet.bin", isas[i]);
        check_file_on("torch-graph-histogram.bin", isas[i]);
    }
}

/* ---- threads and interruptions ---- */

/* Shards come on any thread: the same bits. */
TEST_IN_ARENA(threads)
{
    struct graph_config c = {.d = 8, .layers = 3, .out = 4, .positions = 4};
    struct graph_training how = {
        .similarity = GRAPH_HISTOGRAM,
        .optimizer = optimizer_adam((struct schedule){.kind = SCHEDULE_CONSTANT, .lr = 0.01})};
    struct session x[2];
    size_t total = 0;
    struct rng r = rng_new(9, 0);
    struct graph_set s = random_graphs(a, &r, 1200, true);
    for (unsigned k = 0; k < 2; k++) {
        struct pool *pool = pool_new(1 + 3 * k);
        struct step_result result;
        total = open_session(&x[k], &c, &how, NULL, pool)->table.total;
        for (int i = 0; i < 4; i++)
            assert_int_equal(trainer_step_on(&result, x[k].trainer, &s, NULL), OK);
        assert_int_equal(trainer_read(&x[k].state, x[k].trainer, NULL), OK);
        pool_free(pool);
    }
    assert_memory_equal(x[0].state.weights, x[1].state.weights, total * sizeof(float));
    session_close(&x[0]);
    session_close(&x[1]);
}

/* From a state that was read, in another trainer: the same bits, running statistics included. */
TEST(resume)
{
    struct graph_config c = {.d = 8, .layers = 3, .out = 4, .positions = 4};
    struct graph_training how = {
        .similarity = GRAPH_TRIPLET,
        .margin = 1,
        .optimizer = optimizer_adam((struct schedule){.kind = SCHEDULE_CONSTANT, .lr = 0.01})};
    struct session whole, resumed;
    struct step_result r;
    struct rng random = rng_new(10, 0);
    struct graph_model *m = open_session(&whole, &c, &how, NULL, NULL);
    open_session(&resumed, &c, &how, NULL, NULL);
    struct graph_set s = random_graphs(&whole.a, &random, 60, true);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(trainer_step_on(&r, whole.trainer, &s, NULL), OK);
        if (i != 1)
            continue;
        assert_int_equal(trainer_read(&whole.state, whole.trainer, NULL), OK);
        assert_int_equal(trainer_write(resumed.trainer, &whole.state, NULL), OK);
        assert_int_equal(whole.state.steps, 2);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(trainer_step_on(&r, resumed.trainer, &s, NULL), OK);
    assert_int_equal(trainer_read(&whole.state, whole.trainer, NULL), OK);
    assert_int_equal(trainer_read(&resumed.state, resumed.trainer, NULL), OK);
    assert_memory_equal(whole.state.weights, resumed.state.weights, m->table.total * sizeof(float));
    assert_memory_equal(whole.state.v, resumed.state.v, m->table.total * sizeof(float));
    session_close(&whole);
    session_close(&resumed);
}
