/* Counting, unranking and drawing against brute force: on small random e-graphs, cyclic ones among
 * them, all terms are written out by plain recursion and rejected by a filter that looks at whole
 * trees. */
#include "ops/egraph/record/egraph_arrays.h"
#include "ops/extract/extract_draw.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_NODES = 64, MAX_CLASSES = 16, MAX_LENGTH = 6, MAX_TERMS = 1500 };

static const char *const op_names[] = {"+",   "-",  "*",   "/",    "pow", "sqrt",
                                       "abs", "ln", "sin", "asin", "d"};
static const uint32_t op_arity[] = {2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 2};
static const char *const leaf_names[] = {"x", "y", "e", "0", "1", "-1", "2", "3", "3/2"};
enum { N_OPS = 11, N_LEAVES = 9 };

struct graph {
    Eqloom__EGraph m;
    uint32_t class_begin[MAX_CLASSES + 1], node_op[MAX_NODES], child_begin[MAX_NODES + 1],
        child[2 * MAX_NODES];
};

static struct arena records; /* of the packed numbers of all graphs */

/* The numbers of the message from the arrays. */
static void pack_arrays(struct graph *g, uint32_t classes, uint32_t nodes)
{
    struct egraph_arrays x = {.n_classes = classes,
                              .n_nodes = nodes,
                              .class_begin = g->class_begin,
                              .child_begin = g->child_begin,
                              .child = g->child};
    g->m.n_arities = g->m.n_operators;
    g->m.node_ops = g->node_op;
    g->m.n_node_ops = nodes;
    egraph_arrays_write(&g->m, &records, &x);
}

struct raw_node {
    int what, a, b; /* leaf: what >= N_OPS */
};

static bool raw_equal(const struct raw_node *x, const struct raw_node *y)
{
    return x->what == y->what && x->a == y->a && x->b == y->b;
}

static void random_graph(struct graph *g, struct rng *rng)
{
    struct raw_node nodes[MAX_CLASSES][MAX_NODES];
    int n[MAX_CLASSES] = {0}, classes = 2 + (int)rng_below(rng, 5), total = 0;
    struct raw_node all[MAX_NODES];
    for (int tries = 0; tries < 24; tries++) {
        int c = tries < classes ? tries : (int)rng_below(rng, (uint64_t)classes);
        struct raw_node node = {N_OPS + (int)rng_below(rng, N_LEAVES), -1, -1};
        if (tries >= classes || rng_below(rng, 3) == 0) {
            node.what = (int)rng_below(rng, N_OPS);
            node.a = (int)rng_below(rng, (uint64_t)classes);
            node.b = op_arity[node.what] == 2 ? (int)rng_below(rng, (uint64_t)classes) : -1;
        }
        bool seen = false;
        for (int i = 0; i < total; i++)
            seen |= raw_equal(&all[i], &node);
        if (!seen)
            all[total++] = nodes[c][n[c]++] = node;
    }
    memset(g, 0, sizeof *g);
    eqloom__egraph__init(&g->m);
    uint32_t at = 0, kids = 0;
    for (int c = 0; c < classes; c++) {
        g->class_begin[c] = at;
        for (int i = 0; i < n[c]; i++) {
            struct raw_node *r = &nodes[c][i];
            g->node_op[at] = (uint32_t)r->what;
            g->child_begin[at++] = kids;
            if (r->a >= 0)
                g->child[kids++] = (uint32_t)r->a;
            if (r->b >= 0)
                g->child[kids++] = (uint32_t)r->b;
        }
    }
    g->class_begin[classes] = at;
    g->child_begin[at] = kids;
    g->m.operators = (char **)op_names;
    g->m.n_operators = N_OPS;
    g->m.leaves = (char **)leaf_names;
    g->m.n_leaves = N_LEAVES;
    g->m.arities = (uint32_t *)op_arity;
    pack_arrays(g, (uint32_t)classes, at);
}

/* ---- the oracle ---- */
struct texts {
    char **text;
    size_t n, cap;
};

static void texts_add(struct texts *t, struct arena *a, char *text)
{
    if (t->n == t->cap) {
        char **old = t->text;
        t->cap = t->cap ? 2 * t->cap : 4;
        t->text = arena_alloc(a, t->cap * sizeof *t->text);
        if (t->n)
            memcpy(t->text, old, t->n * sizeof *old);
    }
    t->text[t->n++] = text;
}

static int leaf_length(const char *leaf)
{
    return strchr(leaf, '/') ? 3 : 1;
}

static bool leaf_is_number(const char *leaf)
{
    return (leaf[0] >= '0' && leaf[0] <= '9') || leaf[0] == '-';
}

static bool class_is_number(const struct graph *g, uint32_t c)
{
    for (uint32_t n = g->class_begin[c]; n < g->class_begin[c + 1]; n++)
        if (g->node_op[n] >= N_OPS && leaf_is_number(leaf_names[g->node_op[n] - N_OPS]))
            return true;
    return false;
}

/* False when there are too many. */
static bool list_terms(struct texts *out, struct arena *a, const struct graph *g, uint32_t c,
                       int length)
{
    *out = (struct texts){0};
    bool only_number = c != g->m.root && class_is_number(g, c);
    for (uint32_t n = g->class_begin[c]; n < g->class_begin[c + 1]; n++) {
        uint32_t op = g->node_op[n];
        if (op >= N_OPS) {
            const char *leaf = leaf_names[op - N_OPS];
            if (leaf_length(leaf) == length && (!only_number || leaf_is_number(leaf)))
                texts_add(out, a, arena_strdup(a, leaf));
            continue;
        }
        const uint32_t *child = g->child + g->child_begin[n];
        for (int i = 1; i < length && !only_number; i++) {
            struct texts left, right = {.n = 1};
            int rest = op_arity[op] == 2 ? length - 1 - i : 0;
            if (op_arity[op] == 2 ? rest < 1 : i != length - 1)
                continue;
            if (!list_terms(&left, a, g, child[0], i) ||
                (rest && !list_terms(&right, a, g, child[1], rest)) ||
                out->n + left.n * right.n > MAX_TERMS)
                return false;
            for (size_t l = 0; l < left.n; l++)
                for (size_t r = 0; r < right.n; r++)
                    texts_add(out, a,
                              rest ? arena_printf(a, "%s %s %s", op_names[op], left.text[l],
                                                  right.text[r])
                                   : arena_printf(a, "%s %s", op_names[op], left.text[l]));
        }
    }
    return true;
}

struct tree {
    char token[8];
    struct tree *kid[2];
};

static struct tree *read_tree(struct arena *a, const char **text)
{
    struct tree *t = arena_new(a, struct tree);
    int used;
    assert_int_equal(sscanf(*text, "%7s%n", t->token, &used), 1);
    *text += used;
    for (int op = 0; op < N_OPS; op++)
        for (uint32_t k = 0; strcmp(t->token, op_names[op]) == 0 && k < op_arity[op]; k++)
            t->kid[k] = read_tree(a, text);
    return t;
}

static bool named(const struct tree *t, const char *name)
{
    return t && strcmp(t->token, name) == 0;
}

static bool number(const struct tree *t)
{
    return !t->kid[0] && leaf_is_number(t->token);
}

static bool negated(const struct tree *t)
{
    return named(t, "*") && (named(t->kid[0], "-1") || named(t->kid[1], "-1"));
}

static bool rejected(const struct tree *t)
{
    const struct tree *a = t->kid[0], *b = t->kid[1];
    if (!a)
        return false;
    if (rejected(a) || (b && rejected(b)))
        return true;
    if (named(t, "d") && (a->kid[0] || number(a) || named(a, "e")))
        return true;
    bool zero = named(a, "0") || named(b, "0"), one_left = named(a, "1"), one_right = named(b, "1");
    bool numbers = b && number(a) && number(b);
    if (named(t, "+"))
        return zero || numbers;
    if (named(t, "-"))
        return zero || numbers || negated(b);
    if (named(t, "*"))
        return zero || one_left || one_right || numbers || (named(a, "-1") && negated(b)) ||
               (named(b, "-1") && negated(a));
    if (named(t, "/"))
        return zero || one_right || named(b, "-1") || numbers ||
               (named(b, "/") && named(b->kid[0], "1"));
    if (named(t, "pow"))
        return zero || one_left || one_right || (named(a, "e") && named(b, "ln")) ||
               (named(a, "sqrt") && named(b, "2"));
    if (named(t, "sqrt"))
        return zero || one_left ||
               (named(a, "pow") && named(a->kid[1], "2") && !named(a->kid[0], "e"));
    if (named(t, "abs"))
        return number(a) || named(a, "abs");
    if (named(t, "ln"))
        return zero || one_left || named(a, "e") || (named(a, "pow") && named(a->kid[0], "e"));
    if (named(t, "sin"))
        return named(a, "asin");
    if (named(t, "asin"))
        return named(a, "sin");
    return named(t, "d") && number(b);
}

/* The class of a tree by congruence over the arrays. */
static uint32_t class_of_tree(const struct graph *g, const struct tree *t)
{
    uint32_t kids[2] = {0, 0}, arity = 0, what = UINT32_MAX;
    for (; arity < 2 && t->kid[arity]; arity++)
        kids[arity] = class_of_tree(g, t->kid[arity]);
    for (uint32_t i = 0; i < N_OPS + N_LEAVES; i++)
        if (named(t, i < N_OPS ? op_names[i] : leaf_names[i - N_OPS]))
            what = i;
    for (uint32_t c = 0; c < g->m.n_class_sizes; c++)
        for (uint32_t n = g->class_begin[c]; n < g->class_begin[c + 1]; n++)
            if (g->node_op[n] == what &&
                memcmp(g->child + g->child_begin[n], kids, arity * sizeof *kids) == 0)
                return c;
    fail();
    return 0;
}

static bool has_loop(const struct graph *g, const struct tree *t)
{
    uint32_t class = class_of_tree(g, t);
    for (int k = 0; k < 2 && t->kid[k]; k++) {
        if (class_of_tree(g, t->kid[k]) == class || has_loop(g, t->kid[k]))
            return true;
        for (int q = 0; q < 2 && t->kid[k]->kid[q]; q++)
            if (class_of_tree(g, t->kid[k]->kid[q]) == class)
                return true;
    }
    return false;
}

static int compare_texts(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

static void sort_unique(struct texts *t)
{
    if (t->n)
        qsort(t->text, t->n, sizeof *t->text, compare_texts);
    size_t kept = 0;
    for (size_t i = 0; i < t->n; i++)
        if (kept == 0 || strcmp(t->text[kept - 1], t->text[i]) != 0)
            t->text[kept++] = t->text[i];
    t->n = kept;
}

static bool oracle(struct texts *out, struct arena *a, const struct graph *g, int length)
{
    if (!list_terms(out, a, g, g->m.root, length))
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < out->n; i++) {
        const char *at = out->text[i];
        struct tree *t = read_tree(a, &at);
        if (!rejected(t) && !has_loop(g, t))
            out->text[kept++] = out->text[i];
    }
    out->n = kept;
    sort_unique(out);
    assert_int_equal(out->n, kept); /* one derivation for each term */
    return true;
}

/* ---- comparisons ---- */
/* How many terms were compared. */
static uint64_t compare_length(const struct graph *graph, const struct grammar *g, int length)
{
    struct arena a = {0};
    struct texts expected, got = {0};
    if (!oracle(&expected, &a, graph, length)) {
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
    sort_unique(&got);
    assert_int_equal(got.n, total);
    for (size_t i = 0; i < total; i++)
        assert_string_equal(got.text[i], expected.text[i]);
    arena_free(&a);
    return total;
}

static uint64_t test_seed(void)
{
    const char *text = getenv("EQLOOM_TEST_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : 1;
    print_message("seed %llu\n", (unsigned long long)seed);
    return seed;
}

static void test_counts_equal_brute_force(void **state)
{
    enum { ROUNDS = 1000 };
    struct rng rng = rng_new(test_seed(), 0);
    uint64_t terms = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct graph graph;
        struct grammar_options o = {.max_tokens = MAX_LENGTH};
        struct arena a = {0};
        struct grammar g;
        struct err e;
        random_graph(&graph, &rng);
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
    pack_arrays(g, 3, 9);
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
    sort_unique(&t);
    assert_int_equal(t.n, n);
    arena_free(&a);
}

static void test_draws_are_different_terms_of_the_class(void **state)
{
    struct graph graph;
    struct err e;
    loop_graph(&graph);
    for (uint32_t max = 2; max <= 25; max += 23 - (max == 2) * 20) {
        struct arena a = {0};
        struct grammar g;
        struct grammar_options o = {.max_tokens = max};
        assert_int_equal(grammar_init(&g, &a, &graph.m, &lang_calculus, &o, &e), OK);
        for (int lengths = 0; lengths < 2; lengths++)
            for (int shapes = 0; shapes < 2; shapes++)
                draw_and_check(&g, 300, lengths, shapes);
        arena_free(&a);
    }
}

static void test_lengths_have_the_mean_that_is_asked_for(void **state)
{
    struct graph graph;
    struct err e;
    struct arena a = {0};
    struct grammar g;
    struct grammar_options o = {.max_tokens = 25};
    loop_graph(&graph);
    assert_int_equal(grammar_init(&g, &a, &graph.m, &lang_calculus, &o, &e), OK);
    for (uint32_t mean = 8; mean <= 22; mean += 7) {
        struct draw_options draw = {DRAW_MEAN, DRAW_EVEN, mean};
        struct rng rng = rng_new(3, mean);
        struct term *terms;
        uint32_t n, sum = 0, of_length[26] = {0};
        grammar_draw(&terms, &n, &a, &g, 200, &draw, &rng);
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
    grammar_draw(&terms, &n, &a, &g, 2, &draw, &rng);
    assert_int_equal(terms[0].length + terms[1].length, 3); /* x, sin y */
    arena_free(&a);
}

static void test_proportional_draws_are_uniform(void **state)
{
    enum { DRAWS = 6000, EACH = 12, LENGTH = 6, MOST = 2000 };
    struct graph graph;
    struct err e;
    struct arena a = {0};
    struct grammar g;
    struct grammar_options o = {.max_tokens = LENGTH};
    loop_graph(&graph);
    assert_int_equal(grammar_init(&g, &a, &graph.m, &lang_calculus, &o, &e), OK);
    uint32_t n = (uint32_t)grammar_total(&g, g.root, LENGTH), seen[MOST] = {0}, all = 0;
    assert_in_range(n, 10, MOST - 1);
    struct texts texts = {arena_alloc(&a, n * sizeof(char *)), 0, 0};
    for (; texts.n < n; texts.n++) {
        struct term t;
        grammar_unrank(&t, &g, g.root, LENGTH, texts.n);
        texts.text[texts.n] = grammar_term_text(&a, &g, &t);
    }
    qsort(texts.text, n, sizeof *texts.text, compare_texts);
    struct rng rng = rng_new(11, 0);
    for (int i = 0; i < DRAWS; i++) {
        struct arena scratch = {0};
        struct term *terms;
        uint32_t got;
        grammar_draw(&terms, &got, &scratch, &g, EACH,
                     &(struct draw_options){DRAW_LENGTHS, DRAW_PROPORTIONAL, 0}, &rng);
        for (uint32_t k = 0; k < got; k++) {
            if (terms[k].length != LENGTH)
                continue;
            char *text = grammar_term_text(&scratch, &g, &terms[k]);
            seen[(char **)bsearch(&text, texts.text, n, sizeof *texts.text, compare_texts) -
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
    arena_free(&a);
}

static void test_saturated_counts_still_name_terms(void **state)
{
    struct graph graph;
    struct err e;
    struct arena a = {0};
    struct grammar g;
    struct grammar_options o = {.max_tokens = 255};
    loop_graph(&graph);
    assert_int_equal(grammar_init(&g, &a, &graph.m, &lang_calculus, &o, &e), OK);
    assert_true(g.saturated);
    char text[48];
    assert_string_equal(count_text(text, grammar_terms(&g), g.saturated),
                        ">=340282366920938463463374607431768211455");
    draw_and_check(&g, 200, DRAW_LENGTHS, DRAW_EVEN);
    arena_free(&a);
}

static void test_samples_are_distinct(void **state)
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

static void test_malformed_graphs_are_refused(void **state)
{
    struct graph graph;
    struct err e;
    struct arena a = {0};
    struct grammar g;
    struct grammar_options o = {.max_tokens = 5};
    loop_graph(&graph);
    graph.m.root = 3;
    assert_int_equal(grammar_init(&g, &a, &graph.m, &lang_calculus, &o, &e), ERR_CORRUPT);
    loop_graph(&graph);
    graph.child[3] = 17;
    pack_arrays(&graph, 3, 9);
    assert_int_equal(grammar_init(&g, &a, &graph.m, &lang_calculus, &o, &e), ERR_CORRUPT);
    loop_graph(&graph);
    graph.node_op[2] = 9; /* no such leaf */
    assert_int_equal(grammar_init(&g, &a, &graph.m, &lang_calculus, &o, &e), ERR_CORRUPT);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_equal_brute_force),
        cmocka_unit_test(test_draws_are_different_terms_of_the_class),
        cmocka_unit_test(test_lengths_have_the_mean_that_is_asked_for),
        cmocka_unit_test(test_proportional_draws_are_uniform),
        cmocka_unit_test(test_saturated_counts_still_name_terms),
        cmocka_unit_test(test_samples_are_distinct),
        cmocka_unit_test(test_malformed_graphs_are_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&records);
    return failed;
}
