/* Near misses differ in one place, by something of the same kind; and what equality tests say. */
#include "base/rng.h"
#include "ops/expr/edit_distance.h"
#include "ops/expr/equality/equality.h"
#include "ops/expr/near_miss.h"
#include "tests/ops/expr/balls.h"
#include "tests/ops/expr/random_tree.h"
#include "tests/ops/terms.h"

/* ---- near misses ---- */

static const char *const kinds[] = {
    "+ - * / pow",
    "sqrt abs ln",
    "sin cos tan csc sec cot",
    "asin acos atan acsc asec acot",
    "sinh cosh tanh csch sech coth",
    "asinh acosh atanh acsch asech acoth",
    "true false",
    "and or xor implies",
};

static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0))
            return true;
    return false;
}

static bool of_one_kind(const struct language *lang, uint16_t p, uint16_t q)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (has_word(kinds[i], lang->ops[p].name) && has_word(kinds[i], lang->ops[q].name))
            return true;
    return false;
}

/* The one node in which they differ. */
static uint32_t difference(const struct expr *x, const struct expr *y)
{
    uint32_t at = UINT32_MAX;
    assert_int_equal(x->n, y->n);
    for (uint32_t i = 0; i < x->n; i++) {
        struct expr_node p = x->nodes[i], q = y->nodes[i];
        assert_int_equal(p.size, q.size);
        assert_int_equal(p.arity, q.arity);
        if (p.op == q.op && (!p.leaf || strcmp(p.leaf, q.leaf) == 0))
            continue;
        assert_int_equal(at, UINT32_MAX);
        at = i;
    }
    assert_int_not_equal(at, UINT32_MAX);
    return at;
}

TEST_IN_ARENA(one_node_changes)
{
    struct rng r = rng_new(3, 0);
    size_t drawn = 0, numbers = 0;
    for (int round = 0; round < 2000; round++) {
        enum near_miss what = round % 2 ? NEAR_MISS_ANY : NEAR_MISS_OPERATORS;
        struct expr x = random_tree(a, &r, 4, false), y;
        if (near_miss_draw(&y, a, &x, what, &r)) {
            uint32_t at = difference(&x, &y), d;
            const struct expr_node *p = &x.nodes[at], *q = &y.nodes[at];
            assert_int_equal(edit_distance(&d, a, &x, &y, NULL), OK);
            assert_int_equal(d, 1);
            drawn++;
            numbers += p->op == X_NUM;
            assert_true(p->op != X_NUM || what == NEAR_MISS_ANY);
            assert_int_equal(p->op == X_NUM, q->op == X_NUM);
            assert_true(p->op == X_NUM || of_one_kind(x.lang, p->op, q->op));
            assert_true(p->op != X_SYM && p->op != X_D);
            /* It can be read again: numbers are reduced. */
            struct expr again = prefix_term(a, lang_by_name(""), expr_prefix(a, &y));
            assert_true(expr_equal(&again, &y));
        }
    }
    assert_true(drawn > 1000 && numbers > 100);
}

/* Operands change their places half of the time, where that changes something. */
TEST_IN_ARENA(exchanged_operands)
{
    struct rng r = rng_new(8, 0);
    struct expr x = prefix_term(a, lang_by_name(""), "- sin x pow x + x 1");
    struct expr whole = prefix_term(a, lang_by_name(""), "- pow x + x 1 sin x");
    struct expr power = prefix_term(a, lang_by_name(""), "- sin x pow + x 1 x");
    size_t count[3] = {0};
    for (int round = 0; round < 5000; round++) {
        struct expr y;
        assert_true(near_miss_draw(&y, a, &x, NEAR_MISS_ARGUMENTS, &r));
        int which = expr_equal(&y, &whole) ? 1 : expr_equal(&y, &power) ? 2 : 0;
        if (!which)
            difference(&x, &y);
        count[which]++;
    }
    assert_in_range(count[1], 400, 600); /* one node of five, half of the time */
    assert_in_range(count[2], 400, 600);
}

/* All nodes that can be altered are, about equally often. */
TEST_IN_ARENA(every_node_has_its_turn)
{
    struct rng r = rng_new(4, 0);
    struct expr x = prefix_term(a, lang_by_name(""), "+ sin * 3/2 x pow ln x -4");
    size_t count[9] = {0};
    for (int round = 0; round < 7000; round++) {
        struct expr y;
        assert_true(near_miss_draw(&y, a, &x, NEAR_MISS_ANY, &r));
        count[difference(&x, &y)]++;
    }
    /* + sin * 3/2 . pow ln . -4 */
    for (size_t i = 0; i < 9; i++)
        if (i == 4 || i == 7)
            assert_int_equal(count[i], 0);
        else
            assert_in_range(count[i], 850, 1150);
}

TEST_IN_ARENA(nothing_to_alter)
{
    struct rng r = rng_new(5, 0);
    struct expr y, x = prefix_term(a, lang_by_name(""), "x"),
                   number = prefix_term(a, lang_by_name(""), "7"),
                   d = prefix_term(a, lang_by_name(""), "d x x");
    struct expr no = prefix_term(a, lang_by_name("boolean"), "not p"), and = prefix_term(
                                                                           a,
                                                                           lang_by_name("boolean"),
                                                                           "and p true");
    assert_false(near_miss_draw(&y, a, &x, NEAR_MISS_ANY, &r));
    assert_false(near_miss_draw(&y, a, &d, NEAR_MISS_ANY, &r));
    assert_false(near_miss_draw(&y, a, &number, NEAR_MISS_OPERATORS, &r));
    assert_true(near_miss_draw(&y, a, &number, NEAR_MISS_ANY, &r));
    assert_false(near_miss_draw(&y, a, &no, NEAR_MISS_ANY, &r));
    assert_true(near_miss_draw(&y, a, &and, NEAR_MISS_ANY, &r));
}

/* A declared operator has the number of one of the Boolean language, and no others of its kind. */
TEST_IN_ARENA(declared_operators)
{
    struct rng r = rng_new(6, 0);
    const struct language *lang = &lang_calculus;
    assert_int_equal(lang_declare(&lang, a, lang, "i", 0, NULL), OK);
    assert_int_equal(lang_declare(&lang, a, lang, "j", 0, NULL), OK);
    struct expr x, y;
    assert_int_equal(expr_from_prefix(&x, a, lang, "i/0", NULL), OK);
    assert_int_equal(x.nodes[0].op, X_DECLARED);
    assert_false(near_miss_draw(&y, a, &x, NEAR_MISS_ANY, &r));
}

/* ---- equality ---- */

static void check_equality(struct arena *a, const char *language, const char *x, const char *y,
                           enum equality wanted)
{
    struct expr p = prefix_term(a, lang_by_name(language), x),
                q = prefix_term(a, lang_by_name(language), y);
    struct ball_options options = {.points = 8};
    struct equality_test t;
    const char *witness = "unset";
    equality_test_begin(&t, &p, &options);
    enum equality found = equality_test_ask(&witness, a, &t, &q);
    if (found != wanted)
        fail_msg("'%s' and '%s': %d instead of %d", x, y, (int)found, (int)wanted);
    assert_int_equal(witness != NULL, wanted == EQUALITY_REFUTED);
    assert_int_equal(equality_test_ask(NULL, a, &t, &q), wanted);
    equality_test_end(&t);
}

TEST_IN_ARENA(equality)
{
    check_equality(a, "", "sin x", "sin x", EQUALITY_AGREES);
    check_equality(a, "", "pow sin x 2", "- 1 pow cos x 2", EQUALITY_AGREES);
    check_equality(a, "", "pow sin x 2", "- 1 pow cos x 3", EQUALITY_REFUTED);
    check_equality(a, "", "ln - x x", "sin x", EQUALITY_UNDECIDED);
    check_equality(a, "boolean", "not and p q", "or not p not q", EQUALITY_AGREES);
    check_equality(a, "boolean", "not and p q", "or not p q", EQUALITY_REFUTED);
    check_equality(a, "polynomial", "* + x 1 - x 1", "- * x x 1", EQUALITY_AGREES);
    check_equality(a, "polynomial", "* + x 1 - x 1", "+ * x x 1", EQUALITY_REFUTED);
}

TESTS_AROUND(NULL, balls_clean)
