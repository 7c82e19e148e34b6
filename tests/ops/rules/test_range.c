/* Ranges of terms under conditions: an empty range has no number. */
#include "base/rng.h"
#include "ops/rules/check/range.h"
#include "tests/ops/rules/parsed.h"
#include "tests/ops/terms.h"

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
 * range is empty. */
TEST_IN_ARENA(empty_ranges_have_no_number)
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
    }
    assert_in_range(empty, 200, 1800);
}
