/* Operators of one's own: what a file says, its mistakes with their places, what records say,
 * values and derivatives, normal forms. */
#include "ops/expr/own/own.h"

#include "ops/expr/normal/normal.h"
#include "tests/ops/terms.h"

#include <string.h>

static const char functions[] = "# mine\n"
                                "operator erf(x) = arb erf\n"
                                "    derivative: 2/sqrt(pi)*e^(-x^2)\n"
                                "operator erfc(t) = 1 - erf(t)   # of another\n"
                                "operator sinc(x) =\n"
                                "    sin(x)/x\n"
                                "operator J(n, z) = arb bessel_j\n"
                                "    derivative z: (J(n - 1, z) - J(n + 1, z))/2\n"
                                "operator Gamma(x) = arb gamma\n"
                                "    derivative: Gamma(x)*psi(x)\n"
                                "    latex: \\Gamma\n"
                                "operator psi(x) = arb digamma\n"
                                "operator half(x) = sqrt(x)\n"
                                "    domain: x>=1\n"
                                "operator box/2\n";

static const struct language *parse(struct arena *a, const char *text)
{
    const struct language *lang = &lang_calculus;
    const struct source_text source = {"my.operators", text, strlen(text)};
    struct err e = {0};
    if (own_parse(&lang, a, &source, true, &e))
        fail_msg("%d:%d: %s", e.line, e.column, e.message);
    return lang;
}

TEST_IN_ARENA(has_values)
{
    static const struct {
        const char *text, *value;
    } rows[] = {
        {"erf(1/2)", "0.520500"},
        {"erfc(1/2)", "0.479500"},
        {"sinc(2)", "0.454649"},
        {"sinc(0)", "undefined"},
        {"J(2, 5/2)", "0.446059"},
        {"Gamma(5)", "24.0000"},
        {"psi(1)", "-0.577216"},
        {"half(4)", "2.00000"},
        {"half(1/2)", "undefined"},
        {"half(sqrt(-4))", "undefined"},
        {"box(1, 2)", "undefined"},
        /* by the derivative that the file gives; these are of mpmath */
        {"d(x, erf(x^2))", "1.06001"},             /* 4 x e^(-x^4)/sqrt(pi) at 1/2 */
        {"d(x, d(x, d(x, erf(x))))", "-0.878783"}, /* (8 x^2 - 4) e^(-x^2)/sqrt(pi) */
        {"d(x, J(1, x))", "0.453933"},
        {"d(x, Gamma(x))", "-3.48023"},
        {"d(x, d(x, Gamma(x)))", "undefined"}, /* nothing is said of that of psi */
        /* and of definitions, by themselves */
        {"d(x, sinc(x))", "-0.162537"},
        {"d(x, d(x, sinc(x)))", "-0.308703"},
        {"d(x, erfc(sinc(x)))", "0.0731340"},
    };
    const struct language *lang = parse(a, functions);
    const struct ball_point point = {1, (const char *const[]){"x"}, (const double[]){0.5}, NULL};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct expr x = infix_term(a, lang, rows[i].text);
        const char *value = value_text(a, &x, &point, 6);
        if (strcmp(value, rows[i].value) != 0)
            fail_msg("%s is %s, not %s", rows[i].text, value, rows[i].value);
    }
}

TEST_IN_ARENA(has_normal_forms)
{
    static const struct {
        const char *x, *y;
        bool equal;
    } rows[] = {
        {"x*sinc(x)", "sin(x)", true},
        {"erf(x + x)", "erf(2*x)", true},
        {"erf(x)*erfc(x)", "erf(x) - erf(x)^2", true},
        {"erf(x)", "erf(y)", false},
        {"erf(erf(x))", "erf(x)", false},
        {"Gamma(x)", "psi(x)", false},
        {"d(x, erf(x^2))", "4*x*e^(-x^4)/sqrt(pi)", true},
        {"d(x, erf(x^2))", "4*x*e^(-x^2)/sqrt(pi)", false},
        {"d(x, Gamma(erf(x)))", "2*Gamma(erf(x))*psi(erf(x))/sqrt(pi)*e^(-x^2)", true},
        {"d(x, J(2, x*y))", "y*(J(1, x*y) - J(3, x*y))/2", true},
        {"d(x, J(x, y))", "d(x, J(x, y))*1", false}, /* unknown */
        {"d(y, J(2, x))", "0", true},
        {"abs(erf(x))", "erf(x)", false}, /* nothing is supposed */
        {"sqrt(erf(x)^2)", "erf(x)", false},
        {"ln(Gamma(x)^2)", "2*ln(Gamma(x))", false},
    };
    const char *way;
    const struct language *lang = parse(a, functions);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct expr x = infix_term(a, lang, rows[i].x), y = infix_term(a, lang, rows[i].y);
        if (normal_equal(&way, &x, &y, NULL, 0) != rows[i].equal)
            fail_msg("%s and %s", rows[i].x, rows[i].y);
    }
}

/* What is said of values, by normal forms: where arguments are real, or have a domain. */
TEST_IN_ARENA(supposes_values)
{
    static const char text[] = "operator erf(x) = arb erf\n values: -1<erf<1\n"
                               "operator erfc(x) = 1 - erf(x)\n values: erfc>0\n"
                               "operator W(x) = arb lambertw\n domain: x>=0\n values: W>=0\n"
                               "operator Ai(x) = arb airy_ai\n values: Ai:real\n"
                               "operator E(x) = arb erfc\n values: 0<E<=2, E:nonzero\n";
    static const struct {
        const char *x, *y;
        bool equal;
    } rows[] = {
        {"abs(erfc(x))", "erfc(x)", true},
        {"abs(2 + erf(z))", "2 + erf(z)", false}, /* z is complex */
        {"sqrt((1 - erf(x))^2)", "1 - erf(x)", true},
        {"sqrt((1 - 2*erf(x))^2)", "1 - 2*erf(x)", false},
        {"abs(W(x))", "W(x)", false}, /* it may be 0: the rules' */
        {"abs(Ai(x))^2", "Ai(x)^2", true},
        {"abs(Ai(x))", "Ai(x)", false},
        {"ln(E(x)^2)", "2*ln(E(x))", true},
        {"abs(W(z))", "W(z)", false},
        {"abs(W(z))^2", "W(z)^2", true}, /* elsewhere it has no value */
    };
    const char *way;
    const struct language *lang = parse(a, text);
    const struct ball_domain z = {.name = "z", .domain = "complex"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct expr x = infix_term(a, lang, rows[i].x), y = infix_term(a, lang, rows[i].y);
        if (normal_equal(&way, &x, &y, &z, 1) != rows[i].equal)
            fail_msg("%s and %s", rows[i].x, rows[i].y);
    }
    const char *canonical = language_text_all(a, lang);
    assert_non_null(strstr(canonical, "\n domain: 0<=x\n values: 0<=W\n"));
    assert_non_null(strstr(canonical, "\n values: 0<E<=2, E:nonzero\n"));
}

TEST_IN_ARENA(refuses)
{
    static const struct {
        const char *text;
        int line, column;
        const char *message;
    } rows[] = {
        {"operator", 1, 9, "expected 'operator NAME/ARITY'"},
        {"operator f", 1, 11, "expected 'operator NAME/ARITY'"},
        {"operator f/3", 1, 12, "expected 'operator NAME/ARITY'"},
        {"operator f(x, y, z)", 1, 18, "expected 'operator NAME/ARITY'"},
        {"operator f(x", 1, 13, "expected 'operator NAME/ARITY'"},
        {"operator f(pi) = 1", 1, 12, "'pi' cannot name an argument"},
        {"operator f(x, x) = 1", 1, 15, "'x' cannot name an argument"},
        {"operator sin(x) = x", 1, 10, "operator 'sin' exists already"},
        {"operator e(x) = x", 1, 10, "operator 'e' exists already"},
        {"operator f(x) = x\noperator f(x) = 1", 2, 10, "'f' is declared twice"},
        {"operator f(x) x", 1, 15, "expected '= arb FUNCTION'"},
        {"operator f(x) = arb eerf", 1, 21, "Arb has no function 'eerf' of 1 argument here"},
        {"operator f(x) = arb bessel_j", 1, 21, "Arb has no function 'bessel_j'"},
        {"operator f(x) = x +", 1, 20, ""},
        {"operator f(x) = x + y", 1, 17, "'y' is not an argument of f"},
        {"operator f(x) = d(x, x)", 1, 17, "cannot contain derivatives"},
        {"operator f(x) = f(x)", 1, 10, "definitions are recursive or nested"},
        {"operator f(x) = g(x)\noperator g(x) = f(x)", 2, 10,
         "definitions are recursive or nested"},
        {"operator f(x) = x\n derivative: 1", 2, 14, "the derivative of f follows"},
        {"operator f/1\n derivative: 1", 2, 14, "f has no value"},
        {"operator f(x) = arb erf\n derivative: x", 2, 14,
         "this is not the derivative of f: at x ="},
        {"operator f(x) = arb erf\n derivative y: x", 2, 13, "expected 'derivative: TERM'"},
        {"operator f(x) = arb erf\n domain: y:real", 2, 10, "'y' is not an argument of f"},
        {"operator f(x) = arb erf\n domain: x:odd", 2, 10, "a domain is"},
        {"operator f(x) = arb erf\n domain: x:real, x>1", 2, 18, "'x' already has a domain"},
        {"operator f(x) = arb erf\n values: 0<f<1", 2, 10,
         "f has other values than these: at x = "},
        {"operator f(x) = arb erf\n values: -1<f<1, f:nonzero", 2, 18,
         "f has other values than these: at x = 0: 0"},
        {"operator f(x) = 1/(1 + x^2)\n values: 0<f<1", 2, 10,
         "other values than these: at x = 0: 1"},
        {"operator f(x) = sqrt(x)\n values: f>=0", 2, 10, "f has other values"}, /* at x < 0 */
        {"operator f(x) = x\n domain: x:complex\n values: f:real", 3, 10, "f has other values"},
        {"operator f(x) = x/2\n domain: x:integer\n values: f:integer", 3, 10, "f has other"},
        {"operator f(x, y) = x - y\n domain: x>5, 0<y<1\n values: f<9", 3, 10, "f has other"},
        {"operator f(x) = arb erf\n values: 0<g<1", 2, 10, "expected at most 3 statements about f"},
        {"operator f(x) = x\n values: f:real, f:real, f:real, f:real", 2, 34, "expected at most 3"},
        {"operator f(x) = arb erf\n values: 1<f<0", 2, 10, "a domain is"},
        {"operator f(x) = arb erf\n values:", 2, 8, "expected ':' and text after it"},
        {"operator f(x) = arb erf\n latex: {", 2, 9, "expected one name in LaTeX"},
        {"operator f(x) = arb erf\n latex: \\frac{1}{2}", 2, 9, "expected one name in LaTeX"},
        {"operator f/1\nlatex: f", 2, 6, "expected 'operator NAME(x) = TERM'"},
        {"hello", 1, 1, "expected 'operator NAME(x) = TERM'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};
        const struct language *lang = &lang_calculus;
        const struct source_text source = {"my.operators", rows[i].text, strlen(rows[i].text)};
        assert_int_equal(own_parse(&lang, a, &source, true, &e), ERR_INPUT);
        assert_ptr_equal(lang, &lang_calculus);
        if (e.line != rows[i].line || e.column != rows[i].column ||
            !strstr(e.message, rows[i].message))
            fail_msg("'%s': %d:%d: %s", rows[i].text, e.line, e.column, e.message);
    }
}

/* A record names what its terms use and need, and nothing else. */
TEST_IN_ARENA(records_name_operators)
{
    const struct language *lang = parse(a, functions), *back, *other;
    struct expr x = infix_term(a, lang, "erfc(x) + box(1, y)"), y = infix_term(a, lang, "sin(x)");
    const char *text = language_text_of(a, &x, 1);
    assert_string_equal(text, "operator box/2\n"
                              "operator erf/1 = arb erf\n"
                              " derivative x: 2/sqrt(pi)*e^(-x^2)\n"
                              "operator erfc/1 = 1 - erf(x)\n");
    assert_string_equal(language_text_of(a, &y, 1), "");
    assert_int_equal(language_read(&back, a, text, NULL), OK);
    assert_int_equal(back->n_ops, X_DECLARED + 3);
    assert_string_equal(expr_prefix(a, &x), "+ erfc/1 x box/2 1 y");
    /* the same once more changes nothing; another meaning is refused */
    other = lang;
    assert_int_equal(language_join(&other, a, text, NULL), OK);
    assert_ptr_equal(other, lang);
    struct err e = {0};
    assert_int_equal(language_join(&other, a, "operator erf/1 = x\n", &e), ERR_INPUT);
    assert_non_null(strstr(e.message, "another meaning"));
    assert_int_equal(language_join(&other, a, "boolean", NULL), ERR_INPUT);
    assert_true(language_mixes("", text) && !language_mixes("boolean", text));
    /* one that knows no operator can read and write the tokens */
    struct expr z = prefix_term(a, language_guess(a, &lang_calculus, "+ erfc/1 x box/2 1 y"),
                                "+ erfc/1 x box/2 1 y");
    assert_string_equal(expr_infix(a, &z), "erfc(x) + box(1, y)");
    assert_false(expr_is_interpreted(&z));
    assert_true(expr_is_interpreted(&y));
}

/* Spacing, comments, the names of arguments and the order of statements do not matter. */
TEST_IN_ARENA(records_are_canonical)
{
    const struct language *one = parse(a, "operator f(x) = g(x)*2\noperator g(x) = x^2 + 1\n");
    const struct language *two =
        parse(a, "operator g(t)=t^2+1 # first\n\n  \noperator   f ( u ) = g( u )\n   *2\n");
    const struct language *named = parse(a, "operator f(in) = g(in)*2\noperator g(i) = i^2 + 1\n");
    struct expr x = infix_term(a, one, "f(x)"), y = infix_term(a, two, "f(x)");
    struct expr z = infix_term(a, named, "f(x)");
    assert_string_equal(language_text_of(a, &x, 1), language_text_of(a, &z, 1));
    assert_string_equal(language_text_of(a, &x, 1), language_text_of(a, &y, 1));
}
