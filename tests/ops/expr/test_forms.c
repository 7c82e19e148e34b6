/* Forms of expressions: those of the paper's table, and of random expressions each equal to it, by
 * values at points and normal forms, neither of which knows how they were made. */
#include "ops/expr/equality/equality.h"
#include "ops/expr/forms/evaluation_step.h"
#include "ops/expr/forms/function_form.h"
#include "ops/expr/forms/polynomial_form.h"
#include "ops/expr/normal/normal.h"
#include "tests/ops/terms.h"

static void assert_polynomial(struct arena *a, enum polynomial_form form, const char *text,
                              const char *wanted)
{
    struct expr x = infix_term(a, &lang_calculus, text), y;
    if (!polynomial_form(&y, a, &x, form))
        fail_msg("%s has no form", text);
    if (strcmp(expr_infix(a, &y), wanted) != 0)
        fail_msg("%s is %s, not %s", text, expr_infix(a, &y), wanted);
}

TEST_IN_ARENA(polynomials)
{
    assert_polynomial(a, FORM_EXPAND, "(x + 1)^2", "x^2 + 2*x + 1");
    assert_polynomial(a, FORM_EXPAND, "(x + 1)/x", "1 + 1/x");
    assert_polynomial(a, FORM_EXPAND, "x*(x - ln(x*(x + 1)))", "x^2 - x*ln(x^2 + x)");
    assert_polynomial(a, FORM_EXPAND, "(x + 1)^2/(x + 2)", "x^2/(x + 2) + 2*x/(x + 2) + 1/(x + 2)");
    assert_polynomial(a, FORM_EXPAND, "x - x", "0");
    assert_polynomial(a, FORM_EXPAND, "-(x/3 + 1/2)", "-x/3 - 1/2");
    assert_polynomial(a, FORM_FACTOR, "x^2 + 5*x + 6", "(x + 3)*(x + 2)");
    assert_polynomial(a, FORM_FACTOR, "x/2 + x^2", "x*(2*x + 1)/2");
    assert_polynomial(a, FORM_FACTOR, "-3*x*cos(x) + 3*x", "-3*x*(cos(x) - 1)");
    assert_polynomial(a, FORM_FACTOR, "(e^x)^2 - 1", "(e^x + 1)*(e^x - 1)");
    assert_polynomial(a, FORM_CANCEL, "(x^3 + 2*x)/x", "x^2 + 2");
    assert_polynomial(a, FORM_CANCEL, "1/x + 1/(x + 1)", "(2*x + 1)/(x^2 + x)");
    assert_polynomial(a, FORM_CANCEL, "(x - 1)/(1 - x)*3/4", "-3/4");
    struct expr huge = infix_term(a, &lang_calculus, "(x + y + z + t + u + 1)^12"),
                zero = infix_term(a, &lang_calculus, "1/(x - x)"), y;
    assert_false(polynomial_form(&y, a, &huge, FORM_EXPAND));
    assert_false(polynomial_form(&y, a, &zero, FORM_CANCEL));
}

static void assert_logarithms(struct arena *a, bool combine, const char *text, const char *wanted)
{
    struct expr x = infix_term(a, &lang_calculus, text), y;
    assert_true((combine ? form_combine_logarithms : form_expand_logarithms)(&y, a, &x));
    if (strcmp(expr_infix(a, &y), wanted) != 0)
        fail_msg("%s is %s, not %s", text, expr_infix(a, &y), wanted);
}

TEST_IN_ARENA(logarithms)
{
    assert_logarithms(a, false, "ln(x^2)", "2*ln(x)");
    assert_logarithms(a, false, "x + ln(2*x/(x + 1))", "x + (ln(2) + ln(x) - ln(x + 1))");
    assert_logarithms(a, false, "ln(sqrt(x)*e^x)", "ln(x)/2 + x");
    assert_logarithms(a, true, "ln(x) + ln(2)", "ln(x*2)");
    assert_logarithms(a, true, "x - 2*ln(x) - 1 + ln(3)", "x - 1 + ln(x^(-2)*3)");
    assert_logarithms(a, true, "sin(ln(x)/2 - ln(5))", "sin(ln(x^(1/2)/5))");
}

static bool are_equal(struct arena *a, const struct expr *x, const struct expr *y)
{
    const char *way, *witness;
    struct ball_options options = {.points = 8};
    if (normal_equal(&way, x, y, NULL, 0))
        return true;
    struct equality_test test;
    equality_test_begin(&test, x, &options);
    enum equality found = equality_test_ask(&witness, a, &test, y);
    equality_test_end(&test);
    return found != EQUALITY_REFUTED;
}

/* Every rewriting of every function, and polynomial forms of what has several atoms. */
TEST_IN_ARENA(forms_are_equal)
{
    static const char *const terms[] = {
        "sin(x)",
        "cos(2*x + 1)",
        "tan(x)",
        "cot(x)^2",
        "sec(x/3)",
        "csc(x)",
        "sinh(x)",
        "cosh(x - 2)",
        "tanh(x)",
        "coth(x)",
        "sech(x)",
        "csch(x) + sin(x)",
        "(x + 1/x)^3*(sin(x) - 2)^2/(x^2 - x)",
        "ln(x)^2/(ln(x) + ln(x)^2) - x/(x + sqrt(x))",
        "x*(x + 1)^2/(2*x + 2) - e^((x^2 - 1)/(x - 1))",
    };
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        struct expr x = infix_term(a, &lang_calculus, terms[i]), y;
        for (unsigned k = 0; form_rewrite(&y, a, &x, k); k++)
            if (!are_equal(a, &x, &y))
                fail_msg("%s is not %s", terms[i], expr_infix(a, &y));
        for (enum polynomial_form f = FORM_EXPAND; f <= FORM_CANCEL; f++) {
            assert_true(polynomial_form(&y, a, &x, f));
            if (!are_equal(a, &x, &y))
                fail_msg("%s is not %s", terms[i], expr_infix(a, &y));
        }
    }
}

/* ---- evaluation ---- */

/* All steps, each by its reason and the whole term. */
static void assert_evaluated(struct arena *a, const char *text, const char *wanted)
{
    struct expr x = infix_term(a, &lang_calculus, text);
    const char *why, *all = "";
    while (evaluation_step(&x, &why, a, &x))
        all = arena_printf(a, "%s%s: %s; ", all, why, expr_infix(a, &x));
    if (strcmp(all, wanted) != 0)
        fail_msg("%s: %s, not %s", text, all, wanted);
}

TEST_IN_ARENA(evaluation_steps)
{
    assert_evaluated(a, "x + 1", "");
    assert_evaluated(a, "asin(sin(x)) + sin(2)", "");
    assert_evaluated(a, "(x + x)*(3 - 1)", "polynomial: (x + x)*2; polynomial: 4*x; ");
    assert_evaluated(a, "sin(asin(x + 0*x))",
                     "polynomial: sin(asin(x + 0)); polynomial: sin(asin(x)); inverse: x; ");
    assert_evaluated(a, "e^ln(tan(0) + x)",
                     "constant: e^ln(0 + x); polynomial: e^ln(x); inverse: x; ");
    assert_evaluated(a, "d(x, 2*x)",
                     "derivative: 0*x + 2*1; polynomial: 0*x + 2; polynomial: 0 + 2; "
                     "polynomial: 2; ");
}

/* The derivative of each function, and of each operator, has the values of what it was. */
TEST_IN_ARENA(derivatives)
{
    static const char *const functions[] = {
        "sqrt",  "ln",    "sin",   "cos",   "tan",   "csc",   "sec",  "cot",    "asin",
        "acos",  "atan",  "acot",  "sinh",  "cosh",  "tanh",  "csch", "sech",   "coth",
        "asinh", "acosh", "atanh", "acoth", "pow 3", "pow e", "/ x",  "* ln x", "- pow x 3"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        struct expr x, y;
        struct equality_test t;
        struct ball_options options = {.points = 12};
        const char *why, *witness;
        const char *text = arena_printf(a, "d x %s + * 2 x 1", functions[i]);
        assert_int_equal(expr_from_prefix(&x, a, &lang_calculus, text, NULL), OK);
        assert_true(evaluation_step(&y, &why, a, &x));
        assert_string_equal(why, "derivative");
        equality_test_begin(&t, &x, &options);
        if (equality_test_ask(&witness, a, &t, &y) != EQUALITY_AGREES)
            fail_msg("%s is not %s", text, expr_infix(a, &y));
        equality_test_end(&t);
    }
}
