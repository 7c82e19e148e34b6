/* A network of functions: loss and gradient against tests/ref, batches of pairs, learning on any
 * number of threads. */
#include "base/rng.h"
#include "ops/learn/tree/tree_corpus.h"
#include "ops/learn/tree/tree_embedder.h"
#include "ops/learn/tree/tree_network.h"
#include "tests/ops/learn/trainers.h"
#include "tests/ref/ref_trees.h"

static const char function_arity[] = "xxx2221000000";
static char *function_names[] = {"<pad>", "<start>", "<end>", "+", "-",  "*", "sin",
                                 "x",     "2",       "3",     "5", "-3", "9"};
enum {
    ADD = 3,
    FUNCTION_TOKENS = sizeof function_names / sizeof *function_names,
    LEAF = 7,
    PAIRS = 6
};

static void draw_function(uint32_t *tokens, uint32_t *n, struct rng *r, unsigned depth)
{
    bool leaf = depth == 0 || rng_below(r, 4) == 0;
    uint32_t token = leaf ? LEAF + (uint32_t)rng_below(r, FUNCTION_TOKENS - LEAF)
                          : ADD + (uint32_t)rng_below(r, 4);
    tokens[(*n)++] = token;
    for (int i = function_arity[token] - '0'; i > 0; i--)
        draw_function(tokens, n, r, depth - 1);
}

/* Some trees, in classes of three; equality does not matter here. */
static void draw_corpus(struct tree_corpus *c, const struct tree_model *m, uint64_t seed)
{
    struct rng r = rng_new(seed, 0);
    uint32_t tokens[64];
    for (uint32_t class = 0; class < 2 * PAIRS; class ++) {
        Eqloom__TokenBatch b = EQLOOM__TOKEN_BATCH__INIT;
        uint32_t all[3 * 64], offset[4] = {0}, cluster[3] = {0}, n = 0;
        for (int i = 0; i < 3; i++) {
            uint32_t length = 0;
            draw_function(tokens, &length, &r, 3);
            memcpy(all + n, tokens, length * sizeof *all);
            offset[i + 1] = n += length;
        }
        b.tokens = all;
        b.n_tokens = n;
        b.offset = offset;
        b.n_offset = 4;
        b.cluster = cluster;
        b.n_cluster = 3;
        assert_int_equal(tree_corpus_add(c, &b, m, NULL), OK);
    }
}

struct functions {
    struct session s;
    struct tree_model *m;
    struct tree_corpus corpus;
    struct tree_pairs pairs;
    struct tree_meaning *meaning;
};

static void open_functions(struct functions *x, struct pool *pool)
{
    Eqloom__Vocabulary v = EQLOOM__VOCABULARY__INIT;
    struct tree_config c = {.d = 5, .hidden = 7, .code = 1, .points = 4, .arity = function_arity};
    *x = (struct functions){0};
    session_open(&x->s, NULL, pool);
    v.tokens = function_names;
    v.n_tokens = FUNCTION_TOKENS;
    x->meaning = tree_meanings(&x->s.a, &v);
    x->m = tree_model_new(&x->s.a, &c);
    struct tree_training how = {.optimizer.kind = OPTIMIZER_RMSPROP,
                                .optimizer.schedule = {.lr = 0.01},
                                .optimizer.beta2 = 0.88,
                                .optimizer.beta1 = 0.88,
                                .optimizer.elements = 1.82,
                                .intro = 1,
                                .stage = 1,
                                .seed = 5,
                                .values = 1.5,
                                .temperature = 0.5,
                                .meaning = x->meaning};
    assert_int_equal(tree_network_new(&x->s.trainer, x->s.device, x->m, &how, NULL), OK);
    session_room(&x->s, &x->m->table);
    trainer_read(&x->s.state, x->s.trainer, NULL);
    draw_corpus(&x->corpus, x->m, 3);
    tree_pairs_make(&x->pairs, &x->s.a, &x->corpus);
}

static void close_functions(struct functions *x)
{
    tree_corpus_free(&x->corpus);
    session_close(&x->s);
}

static struct tree_batch draw_pairs(struct functions *x, uint64_t step)
{
    struct tree_pairs_config how = {.pairs = PAIRS, .near_share = 0.7, .seed = 9};
    struct tree_batch b;
    tree_pairs_draw(&b, &x->s.a, &x->pairs, x->m, x->meaning, &how, step);
    return b;
}

struct functions_case {
    const struct tree_model *m;
    struct ref_functions ref;
};

static double functions_loss(void *arg, const double *w)
{
    const struct functions_case *c = arg;
    return ref_functions_loss(c->m, w, &c->ref);
}

TEST(functions)
{
    struct functions x;
    struct step_result r;
    open_functions(&x, NULL);
    struct tree_batch b = draw_pairs(&x, 1);
    uint16_t op[FUNCTION_TOKENS];
    double number[FUNCTION_TOKENS];
    for (size_t i = 0; i < FUNCTION_TOKENS; i++) {
        op[i] = x.meaning[i].op;
        number[i] = x.meaning[i].number;
    }
    struct functions_case c = {x.m, {b.set, b.class, b.from, b.paired, op, number, 1.5, 0.5}};
    double *w = to_double(&x.s.a, x.s.state.weights, x.m->table.total);
    assert_int_equal(trainer_gradient(&r, x.s.gradient, x.s.trainer, &b, NULL), OK);
    assert_float_equal(r.loss, functions_loss(&c, w), 1e-5);
    assert_derivatives(&x.m->table, x.s.gradient, functions_loss, &c, w, 0, 5e-5, 5e-5);
    close_functions(&x);
}

/* Pairs are of one class and of all classes in turn; a near miss is a tree of the same length. */
TEST(pairs)
{
    struct functions x;
    bool seen[2 * PAIRS] = {false};
    size_t misses = 0;
    open_functions(&x, NULL);
    for (uint64_t step = 0; step < 40; step++) {
        struct tree_batch b = draw_pairs(&x, step);
        assert_int_equal(b.paired, 2 * PAIRS);
        for (size_t i = 0; i < b.paired; i++) {
            assert_int_equal(b.class[i], b.class[i ^ 1]);
            assert_ptr_not_equal(b.set.tokens[i], b.set.tokens[i ^ 1]);
            if (step < 2)
                seen[b.class[i]] = true;
        }
        for (size_t i = b.paired; i < b.set.n; i++, misses++) {
            const uint32_t *of = b.set.tokens[b.from[i]];
            assert_true(b.from[i] < b.paired && b.class[i] >= 2 * PAIRS);
            assert_int_equal(b.set.length[i], b.set.length[b.from[i]]);
            assert_true(tree_is_well_formed(x.m, b.set.tokens[i], b.set.length[i]));
            size_t altered = 0;
            for (uint32_t k = 0; k < b.set.length[i]; k++)
                altered += b.set.tokens[i][k] != of[k];
            assert_true(altered <= 1 || b.set.length[i] > 2);
        }
    }
    for (size_t i = 0; i < sizeof seen; i++)
        assert_true(seen[i]);
    assert_in_range(misses, 40 * PAIRS, 40 * 2 * PAIRS * 4 / 5);
    close_functions(&x);
}

static void train_functions(float *weights, struct pool *pool, double *first, double *last)
{
    struct functions x;
    struct step_result r;
    open_functions(&x, pool);
    for (unsigned i = 0; i < 60; i++) {
        struct tree_batch b = draw_pairs(&x, i);
        assert_int_equal(trainer_step_on(&r, x.s.trainer, &b, NULL), OK);
        *(i ? last : first) = r.loss;
    }
    trainer_read(&x.s.state, x.s.trainer, NULL);
    memcpy(weights, x.s.state.weights, x.m->table.total * sizeof *weights);
    close_functions(&x);
}

TEST(functions_learn)
{
    static float alone[1 << 16], other[1 << 16];
    struct pool *pool = pool_new(3);
    double first, last;
    train_functions(alone, NULL, &first, &last);
    assert_true(last < first / 2);
    train_functions(other, pool, &first, &last);
    assert_memory_equal(alone, other, sizeof alone);
    pool_free(pool);
}
