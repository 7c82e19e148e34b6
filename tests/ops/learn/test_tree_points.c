/* What nodes are worth at points, against complex balls: value and derivative. */
#include "ops/expr/ball/ball_eval.h"
#include "ops/learn/tree/tree_corpus.h"
#include "ops/learn/tree/tree_points.h"
#include "tests/unit.h"

#include <math.h>
#include <string.h>

enum { POINTS = 7, MOST = 64 };

static char *names[] = {"<pad>", "<start>", "<end>", "+",     "-",    "*",    "/",     "pow",
                        "sqrt",  "abs",     "d",     "ln",    "sin",  "cos",  "tan",   "csc",
                        "sec",   "cot",     "asin",  "acos",  "atan", "acsc", "asec",  "acot",
                        "sinh",  "cosh",    "tanh",  "csch",  "sech", "coth", "asinh", "acosh",
                        "atanh", "acsch",   "asech", "acoth", "x",    "y",    "pi",    "e",
                        "INT+",  "2",       "3",     "-1",    "-7",   "0"};
enum { NAMES = sizeof names / sizeof *names };

static const char *const texts[] = {
    "+ x 3",         "- pow x 3 / 2 x", "* x * -1 y",      "pow e * 2 x",     "pow x / 3 2",
    "pow -7 x",      "sqrt * -1 x",     "abs - x 2",       "ln - 0 x",        "* csc x sec * 2 x",
    "+ tan x cot x", "asin x",          "acos + x 2",      "atan x",          "acsc x",
    "asec x",        "acot * -7 x",     "/ sinh x cosh x", "+ tanh x csch x", "- sech x coth x",
    "asinh x",       "acosh x",         "atanh x",         "acsch x",         "asech x",
    "acoth x",       "sin sqrt - 2 x",  "d x sin * 2 x",   "d x d x pow x 3", "* x d x ln x",
    "sin pi",
};

struct point {
    acb_t x, y;
};

static const acb_struct *look_up(void *arg, uint16_t op, const char *name)
{
    const struct point *p = arg;
    return *name == 'x' ? p->x : p->y;
}

static double x_at(uint32_t p)
{
    return 0.19 * pow(24, (double)p / (POINTS - 1));
}

static double squash(double x)
{
    return fmax(-2, fmin(2, asinh(x) / 2));
}

static void check_within(const char *text, uint32_t p, int which, float found, double expected,
                         double by)
{
    if (!(fabs((double)found - expected) < by))
        fail_msg("%s, point %u, value %d: %g, expected %g", text, p, which, (double)found,
                 expected);
}

static void check_near(const char *text, uint32_t p, int which, float found, double expected)
{
    check_within(text, p, which, found, expected, 2e-4);
}

/* Angles double, and with them the errors of derivatives. */
static void check_encoded(const char *text, uint32_t p, const float *encoded, double re, double im)
{
    double parts[] = {asinh(re) / 2, asinh(im) / 2};
    for (int k = 0, i = 0; k < 9; k++)
        for (int part = 0; part < 2; part++, i += 2) {
            double angle = (1 << k) * parts[part], by = 1e-5 * (1 << k);
            check_within(text, p, i, encoded[i], sin(angle), by);
            check_within(text, p, i + 1, encoded[i + 1], cos(angle), by);
        }
}

static void check(struct ball_evaluator *v, struct point *at, const char *text, const float *values,
                  const float *encoded, struct arena *a)
{
    struct expr x, slope;
    assert_int_equal(expr_from_prefix(&x, a, &lang_calculus, text, NULL), OK);
    assert_int_equal(
        expr_from_prefix(&slope, a, &lang_calculus, arena_printf(a, "d x %s", text), NULL), OK);
    for (uint32_t p = 0; p < POINTS; p++, values += TREE_VALUES, encoded += TREE_ENCODED) {
        acb_set_d(at->x, x_at(p));
        acb_set_d(at->y, x_at((p + 3) % POINTS));
        const acb_struct *z = ball_evaluate(v, &x, 100);
        double re = arf_get_d(arb_midref(acb_realref(z)), ARF_RND_NEAR);
        double im = arf_get_d(arb_midref(acb_imagref(z)), ARF_RND_NEAR), size = hypot(re, im);
        assert_true(isfinite(size));
        check_encoded(text, p, encoded, re, im);
        check_near(text, p, 0, values[0], squash(re));
        check_near(text, p, 1, values[1], squash(im));
        check_near(text, p, 2, values[2], fmax(-2, fmin(2, log(size + 1e-9) / 2)));
        if (size > 1e-9) {
            check_near(text, p, 3, values[3], re / size);
            check_near(text, p, 4, values[4], im / size);
        }
        z = ball_evaluate(v, &slope, 100);
        double dre = arf_get_d(arb_midref(acb_realref(z)), ARF_RND_NEAR);
        double dim = arf_get_d(arb_midref(acb_imagref(z)), ARF_RND_NEAR);
        if (!isfinite(hypot(dre, dim)) || isnan(values[5])) { /* a third derivative is not known */
            assert_true(!isfinite(hypot(dre, dim)) || strncmp(text, "d x d", 5) == 0);
            continue;
        }
        check_near(text, p, 5, values[5], squash(dre));
        check_near(text, p, 6, values[6], squash(dim));
        if (size > 1e-9) {
            check_near(text, p, 7, values[7], squash((dre * re + dim * im) / (size * size)));
            check_near(text, p, 8, values[8], squash((dim * re - dre * im) / (size * size)));
        }
    }
}

static uint32_t tokens_of(uint32_t *out, const char *text)
{
    uint32_t n = 0;
    while (*text) {
        size_t len = strcspn(text, " ");
        uint32_t i = 0;
        while (strlen(names[i]) != len || strncmp(names[i], text, len) != 0)
            assert_true(++i < NAMES);
        out[n++] = i;
        text += len + (text[len] == ' ');
    }
    return n;
}

struct fixture {
    struct arena a;
    struct tree_model *m;
    struct tree_meaning *meaning;
};

static void open_fixture(struct fixture *f)
{
    Eqloom__Vocabulary v = EQLOOM__VOCABULARY__INIT;
    *f = (struct fixture){0};
    v.tokens = names;
    v.n_tokens = NAMES;
    struct tree_config c = {
        .d = 1, .hidden = 1, .points = POINTS, .arity = tree_arities(&f->a, &v)};
    f->m = tree_model_new(&f->a, &c);
    f->meaning = tree_meanings(&f->a, &v);
}

/* The rows of one tree's root operand; with the encoded ones, if asked for. */
static const float *read_values(const float **encoded, struct fixture *f, const char *text)
{
    uint32_t *tokens = arena_array(&f->a, uint32_t, MOST), n = tokens_of(tokens, text);
    const uint32_t *list[] = {tokens};
    struct tree_lists lists;
    tree_lists_make(&lists, &f->a, f->m, &(struct tree_set){list, &n, 1});
    assert_int_equal(lists.nodes, (n + 1) * POINTS);
    float *all = arena_array(&f->a, float, n *POINTS *TREE_VALUES);
    tree_points_evaluate(all, &f->a, &lists, f->m, f->meaning);
    size_t root = lists.kids[lists.groups[lists.n_groups - 1].kid];
    if (encoded) {
        float *out = arena_array(&f->a, float, n *POINTS *TREE_ENCODED);
        tree_points_encode(out, &f->a, &lists, f->m, f->meaning);
        *encoded = out + root * TREE_ENCODED;
    }
    return all + root * TREE_VALUES;
}

static const float *values_of(struct fixture *f, const char *text)
{
    return read_values(NULL, f, text);
}

TEST(balls)
{
    struct fixture f;
    struct point at;
    struct ball_evaluator v = {.lookup = look_up, .lookup_arg = &at, .lang = &lang_calculus};
    open_fixture(&f);
    acb_init(at.x);
    acb_init(at.y);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const float *encoded, *values = read_values(&encoded, &f, texts[i]);
        check(&v, &at, texts[i], values, encoded, &f.a);
    }
    acb_clear(at.x);
    acb_clear(at.y);
    ball_evaluator_free(&v);
    ball_thread_cleanup();
    arena_free(&f.a);
}

TEST(unknown)
{
    static const char *const unknown[] = {"/ x 0", "ln 0", "d y x", "sin / 2 0"};
    struct fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        const float *encoded, *values = read_values(&encoded, &f, unknown[i]);
        for (size_t k = 0; k < POINTS * TREE_VALUES; k++)
            assert_true(isnan(values[k]));
        for (size_t k = 0; k < POINTS * TREE_ENCODED; k++)
            assert_true(encoded[k] == 0);
    }
    arena_free(&f.a);
}

TEST(differ)
{
    static const struct {
        const char *x, *y;
        bool differ;
    } cases[] = {{"+ x 3", "+ 3 x", false},     {"sqrt pow x 2", "x", false},
                 {"d x sin x", "cos x", false}, {"+ x 3", "+ x 2", true},
                 {"pow x 3", "* x x", true},    {"/ x 0", "x", false}};
    struct fixture f;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(
            tree_points_differ(values_of(&f, cases[i].x), values_of(&f, cases[i].y), POINTS),
            cases[i].differ);
    arena_free(&f.a);
}
