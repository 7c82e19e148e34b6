/* Counting, unranking and drawing against brute force (tests/ref/ref_terms.h) on small e-graphs. */
#include "../../ref/ref_terms.h"
#include "tests/unit.h"
/* How many terms were compared. */
static uint64_t compare_length(const struct graph *graph, const struct grammar *g, int length)
{
    struct arena a = {0};
    struct texts expected, got = {0};
    if (!ref_terms(&expected, &a, graph, length)) {
        arena_free(&a);
        return 0;
    }
    uint64_t total = g->root == GRAMMAR_NONE ? 0 : (uint64_t)grammar_total(g, g->root, length);
    assert_int_equal(total, expected.n);
    got.text = arena_alloc(&a, (total + 1) * sizeof *got.text);
    for (; got.n < total; got.n++) {
        struct term t;
        grammar_unrank(&t, g, g->root, length, got.n);
        got.text[got.n] = grammar_term_text(&a, g, &t);
    }
    ref_texts_sort(&got);
    assert_int_equal(got.n, total);
    for (size_t i = 0; i < total; i++)
        assert_string_equal(got.text[i], expected.text[i]);
    arena_free(&a);
    return total;
}

TEST(counts_equal_brute_force)
{
    enum { ROUNDS = 1000 };
    struct rng rng = rng_new(test_seed(1), 0);
    uint64_t terms = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct graph graph;
        struct grammar_options o = {.max_tokens = MAX_LENGTH};
        struct arena a = {0};
        struct grammar g;
        struct err e;
        ref_graph_random(&graph, &rng);
        assert_int_equal(grammar_init(&g, &a, &graph.m, &lang_calculus, &o, &e), OK);
        for (uint32_t length = 1; length <= o.max_tokens; length++)
            terms += compare_length(&graph, &g, (int)length);
        assert_false(g.saturated);
        arena_free(&a);
    }
    print_message("%llu terms compared\n", (unsigned long long)terms);
    assert_true(terms > 1000);
}

/* Three classes in a circle, so there are terms of any length:
 * 0: x | 1*1 | sin 1,  1: y | 2+2 | cos 2,  2: z | 0-0 | tan 0. */
static const char *const loop_ops[] = {"*", "sin", "+", "cos", "-", "tan"};
static const uint32_t loop_arities[] = {2, 1, 2, 1, 2, 1};
static const char *const loop_leaves[] = {"x", "y", "z"};
static void loop_graph(struct graph *g)
{
    memset(g, 0, sizeof *g);
    eqloom__egraph__init(&g->m);
    for (uint32_t c = 0, kid = 0; c < 3; c++) {
        const uint32_t op[] = {6 + c, 2 * c, 2 * c + 1};
        memcpy(g->node_op + 3 * c, op, sizeof op);
        for (uint32_t k = 0; k < 3; k++) {
            g->child[3 * c + k] = (c + 1) % 3;
            g->child_begin[3 * c + k] = kid;
            kid += k == 0 ? 0 : 3 - k;
        }
        g->class_begin[c + 1] = 3 * (c + 1);
    }
    g->child_begin[9] = 9;
    g->m.operators = (char **)loop_ops;
    g->m.n_operators = 6;
    g->m.leaves = (char **)loop_leaves;
    g->m.n_leaves = 3;
    g->m.arities = (uint32_t *)loop_arities;
    ref_graph_pack(g, 3, 9);
}

struct loop {
    struct arena a;
    struct graph graph;
    struct grammar g;
};

static void loop_open(struct loop *l, uint32_t max_tokens)
{
    struct grammar_options o = {.max_tokens = max_tokens};
    l->a = (struct arena){0};
    loop_graph(&l->graph);
    assert_int_equal(grammar_init(&l->g, &l->a, &l->graph.m, &lang_calculus, &o, NULL), OK);
}

/* The class of a term, from its text: its first token tells. */
static uint32_t class_of(const char **text)
{
    char token[8];
    int used;
    assert_int_equal(sscanf(*text, "%7s%n", token, &used), 1);
    *text += used;
    for (uint32_t i = 0; i < 6; i++)
        if (strcmp(token, loop_ops[i]) == 0) {
            for (uint32_t k = i % 2; k < 2; k++)
                assert_int_equal(class_of(text), (i / 2 + 1) % 3);
            return i / 2;
        } else if (i < 3 && strcmp(token, loop_leaves[i]) == 0) {
            return i;
        }
    fail_msg("'%s' is not represented", token);
    return 0;
}

static void draw_and_check(const struct grammar *g, uint32_t wanted, enum draw_lengths lengths,
                           enum draw_shapes shapes)
{
    struct arena a = {0};
    struct rng rng = rng_new(7, (uint64_t)lengths * 3 + shapes);
    struct term *terms;
    uint32_t n;
    grammar_draw(&terms, &n, &a, g, wanted, &(struct draw_options){lengths, shapes, 9}, &rng);
    assert_int_equal(n, grammar_terms(g) < wanted ? (uint32_t)grammar_terms(g) : wanted);
    struct texts t = {arena_alloc(&a, n * sizeof(char *)), n, n};
    for (uint32_t i = 0; i < n; i++) {
        const char *at = t.text[i] = grammar_term_text(&a, g, &terms[i]);
        assert_int_equal(class_of(&at), 0);
        assert_string_equal(at, "");
    }
    ref_texts_sort(&t);
    assert_int_equal(t.n, n);
    arena_free(&a);
}

TEST(draws_are_different_terms_of_the_class)
{
    for (uint32_t max = 2; max <= 25; max += 23 - (max == 2) * 20) {
        struct loop l;
        loop_open(&l, max);
        for (int lengths = 0; lengths < 2; lengths++)
            for (int shapes = 0; shapes < 2; shapes++)
                draw_and_check(&l.g, 300, lengths, shapes);
        arena_free(&l.a);
    }
}

TEST(lengths_have_the_mean_that_is_asked_for)
{
    struct loop l;
    loop_open(&l, 25);
    for (uint32_t mean = 8; mean <= 22; mean += 7) {
        struct draw_options draw = {DRAW_MEAN, DRAW_EVEN, mean};
        struct rng rng = rng_new(3, mean);
        struct term *terms;
        uint32_t n, sum = 0, of_length[26] = {0};
        grammar_draw(&terms, &n, &l.a, &l.g, 200, &draw, &rng);
        assert_int_equal(n, 200);
        for (uint32_t i = 0; i < n; i++) {
            sum += terms[i].length;
            of_length[terms[i].length]++;
        }
        if (fabs((double)sum / n - mean) >= 0.05)
            fail_msg("mean %g instead of %u", (double)sum / n, mean);
        for (uint32_t length = 12; length < 25; length++) { /* where there are terms enough */
            int grows = (int)of_length[length + 1] - (int)of_length[length];
            assert_true(mean < 15 ? grows <= 1 : mean > 15 ? grows >= -1 : true);
            assert_true(mean != 15 || of_length[length] > 0);
        }
    }
    /* Beyond what the language holds: its nearest, the shortest or the longest. */
    struct draw_options draw = {DRAW_MEAN, DRAW_PROPORTIONAL, 1};
    struct rng rng = rng_new(4, 4);
    struct term *terms;
    uint32_t n;
    grammar_draw(&terms, &n, &l.a, &l.g, 2, &draw, &rng);
    assert_int_equal(terms[0].length + terms[1].length, 3); /* x, sin y */
    arena_free(&l.a);
}

TEST(proportional_draws_are_uniform)
{
    enum { DRAWS = 6000, EACH = 12, LENGTH = 6, MOST = 2000 };
    struct loop l;
    loop_open(&l, LENGTH);
    uint32_t n = (uint32_t)grammar_total(&l.g, l.g.root, LENGTH), seen[MOST] = {0}, all = 0;
    assert_in_range(n, 10, MOST - 1);
    struct texts texts = {arena_alloc(&l.a, n * sizeof(char *)), 0, 0};
    for (; texts.n < n; texts.n++) {
        struct term t;
        grammar_unrank(&t, &l.g, l.g.root, LENGTH, texts.n);
        texts.text[texts.n] = grammar_term_text(&l.a, &l.g, &t);
    }
    ref_texts_sort(&texts);
    struct rng rng = rng_new(11, 0);
    for (int i = 0; i < DRAWS; i++) {
        struct arena scratch = {0};
        struct term *terms;
        uint32_t got;
        grammar_draw(&terms, &got, &scratch, &l.g, EACH,
                     &(struct draw_options){DRAW_LENGTHS, DRAW_PROPORTIONAL, 0}, &rng);
        for (uint32_t k = 0; k < got; k++) {
            if (terms[k].length != LENGTH)
                continue;
            char *text = grammar_term_text(&scratch, &l.g, &terms[k]);
            seen[(char **)bsearch(&text, texts.text, n, sizeof *texts.text, text_compare) -
                 texts.text]++;
            all++;
        }
        arena_free(&scratch);
    }
    double expected = (double)all / n, chi = 0;
    for (uint32_t i = 0; i < n; i++)
        chi += ((double)seen[i] - expected) * ((double)seen[i] - expected) / expected;
    /* Mean n - 1, standard deviation sqrt(2 (n - 1)); five of them. */
    assert_true(chi < n + 7.1 * sqrt((double)n));
    arena_free(&l.a);
}

TEST(saturated_counts_still_name_terms)
{
    struct loop l;
    loop_open(&l, 255);
    assert_true(l.g.saturated);
    char text[48];
    assert_string_equal(count_text(text, grammar_terms(&l.g), l.g.saturated),
                        ">=340282366920938463463374607431768211455");
    draw_and_check(&l.g, 200, DRAW_LENGTHS, DRAW_EVEN);
    arena_free(&l.a);
}

TEST(samples_are_distinct)
{
    struct rng rng = rng_new(3, 0);
    count_t out[50], big = (count_t)1 << 100;
    count_sample(out, 50, 50, &rng);
    uint64_t sum = 0;
    for (int i = 0; i < 50; i++)
        sum |= (uint64_t)1 << (uint64_t)out[i];
    assert_true(sum == ((uint64_t)1 << 50) - 1);
    for (int i = 0; i < 1000; i++)
        assert_true(count_below(&rng, big - 3) < big - 3);
}

TEST_IN_ARENA(malformed_graphs_are_refused)
{
    struct graph graph;
    struct err e;
    struct grammar g;
    struct grammar_options o = {.max_tokens = 5};
    loop_graph(&graph);
    graph.m.root = 3;
    assert_int_equal(grammar_init(&g, a, &graph.m, &lang_calculus, &o, &e), ERR_CORRUPT);
    loop_graph(&graph);
    graph.child[3] = 17;
    ref_graph_pack(&graph, 3, 9);
    assert_int_equal(grammar_init(&g, a, &graph.m, &lang_calculus, &o, &e), ERR_CORRUPT);
    loop_graph(&graph);
    graph.node_op[2] = 9; /* no such leaf */
    assert_int_equal(grammar_init(&g, a, &graph.m, &lang_calculus, &o, &e), ERR_CORRUPT);
}

static int clean(void **state)
{
    ref_graphs_free();
    return 0;
}

TESTS_AROUND(NULL, clean)
