/* Ranges of terms under conditions: numbers of a range meet its conditions, an empty range has
 * none, and borders of conditions are found with what is beside them. */
#include "base/rng.h"
#include "ops/expr/rational.h"
#include "ops/rules/check/range.h"
#include "tests/ops/rules/parsed.h"
#include "tests/ops/terms.h"

enum { MOST = 200 };

static const struct rule *rule_if(struct arena *a, const char *conditions)
{
    const char *text = arena_printf(a, "r: ?a + 0 -> ?a if %s\n", conditions);
    return &parsed_rules(a, "test.rules", text).rules[0];
}

/* Conditions on ?a, and how a number meets them. */
static const char *const shapes[] = {
    "less(?a, %s)",   "less_equal(?a, %s)",   "less(%s, ?a)", "less_equal(%s, ?a)",
    "less(3*?a, %s)", "less_equal(%s, 3*?a)", "positive(?a)", "nonnegative(?a)",
    "negative(?a)",   "nonpositive(?a)",      "nonzero(?a)"};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static bool meets(double x, size_t shape, double bound)
{
    const bool met[SHAPES] = {
        x < bound, x <= bound, bound < x, bound <= x, 3 * x<bound, bound <= 3 * x, x> 0,
        x >= 0,    x < 0,      x <= 0,    x != 0};
    return met[shape];
}

/* Random conditions with small numbers: whether a number of a grid meets all decides whether the
 * range is empty, and all numbers of the range meet them. */
TEST_IN_ARENA(numbers_meet_conditions)
{
    struct rng r = rng_new(test_seed(1), 0);
    unsigned empty = 0;
    for (int round = 0; round < 2000; round++) {
        size_t n = 1 + (size_t)rng_below(&r, 4), kind[4];
        double bound[4];
        const char *text = "";
        for (size_t i = 0; i < n; i++) {
            kind[i] = (size_t)rng_below(&r, SHAPES);
            bound[i] = (double)rng_below(&r, 7) - 3;
            const char *number = arena_printf(a, "%d", (int)bound[i]);
            const char *hole = strstr(shapes[kind[i]], "%s");
            size_t before = hole ? (size_t)(hole - shapes[kind[i]]) : 0;
            text =
                arena_printf(a, "%s%s%.*s%s%s", text, i ? ", " : "", (int)before, shapes[kind[i]],
                             hole ? number : "", hole ? hole + 2 : shapes[kind[i]]);
        }
        struct expr t = infix_term(a, &lang_calculus, "?a");
        struct range range;
        const char *numbers[MOST];
        range_of_term(&range, a, rule_if(a, text), &t);
        bool any = false;
        for (int x = -60; x <= 60 && !any;
             x++) { /* in twelfths: bounds are thirds, others between */
            any = true;
            for (size_t i = 0; i < n; i++)
                any = any && meets(x / 12.0, kind[i], bound[i]);
        }
        if (range_is_empty(&range) == any)
            fail_msg("%s: empty %d", text, !any);
        empty += !any;
        size_t found = any ? range_numbers(numbers, MOST, a, &range) : 0;
        assert_true(!any || found || (!range.low && !range.high));
        for (size_t k = 0; k < found; k++)
            for (size_t i = 0; i < n; i++) {
                double x = number_double(numbers[k]);
                if (kind[i] != SHAPES - 1 && !meets(x, kind[i], bound[i]))
                    fail_msg("%s: %s", text, numbers[k]);
            }
    }
    assert_in_range(empty, 200, 1800);
}

static bool has_number(const char *const *numbers, size_t n, double low, double high)
{
    for (size_t i = 0; i < n; i++)
        if (number_double(numbers[i]) >= low && number_double(numbers[i]) <= high)
            return true;
    return false;
}

/* Of every predicate that has a border: the border itself where it is rational, and numbers within
 * 2^-29 of it on both sides. */
TEST_IN_ARENA(borders_have_neighbours)
{
    static const struct {
        const char *condition;
        double borders[3];
        bool rational;
    } cases[] = {
        {"nonzero(?a - 3)", {3}, true},
        {"nonzero(?a^2 - 2)", {-1.41421356237309505, 1.41421356237309505}, false},
        {"nonzero(7*?a + 5)", {-5.0 / 7}, true},
        {"positive(?a + 5/2)", {-2.5}, true},
        {"nonnegative(1/3 - ?a)", {1.0 / 3}, true},
        {"negative(?a^3 - 2)", {1.25992104989487316}, false},
        {"nonpositive(2*?a - 9)", {4.5}, true},
        {"less(?a^2, 9/4)", {-1.5, 1.5}, true},
        {"less_equal(1, abs(?a))", {-1, 1}, true},
        {"less(1 + ?a, 2*?a - 1/64)", {65.0 / 64}, true},
    };
    const char *numbers[MOST];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = range_borders(numbers, MOST, a, rule_if(a, cases[i].condition), "a"), zeros = 0;
        for (; zeros < 3 && cases[i].borders[zeros] != 0; zeros++) {
            double x = cases[i].borders[zeros], near = 0x1p-29;
            if (!has_number(numbers, n, x - near, nextafter(x, -9)) ||
                !has_number(numbers, n, nextafter(x, 9), x + near))
                fail_msg("%s: nothing beside %g", cases[i].condition, x);
            if (cases[i].rational && !has_number(numbers, n, x, x))
                fail_msg("%s: not %g itself", cases[i].condition, x);
        }
        /* Each border gives at most itself and three pairs. */
        assert_true(zeros && n <= 7 * zeros && n >= 6 * zeros);
    }
    static const char *const without[] = {"real(?a)",         "integer(?a - 3)",   "positive(?a)",
                                          "nonzero(?a - ?b)", "nonzero(?a^2 + 1)", "even(?a)",
                                          "nonzero(?b - 3)",  "less(1, 2)"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        const char *text = arena_printf(a, "r: ?a + ?b -> ?b + ?a if %s\n", without[i]);
        assert_int_equal(
            range_borders(numbers, MOST, a, &parsed_rules(a, "t.rules", text).rules[0], "a"), 0);
    }
    assert_int_equal(range_borders(numbers, 4, a, rule_if(a, "nonzero(?a - 3)"), "a"), 4);
}
