/* Looking ahead says no less than a walk finds: of what stands in which class, exactly that when it
 * begins and at least that while classes join one another; of the nodes that a state is given, in
 * the order of their class's circle; of the nodes that have partners. Random; the seed is printed
 * and may be given in EQLOOM_TEST_SEED. */
#include "tests/ops/egraph/help.h"

#include "ops/egraph/large/prune.h"
#include "ops/egraph/large/semijoin.h"

enum { LEAVES = 100, LARGE = 12, NODES = 220, EPOCHS = 3, STEPS = 120 };

static const char text[] = "operator f/1\noperator h/2\noperator k/2\n"
                           "group g\n"
                           "a: h(f(?a), k(v1, ?b)) -> ?a\n"
                           "b: h(f(k(?a, v2)), f(h(?b, f(?b)))) -> ?a\n"
                           "c: k(h(?a, ?b), h(?b, ?a)) -> ?a\n"
                           "d: k(h(?a, ?b), f(?b)) -> ?a\n"
                           "e: f(k(f(?a), h(f(?b), k(?a, v1)))) -> ?a\n"
                           "f: h(k(f(?a), f(?b)), h(?b, v1)) -> ?a\n"
                           "g: k(h(f(?a), ?b), k(f(?a), ?b)) -> ?a\n";

struct tally {
    uint64_t holds, more, given, left_out, semijoin, alone;
};

struct scene {
    struct egraph *g;
    struct ematch m;
    struct rng *r;
    uint32_t ops[3]; /* f, h and k */
    struct tally *t;
};

static bool walk_has(struct scene *s, uint32_t class, uint16_t shape);

static bool walk_fits(struct scene *s, uint32_t class, uint16_t shape)
{
    return shape == SHAPE_ANY || walk_has(s, class, shape);
}

static bool is_looked_at(const struct scene *s, uint32_t n, uint32_t op)
{
    return n < s->m.until && s->g->cells[n].op == op;
}

static uint32_t kid(const struct scene *s, uint32_t n, uint32_t k)
{
    return graph_find(s->g, *graph_kid(s->g, n, k));
}

static bool walk_has(struct scene *s, uint32_t class, uint16_t shape)
{
    const struct shape *x = &s->m.pruner->shapes.items[shape];
    uint32_t n = class;
    if (x->op & OP_LEAF)
        return ematch_leaf(&s->m, x->op & ~OP_LEAF) == class;
    do {
        if (is_looked_at(s, n, x->op) && walk_fits(s, kid(s, n, 0), x->kid[0]) &&
            (x->op == s->ops[0] || walk_fits(s, kid(s, n, 1), x->kid[1])))
            return true;
        n = graph_next(s->g, n);
    } while (n != class);
    return false;
}

static void expect_held(struct scene *s, uint32_t class, bool exactly)
{
    struct pruner *a = s->m.pruner;
    for (uint16_t i = 0; i < a->shapes.n; i++) {
        bool held = shapes_have(&a->shapes, a->held[class], i), has = walk_has(s, class, i);
        s->t->holds += has;
        s->t->more += held && !has;
        assert_true(held || !has);
        assert_true(has || !held || !exactly);
    }
}

static bool is_wanted(struct scene *s, const struct prune_state *k, uint32_t n, uint32_t arity)
{
    const uint16_t *pair = s->m.pruner->wanted + k->pairs;
    for (uint32_t i = 0; i < k->n_pairs; i++, pair += 2)
        if (walk_fits(s, kid(s, n, 0), pair[0]) &&
            (arity < 2 || walk_fits(s, kid(s, n, 1), pair[1])))
            return true;
    return false;
}

static void expect_given(struct scene *s, uint32_t state, uint32_t class)
{
    struct pruner *a = s->m.pruner;
    const struct state *k = &s->m.states[state];
    struct node_range range;
    uint32_t n = class;
    if (!pruner_list_of(&range, a, state, k, class))
        return;
    uint32_t at = range.begin;
    do {
        if (is_looked_at(s, n, k->x)) {
            bool wanted = is_wanted(s, &a->states[state], n, k->arity);
            while (wanted && at < range.end && a->nodes.items[at] != n)
                at++;
            assert_true(!wanted || at < range.end);
            s->t->given += wanted;
            s->t->left_out += !wanted;
        }
        n = graph_next(s->g, n);
    } while (n != class);
}

/* As if this state had bound node n: would the next one find its node? */
static bool has_partner(struct scene *s, const struct state *k, const struct state *next,
                        uint32_t n)
{
    uint32_t kids[2];
    for (uint32_t i = 0; i < next->arity; i++) {
        uint32_t own = next->bound[i] - k->out;
        kids[i] = own < k->arity ? kid(s, n, own) : ematch_bound(&s->m, next->bound[i]);
    }
    uint32_t found = graph_lookup(s->g, next->x, kids);
    return found < s->m.until && graph_find(s->g, found) == s->m.reg[next->a];
}

static void expect_partners(struct scene *s, uint32_t state, uint32_t class)
{
    const struct state *k = &s->m.states[state], *next;
    struct semijoin p;
    uint32_t n = class;
    if (s->m.pruner->states[state].semijoin == NO_STATE)
        return;
    next = &s->m.states[s->m.pruner->states[state].semijoin];
    enum semijoin_found found = semijoin_find(&p, &s->m, k, next, class, 1000);
    do {
        if (found != SEMIJOIN_UNKNOWN && is_looked_at(s, n, k->x)) {
            bool has = has_partner(s, k, next, n);
            assert_true(!has || (found == SEMIJOIN_SOME && semijoin_has(&p, s->g, n)));
            s->t->semijoin += has;
            s->t->alone += !has;
        }
        n = graph_next(s->g, n);
    } while (n != class);
}

static uint32_t some_class(struct scene *s)
{
    return graph_find(s->g, (uint32_t)rng_below(s->r, rng_below(s->r, 2) ? LARGE : s->m.until));
}

static void add_node(struct scene *s)
{
    struct egraph *g = s->g;
    uint32_t kids[2] = {(uint32_t)rng_below(s->r, LEAVES), (uint32_t)rng_below(s->r, LEAVES)};
    uint32_t before = g->n_cells, n = graph_add(g, s->ops[rng_below(s->r, 3)], kids);
    if (n < before || rng_below(s->r, 3) == 0)
        return; /* else it would join two large ones; or it stands alone */
    graph_union(g, n, (uint32_t)rng_below(s->r, rng_below(s->r, 2) ? LARGE : LEAVES),
                (struct reason){REASON_GIVEN, 0});
    graph_restore_congruence(g);
}

static void join_some(struct scene *s)
{
    uint32_t a = (uint32_t)rng_below(s->r, LEAVES),
             b = LARGE + (uint32_t)rng_below(s->r, s->m.until - LARGE);
    graph_union(s->g, a, b, (struct reason){REASON_GIVEN, 0});
    graph_restore_congruence(s->g);
}

static void depth(struct scene *s)
{
    struct ematch *m = &s->m;
    node_index_begin(s->g);
    if (rng_below(s->r, 8) == 0)
        m->pruner->shapes.sweep_at = 0; /* sets that nobody has go now */
    pruner_begin(m->pruner);
    for (int i = 0; i < 4; i++)
        expect_held(s, some_class(s), false);
    for (uint32_t q = 0; q < PATTERN_MAX_REGISTERS; q++)
        m->reg[q] = some_class(s);
    for (uint32_t k = 0; k < m->set->automaton.n; k++) {
        if (m->states[k].kind != STATE_BIND)
            continue;
        expect_given(s, k, some_class(s));
        expect_partners(s, k, some_class(s));
    }
}

static void epoch(struct scene *s)
{
    struct egraph *g = s->g;
    graph_begin_epoch(g);
    g->frozen = g->n_cells;
    ematch_begin(&s->m, g->n_cells);
    s->m.pruner = pruner_new(&s->m);
    for (uint32_t c = 0; c < s->m.until; c++)
        if (graph_is_class(g, c))
            expect_held(s, c, true);
    for (int step = 0; step < STEPS; step++) {
        depth(s);
        if (rng_below(s->r, 4) == 0)
            add_node(s);
        if (rng_below(s->r, 16) == 0)
            join_some(s);
    }
    egraph_rebuild(g);
    check_graph(g);
}

static void no_less_than_a_walk_finds(void **state)
{
    struct rng r = rng_new(test_seed(), 24);
    struct tally t = {0};
    for (int round = 0; round < 30; round++) {
        struct arena a = {0};
        struct rules rules = rules_of(&a, text);
        struct ruleset *set = ruleset_new(&rules);
        struct scene s = {.g = egraph_new(rules.lang), .r = &r, .t = &t};
        struct ematch_rule *state_of = arena_array(&a, struct ematch_rule, rules.n);
        uint64_t *matched = arena_array(&a, uint64_t, rules.n);
        s.ops[0] = rules.rules[4].lhs.nodes[0].op;
        s.ops[1] = rules.rules[0].lhs.nodes[0].op;
        s.ops[2] = rules.rules[2].lhs.nodes[0].op;
        for (int i = 0; i < LEAVES; i++) { /* the first of them name the large classes */
            char name[8];
            snprintf(name, sizeof name, "v%d", i);
            graph_add_leaf(s.g, graph_leaf(s.g, X_SYM, name));
        }
        ematch_init(&s.m, s.g, set, ruleset_leaves(&a, set, s.g), state_of, matched);
        for (int i = 0; i < NODES; i++)
            add_node(&s);
        egraph_rebuild(s.g);
        for (int i = 0; i < EPOCHS; i++)
            epoch(&s);
        ematch_free(&s.m);
        egraph_free(s.g);
        ruleset_free(set);
        arena_free(&a);
    }
    print_message(
        "%llu shapes held, %llu more; %llu nodes given, %llu left out; %llu with partners, "
        "%llu without\n",
        (unsigned long long)t.holds, (unsigned long long)t.more, (unsigned long long)t.given,
        (unsigned long long)t.left_out, (unsigned long long)t.semijoin,
        (unsigned long long)t.alone);
    assert_true(t.holds > 10000 && t.given > 10000 && t.left_out > 10000 && t.semijoin > 1000 &&
                t.alone > 1000);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_less_than_a_walk_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
