/* Writing: every syntax that is read reads back as the same tree; LaTeX by golden text. Orders and
 * counts of trees, and exact numbers. */
#include "ops/expr/expr.h"
#include "ops/expr/rational.h"
#include "ops/expr/syntax/claim_latex.h"
#include "ops/expr/syntax/variable_name.h"

#include "tests/ops/expr/random_tree.h"
#include "tests/ops/terms.h"

TEST_IN_ARENA(round_trips)
{
    struct rng rng = rng_new(test_seed(1), 0);
    for (int i = 0; i < 20000; i++) {
        arena_reset(a);
        struct expr x = random_tree(a, &rng, 1 + i % 6, true), y;
        const char *texts[] = {expr_infix(a, &x), expr_prefix(a, &x)};
        for (int k = 0; k < 2; k++) {
            struct source_text source = {"test", texts[k], strlen(texts[k])};
            struct err e = {0};
            if ((k ? expr_parse_prefix : expr_parse_infix)(&y, a, x.lang, &source, 0, source.len,
                                                           true, &e))
                fail_msg("tree %d: '%s': %s", i, texts[k], e.message);
            if (!expr_equal(&x, &y))
                fail_msg("tree %d: '%s' is read as '%s'", i, texts[k], expr_prefix(a, &y));
        }
    }
}

static void name_reads_back(struct arena *a, const struct language *lang, const char *name)
{
    size_t n = strlen(name);
    if (lang_is_constant(name))
        return;
    struct expr x = expr_leaf(a, lang, X_SYM, variable_leaf(a, lang, name, n)), y;
    const char *infix = expr_infix(a, &x), *prefix = expr_prefix(a, &x);
    if (lang_has(lang, X_MUL)) /* also beside others */
        infix = arena_printf(a, "2*%s%s%s - %s", infix, lang_has(lang, X_DIV) ? "/" : "*", infix,
                             infix);
    struct expr z = infix_term(a, lang, infix);
    for (uint32_t i = 0; i < z.n; i++)
        if (z.nodes[i].op == X_SYM && strcmp(z.nodes[i].leaf, x.nodes->leaf) != 0)
            fail_msg("%s: '%s' is written %s", lang->name, name, infix);
    if (expr_from_prefix(&y, a, lang, prefix, NULL) || !expr_equal(&x, &y))
        fail_msg("%s: '%s' has the token %s", lang->name, name, prefix);
    expr_latex(a, &x);
}

/* Every variable that can be stored is one variable again, also where files are read. */
TEST_IN_ARENA(names_read_back)
{
    static const char *const names[] = {
        "d",       "i",        "I",     "Pi",     "PI",      "x",   "x1",   "x_max",
        "x_1_2",   "x2y",      "xy",    "speed",  "sin",     "exp", "log",  "pow",
        "sqrt",    "theta",    "Alpha", "gammas", "dx",      "d_1", "d1",   "_",
        "_x",      "x_",       "lim",   "oo",     "i_1",     "pi2", "pi_1", "mathcal_L",
        "mathcal", "mathcal_", "true",  "not",    "omicron", "e1",  "E",    "inf"};
    static const char letters[] = "abdeixyIDP_12";
    const struct language *languages[] = {&lang_calculus, &lang_boolean, &lang_polynomial};
    struct rng rng = rng_new(test_seed(3), 0);
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            name_reads_back(a, languages[k], names[i]);
        for (int i = 0; i < 5000; i++) {
            char name[8] = {0};
            for (uint64_t j = 0, n = 1 + rng_below(&rng, 5); j < n; j++)
                name[j] = letters[rng_below(&rng, sizeof letters - (j ? 1 : 3))];
            name_reads_back(a, languages[k], name);
        }
        arena_reset(a);
    }
}

/* No parentheses but the needed ones. */
TEST_IN_ARENA(infix_is_minimal)
{
    static const char *const rows[] = {
        "sin(x)^2 + 3/2*x", "-x^2",         "-(x + y)", "x - (y - 1)", "x*y/2",   "x/(y*2)",
        "(x + 1)*(x - 1)",  "(x^y)^2",      "x^y^2",    "2^(-x)",      "x^(1/2)", "(-3)^2",
        "-3*x + 4",         "x*(-4)",       "(3)/2",    "-(-x)",       "(-x)^2",  "d(x, ln(x)/x)",
        "e^(x + 1)",        "x*(1/2)",      "1/2*x",    "(1/2)/x",     "-x*y",    "x + (-3*y)",
        "x - (-1/2)",       "x - (-y*2/x)", "-(x*y)",   "(-3)/2",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct expr x = infix_term(a, &lang_calculus, rows[i]);
        assert_string_equal(expr_infix(a, &x), rows[i]);
    }
}

TEST_IN_ARENA(latex)
{
    static const char *const rows[][2] = {
        {"sin(x)^2 + cos(x)^2", "\\sin^{2}\\left(x\\right) + \\cos^{2}\\left(x\\right)"},
        {"3/2*x - 4", "\\frac{3}{2} x - 4"},
        {"(x + 1)/(x - 1)", "\\frac{x + 1}{x - 1}"},
        {"(x + 1)*(x - 1)", "\\left(x + 1\\right) \\left(x - 1\\right)"},
        {"2*3^x", "2 \\cdot 3^{x}"},
        {"x*2", "x \\cdot 2"},
        {"-4*x^(-2)", "-4 x^{-2}"},
        {"sin(x)^(-1)", "\\sin\\left(x\\right)^{-1}"},
        {"asin(x/9) + asinh(x)",
         "\\arcsin\\left(\\frac{x}{9}\\right) + \\operatorname{arsinh}\\left(x\\right)"},
        {"sqrt(abs(x))", "\\sqrt{\\left|x\\right|}"},
        {"d(x, ln(x))", "\\frac{d}{dx} \\ln\\left(x\\right)"},
        {"d(x, x^2) * y", "\\left(\\frac{d}{dx}\\left(x^{2}\\right)\\right) y"},
        {"(x/2)^3", "\\left(\\frac{x}{2}\\right)^{3}"},
        {"e^(pi*x)", "e^{\\pi x}"},
        {"x - (y + 1)", "x - \\left(y + 1\\right)"},
        {"x + (-y)", "x + \\left(-y\\right)"},
        {"-(x + y)", "-\\left(x + y\\right)"},
        {"x*(-4)", "x \\cdot \\left(-4\\right)"},
        {"alpha_1*x", "\\alpha_{1} x"},
        {"theta^2 + Omega*pi", "\\theta^{2} + \\Omega \\pi"},
        {"sin(varphi_max)", "\\sin\\left(\\varphi_{\\mathrm{max}}\\right)"},
        {"Alpha + \"thetas\" + a_b_c", "\\mathrm{Alpha} + \\mathrm{thetas} + \\mathrm{a\\_b\\_c}"},
        {"2*\"ab\"*x", "2 \\cdot \\mathrm{ab} \\cdot x"},
        {"mathcal_L + mathbf_x_1*boldsymbol_pi",
         "\\mathcal{L} + \\mathbf{x}_{1} \\boldsymbol{\\pi}"},
        {"mathcal_LL*\"i\"", "\\mathrm{mathcal}_{\\mathrm{LL}} \\cdot \\mathit{i}"},
        {"a*d - b*c", "a d - b c"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct expr x = infix_term(a, &lang_calculus, rows[i][0]);
        assert_string_equal(expr_latex(a, &x), rows[i][1]);
    }
}

TEST_IN_ARENA(tokens_order_variables)
{
    struct expr x = infix_term(a, &lang_calculus, "3/2*x + sin(y*pi)"),
                y = infix_term(a, &lang_calculus, "x + 1"),
                z = infix_term(a, &lang_calculus, "x + 2");
    assert_int_equal(expr_tokens(&x), 10);
    assert_int_equal(expr_tokens(&y), 3);
    assert_true(expr_compare(&x, &y) > 0 && expr_compare(&y, &x) < 0);
    assert_true(expr_compare(&y, &z) < 0 && expr_compare(&y, &y) == 0);
    assert_false(expr_equal(&y, &z));
    const char **names;
    assert_int_equal(expr_variables(&names, a, &x), 2);
    assert_string_equal(names[0], "x");
    assert_string_equal(names[1], "y");
    struct expr sub = expr_sub(&x, 4);
    assert_string_equal(expr_infix(a, &sub), "sin(y*pi)");
    assert_string_equal(expr_infix_of(a, &lang_calculus, "* x pow y 2"), "x*y^2");
    assert_string_equal(expr_infix_of(a, &lang_calculus, "and a b"), "and a b");
    assert_string_equal(expr_infix_of(a, NULL, "* x 2"), "* x 2");
}

/* A total order: antisymmetric, transitive, zero only for equal trees. */
TEST_IN_ARENA(order_is_total)
{
    struct rng rng = rng_new(5, 0);
    for (int i = 0; i < 3000; i++) {
        arena_reset(a);
        struct expr t[3];
        for (int k = 0; k < 3; k++)
            t[k] = random_tree(a, &rng, 2, false);
        int ab = expr_compare(&t[0], &t[1]), bc = expr_compare(&t[1], &t[2]);
        assert_int_equal(ab, -expr_compare(&t[1], &t[0]));
        assert_int_equal(ab == 0, expr_equal(&t[0], &t[1]));
        if (ab <= 0 && bc <= 0)
            assert_true(expr_compare(&t[0], &t[2]) <= 0);
    }
}

TEST_IN_ARENA(numbers)
{
    assert_string_equal(number_combine(a, '+', "1/2", "1/3", 100), "5/6");
    assert_string_equal(number_combine(a, '-', "1/2", "1/2", 100), "0");
    assert_string_equal(number_combine(a, '*', "-2/3", "3/2", 100), "-1");
    assert_string_equal(number_combine(a, '/', "1", "-2", 100), "-1/2");
    assert_string_equal(number_combine(a, '^', "2/3", "-2", 100), "9/4");
    assert_string_equal(number_combine(a, '^', "-1", "1000000000001", 100), "-1");
    assert_string_equal(number_combine(a, '^', "1", "-1000000000001", 100), "1");
    assert_string_equal(number_combine(a, '^', "7", "0", 100), "1");
    assert_null(number_combine(a, '/', "1", "0", 100));
    assert_null(number_combine(a, '^', "0", "0", 100));
    assert_null(number_combine(a, '^', "0", "-1", 100));
    assert_null(number_combine(a, '^', "4", "1/2", 100));
    assert_null(number_combine(a, '^', "10", "101", 100));
    assert_null(number_combine(a, '^', "2", "99999999999999999999", 100));
    assert_null(number_combine(a, '^', "-1/2", "99999999999", 100));
    assert_int_equal(number_sign("-1/2"), -1);
    assert_int_equal(number_sign("0"), 0);
    assert_int_equal(number_compare("1/3", "0"), 1);
    assert_int_equal(number_compare("1/3", "1/2"), -1);
    assert_true(number_double("-3/4") == -0.75);
    assert_null(number_read(a, "1/0", 3));
    assert_null(number_read(a, "1/", 2));
    assert_null(number_read(a, "-", 1));
    assert_null(number_read(a, "1x", 2));
}

TEST_IN_ARENA(claims)
{
    static const char *const cases[][2] = {
        {"x = -1/2: 0.25 against -3e-05", "x = -\\frac{1}{2}: 0.25 \\neq -3 \\cdot 10^{-05}"},
        {"?x = 1, y_1 = 5.5: 1.5 + 6.2*i against 0", "?x = 1, y_{1} = 5.5: 1.5 + 6.2 i \\neq 0"},
        {"3 against 4", "3 \\neq 4"},
        {"x>0, n:integer, -1<y<=1/2, real values",
         "x > 0, n \\in \\mathbb{Z}, -1 < y \\leq \\frac{1}{2}, \\text{real values}"},
        {"nonzero(?a + 1), less(?b, 1), less_equal(?b, ?c), even(?n)",
         "?a + 1 \\neq 0, ?b < 1, ?b \\leq ?c, ?n \\text{ even}"},
        {"real(?x)", "?x \\in \\mathbb{R}"},
        {"speed:real, \"d\" = 2, i = 1",
         "\\mathrm{speed} \\in \\mathbb{R}, d = 2, \\mathit{i} = 1"},
        {"free_of(?a, x)", "\\text{free\\_of(?a, x)}"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(claim_latex(a, &lang_calculus, cases[i][0]), cases[i][1]);
    assert_string_equal(claim_latex(a, &lang_boolean, "a = true: false against true"),
                        "a = \\top: \\bot \\neq \\top");
}
