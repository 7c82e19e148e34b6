/* Reading: what each syntax accepts, and the exact words and places of refusals. */
#include "ops/expr/expr.h"
#include "tests/unit.h"

static void reads(expr_parser *parse, const char *text, const char *prefix)
{
    struct arena a = {0};
    struct source_text source = {"test", text, strlen(text)};
    struct err e = {0};
    struct expr x;
    if (parse(&x, &a, &lang_calculus, &source, 0, source.len, true, &e))
        fail_msg("'%s': %s", text, e.message);
    if (strcmp(expr_prefix(&a, &x), prefix) != 0)
        fail_msg("'%s' is read as '%s', not '%s'", text, expr_prefix(&a, &x), prefix);
    arena_free(&a);
}

static void refuses(expr_parser *parse, const char *text, int column, const char *message,
                    const char *hint)
{
    struct arena a = {0};
    struct source_text source = {"test", text, strlen(text)};
    struct err e = {0};
    struct expr x;
    if (parse(&x, &a, &lang_calculus, &source, 0, source.len, false, &e) != ERR_INPUT)
        fail_msg("'%s' is accepted", text);
    if (strcmp(e.message, message) != 0 || e.column != column || strcmp(e.hint, hint) != 0)
        fail_msg("'%s': column %d: %s (%s)", text, e.column, e.message, e.hint);
    arena_free(&a);
}

TEST(infix)
{
    static const char *const rows[][2] = {
        {"sin(x)^2 + 3/2*x", "+ pow sin x 2 * 3/2 x"},
        {"-x", "* -1 x"},
        {"-3", "-3"},
        {"--3", "* -1 -3"},
        {"-(3)", "* -1 3"},
        {"-0", "0"},
        {"-x^2", "* -1 pow x 2"},
        {"-3^2", "* -1 pow 3 2"},
        {"(-3)^2", "pow -3 2"},
        {"2^3^x", "pow 2 pow 3 x"},
        {"2^-x", "pow 2 * -1 x"},
        {"2**-1", "pow 2 -1"},
        {"x - y - 1", "- - x y 1"},
        {"x/y/2", "/ / x y 2"},
        {"x*-4", "* x -4"},
        {"-x*y", "* * -1 x y"},
        {"-3/2", "-3/2"},
        {"6/4", "3/2"},
        {"(3)/2", "/ 3 2"},
        {"3/(2)", "/ 3 2"},
        {"3/-2", "/ 3 -2"},
        {"1/2/3", "/ 1/2 3"},
        {"x*1/2", "/ * x 1 2"},
        {"3/0", "/ 3 0"},
        {"3/2^2", "/ 3 pow 2 2"},
        {"0.5", "1/2"},
        {"2.50", "5/2"},
        {"0.5/2", "/ 1/2 2"},
        {"007", "7"},
        {"123456789012345678901234567890/10", "12345678901234567890123456789"},
        {"exp(x + 1)", "pow e + x 1"},
        {"arcsin(x) + log(x)", "+ asin x ln x"},
        {"d(x, x^2)", "d x pow x 2"},
        {"d/dx x^2", "d x pow x 2"},
        {"1 + d/dx sin(x)^2", "+ 1 d x pow sin x 2"},
        {"y*d/dx(x + 1)", "* y d x + x 1"},
        {"d / dtheta d/dx(x theta)", "d theta d x * x theta"},
        {"pow(x, 2)", "pow x 2"},
        {" ( ( x ) )\n", "x"},
        {"?a + ?b_2", "+ ?a ?b_2"},
        {"pi*e", "* pi e"},
        {"d(?x, ?f)", "d ?x ?f"},
        {"2x", "* 2 x"},
        {"2(x + 1)", "* 2 + x 1"},
        {"(x + 1)(x - 1)", "* + x 1 - x 1"},
        {"x y z", "* * x y z"},
        {"2x^2 y/3", "/ * * 2 pow x 2 y 3"},
        {"-2x", "* -2 x"},
        {"sin(x) cos(x)", "* sin x cos x"},
        {"sin x cos x", "* sin x cos x"},
        {"1 + sin x", "+ 1 sin x"},
        {"2 ln|x|", "* 2 ln abs x"},
        {"||x| - 1|", "abs - abs x 1"},
        {"|(x|y|)|", "abs * x abs y"},
        {"sin^2(x)", "pow sin x 2"},
        {"cos^-2 x", "pow cos x -2"},
        {"sin\xc2\xb2x", "pow sin x 2"},
        {"exp^2(x)", "pow pow e x 2"},
        {"pi(x + 1)", "* pi + x 1"},
        {"2\xcf\x80 r", "* * 2 pi r"},
        {"sin \xce\xb8", "sin theta"},
        {"2\xce\xbb_1\xce\xa9", "* * 2 lambda_1 Omega"},
        {"\xcf\x89t", "* omega t"},
        {"tg x + arcctg(x)", "+ tan x acot x"},
        {"x\xc2\xb2y\xc2\xb3", "* pow x 2 pow y 3"},
        {"x\xe2\x81\xbb\xc2\xb9\xc2\xb2", "pow x -12"},
        {"\xe2\x88\x9a(x + 1) + \xe2\x88\x9ax", "+ sqrt + x 1 sqrt x"},
        {"x \xe2\x88\x92 1\xc2\xb7y\xc3\x97z\xc3\xb7"
         "2",
         "- x / * * 1 y z 2"},
        {"2\xc2\xa0x", "* 2 x"},
        {"1e3", "1000"},
        {"1.25E1 x", "* 25/2 x"},
        {"d/dx sin x", "d x sin x"},
        {"x^(-2)y", "* pow x -2 y"},
        {"2pi x_max", "* * 2 pi x_max"},
        {"(a + b)(c + d)/d", "/ * + a b + c \"d\" \"d\""},
        {"d(d, d^2)", "d \"d\" pow \"d\" 2"},
        {"\"speed\" \"sin\"", "* speed \"sin\""},
        {"mathcal_L", "mathcal_L"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        reads(expr_parse_infix, rows[i][0], rows[i][1]);
}

/* At a prompt the usual reading is taken and said; a file is refused at the place. */
TEST_IN_ARENA(several_readings)
{
    static const struct {
        const char *text;
        int column;
        const char *read;
    } rows[] = {
        {"sin 2x", 1, "sin(2*x)"},
        {"1 + sin x^2", 5, "1 + sin(x^2)"},
        {"sin x/2", 1, "sin(x)/2"},
        {"sin x*y", 1, "sin(x)*y"},
        {"sin ln x", 1, "sin(ln(x))"},
        {"sin^-1 x", 1, "asin(x)"},
        {"tanh\xe2\x81\xbb\xc2\xb9(x)", 1, "atanh(x)"},
        {"e^2x", 4, "e^2*x"},
        {"2e-3", 1, "1/500"},
        {"\xe2\x88\x9a"
         "2x",
         1, "sqrt(2)*x"},
        {"\xe2\x88\x9ax^2", 1, "sqrt(x)^2"},
        {"|x|y|z|", 5, "abs(x)*y*abs(z)"},
        {"a (x)", 1, "a*x"},
        {"x(x + 1)", 1, "x*(x + 1)"},
        {"e^2(x + 1)", 4, "e^2*(x + 1)"},
        {"x\xc2\xb2^3", 3, "(x^2)^3"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf notes = {0};
        struct err e = {0};
        struct expr x;
        struct source_text source = {"test", rows[i].text, strlen(rows[i].text)};
        char hint[100], note[100];
        snprintf(hint, sizeof hint, "the usual one is %s", rows[i].read);
        snprintf(note, sizeof note, "read as %s\n", rows[i].read);
        refuses(expr_parse_infix, rows[i].text, rows[i].column, "this has several readings", hint);
        if (expr_read_infix(&x, a, &lang_calculus, &source, 0, source.len, &notes, &e))
            fail_msg("'%s': %s", rows[i].text, e.message);
        assert_string_equal(notes.data, note);
        buf_free(&notes);
    }
}

TEST(infix_refusals)
{
    static const struct {
        const char *text;
        int column;
        const char *message, *hint;
    } rows[] = {
        {"", 1, "an expression is missing", ""},
        {"1 +", 4, "the expression ends too early", ""},
        {"2 3", 3, "an operator is missing before '3'",
         "write 2 + ... for a mixed number, 2*... for a product"},
        {"x 2", 3, "an operator is missing before '2'", "for a product write x*2"},
        {"1/2x", 4, "this may belong to the quotient or to its denominator",
         "write (a/b)*c or a/(b*c)"},
        {"|x", 1, "this bar is never closed", ""},
        {"d/dx x y", 1, "how far this derivative reaches is ambiguous", "write d(x, ...)"},
        {"sin(x", 4, "this parenthesis is never closed", ""},
        {"(x + (y*2)", 1, "this parenthesis is never closed", ""},
        {"x + 1)", 6, "this ')' has no matching '('", ""},
        {"sqr(x)", 1, "unknown function 'sqr'", "did you mean 'sqrt'?"},
        {"x(y)", 1, "unknown function 'x'",
         "for a product write x*(...); a file declares functions: --operators FILE"},
        {"log_10(x)", 1, "unknown function 'log_10'", "write log10(...)"},
        {"zeta(x)", 1, "unknown function 'zeta'",
         "for a product write zeta*(...); a file declares functions: --operators FILE"},
        {"\xce\xb1 + \xd0\xb0", 5, "unexpected '\xd0\xb0'",
         "letters are a to z and the Greek ones"},
        {"sin + x", 1, "'sin' is a function and needs (", "write sin(...)"},
        {"sinx", 1, "unknown symbol 'sinx'", "write sin(x)"},
        {"sin2x", 1, "unknown symbol 'sin2x'", "write sin(2x)"},
        {"1 + sqrt2", 5, "unknown symbol 'sqrt2'", "write sqrt(2)"},
        {"expx", 1, "unknown symbol 'expx'", "write exp(x)"},
        {"log_2 (x)", 1, "unknown function 'log_2'", "write log2(...)"},
        {"d/dlnx x", 4, "d/d needs the name of a variable", "d(x, f) is the derivative of f by x"},
        {"d/dx y", 1, "what is differentiated here does not contain x",
         "write d(x, ...) if its variables are constants"},
        {"cos 2\xcf\x80(x + 1)", 1, "how far this argument reaches is ambiguous", "write cos(...)"},
        {"1/sin x |y|", 3, "how far this argument reaches is ambiguous", "write sin(...)"},
        {"d/dx (x + 1)(x - 1)", 1, "how far this derivative reaches is ambiguous",
         "write d(x, ...)"},
        {"sin(x, y)", 1, "'sin' takes 1 argument, not 2", ""},
        {"d(x)", 1, "'d' takes 2 arguments, not 1",
         "d(x, f) is the derivative of f by x; for a product write d*(...)"},
        {"d(2, x)", 3, "d needs a variable as its first argument",
         "d(x, f) is the derivative of f by x"},
        {"d(pi, x)", 3, "d needs a variable as its first argument",
         "d(x, f) is the derivative of f by x"},
        {"d/dsin(x)", 4, "d/d needs the name of a variable", "d(x, f) is the derivative of f by x"},
        {"d/dx x*y", 1, "how far this derivative reaches is ambiguous", "write d(x, ...)"},
        {"x\xe2\x80\x93"
         "1",
         2, "unexpected '\xe2\x80\x93'", "this is a dash; write -"},
        {"x = 1", 3, "unexpected '='", "this is one expression, not an equation"},
        {"+x", 1, "unexpected '+'", ""},
        {"x ++ y", 4, "unexpected '+'", ""},
        {"()", 2, "unexpected ')'", ""},
        {"1.e", 2, "unexpected '.'", "write 0.5, not .5"},
        {"?a", 1, "pattern variables belong to rules, not to expressions", ""},
        {"x\n  + $", 5, "unexpected '$'", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refuses(expr_parse_infix, rows[i].text, rows[i].column, rows[i].message, rows[i].hint);
}

TEST(prefix)
{
    static const char *const rows[][2] = {
        {"+ pow sin x 2 1", "+ pow sin x 2 1"},
        {"* INT- 1 2 x", "* -12 x"},
        {"+ x INT+ 4", "+ x 4"},
        {"  d x\tln x ", "d x ln x"},
        {"-4", "-4"},
        {"6/4", "3/2"},
        {"-6/4", "-3/2"},
        {"0.25", "1/4"},
        {"-0.50", "-1/2"},
        {"-0", "0"},
        {"exp x", "pow e x"},
        {"^ x ?a", "pow x ?a"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        reads(expr_parse_prefix, rows[i][0], rows[i][1]);
}

TEST(prefix_refusals)
{
    refuses(expr_parse_prefix, "", 1, "an expression is missing", "");
    refuses(expr_parse_prefix, "+ x", 1, "'+' takes 2 arguments, not 1", "");
    refuses(expr_parse_prefix, "+ x 1 2", 7, "'2' after the end of the expression", "");
    refuses(expr_parse_prefix, "sqr x", 5, "'x' after the end of the expression",
            "'sqr' is not an operator; did you mean 'sqrt'?");
    refuses(expr_parse_prefix, "(+ x 1)", 1, "prefix tokens have no parentheses", "");
    refuses(expr_parse_prefix, "+ x 1/0", 5, "'1/0' is not a number", "");
    refuses(expr_parse_prefix, "+ x 1.2.3", 5, "'1.2.3' is not a number", "");
    refuses(expr_parse_prefix, "+ x INT+", 5, "'INT+' needs digits after it", "");
    refuses(expr_parse_prefix, "* x \xc3\x97", 5, "unknown token '\xc3\x97'", "write *");
    refuses(expr_parse_prefix, "d sin x x", 3, "d needs a variable as its first argument",
            "d(x, f) is the derivative of f by x");
}

/* n copies of `piece` and then `end`. */
static char *repeat(const char *piece, size_t n, const char *end)
{
    struct buf b = {0};
    for (size_t i = 0; i < n; i++)
        buf_puts(&b, piece);
    buf_puts(&b, end);
    return b.data;
}

static void refuses_long(expr_parser *parse, char *text, const char *message)
{
    struct arena a = {0};
    struct source_text source = {"test", text, strlen(text)};
    struct err e = {0};
    struct expr x;
    assert_int_equal(parse(&x, &a, &lang_calculus, &source, 0, source.len, false, &e), ERR_INPUT);
    if (!strstr(e.message, message))
        fail_msg("%s", e.message);
    free(text);
    arena_free(&a);
}

TEST(bounds)
{
    refuses_long(expr_parse_infix, repeat("(", 100000, "x"), "nested more than 1000 deep");
    refuses_long(expr_parse_infix, repeat("-", 100000, "x"), "nested more than 1000 deep");
    refuses_long(expr_parse_infix, repeat("2^", 100000, "x"), "nested more than 1000 deep");
    refuses_long(expr_parse_infix, repeat("x + ", 100000, "x"), "nested more than 1000 deep");
    refuses_long(expr_parse_infix, repeat("sin(", 100000, "x"), "nested more than 1000 deep");
    refuses_long(expr_parse_infix, repeat("1", 1001, ""), "more than 1000 digits");
    refuses_long(expr_parse_infix, repeat("x", 101, ""), "more than 100 characters");
    refuses_long(expr_parse_prefix, repeat("sin ", 100000, "x"), "nested more than 1000 deep");
    refuses_long(expr_parse_prefix, repeat("1", 1001, ""), "is not a number");
    /* A balanced tree of 2^17 leaves is shallow and too large. */
    struct buf b = {0};
    for (int i = 0; i < 1 << 17; i++) {
        for (int bit = i ? __builtin_ctz((unsigned)i) : 17; bit > 0; bit--)
            buf_puts(&b, "+ ");
        buf_puts(&b, "x ");
    }
    refuses_long(expr_parse_prefix, b.data, "more than 65536 nodes");
}

TEST_IN_ARENA(part_of_a_source)
{
    const char *text = "name:\n  sin(x) + $ -> 1";
    struct source_text source = {"test", text, strlen(text)};
    struct err e = {0};
    struct expr x;
    assert_int_equal(expr_parse_infix(&x, a, &lang_calculus, &source, 8, 6, false, &e), OK);
    assert_string_equal(expr_prefix(a, &x), "sin x");
    assert_int_equal(expr_parse_infix(&x, a, &lang_calculus, &source, 8, 11, false, &e), ERR_INPUT);
    assert_int_equal(e.line, 2);
    assert_int_equal(e.column, 12);
}

/* A NUL inside a token is a character like another, not the end of a name. */
TEST_IN_ARENA(nul)
{
    struct source_text source = {"test", "sin\0 x", 6};
    struct err e = {0};
    struct expr x;
    assert_int_equal(expr_parse_prefix(&x, a, &lang_calculus, &source, 0, 6, false, &e), ERR_INPUT);
    assert_int_equal(expr_parse_infix(&x, a, &lang_calculus, &source, 0, 6, false, &e), ERR_INPUT);
    assert_int_equal(lang_find(&lang_calculus, "sin\0", 4), -1);
}

TEST_IN_ARENA(declared_operators)
{
    const struct language *lang = NULL;
    struct err e = {0};
    struct expr x;
    assert_int_equal(lang_declare(&lang, a, &lang_calculus, "f", 2, &e), OK);
    assert_int_equal(lang_declare(&lang, a, lang, "nothing", 0, &e), OK);
    const char *text = "f(x, sin(nothing)) + nothing";
    struct source_text source = {"test", text, strlen(text)};
    assert_int_equal(expr_parse_infix(&x, a, lang, &source, 0, source.len, false, &e), OK);
    assert_string_equal(expr_prefix(a, &x), "+ f/2 x sin nothing/0 nothing/0");
    assert_string_equal(expr_infix(a, &x), text);
    assert_int_equal(lang_declare(&lang, a, lang, "f", 1, &e), ERR_INPUT);
    assert_int_equal(lang_declare(&lang, a, lang, "log", 1, &e), ERR_INPUT);
    assert_int_equal(lang_declare(&lang, a, lang, "exp", 1, &e), ERR_INPUT);
    assert_int_equal(lang_declare(&lang, a, lang, "pi", 0, &e), ERR_INPUT);
    assert_int_equal(lang_declare(&lang, a, lang, "2f", 1, &e), ERR_INPUT);
    assert_int_equal(lang_declare(&lang, a, lang, "g", 3, &e), ERR_INPUT);
}
