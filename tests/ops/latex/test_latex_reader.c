/* LaTeX -> expressions: each text beside the infix that it must be, or the refusal; which readings
 * are said; and that what we write as LaTeX is read back as the same. */
#include "ops/latex/read/latex.h"
#include "tests/unit.h"

static struct latex_reader *reader;

/* Infix, or "!" and the message of a refusal; then " ~" and the number of notes. */
static char *answer(struct arena *a, const char *latex, bool says)
{
    struct source_text source = {"<test>", latex, strlen(latex)};
    struct buf notes = {0};
    struct err e = {0};
    struct expr x;
    enum err_code code = latex_parse(&x, &reader, a, &lang_calculus, &source, 0, source.len, true,
                                     says ? &notes : NULL, &e);
    size_t n = 0;
    for (size_t i = 0; i < notes.len; i++)
        n += notes.data[i] == '\n';
    buf_free(&notes);
    if (code)
        return arena_printf(a, "!%d %.24s", e.column, e.message);
    return n ? arena_printf(a, "%s ~%zu", expr_infix(a, &x), n) : expr_infix(a, &x);
}

static const char *const cases[][2] = {
    {"\\frac{\\sin^2 x}{2}", "sin(x)^2/2"},
    {"\\frac{3}{2}x^{12}", "3/2*x^12"},
    {"12x^2-1.5", "12*x^2 - 3/2"},
    {"-\\frac32", "-3/2"},
    {"\\sqrt[3]{x+1}", "(x + 1)^(1/3)"},
    {"|x-1|\\left|y\\right|", "abs(x - 1)*abs(y)"},
    {"\\left(x+1\\right)^2(x-1)^{-1}", "(x + 1)^2*(x - 1)^(-1)"},
    {"\\log_{10} x", "ln(x)/ln(10)"},
    {"\\operatorname{arsinh}x\\cdot\\arctan y", "asinh(x)*atan(y)"},
    {"\\sin x\\cos y", "sin(x)*cos(y)"},
    {"\\alpha_1+x_{ij}^2", "alpha_1 + x_ij^2"},
    {"\xce\xb8_1\\cos\xcf\x86", "theta_1*cos(varphi)"},
    {"x\\cdot -y", "x*(-y)"},
    {"a/b/c", "a/b/c"},
    {"?a^2+\\frac{?b}{2}", "?a^2 + ?b/2"},
    {"\\sin ?a+?a_1", "sin(?a) + ?a_1"},
    {"\\frac{d}{dx}\\left(?f\\right)", "d(x, ?f)"},
    {"\\frac{d}{d?x}(?x ?f)", "d(?x, ?x*?f)"},
    {"ab^{-1}", "a*b^(-1)"},
    {"\\frac{d}{dx}\\sin x", "d(x, sin(x))"},
    {"e^{x}", "e^x"},
    /* a reading is taken, and said */
    {"\\log x", "ln(x) ~1"},
    {"\\sin^{-1}x", "asin(x) ~1"},
    {"\\sin 2x", "sin(2*x) ~1"},
    {"\\sin(x)^2", "sin(x)^2 ~1"},
    {"\\sin[x y]^2", "sin(x*y)^2 ~2"},
    {"\\frac{d}{dx}(x+1)(x-1)", "d(x, (x + 1)*(x - 1)) ~1"},
    {"f\\cdot(x+1)+ex", "f*(x + 1) + e*x ~1"},
    {"x(y+1)", "x*(y + 1) ~1"},
    /* refused: the column, and why */
    {"f(x+1)", "!1 f(...) may be a product "},
    {"1/2x", "!4 a/b c may be (a/b)*c or "},
    {"\\sin 2(x+1)", "!1 how far the argument of"},
    {"\\cos x\\left(y\\right)^2", "!1 how far the argument of"},
    {"\\frac{d}{dx}x\\frac{d}{dx}x", "!1 how far this derivative"},
    {"2\\frac12", "!2 two numbers side by side"},
    {"2 3", "!3 two numbers side by side"},
    {"x=1", "!2 an equation is not an ex"},
    {"\\int x", "!1 '\\int' cannot be read as"},
    {"x!", "!2 '!' cannot be read as"},
    {"\\binom{?a}{?b}", "!1 '\\binom' cannot be read"},
    {"f'", "!1 a prime has no meaning h"},
    {"\\frac{\\partial f}{x}", "!7 '\\partial' cannot be rea"},
    {"(x", "!1 this bracket is never cl"},
    {"\\sin^2(x)^3", "!9 this function has two ex"},
    {"\\sin(x)_2", "!7 a subscript here has no"},
    {"(x)_2", "!3 a subscript here has no"},
    {"x^", "!2 LaTeX error: Expected gr"},
    {"\\foo", "!1 unknown command: \\foo"},
    {"\\sin", "!1 \\sin has no argument"},
    {"{}", "!1 this group is empty"},
    {"x+", "!2 something is missing her"},
};

TEST_IN_ARENA(table)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = answer(a, cases[i][0], true), *expected = cases[i][1];
        bool same = *expected == '!'
                        ? !strncmp(found, expected, strlen(expected) < 26 ? strlen(expected) : 26)
                        : !strcmp(found, expected);
        if (!same)
            fail_msg("%s gives %s, not %s", cases[i][0], found, expected);
        /* Where nobody listens, what would be said is refused. */
        if (strchr(expected, '~') && *answer(a, cases[i][0], false) != '!')
            fail_msg("%s is read in silence", cases[i][0]);
    }
}

TEST_IN_ARENA(round_trip)
{
    static const char *const exprs[] = {"+ pow sin x 2 1",
                                        "/ + x 1 * y 3",
                                        "sqrt + x -1",
                                        "abs - x y",
                                        "pow + x 1 1/2",
                                        "ln * 2 x",
                                        "- tan x atan y",
                                        "* x pow y -1",
                                        "+ pow theta 2 * pow x_1 2 varphi_max",
                                        "* 2 d theta * Omega_12 ln theta",
                                        "+ mathcal_L + mathcal_L_1 boldsymbol_pi",
                                        "* a_b_c * x_mathcal_L pow word x_1a",
                                        "* * d x pow x 2 x d x * x d y y",
                                        "* - \"d\" i * f + x 1",
                                        "- x d x * -1 d x x",
                                        "+ - x d x sin x + * -1 d x ln x y",
                                        "+ d x pow sin x 2 * I i",
                                        "abs abs x",
                                        "+ * mathbb_E x * D_x pow D_x 2"};
    for (size_t i = 0; i < sizeof exprs / sizeof *exprs; i++) {
        struct expr x;
        assert_int_equal(expr_from_prefix(&x, a, &lang_calculus, exprs[i], NULL), OK);
        char *latex = expr_latex(a, &x), *again = answer(a, latex, true);
        if (strcmp(again, expr_infix(a, &x)))
            fail_msg("%s as %s is read as %s", expr_infix(a, &x), latex, again);
    }
}

/* Long, deep and endless texts end, with an answer. */
TEST(hostile)
{
    static const char *const units[] = {"{",
                                        "(",
                                        "x^{",
                                        "\\sqrt{",
                                        "\\frac{1}{",
                                        "\\left(",
                                        "-",
                                        "x",
                                        "\\begin{matrix}",
                                        "\\sin ",
                                        "|",
                                        "1",
                                        "\\def\\a{\\a}\\a",
                                        "_",
                                        "?"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        for (size_t n = 10; n <= 4000; n *= 20) {
            struct arena a = {0};
            struct buf b = {0};
            for (size_t k = 0; k < n; k++)
                buf_puts(&b, units[i]);
            assert_true(*answer(&a, b.data, true) != 0);
            buf_free(&b);
            arena_free(&a);
        }
}

static int end(void **state)
{
    latex_reader_free(reader);
    return 0;
}

TESTS_AROUND(NULL, end)
