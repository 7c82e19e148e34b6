/* EqNet: vectors, loss and gradient against tests/ref; noise and dropout against differences of the
 * loss itself; the update; learning; threads and interruptions; texts that are no trees. */
#include "base/rng.h"
#include "ops/learn/tree/tree_network.h"
#include "tests/ops/learn/trainers.h"
#include "tests/ref/ref_trees.h"

/* Tokens: three specials, +, -, not, then four symbols. */
static const char arity[] = "xxx2210000";
enum { ADD = 3, SYMBOL = 6, SYMBOLS = 4, CLASSES = 5 };

static void draw_tree(uint32_t *tokens, uint32_t *n, struct rng *r, unsigned depth)
{
    bool leaf = depth == 0 || rng_below(r, 4) == 0;
    uint32_t token =
        leaf ? SYMBOL + (uint32_t)rng_below(r, SYMBOLS) : ADD + (uint32_t)rng_below(r, 3);
    tokens[(*n)++] = token;
    for (int i = arity[token] - '0'; i > 0; i--)
        draw_tree(tokens, n, r, depth - 1);
}

static struct tree_batch draw_batch(struct arena *a, size_t trees, uint64_t seed)
{
    struct rng r = rng_new(seed, 0);
    const uint32_t **tokens = arena_array(a, const uint32_t *, trees);
    uint32_t *length = arena_array(a, uint32_t, trees), *class = arena_array(a, uint32_t, trees);
    for (size_t i = 0; i < trees; i++) {
        uint32_t *one = arena_array(a, uint32_t, 64);
        draw_tree(one, &length[i], &r, 1 + (unsigned)(i % 4));
        tokens[i] = one;
        class[i] = (uint32_t)rng_below(&r, CLASSES);
    }
    return (struct tree_batch){.set = {tokens, length, trees}, .class = class};
}

static const float prior[CLASSES] = {-1.5F, -0.5F, -2, -1, -1.25F};

struct fixture {
    struct session s;
    struct tree_model *m;
};

static struct tree_training usual(void)
{
    return (struct tree_training){.margin = 0.5,
                                  .optimizer.kind = OPTIMIZER_RMSPROP,
                                  .optimizer.schedule = {.lr = 0.01},
                                  .optimizer.beta2 = 0.88,
                                  .optimizer.beta1 = 0.88,
                                  .optimizer.elements = 1.82,
                                  .deviation = 0.3,
                                  .intro = 0.5,
                                  .stage = 2,
                                  .seed = 5};
}

static void open_fixture(struct fixture *f, uint32_t outer, struct tree_training how,
                         struct pool *pool)
{
    struct tree_config c = {
        .d = 11, .hidden = 6, .code = 5, .outer = outer, .classes = CLASSES, .arity = arity};
    session_open(&f->s, NULL, pool);
    f->m = tree_model_new(&f->s.a, &c);
    how.prior = prior;
    assert_int_equal(tree_network_new(&f->s.trainer, f->s.device, f->m, &how, NULL), OK);
    session_room(&f->s, &f->m->table);
    trainer_read(&f->s.state, f->s.trainer, NULL);
}

static void set_step(struct fixture *f, uint64_t steps)
{
    f->s.state.steps = steps;
    trainer_write(f->s.trainer, &f->s.state, NULL);
}

/* ---- against the reference ---- */

struct loss_case {
    const struct fixture *f;
    struct tree_batch x;
    double codes;
};

static double loss_of(void *arg, const double *w)
{
    const struct loss_case *c = arg;
    return ref_tree_loss(c->f->m, w, &c->x.set, c->x.class, prior, 0.5, c->codes);
}

/* Step 6 is in stage 3, where the auto-encoder's weight is 7/8. */
static void check_reference(uint32_t outer, uint64_t step, double codes)
{
    struct fixture f;
    struct step_result r;
    open_fixture(&f, outer, usual(), NULL);
    double *w = to_double(&f.s.a, f.s.state.weights, f.m->table.total);
    struct loss_case c = {&f, draw_batch(&f.s.a, 23, 7 + outer), codes};
    set_step(&f, step);
    assert_int_equal(trainer_gradient(&r, f.s.gradient, f.s.trainer, &c.x, NULL), OK);
    assert_float_equal(r.loss, loss_of(&c, w), 1e-5);
    assert_derivatives(&f.m->table, f.s.gradient, loss_of, &c, w, 0, 2e-5, 2e-5);
    session_close(&f.s);
}

TEST(reference)
{
    check_reference(0, 0, 0);
    check_reference(0, 6, 0.875);
    check_reference(7, 6, 0.875);
}

/* With noise, and dropout everywhere, both a function of the step: along drawn directions. */
TEST(noise)
{
    struct fixture f;
    struct step_result r;
    struct tree_training how = usual();
    how.dropout = 0.2;
    how.hidden_dropout = 0.3;
    how.noise = 0.6;
    open_fixture(&f, 7, how, NULL);
    size_t n = f.m->table.total;
    float *weights = arena_array(&f.s.a, float, n);
    struct tree_batch x = draw_batch(&f.s.a, 40, 3);
    struct rng random = rng_new(11, 0);
    memcpy(weights, f.s.state.weights, n * sizeof *weights);
    set_step(&f, 6);
    assert_int_equal(trainer_gradient(&r, f.s.gradient, f.s.trainer, &x, NULL), OK);
    for (int direction = 0; direction < 6; direction++) {
        double loss[2], slope = 0, size = 0;
        float *along = arena_array(&f.s.a, float, n);
        for (size_t i = 0; i < n; i++) {
            along[i] = (float)rng_normal(&random);
            slope += (double)along[i] * (double)f.s.gradient[i];
            size += (double)along[i] * (double)along[i];
        }
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < n; i++)
                f.s.state.weights[i] =
                    weights[i] + (side ? 1 : -1) * 0.02F / (float)sqrt(size) * along[i];
            set_step(&f, 6);
            assert_int_equal(
                trainer_gradient(&r, arena_array(&f.s.a, float, n), f.s.trainer, &x, NULL), OK);
            loss[side] = r.loss;
        }
        assert_float_equal((loss[1] - loss[0]) / 0.04, slope / sqrt(size), 2e-3);
    }
    session_close(&f.s);
}

/* RMSprop with Nesterov's momentum, of a gradient cut number by number. */
TEST(update)
{
    struct fixture f;
    struct step_result r;
    struct tree_training how = usual();
    how.optimizer.elements = 0.01;
    open_fixture(&f, 0, how, NULL);
    size_t n = f.m->table.total;
    struct tree_batch x = draw_batch(&f.s.a, 23, 7);
    double *w = to_double(&f.s.a, f.s.state.weights, n), *m = arena_array(&f.s.a, double, n);
    double *v = arena_array(&f.s.a, double, n);
    for (int step = 0; step < 3; step++) {
        assert_int_equal(trainer_gradient(&r, f.s.gradient, f.s.trainer, &x, NULL), OK);
        for (size_t i = 0; i < n; i++) {
            double g = fmin(fmax((double)f.s.gradient[i], -0.01), 0.01), before = m[i];
            v[i] = 0.88 * v[i] + 0.12 * g * g;
            m[i] = 0.88 * before - 0.01 / sqrt(1e-10 + v[i]) * g;
            w[i] += 1.88 * m[i] - 0.88 * before;
        }
        assert_int_equal(trainer_step_on(&r, f.s.trainer, &x, NULL), OK);
        assert_int_equal(r.step, step + 1);
        trainer_read(&f.s.state, f.s.trainer, NULL);
        for (size_t i = 0; i < n; i++) {
            assert_float_equal((double)f.s.state.weights[i], w[i], 1e-5);
            w[i] = (double)f.s.state.weights[i];
        }
    }
    session_close(&f.s);
}

/* ---- learning ---- */

/* Classes by the sum of what the symbols stand for: a tree's vector has to carry it upwards. */
TEST(learns)
{
    struct fixture f;
    struct step_result first, last = {0};
    struct tree_training how = usual();
    how.intro = 0.9999;
    how.deviation = 0.05;
    open_fixture(&f, 0, how, NULL);
    struct tree_batch x = draw_batch(&f.s.a, 200, 1);
    uint32_t *class = arena_array(&f.s.a, uint32_t, 200);
    for (size_t i = 0; i < 200; i++)
        for (uint32_t k = 0; k < x.set.length[i]; k++)
            class[i] = (class[i] + (x.set.tokens[i][k] >= SYMBOL ? x.set.tokens[i][k] : 0)) % 2;
    x.class = class;
    assert_int_equal(trainer_step_on(&first, f.s.trainer, &x, NULL), OK);
    for (int i = 0; i < 300; i++)
        assert_int_equal(trainer_step_on(&last, f.s.trainer, &x, NULL), OK);
    assert_true(last.loss < first.loss / 4 && last.accuracy > 0.95);
    assert_int_equal(trainer_measure_on(&last, f.s.trainer, &x, NULL), OK);
    assert_true(last.accuracy > 0.9 && last.loss < 0.1);
    session_close(&f.s);
}

/* ---- threads and interruptions ---- */

static void train(float *weights, const struct tree_training *how, struct pool *pool,
                  unsigned interrupted)
{
    struct fixture f;
    struct step_result r;
    open_fixture(&f, 7, *how, pool);
    struct tree_batch x = draw_batch(&f.s.a, 900, 2);
    for (unsigned i = 0; i < 4; i++) {
        if (i == interrupted) {
            struct trainer_state kept = f.s.state;
            struct fixture other;
            trainer_read(&kept, f.s.trainer, NULL);
            open_fixture(&other, 7, *how, pool);
            trainer_write(other.s.trainer, &kept, NULL);
            memcpy(other.s.state.weights, kept.weights, f.m->table.total * sizeof(float));
            session_close(&f.s);
            f = other;
            x = draw_batch(&f.s.a, 900, 2);
        }
        assert_int_equal(trainer_step_on(&r, f.s.trainer, &x, NULL), OK);
    }
    trainer_read(&f.s.state, f.s.trainer, NULL);
    memcpy(weights, f.s.state.weights, f.m->table.total * sizeof *weights);
    session_close(&f.s);
}

TEST_IN_ARENA(same_bits)
{
    struct tree_training how = usual();
    struct tree_config c = {
        .d = 11, .hidden = 6, .code = 5, .outer = 7, .classes = CLASSES, .arity = arity};
    size_t n = tree_model_new(a, &c)->table.total;
    float *alone = arena_array(a, float, n), *other = arena_array(a, float, n);
    struct pool *pool = pool_new(3);
    how.dropout = 0.1;
    how.hidden_dropout = 0.1;
    how.noise = 0.5;
    train(alone, &how, NULL, 9);
    train(other, &how, pool, 9);
    assert_memory_equal(alone, other, n * sizeof *alone);
    train(other, &how, pool, 2);
    assert_memory_equal(alone, other, n * sizeof *alone);
    pool_free(pool);
}

/* ---- what is read ---- */

TEST_IN_ARENA(well_formed)
{
    struct tree_config c = {.d = 4, .hidden = 4, .code = 4, .arity = arity};
    const struct tree_model *m = tree_model_new(a, &c);
    static const struct {
        uint32_t n, tokens[6];
        bool good;
    } cases[] = {
        {1, {6}, true},     {3, {3, 6, 7}, true}, {4, {3, 5, 6, 7}, true},  {0, {0}, false},
        {2, {3, 6}, false}, {2, {6, 6}, false},   {4, {3, 6, 7, 7}, false}, {1, {1}, false},
        {1, {10}, false},   {2, {5, 0}, false},   {1, {3}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(tree_is_well_formed(m, cases[i].tokens, cases[i].n), cases[i].good);
}

TEST_IN_ARENA(vocabulary)
{
    char *tokens[] = {"<pad>", "<s>", "</s>", "sin@/1", "pow", "implies", "x", "-7", "INT+", "3"};
    Eqloom__Vocabulary v = EQLOOM__VOCABULARY__INIT;
    v.n_tokens = sizeof tokens / sizeof *tokens;
    v.tokens = tokens;
    assert_string_equal(tree_arities(a, &v), "xxx12200x0");
}

TEST_IN_ARENA(architecture)
{
    struct tree_config c = {64, 8, 9, 32, 16, 77, arity}, back;
    assert_int_equal(tree_config_parse(&back, a, tree_config_text(a, &c), NULL), OK);
    assert_string_equal(back.arity, arity);
    assert_int_equal(back.classes, 77);
    assert_int_equal(back.points, 16);
    static const char *const wrong[] = {
        "architecture=trees\n",
        "architecture=trees\nd=64\nhidden=8\ncode=8\nouter=0\npoints=0\narity="
        "xx3\nclasses=2\n",
        "architecture=trees\nd=0\nhidden=8\ncode=8\nouter=0\npoints=0\narity=x\nclasses="
        "2\n",
        "architecture=trees\nd=4\nhidden=8\ncode=8\nouter=0\npoints=0\narity=x\nclasses="
        "2\nmo=1\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(tree_config_parse(&back, a, wrong[i], NULL), ERR_CORRUPT);
    assert_int_equal(tree_config_parse(&back, a, "architecture=graph\n", NULL), ERR_INPUT);
}
