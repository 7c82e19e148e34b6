/* Meaning: values on branches and cuts, derivatives, identities that hold and near misses that do
 * not, points where nothing is defined. */
#include "base/buf.h"
#include "ops/expr/ball/domain.h"
#include "tests/ops/expr/balls.h"
#include "tests/ops/terms.h"

#include <ctype.h>

static char *value(struct arena *a, const char *text, double x)
{
    static const char *const names[] = {"x", "z"};
    const double values[] = {x, 1.25};
    struct ball_point point = {2, names, values, NULL};
    struct expr e = infix_term(a, &lang_calculus, text);
    return value_text(a, &e, &point, 6);
}

/* Where branches matter: the formulas of DLMF 4.23.19-, 4.37.16- with ln(-1) = pi i. */
TEST_IN_ARENA(branches)
{
    static const struct {
        const char *text, *value;
    } rows[] = {
        {"ln(-1)", "3.14159 I"},
        {"ln(-2)", "0.693147 + 3.14159 I"},
        {"sqrt(-4)", "2.00000 I"},
        {"(-8)^(1/3)", "1.00000 + 1.73205 I"},
        {"(-4)^(1/2)", "2.00000 I"},
        {"(-4)^(3/2)", "-8.00000 I"},
        {"(-2)^3", "-8.00000"},
        {"(-2)^(-3)", "-0.125000"},
        {"0^3", "0"},
        {"0^(1/2)", "0"},
        {"0^pi", "0"},
        {"asin(2)", "1.57080 - 1.31696 I"},
        {"asin(-2)", "-1.57080 + 1.31696 I"},
        {"acos(2)", "1.31696 I"},
        {"acos(-2)", "3.14159 - 1.31696 I"},
        {"atan(sqrt(-4))", "1.57080 + 0.549306 I"},
        {"atan(-sqrt(-4))", "-1.57080 - 0.549306 I"},
        {"acsc(1/2)", "1.57080 - 1.31696 I"},
        {"asec(1/2)", "1.31696 I"},
        {"asec(2)", "1.04720"},
        {"acot(2)", "0.463648"},
        {"acot(-2)", "-0.463648"},
        {"asinh(sqrt(-4))", "1.31696 + 1.57080 I"},
        {"acosh(1/2)", "1.04720 I"},
        {"acosh(-2)", "1.31696 + 3.14159 I"},
        {"atanh(2)", "0.549306 - 1.57080 I"},
        {"atanh(-2)", "-0.549306 + 1.57080 I"},
        {"acsch(2)", "0.481212"},
        {"asech(2)", "1.04720 I"},
        {"asech(1/2)", "1.31696"},
        {"acoth(2)", "0.549306"},
        {"acoth(1/2)", "0.549306 - 1.57080 I"},
        {"abs(3 + sqrt(-16))", "5.00000"},
        {"sqrt(-x)*sqrt(-x)", "-0.500000"}, /* stays real */
        {"asin(sqrt(-4)*sqrt(-1))", "-1.57080 + 1.31696 I"},
        {"exp(1) - e", "0"},
        {"sin(pi/6)", "0.500000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = value(a, rows[i].text, 0.5);
        if (strcmp(rows[i].value, "0") == 0) {
            if (fabs(strtod(text, NULL)) > 1e-12)
                fail_msg("%s is %s, not 0", rows[i].text, text);
        } else if (strcmp(text, rows[i].value) != 0) {
            fail_msg("%s is %s, not %s", rows[i].text, text, rows[i].value);
        }
    }
}

TEST_IN_ARENA(undefined)
{
    static const char *const rows[] = {
        "1/(x - 1/2)",
        "0/0",
        "ln(0)",
        "cot(0)",
        "csc(0)",
        "csch(0)",
        "coth(0)",
        "acot(0)",
        "asec(0)",
        "acsch(x - x)",
        "asech(0)",
        "0^0",
        "0^(-1)",
        "0^sqrt(-1)",
        "d(x, abs(x - 1/2))",
        "d(x, sqrt(x - 1/2))",
        "atanh(1)",
        "acoth(1)",
        "y",
        "tan(pi/2)",
        "d(x, d(x, d(x, d(x, d(x, d(x, d(x, d(x, d(x, x)))))))))", /* of the ninth order */
        "d(x, d(z, d(x, d(z, d(x, d(z, x*z))))))",
        "d(z, d(x, abs(x - 1/2)))",
        "d(z, d(x, z*sqrt(x - 1/2)))",
        "1/(sin(x)^2 + cos(x)^2 - 1)",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = value(a, rows[i], 0.5);
        if (strcmp(text, "undefined") != 0)
            fail_msg("%s is %s, not undefined", rows[i], text);
    }
}

static struct ball_compare compare(const char *x, const char *y, bool complex_points)
{
    struct arena a = {0};
    static const struct ball_domain domains[] = {{"x", "complex"}, {"y", "complex"}};
    struct ball_options options = {.domains = domains, .n_domains = complex_points ? 2 : 0};
    struct ball_compare c;
    struct expr p = infix_term(&a, &lang_calculus, x), q = infix_term(&a, &lang_calculus, y);
    ball_compare(&c, &p, &q, &options);
    arena_free(&a);
    return c;
}

TEST(equal)
{
    static const char *const rows[][2] = {
        {"sin(x)^2 + cos(x)^2", "1"},
        {"sin(x)^4 - cos(x)^4", "1 - 2*cos(x)^2"},
        {"tanh(x + y)", "(tanh(x) + tanh(y))/(1 + tanh(x)*tanh(y))"},
        {"d/dx cot(5*x)", "-5*csc(5*x)^2"},
        {"asin(x)", "pi/2 - acos(x)"},
        {"acosh(x)", "ln(x + sqrt(x + 1)*sqrt(x - 1))"},
        {"asin(x)", "-sqrt(-1)*ln(sqrt(-1)*x + sqrt(1 - x^2))"},
        {"acoth(x)", "atanh(1/x)"},
        {"sech(x)", "2/(e^x + e^(-x))"},
        {"ln(x*y)", "ln(x) + ln(y)"},
        {"(x^2 - 1)/(x - 1)", "x + 1"}, /* but for one point */
        {"d(x, x^x)", "x^x*(ln(x) + 1)"},
        {"d(x, d(x, sin(x)*e^x))", "2*cos(x)*e^x"},
        {"d(x, d(x, d(x, x^5)))", "60*x^2"},
        {"d(x, abs(sin(x)))", "sin(x)*cos(x)/abs(sin(x))"},
        {"d(x, y)", "0"},
        {"d(x, d(y, x*y))", "1"},
        {"d(x, d(y, sin(x*y)))", "cos(x*y) - x*y*sin(x*y)"},
        {"d(y, d(x, x^y))", "x^(y - 1)*(1 + y*ln(x))"},
        {"d(x, d(y, x^y))", "d(y, d(x, x^y))"},
        {"d(x, x*d(y, y^2*sin(x)))", "2*y*(sin(x) + x*cos(x))"},
        {"d(x, d(y, e^(x*y))^2)", "2*x*(1 + x*y)*e^(2*x*y)"},
        {"d(x, d(x, d(y, x^3*y^2)))", "12*x*y"},
        {"d(x, d(y, d(x, x^3*y^2)))", "12*x*y"},
        {"d(y, d(x, d(x, d(y, x^3*y^2))))", "12*x"},
        {"d(x, d(y, d(z, sin(x*y*z))))", "(1 - (x*y*z)^2)*cos(x*y*z) - 3*x*y*z*sin(x*y*z)"},
        {"d(x, d(y, d(z, d(w, x^2*y^3*z^4*w^5))))", "120*x*y^2*z^3*w^4"},
        {"d(x, d(y, d(x, d(y, d(x, x^4*y^3)))))", "144*x*y"},
        {"d(x, d(y, abs(sin(x*y) - 1/2)))",
         "(sin(x*y) - 1/2)/abs(sin(x*y) - 1/2)*(cos(x*y) - x*y*sin(x*y))"},
        {"d(x, d(y, ln(-x*y)))", "0"}, /* along the cut */
        {"d(x, d(y, atan(y/x)))", "(y^2 - x^2)/(x^2 + y^2)^2"},
        {"d(x, d(y, x)) + d(y, d(x, y))", "0"},
        {"2 + 2", "4"},
        {"x^(1/2)", "sqrt(x)"},
        {"cos(2*asin(x))", "1 - 2*x^2"},
        {"x - x", "0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ball_compare c = compare(rows[i][0], rows[i][1], false);
        if (c.verdict != BALL_EQUAL || c.digits < 12 || c.points < 1)
            fail_msg("%s = %s: verdict %d, %d digits, %u points, %s", rows[i][0], rows[i][1],
                     c.verdict, c.digits, c.points, c.witness);
    }
}

TEST(different)
{
    static const char *const rows[][2] = {
        {"tanh(x + y)", "(tan(x) + tan(y))/(1 + tan(x)*tan(y))"},
        {"d/dx cot(5*x)", "-csc(x)^2"},
        {"cosh(x - y) - cosh(x + y)", "2*sinh(x)*sinh(y)"},
        {"ln(x)", "asinh((x^2 + 1)/(2*x))"},
        {"sqrt((x - 2)^2)", "x - 2"},
        {"asin(sin(x))", "x"},
        {"ln((1 - x)*(1 - y))", "ln(1 - x) + ln(1 - y)"},
        {"atan(x) + atan(y)", "atan((x + y)/(1 - x*y))"},
        {"d(x, abs(x - 2))", "1"},
        {"2 + 2", "5"},
        {"x", "y"},
        {"x + 10^(-20)", "x"},
        {"d(x, asin(x))", "-1/sqrt(1 - x^2)"},
        {"d(x, d(y, sin(x*y)))", "cos(x*y)"},
        {"d(x, d(y, x^2*y^2))", "d(x, d(x, x^2*y^2))"},
        {"d(x, d(y, x*y))", "x"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ball_compare c = compare(rows[i][0], rows[i][1], false);
        if (c.verdict != BALL_DIFFERENT || !strstr(c.witness, "against"))
            fail_msg("%s = %s: verdict %d, %d digits, %u points", rows[i][0], rows[i][1], c.verdict,
                     c.digits, c.points);
    }
    struct ball_compare c = compare("2 + 2", "5", false);
    assert_string_equal(c.witness, "4.0000000 against 5.0000000");
    /* True for positive x, not for all. */
    assert_int_equal(compare("sqrt(x^2)", "x", false).verdict, BALL_EQUAL);
    assert_int_equal(compare("sqrt(x^4)", "x^2", true).verdict, BALL_DIFFERENT);
    assert_int_equal(compare("ln(1/x)", "1/x - x", false).verdict, BALL_DIFFERENT);
    assert_int_equal(compare("1/0", "x", false).verdict, BALL_UNDEFINED);
    assert_int_equal(compare("x", "ln(x - x)", false).verdict, BALL_UNDEFINED);
}

/* Equality admits isolated exceptions: ln z and -ln(1/z) differ where z is on the cut, here at
 * x = 1 alone, however often that point is drawn. */
TEST_IN_ARENA(isolated_exception)
{
    struct expr x = infix_term(a, &lang_calculus, "ln(sqrt(-1)*(x - 1) - 1)"),
                y = infix_term(a, &lang_calculus, "-ln(1/(sqrt(-1)*(x - 1) - 1))");
    const struct ball_domain domain = {"x", "positive", "1/2", "3/2"};
    struct ball_options options = {.points = 100, .domains = &domain, .n_domains = 1};
    struct ball_reference *r = ball_reference_new(&x, &options);
    struct ball_compare c;
    ball_reference_compare(&c, r, &y);
    assert_int_equal(c.verdict, BALL_EQUAL);
    ball_reference_compare_cells(&c, r, &y);
    assert_int_equal(c.verdict, BALL_EQUAL);
    assert_true(c.points > 100);
    ball_reference_free(r);
}

/* Every function's derivative against a central difference of its values, on both sides of each
 * cut and on it: steps of 1e-12. */
TEST_IN_ARENA(derivatives_by_differences)
{
    static const double at[] = {-2.5, -0.75, 0.375, 0.8125, 1.75, 3.25};
    size_t compared = 0;
    for (int op = X_SQRT; op < X_DECLARED; op++) {
        if (op == X_D)
            continue;
        const char *f = lang_calculus.ops[op].name;
        for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
            char *first = arena_printf(a,
                                       "abs(d(x, %s(x)) - (%s(x + 1/10^12) - %s(x - 1/10^12))"
                                       "*10^12/2)",
                                       f, f, f);
            char *second = arena_printf(a,
                                        "abs(d(x, d(x, %s(x))) - (d(x, %s(x + 1/10^12))"
                                        " - d(x, %s(x - 1/10^12)))*10^12/2)",
                                        f, f, f);
            const char *off[] = {value(a, first, at[i]), value(a, second, at[i])};
            for (int order = 0; order < 2; order++)
                if (!isdigit((unsigned char)*off[order]) || !(strtod(off[order], NULL) < 1e-15))
                    fail_msg("derivative %d of %s at %g is off by %s", order + 1, f, at[i],
                             off[order]);
            compared++;
        }
    }
    assert_int_equal(compared, (X_DECLARED - X_SQRT - 1) * 6);
}

/* Closed forms of second derivatives, of compositions too. */
TEST(second_derivatives)
{
    static const char *const closed[][2] = {
        {"d(x, d(x, asin(x/5)))", "x/(125*(1 - x^2/25)^(3/2))"},
        {"d(x, d(x, atan(x)))", "-2*x/(1 + x^2)^2"},
        {"d(x, d(x, tan(x)))", "2*tan(x)*sec(x)^2"},
        {"d(x, d(x, sec(x)))", "sec(x)*(tan(x)^2 + sec(x)^2)"},
        {"d(x, d(x, acosh(x + 2)))", "-(x + 2)/((x + 2)^2 - 1)^(3/2)"},
        {"d(x, d(x, asinh(x)))", "-x/(1 + x^2)^(3/2)"},
        {"d(x, d(x, atanh(x/9)))", "162*x/(81 - x^2)^2/9"},
        {"d(x, d(x, ln(x)))", "-1/x^2"},
        {"d(x, d(x, coth(x)))", "2*coth(x)*csch(x)^2"},
        {"d(x, d(x, x^(7/3)))", "28/9*x^(1/3)"},
        {"d(x, d(x, 2^x))", "ln(2)^2*2^x"},
        {"d(x, d(x, abs(e^(sqrt(-1)*x) + 2)))", "d(x, d(x, sqrt(5 + 4*cos(x))))"},
    };
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++) {
        struct ball_compare c = compare(closed[i][0], closed[i][1], false);
        if (c.verdict != BALL_EQUAL)
            fail_msg("%s = %s: verdict %d %s", closed[i][0], closed[i][1], c.verdict, c.witness);
    }
}

TEST_IN_ARENA(reference_is_reusable)
{
    struct expr x = infix_term(a, &lang_calculus, "sin(2*x)"),
                same = infix_term(a, &lang_calculus, "2*sin(x)*cos(x)"),
                other = infix_term(a, &lang_calculus, "2*sin(x)*cos(y)");
    struct ball_options options = {.points = 4};
    struct ball_reference *r = ball_reference_new(&x, &options);
    assert_int_equal(ball_reference_points(r), 4);
    struct ball_compare c, again;
    ball_reference_compare(&c, r, &same);
    assert_int_equal(c.verdict, BALL_EQUAL);
    assert_int_equal(c.points, 4);
    assert_true(c.digits >= 30);
    ball_reference_compare(&again, r, &other);
    assert_int_equal(again.verdict, BALL_DIFFERENT);
    ball_reference_compare(&again, r, &same);
    assert_memory_equal(&c, &again, sizeof c);
    ball_reference_free(r);
}

TEST_IN_ARENA(real_values)
{
    static const char *const names[] = {"x", "?a"};
    double re[] = {0.5, 3};
    struct ball_point point = {2, names, re, NULL};
    struct expr x = infix_term(a, &lang_calculus, "x + ?a");
    assert_true(ball_value_real(&x, &point) == 3.5);
    x = infix_term(a, &lang_calculus, "ln(-x)");
    assert_true(isnan(ball_value_real(&x, &point)));
    x = infix_term(a, &lang_calculus, "a");
    assert_true(isnan(ball_value_real(&x, &point)));
}

/* Several domains of one variable: what they have in common, in any order. */
TEST_IN_ARENA(domains_of_one_variable)
{
    static const struct {
        const char *x, *y, *both; /* NULL: refused */
    } cases[] = {
        {"x:real", "x:positive", "x:positive"},
        {"x:complex", "x:nonzero", "x:nonzero"},
        {"x:nonzero", "x:real", "x:real"},
        {"x:nonzero", "x:nonnegative", "x:positive"},
        {"x:real", "x:integer", "x:integer"},
        {"x:complex", "-1<x<1", "-1<x<1"},
        {"x>0", "x<1", "0<x<1"},
        {"x>=1/2", "x<3", "1/2<=x<3"},
        {"x>1", "x>=1", "1<x"},
        {"x:positive", "x<2", "0<x<2"},
        {"x:nonnegative", "x:positive", "x:positive"},
        {"x:nonnegative", "x>-1", "x:nonnegative"},
        {"-2<x<5", "x<=4", "-2<x<=4"},
        {"x<0", "x:positive", NULL},
        {"x<1", "x>1", NULL},
        {"x:nonnegative", "x<=0", NULL},
        {"x:integer", "x>0", NULL},
        {"x:integer", "x:nonzero", NULL},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const char *texts[] = {cases[i / 2].x, cases[i / 2].y}, *both = cases[i / 2].both;
        struct ball_domain all[2], d;
        size_t n = 0;
        enum err_code code = OK;
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(domain_parse(&d, a, texts[k ^ (i & 1)], NULL), OK);
            code = domain_add(all, &n, &d, NULL);
        }
        if (code != (both ? OK : ERR_INPUT))
            fail_msg("%s, %s: %d", cases[i / 2].x, cases[i / 2].y, (int)code);
        struct buf written = {0};
        domain_write(&written, &all[0]);
        if (both)
            assert_string_equal(written.data, both);
        buf_free(&written);
    }
}

TESTS_AROUND(NULL, balls_clean)
