/* Cores of expressions: a*f + b has the core of f, and any expression is some a*core + b, as values
 * at three points say. */
#include "base/rng.h"
#include "ops/eval/measure/closeness.h"
#include "tests/ops/expr/balls.h"
#include "tests/ops/expr/random_tree.h"
#include "tests/ops/terms.h"

static void check(const char *prefix, const char *wanted)
{
    struct arena a = {0};
    struct expr x = prefix_term(&a, &lang_calculus, prefix), core = affine_core(&a, &x);
    assert_string_equal(expr_prefix(&a, &core), wanted);
    arena_free(&a);
}

TEST(by_hand)
{
    check("sin x", "sin x");
    check("+ * 3 sin x 2", "sin x");
    check("- 2 * 3 sin x", "sin x");
    check("- / sin x 3 cos 1", "sin x");
    check("+ 1 * 2 + x 3", "x");
    check("/ 3 x", "/ 1 x");
    check("/ 3 * 2 x", "/ 1 x");
    check("+ + x 3 sin x", "+ x sin x");
    check("+ sin x - x ln 2", "+ sin x x");
    check("* * 2 x * sin x pi", "* x sin x");
    check("+ sin x - 3 x", "+ sin x - 3 x");
    check("+ * 2 x * 2 sin x", "+ * 2 x * 2 sin x");
    check("pow + x 1 2", "pow + x 1 2");
    check("cos ln 2", "0");
    check("* 0 x", "x");
}

/* a*f + b written in several ways. */
TEST(affine_forms)
{
    static const char *const forms[] = {"+ * %s %s %s", "- %3$s * %1$s %2$s", "+ %3$s / %2$s %1$s",
                                        "* %1$s - %2$s %3$s"};
    static const char *const constants[] = {"3", "-1/2", "sqrt 2", "ln + 1 pi", "cos cos 1"};
    struct rng r = rng_new(12, 0);
    for (int round = 0; round < 500; round++) {
        struct arena a = {0};
        struct expr f = random_tree(&a, &r, 4, false);
        const char *text = expr_prefix(&a, &f), *form = forms[rng_below(&r, 4)];
        char *whole = NULL;
        if (asprintf(&whole, form, constants[rng_below(&r, 5)], text, constants[rng_below(&r, 5)]) <
            0)
            abort();
        struct expr x = prefix_term(&a, &lang_calculus, whole), p = affine_core(&a, &f),
                    q = affine_core(&a, &x);
        if (!expr_equal(&p, &q))
            fail_msg("%s: %s instead of %s", whole, expr_prefix(&a, &q), expr_prefix(&a, &p));
        struct expr again = affine_core(&a, &p);
        assert_true(expr_equal(&again, &p));
        free(whole);
        arena_free(&a);
    }
}

static double value(const struct expr *x, double at)
{
    static const char *const names[] = {"x", "y"};
    double re[] = {at, 1.37}, im[] = {0, 0};
    struct ball_point point = {.n = 2, .names = names, .re = re, .im = im};
    return ball_value_real(x, &point);
}

/* (g(p) - g(q)) (f(q) - f(s)) = (g(q) - g(s)) (f(p) - f(q)) for g = a*f + b, if only x varies. */
TEST(values)
{
    struct rng r = rng_new(13, 0);
    int compared = 0;
    for (int round = 0; round < 3000; round++) {
        struct arena a = {0};
        struct expr x = random_tree(&a, &r, 3, false), core = affine_core(&a, &x);
        const char **names;
        bool one = expr_variables(&names, &a, &x) == 1 && strcmp(names[0], "x") == 0;
        double g[3], f[3], at[3] = {0.71, 1.3, 2.9};
        bool finite = one;
        for (int i = 0; i < 3; i++) {
            g[i] = value(&x, at[i]);
            f[i] = value(&core, at[i]);
            finite =
                finite && isfinite(g[i]) && isfinite(f[i]) && fabs(g[i]) < 1e6 && fabs(f[i]) < 1e6;
        }
        if (finite && core.n < x.n) {
            double left = (g[0] - g[1]) * (f[1] - f[2]), right = (g[1] - g[2]) * (f[0] - f[1]);
            double scale = 1 + fabs(g[0]) + fabs(g[1]) + fabs(g[2]);
            scale *= 1 + fabs(f[0]) + fabs(f[1]) + fabs(f[2]);
            if (fabs(left - right) > 1e-9 * scale)
                fail_msg("%s is no affine function of %s", expr_prefix(&a, &x),
                         expr_prefix(&a, &core));
            compared++;
        }
        arena_free(&a);
    }
    assert_true(compared > 100);
}

TEST_IN_ARENA(closeness)
{
    static const char *const texts[] = {"sin x", "sin x", "* 3 sin x", "cos x", "sin sin"};
    struct err e = {0};
    struct closeness c;
    struct vectors v = {.n = 4, .dim = 1, .stride = VECTOR_LANES, .text = (const char **)texts};
    v.x = arena_array(a, float, 5 * VECTOR_LANES);
    for (uint32_t i = 0; i < 5; i++)
        vectors_at(&v, i)[0] = 1;
    vectors_at(&v, 3)[0] = 0.5F;
    /* Its own text, wherever it stands, is not a neighbour. */
    assert_int_equal(closeness_find(&c, a, &v, &v, &lang_calculus, 0, &e), OK);
    assert_true(c.n == 2 && c.row[0] == 2 && c.row[1] == 3 && c.raw == 2 && c.core == 0);
    vectors_at(&v, 2)[0] = 0.25F;
    assert_int_equal(closeness_find(&c, a, &v, &v, &lang_calculus, 1, &e), OK);
    assert_true(c.row[0] == 3 && c.row[1] == 2 && c.raw == 1 && c.core == 1);
    v.n = 2;
    assert_int_equal(closeness_find(&c, a, &v, &v, &lang_calculus, 0, &e), ERR_NOTFOUND);
    v.n = 5;
    assert_int_equal(closeness_find(&c, a, &v, &v, &lang_calculus, 0, &e), ERR_INPUT);
}

TESTS_AROUND(NULL, balls_clean)
