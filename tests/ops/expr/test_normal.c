/* Normal forms against ball arithmetic: of random terms with branches, those that agree at one
 * point are compared in every domain; what a normal form proves, no open set of values may refute.
 */
#include "base/rng.h"
#include "ops/expr/ball/domain.h"
#include "ops/expr/equality/algebraic.h"
#include "ops/expr/equality/residue.h"
#include "ops/expr/normal/normal.h"
#include "ops/expr/normal/normal_derive.h"
#include "ops/expr/normal/normal_range.h"
#include "ops/expr/normal/normal_sign.h"
#include "ops/expr/normal/normal_translate.h"
#include "tests/ops/expr/balls.h"
#include "tests/ops/terms.h"

enum { TERMS = CASES(500, 150), DEPTH = 3 };

static struct expr leaf(struct arena *a, uint16_t op, const char *text)
{
    return expr_leaf(a, &lang_calculus, op, text);
}

/* Few numbers, one variable and the functions that have branches: many terms are equal somewhere.
 */
static struct expr draw(struct arena *a, struct rng *r, unsigned depth)
{
    static const char *const numbers[] = {"-1", "1", "2", "1/2"};
    static const uint16_t ops[] = {X_ADD,   X_SUB,   X_MUL, X_DIV,  X_POW,  X_SQRT, X_ABS,
                                   X_LN,    X_LN,    X_POW, X_ATAN, X_ASIN, X_SIN,  X_TANH,
                                   X_ACOSH, X_ATANH, X_ABS, X_SQRT, X_MUL,  X_SUB};
    if (depth == 0 || rng_below(r, 7) == 0) {
        if (rng_below(r, 2))
            return leaf(a, X_SYM, "x");
        struct expr one = leaf(a, X_NUM, "-1");
        return rng_below(r, 5) ? leaf(a, X_NUM, numbers[rng_below(r, 4)])
                               : expr_apply(a, &lang_calculus, X_SQRT, &one, 1);
    }
    uint16_t op = ops[rng_below(r, sizeof ops / sizeof *ops)];
    struct expr args[2] = {draw(a, r, depth - 1), draw(a, r, depth - 1)};
    if (op == X_POW && rng_below(r, 2))
        args[rng_below(r, 2)] = rng_below(r, 2) ? leaf(a, X_SYM, "e") : leaf(a, X_NUM, "2");
    return expr_apply(a, &lang_calculus, op, args, lang_calculus.ops[op].arity);
}

static void check(struct arena *a, const struct expr *x, const struct expr *y, unsigned *proved)
{
    static const struct ball_domain domains[] = {{"x", "positive", NULL, NULL},
                                                 {"x", "real", NULL, NULL},
                                                 {"x", "complex", NULL, NULL},
                                                 {"x", "real", "-1", "1"},
                                                 {"x", "positive", "1", NULL}};
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++) {
        struct ball_options options = {.points = 12,
                                       .domains = &domains[i],
                                       .n_domains = 1};
        struct ball_compare c;
        const char *way;
        bool equal = normal_equal(&way, x, y, &domains[i], 1);
        ball_compare(&c, x, y, &options);
        enum residue residue = residue_compare(x, y, strcmp(domains[i].domain, "complex") != 0);
        if (equal ? residue == RESIDUE_DIFFERS
                  : c.verdict == BALL_DIFFERENT && residue == RESIDUE_AGREES)
            fail_msg("%s and %s: %s by normal forms, but not modulo primes", expr_infix(a, x),
                     expr_infix(a, y), equal ? "equal" : "different");
        if (!equal)
            continue;
        ++*proved;
        if (c.verdict == BALL_DIFFERENT)
            fail_msg("for x %s, %s to %s: %s is %s by %s, but at %s", domains[i].domain,
                     domains[i].low ? domains[i].low : "", domains[i].high ? domains[i].high : "",
                     expr_infix(a, x), expr_infix(a, y), way, c.witness);
    }
}

TEST_IN_ARENA(what_is_proved_is_not_refuted)
{
    static const char *const names[] = {"x"};
    const double places[] = {1.75, 0.375};
    struct rng r = rng_new(test_seed(7), 0);
    static struct expr terms[TERMS];
    static char *values[TERMS][2];
    unsigned proved = 0, pairs = 0;
    for (size_t i = 0; i < TERMS; i++) {
        terms[i] = draw(a, &r, DEPTH);
        for (size_t p = 0; p < 2; p++) {
            struct ball_point point = {1, names, &places[p], NULL};
            values[i][p] = value_text(a, &terms[i], &point, 15);
        }
        for (size_t k = 0; k < i; k++)
            for (size_t p = 0; p < 2; p++)
                if (strcmp(values[i][p], values[k][p]) == 0 && values[i][p][0] != 'u' &&
                    !expr_equal(&terms[i], &terms[k])) {
                    pairs++;
                    check(a, &terms[i], &terms[k], &proved);
                    break;
                }
    }
    print_message("%u pairs, %u proofs\n", pairs, proved);
    assert_true(pairs > CASES(200, 20) && proved > CASES(100, 10));
}

/* Large polynomials of several generators are not factored, which could take for ever: an answer
 * comes, be it that none is found. */
TEST_IN_ARENA(large_degrees)
{
    static const struct {
        const char *x, *y;
        bool equal;
    } cases[] = {
        {"atan(coth((-5)^3*x))", "atan(cosh(-125*x)/sinh(-125*x))", false},
        {"coth(30*x)", "-cosh(30*x)/sinh(-30*x)", true},
        {"atan(coth(125*x))", "atan(coth(-125*x))", false},
        {"(sqrt(?x/(?x + 1)) + 1)^3", "sqrt(?x/(?x + 1))*(?x/(?x + 1) + 3) + 3*?x/(?x + 1) + 1",
         true}, /* roots of quotients */
        {"1/(sqrt(?x/(?x + 1)) + 1)", "(1 + ?x)*(1 - sqrt(?x/(?x + 1)))", true},
        {"(((?x + 2)/(?x + 1))^(1/3) + 1)^4",
         "(?x + 2)/(?x + 1)*((?x + 2)/(?x + 1))^(1/3) + 4*(?x + 2)/(?x + 1) + 6*((?x + 2)/(?x + "
         "1))^(2/3) "
         "+ "
         "4*((?x + 2)/(?x + 1))^(1/3) + 1",
         true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr x = infix_term(a, &lang_calculus, cases[i].x),
                    y = infix_term(a, &lang_calculus, cases[i].y);
        const char *way;
        if (normal_equal(&way, &x, &y, NULL, 0) != cases[i].equal)
            fail_msg("%s = %s", cases[i].x, cases[i].y);
    }
}

/* The checkers of proofs by normal forms say yes where they can, and never to what is false. */
TEST_IN_ARENA(checkers_alone)
{
    static const struct {
        const char *x, *y;
        enum residue residue;
        bool algebraic;
    } cases[] = {
        {"(x + y)^3", "x^3 + 3*x^2*y + 3*x*y^2 + y^3", RESIDUE_AGREES, false},
        {"(x + y)^3", "x^3 + 3*x^2*y + 3*x*y^2 - y^3", RESIDUE_DIFFERS, false},
        {"sin(x + y)", "sin(x)*cos(y) + cos(x)*sin(y)", RESIDUE_AGREES, false},
        {"sin(x + y)", "sin(x)*cos(y) - cos(x)*sin(y)", RESIDUE_DIFFERS, false},
        {"cosh(x/2)^2", "(cosh(x) + 1)/2", RESIDUE_AGREES, false},
        {"e^(sqrt(-1)*pi/3) + e^(-sqrt(-1)*pi/3)", "1", RESIDUE_AGREES, false},
        {"sin(x + pi/6)*2", "sqrt(3)*sin(x) + cos(x)", RESIDUE_UNKNOWN, false},
        {"x + 1/10^400", "x", RESIDUE_DIFFERS, false},
        {"cos(pi/7) - cos(2*pi/7) + cos(3*pi/7)", "1/2", RESIDUE_UNKNOWN, true},
        {"sqrt(2) + sqrt(3)", "sqrt(5 + 2*sqrt(6))", RESIDUE_UNKNOWN, true},
        {"sqrt(2) + sqrt(3)", "sqrt(5 + 2*sqrt(6)) + 1/10^900", RESIDUE_UNKNOWN, false},
        {"4*atan(1/5) - atan(1/239)", "pi/4", RESIDUE_UNKNOWN, true},
        {"4*atan(1/5) - atan(1/240)", "pi/4", RESIDUE_UNKNOWN, false},
        {"4*atan(1/5) - atan(1/239)", "9*pi/4", RESIDUE_UNKNOWN, false},
        {"asin(3/5) + asin(4/5)", "pi/2", RESIDUE_UNKNOWN, true},
        {"acosh(2)", "ln(2 + sqrt(3))", RESIDUE_UNKNOWN, true},
        {"acosh(2)", "ln(2 - sqrt(3))", RESIDUE_UNKNOWN, false},
        {"ln(1 - 1)", "ln(0)", RESIDUE_UNKNOWN, false},
        {"e^pi", "pi^e", RESIDUE_UNKNOWN, false},
        {"d(x, sqrt(1 - x^2))", "-x/sqrt(1 - x^2)", RESIDUE_AGREES, false},
        {"d(x, sqrt(1 - x^2))", "x/sqrt(1 - x^2)", RESIDUE_UNKNOWN, false},
        {"d(x, d(x, tan(x)))", "2*tan(x)*sec(x)^2", RESIDUE_AGREES, false},
        {"d(x, e^(x^2))", "2*x*e^(x^2) + 1/10^99", RESIDUE_DIFFERS, false},
        {"d(x, d(y, x*y))", "1", RESIDUE_UNKNOWN, false},
        {"d(x, acos(x))", "-1/sqrt(1 - x^2)", RESIDUE_AGREES, false},
        {"d(x, acos(x))", "1/sqrt(1 - x^2)", RESIDUE_UNKNOWN, false},
        {"d(x, ln(2*x))", "d(x, ln(x))", RESIDUE_AGREES, false},
        {"ln(2*x)", "ln(2) + ln(x)", RESIDUE_UNKNOWN, false},
        {"(sqrt(x) + 1)^2", "x + 1 + 2*sqrt(x)", RESIDUE_AGREES, false},
        {"sqrt(x^2)", "x", RESIDUE_UNKNOWN, false},
        {"abs(x)^2", "x^2", RESIDUE_AGREES, false},
        {"abs(sqrt(-1)*x)^2", "(sqrt(-1)*x)^2", RESIDUE_UNKNOWN, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr x = infix_term(a, &lang_calculus, cases[i].x),
                    y = infix_term(a, &lang_calculus, cases[i].y);
        bool algebraic = algebraic_equal(&x, &y);
        enum residue residue = residue_compare(&x, &y, true);
        if ((residue != cases[i].residue && !algebraic) || algebraic != cases[i].algebraic)
            fail_msg("%s = %s: %d %d", cases[i].x, cases[i].y, (int)residue, algebraic);
    }
}

/* Numbers that are small for what they are made of: n - (n^k + d)^(1/k) and powers of it, beside a
 * root of unity, divided. None is zero, and their norms are numbers that are. */
TEST_IN_ARENA(small_algebraic_numbers)
{
    struct rng r = rng_new(test_seed(5), 0);
    const struct expr zero = leaf(a, X_NUM, "0");
    for (int i = 0; i < CASES(60, 15); i++) {
        unsigned n = 2 + (unsigned)rng_below(&r, 100000000), k = 2 + (unsigned)rng_below(&r, 3);
        const char *sign = rng_below(&r, 2) ? "+" : "-";
        const char *root = arena_printf(a, "(%u^%u %s 1)^(1/%u)", n, k, sign, k);
        const char *small[] = {
            arena_printf(a, "%u - %s", n, root),
            arena_printf(a, "%s - %u", root, n),
            arena_printf(a, "(%u - %s)^%d", n, root, 2 + (int)rng_below(&r, 3)),
            arena_printf(a, "(%s - %u)/%u", root, n, n),
            arena_printf(a, "1/(%u + %s)^3", n, root),
            arena_printf(a, "(%u - %s)*sin(pi/%u)", n, root, 3 + n % 9),
            arena_printf(a, "%u*cos(pi/%u) - %s*cos(pi/%u)", n, 3 + n % 9, root, 3 + n % 9),
            arena_printf(a, "sqrt(%u + sqrt(%u)) - sqrt(%u)", n, 2 + n % 7, n),
        };
        for (size_t s = 0; s < sizeof small / sizeof *small; s++) {
            struct expr x = infix_term(a, &lang_calculus, small[s]);
            if (algebraic_equal(&x, &zero))
                fail_msg("%s = 0", small[s]);
        }
        struct expr x =
            infix_term(a, &lang_calculus,
                       arena_printf(a, "(%u - sqrt(%u^2 %s 1))*(%u + sqrt(%u^2 %s 1)) %s 1", n, n,
                                    sign, n, n, sign, sign));
        assert_true(algebraic_equal(&x, &zero));
    }
}

/* What is left of the work after a proof tried everything, and whether it was one. */
static bool proved_within(size_t *left, const struct expr *x, const struct expr *y,
                          const struct ball_domain *domain, size_t work)
{
    struct field *f = field_open(x->lang, domain, 1, work);
    const element *difference =
        field_sub(f, normal_translate(f, x->nodes), normal_translate(f, y->nodes));
    bool equal = field_is_zero(f, difference);
    if (!equal && difference && f->n > 1) {
        sign_is_meromorphic(f, difference);
        sign_of(f, difference);
        range_sign(f, difference);
        normal_derive(f, difference, 1);
    }
    *left = f->work;
    field_close(f);
    return equal;
}

/* Wherever the work ends, a proof gives up or stands. */
TEST_IN_ARENA(work_that_ends_anywhere)
{
    static const struct {
        const char *domain, *x, *y;
    } cases[] = {
        {"-1/1000<x<1", "asin(x)", "acos(sqrt(1 - x^2))"},
        {"x:real", "atan(a - sqrt(-1)*b + x)", "atan((a + x)/(1 + b)) + ln(a^2 + (b - 1)^2)/4"},
        {"x:complex", "ln(x*abs(x))", "2*ln(abs(x)) + sqrt(-1)*atan(x)"},
        {"x:complex", "sqrt(1 - x)*sqrt(1 + x)", "sqrt(1 - x^2)"},
        {"x:real", "acosh(cosh(x)) + abs(sin(x))", "abs(x) + sqrt(1 - cos(x)^2)"},
        {"0<x<1", "acot(x) + asec(1/x) + acsc(1/x)", "pi - atan(x)"},
        {"x:real", "ln(cosh(x) + sinh(x))^3", "x^3 + asinh(tan(x)) - atanh(sin(x))"},
        {"x:integer", "cos(pi*x)*e^(sqrt(-1)*pi*x)", "(-1)^(2*x)"},
        {"x:real", "d(x, sqrt(x^2 + a*x + 1)^(1/3))", "(2*x + a)/6*(x^2 + a*x + 1)^(-5/6)"},
        {"x:real", "sqrt(x + sqrt(x^2 - 1))", "(sqrt(x + 1) + sqrt(x - 1))/sqrt(2)"},
        {"x>1", "tanh(acosh(x)/2)", "sqrt((x - 1)/(x + 1))"},
        {"x:real", "abs(abs(x + a)*sqrt(2) - abs(e^x))", "abs(e^x - sqrt(2)*abs(a + x))"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr x = infix_term(a, &lang_calculus, cases[i].x),
                    y = infix_term(a, &lang_calculus, cases[i].y);
        struct ball_domain domain;
        struct err e = {0};
        if (domain_parse(&domain, a, cases[i].domain, &e))
            fail_msg("%s", e.message);
        size_t left;
        print_message("%s = %s\n", cases[i].x, cases[i].y); /* if it crashes */
        bool proved = proved_within(&left, &x, &y, &domain, FIELD_WORK);
        size_t spent = FIELD_WORK - left, step = 1 + spent / CASES(200, 50);
        for (size_t work = 0; work < spent; work += step) {
            bool again = proved_within(&left, &x, &y, &domain, work);
            assert_true(proved || !again);
        }
    }
}

TESTS_AROUND(NULL, balls_clean)
