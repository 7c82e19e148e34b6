/* What has no value, with the part that shows it; and what has one, or may. */
#include "ops/expr/undefined/undefined.h"
#include "tests/ops/expr/balls.h"
#include "tests/ops/terms.h"

TEST_IN_ARENA(says_what_has_no_value)
{
    static const struct {
        const char *x, *why; /* NULL: not shown */
    } cases[] = {
        {"1/0", "(1)/0"},
        {"x + sin(ln(y - y))", "ln(y - y), where y - y is 0"},
        {"x/(sin(x)^2 + cos(x)^2 - 1)",
         "x/(sin(x)^2 + cos(x)^2 - 1), where sin(x)^2 + cos(x)^2 - 1 is 0"},
        {"(x - x)^(-2)", "(x - x)^(-2), where x - x is 0"},
        {"(x - x)^(y - y)", "(x - x)^(y - y), where x - x is 0"},
        {"tan(pi/2)", "tan(pi/2), where cos(pi/2) is 0"},
        {"csch(x - x)", "csch(x - x), where sinh(x - x) is 0"},
        {"coth(x - x)", "coth(x - x), where sinh(x - x) is 0"},
        {"asec(x*0)", "asec(x*0), where x*0 is 0"},
        {"acot(sqrt(-1))", "acot(sqrt(-1)), where 1 + sqrt(-1)^2 is 0"},
        {"atan(-sqrt(-1))", "atan(-sqrt(-1)), where 1 + (-sqrt(-1))^2 is 0"},
        {"atanh(2 - 1)", "atanh(2 - 1), where 1 - (2 - 1)^2 is 0"},
        {"d(x, ln(x - x))", "ln(x - x), where x - x is 0"},
        {"1/(sqrt(2)*sqrt(3) - sqrt(6))",
         "1/(sqrt(2)*sqrt(3) - sqrt(6)), where sqrt(2)*sqrt(3) - sqrt(6) is 0"},
        {"x/y", NULL},
        {"1/(x - 1)", NULL},
        {"0^x", NULL},
        {"(x - x)^2", NULL},
        {"sec(x - x)", NULL},
        {"atan(0)", NULL},
        {"10^(10^9) - 10^(10^9) + 1", NULL},
        {"1/(10^1000 + 1 - 10^1000)", NULL},
        {"asin(2)", NULL},
        {"acosh(-3)", NULL},
        {"1/(abs(x - 1) - x + 1)", NULL}, /* from 1 on it has none */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr x = infix_term(a, &lang_calculus, cases[i].x);
        const char *why;
        bool undefined = expr_is_undefined(&why, a, &x, NULL, 0);
        if (undefined != (cases[i].why != NULL))
            fail_msg("%s: %s", cases[i].x, undefined ? why : "not shown");
        if (undefined)
            assert_string_equal(why, cases[i].why);
    }
}

TEST_IN_ARENA(other_languages_have_no_division)
{
    const char *why;
    struct expr x = prefix_term(a, &lang_boolean, "not a");
    assert_false(expr_is_undefined(&why, a, &x, NULL, 0));
}

TESTS_AROUND(NULL, balls_clean)
