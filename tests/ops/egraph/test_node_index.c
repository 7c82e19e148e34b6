/* Indexes hold what a walk finds: of a class's older nodes, those with an operator and an argument,
 * in the order of its circle, whatever classes join one another and whatever is added between two
 * questions. Random; the seed is printed and may be given in EQLOOM_TEST_SEED. */
#include "tests/ops/egraph/help.h"

#include "ops/egraph/graph/node_index.h"

enum { LEAVES = 28, LARGE = 8, NODES = 300, EPOCHS = 4, STEPS = 400 };

struct tally {
    uint64_t walked, indexed, narrowed;
};

static void add_node(struct egraph *g, struct rng *r)
{
    uint32_t kids[2] = {(uint32_t)rng_below(r, LEAVES), (uint32_t)rng_below(r, LEAVES)};
    uint32_t before = g->n_cells, n = graph_add(g, rng_below(r, 2) ? X_AND : X_OR, kids);
    if (n < before)
        return; /* else it would join two large ones */
    graph_union(g, n, (uint32_t)rng_below(r, LARGE), (struct reason){REASON_GIVEN, 0});
    graph_restore_congruence(g);
}

static bool is_wanted(struct egraph *g, uint32_t n, const struct node_index_key *key,
                      uint32_t value)
{
    return n < g->frozen && g->cells[n].op == key->op &&
           (key->argument == NODE_INDEX_ANY ||
            graph_find(g, *graph_kid(g, n, key->argument)) == value);
}

static void ask(struct tally *t, struct egraph *g, struct rng *r)
{
    struct node_range range;
    struct node_index_key key = {graph_find(g, (uint32_t)rng_below(r, LARGE)),
                                 rng_below(r, 2) ? X_AND : X_OR,
                                 rng_below(r, 5) ? (uint32_t)rng_below(r, 2) : NODE_INDEX_ANY};
    uint32_t value = graph_find(g, (uint32_t)rng_below(r, LEAVES)), n = key.class, others = 0;
    node_index_begin(g);
    if (!node_index_find(&range, g, &key, value, rng_below(r, 2))) {
        t->walked++;
        return;
    }
    uint32_t at = range.begin;
    do {
        others += n < g->frozen && g->cells[n].op == key.op;
        if (is_wanted(g, n, &key, value)) {
            while (at < range.end && !is_wanted(g, node_index_node(g->node_index, at), &key, value))
                at++;
            assert_true(at < range.end && node_index_node(g->node_index, at) == n);
            at++;
        }
        n = graph_next(g, n);
    } while (n != key.class);
    for (; at < range.end; at++)
        assert_false(is_wanted(g, node_index_node(g->node_index, at), &key, value));
    t->indexed++;
    t->narrowed += range.end - range.begin < others;
}

TEST(indexes_hold_what_a_walk_finds)
{
    struct rng r = rng_new(test_seed(1), 22);
    struct tally t = {0};
    for (int round = 0; round < 60; round++) {
        struct egraph *g = egraph_new(&lang_boolean);
        for (int i = 0; i < LEAVES; i++) { /* the first of them name the large classes */
            char name[8];
            snprintf(name, sizeof name, "v%d", i);
            graph_add_leaf(g, graph_leaf(g, X_SYM, name));
        }
        for (int i = 0; i < NODES; i++)
            add_node(g, &r);
        egraph_rebuild(g);
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            graph_begin_epoch(g);
            g->frozen = g->n_cells;
            for (int step = 0; step < STEPS; step++) {
                ask(&t, g, &r);
                if (rng_below(&r, 20) == 0)
                    add_node(g, &r);
                if (rng_below(&r, 100) == 0) { /* now and then two of the large ones */
                    uint32_t a = (uint32_t)rng_below(&r, rng_below(&r, 8) ? LEAVES : LARGE);
                    uint32_t b = LARGE + (uint32_t)rng_below(&r, LEAVES - LARGE);
                    b = a < LARGE ? (uint32_t)rng_below(&r, LARGE) : b;
                    graph_union(g, a, b, (struct reason){REASON_GIVEN, 0});
                    graph_restore_congruence(g);
                }
            }
            egraph_rebuild(g);
            check_graph(g);
        }
        egraph_free(g);
    }
    print_message("%llu walked, %llu indexed, %llu of them by an argument\n",
                  (unsigned long long)t.walked, (unsigned long long)t.indexed,
                  (unsigned long long)t.narrowed);
    assert_true(t.indexed > 10000 && t.narrowed > 3000);
}
