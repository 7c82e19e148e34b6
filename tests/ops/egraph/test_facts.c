/* Facts are true: of random terms, evaluated by ball arithmetic at random points. And they are
 * there where rules need them. */
#include "tests/ops/egraph/help.h"

#include "ops/expr/ball/ball.h"
#include "ops/expr/own/own.h"

#include <math.h>
#include <string.h>

static const struct fact *fact_of(struct egraph *g, struct arena *a, const char *text)
{
    struct expr x = infix_term(a, &lang_calculus, text);
    eclass_id c = egraph_add_expr(g, &x);
    egraph_rebuild(g);
    return graph_fact(g, graph_find(g, c));
}

/* Of a term in a graph of its own; `written`: as text, or NULL. */
static struct fact fact_alone(struct buf *written, const char *text)
{
    struct arena a = {0};
    struct egraph *g = egraph_new(&lang_calculus);
    const struct fact *f = fact_of(g, &a, text);
    struct fact out = *f;
    check_graph(g);
    if (written)
        fact_write(written, &g->facts, (uint32_t)(f - g->facts.items));
    egraph_free(g);
    arena_free(&a);
    return out;
}

static void expect(const char *text, const char *facts)
{
    struct buf b = {0};
    fact_alone(&b, text);
    if (strcmp(b.data, facts) != 0)
        fail_msg("%s: '%s' instead of '%s'", text, b.data, facts);
    buf_free(&b);
}

static bool flag(const char *text, unsigned flags)
{
    return (fact_alone(NULL, text).flags & flags) == flags;
}

TEST(constants_are_exact)
{
    expect("1 + 2", "=3");
    expect("1/3 + 1/6", "=1/2");
    expect("2^10 - 3", "=1021");
    expect("(2/3)^(-3)", "=27/8");
    expect("sqrt(9/4)", "=3/2");
    expect("abs(-7)", "=7");
    expect("4^(1/2)", "=2");
    expect("(-1)^1000001", "=-1");
    expect("99999999999999999999 * 99999999999999999999",
           "=9999999999999999999800000000000000000001");
    expect("sqrt(2)", "(1.4140625,1.41455078125)");
}

TEST(what_is_undefined_is_not_folded)
{
    static const char *const terms[] = {"1/0",   "0^0",    "0^(-1)",        "sqrt(-4)",
                                        "ln(0)", "2^1000", "10^63 * 10^63", "(-8)^(1/3)"};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        assert_int_equal(fact_alone(NULL, terms[i]).constant, NO_CONSTANT);
}

TEST(nonzero_is_known_where_it_can_be)
{
    static const char *const yes[] = {
        "x",          "x + 1",      "x - 1",        "x^2 - x", "sin(x)",
        "sin(x) + 1", "ln(x)",      "exp(x)",       "x * y",   "cos(3*x) / (x - 4)",
        "cosh(x)",    "csc(x - 7)", "(x - 2)^(-3)", "x + y",   "atan(x - 1)",
        "pi"};
    static const char *const no[] = {"0",
                                     "x - x",
                                     "sin(0 * x)",
                                     "abs(x) - x",
                                     "x * y - y * x",
                                     "sin(x) - sin(x)",
                                     "ln(1 + 0 * x)",
                                     "0 / x",
                                     "d(x, y)"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!flag(yes[i], FACT_NONZERO))
            fail_msg("%s is nonzero", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (flag(no[i], FACT_NONZERO))
            fail_msg("%s may be zero", no[i]);
}

TEST(complex_values_have_no_interval)
{
    static const char *const no[] = {"ln(x - 1)",     "sqrt(x - 2)", "asin(x)", "acosh(x)",
                                     "(x - 3)^(1/2)", "atanh(x)",    "(-2)^x",  "sin(ln(x - 1))"};
    static const char *const yes[] = {"ln(x)",          "sqrt(x)", "asin(tanh(x))",
                                      "acosh(x + 1)",   "x^x",     "atan(x - 5)",
                                      "abs(ln(x - 1))", "tan(x)",  "1/(x - 1)"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (flag(no[i], FACT_REAL))
            fail_msg("%s is not always real", no[i]);
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!flag(yes[i], FACT_REAL))
            fail_msg("%s is real", yes[i]);
}

TEST_IN_ARENA(domains_are_heeded)
{
    struct err e = {0};
    struct egraph *g = egraph_new(&lang_calculus);
    assert_int_equal(egraph_declare(g, &(struct ball_domain){"z", "complex"}, &e), OK);
    assert_int_equal(egraph_declare(g, &(struct ball_domain){"r", "real"}, &e), OK);
    assert_int_equal(egraph_declare(g, &(struct ball_domain){"q", "reel"}, &e), ERR_INPUT);
    assert_non_null(strstr(e.hint, "real"));
    assert_false(fact_of(g, a, "z")->flags & FACT_REAL);
    assert_true(fact_of(g, a, "z")->flags & FACT_NONZERO);
    assert_true(fact_of(g, a, "r^2")->lo >= 0);
    assert_false(fact_of(g, a, "ln(r)")->flags & FACT_REAL);
    struct ball_domain third = {"t", "positive", "1/3", "1"};
    assert_int_equal(egraph_declare(g, &third, &e), OK);
    const struct fact *t = fact_of(g, a, "t");
    assert_true(t->lo <= 1.0 / 3 && t->lo > 0.33 && t->hi == 1 && t->flags & FACT_HI_OPEN);
    assert_true(fact_of(g, a, "1 - t")->lo >= 0 && fact_of(g, a, "ln(t)")->hi < 1e-3);
    egraph_free(g);
}

/* ---- operators of one's own ---- */

static const char own_text[] = "operator erf(x) = arb erf\n values: -1<erf<1\n"
                               "operator erfc(x) = 1 - erf(x)\n"
                               "operator mean(x, y) = (x + y)/2\n"
                               "operator hill(x) = 1/(1 + x^2)\n"
                               "operator two(x) = 1 + 1\n"
                               "operator W(x) = arb lambertw\n domain: x>=0\n values: W>=0\n"
                               "operator G(x) = arb gamma\n domain: x:complex\n values: G:nonzero\n"
                               "operator whole(x) = x^2 + x\n domain: x:integer\n"
                               " values: whole:integer, whole>=0\n"
                               "operator box/2\n values: 1<box<=3/2\n"
                               "operator bare/1\n";

static const struct language *own_language(struct arena *a)
{
    const struct language *lang = &lang_calculus;
    const struct source_text source = {"own", own_text, strlen(own_text)};
    assert_int_equal(own_parse(&lang, a, &source, true, NULL), OK);
    return lang;
}

TEST_IN_ARENA(own_operators_have_facts)
{
    static const char *const rows[][2] = {
        {"erf(x)", "(-1,1)"},
        {"erf(z)", ""}, /* z is complex */
        {"erfc(x)", "(0,2)"},
        {"erfc(z)", ""},
        {"mean(x, 1)", "(0.5,inf)"},
        {"mean(z, 1)", " nonzero"},
        {"hill(x)", "(0,1)"},
        {"two(z)", "[2,2] integer"}, /* and no number is added: definitions fold nothing */
        {"W(x)", "[0,inf)"},
        {"W(z)", "[0,inf)"}, /* elsewhere it has no value */
        {"1 + W(x)", "[1,inf)"},
        {"G(z)", "nonzero"},
        {"whole(x)", "(0,inf) integer"},
        {"box(x, x)", "(1,1.5]"},
        {"box(x, z)", ""},
        {"bare(x)", ""},
    };
    const struct language *lang = own_language(a);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct egraph *g = egraph_new(lang);
        struct buf b = {0};
        struct expr x = infix_term(a, lang, rows[i][0]);
        const struct ball_domain z = {.name = "z", .domain = "complex"};
        assert_int_equal(egraph_declare(g, &z, NULL), OK);
        eclass_id root = egraph_add_expr(g, &x);
        egraph_rebuild(g);
        check_graph(g);
        fact_write(&b, &g->facts, graph_eclass(g, graph_find(g, root))->fact);
        if (strcmp(b.data, rows[i][1] + (rows[i][1][0] == ' ')) != 0)
            fail_msg("%s: '%s' instead of '%s'", rows[i][0], b.data, rows[i][1]);
        buf_free(&b);
        egraph_free(g);
    }
}

/* ---- soundness ---- */

static void write_random(struct buf *out, struct rng *r, const struct language *lang, int depth)
{
    static const char *const leaves[] = {"x", "x", "y", "1", "2", "-3", "1/2", "pi", "e", "0"};
    if (depth == 0) {
        buf_puts(out, leaves[rng_below(r, 10)]);
        return;
    }
    unsigned op = (unsigned)(X_ADD + rng_below(r, X_DECLARED - X_ADD));
    if (rng_below(r, 2))
        op = (unsigned)(X_ADD + rng_below(r, 6));
    if (op == X_D)
        op = X_SUB;
    if (lang->n_ops > X_DECLARED && rng_below(r, 3) == 0)
        op = (unsigned)(X_DECLARED + rng_below(r, lang->n_ops - X_DECLARED));
    const struct op_info *info = &lang->ops[op];
    buf_puts(out, lang_token(lang, op));
    for (int i = 0; i < info->arity; i++) {
        buf_putc(out, ' ');
        write_random(out, r, lang, depth - 1 - (int)rng_below(r, (uint64_t)depth));
    }
}

static void check_at_random_points(const struct language *lang)
{
    struct rng r = rng_new(test_seed(1), 5);
    unsigned checked = 0;
    for (int round = 0; round < 4000; round++) {
        struct arena a = {0};
        struct buf text = {0};
        write_random(&text, &r, lang, 1 + (int)rng_below(&r, 4));
        struct egraph *g = egraph_new(lang);
        struct expr x = prefix_term(&a, lang, text.data);
        eclass_id root = egraph_add_expr(g, &x);
        egraph_rebuild(g);
        check_graph(g);
        const struct fact f = *graph_fact(g, graph_find(g, root));
        for (int p = 0; p < 4; p++) {
            static const char *const names[] = {"x", "y"};
            double re[2], im[2] = {0, 0};
            for (int i = 0; i < 2; i++)
                re[i] = p ? exp(6 * rng_double(&r) - 3) : 0.7 + 0.9 * i;
            struct ball_point at = {2, names, re, im};
            double v = ball_value_real(&x, &at);
            char *value = value_text(&a, &x, &at, 15);
            if (isnan(v) && strstr(value, "undefined"))
                continue; /* facts are of values */
            if ((f.flags & FACT_REAL) && isnan(v)) {
                /* not certainly real to the evaluator: then its imaginary part must be nothing */
                if (strchr(value, 'I') && !strstr(value, "0.0 I") && !strstr(value, "e-"))
                    fail_msg("%s is real, but %s at x = %g, y = %g", text.data, value, re[0],
                             re[1]);
                continue;
            }
            if (isnan(v))
                continue;
            double slack = 1e-9 * (1 + fabs(v));
            if ((f.flags & FACT_REAL) && (v < f.lo - slack || v > f.hi + slack))
                fail_msg("%s = %g at x = %g, y = %g is not in [%g, %g]", text.data, v, re[0], re[1],
                         f.lo, f.hi);
            if (f.constant != NO_CONSTANT) {
                double lo, hi;
                constant_bounds(&lo, &hi, &g->facts.constants, f.constant);
                if (v < lo - slack || v > hi + slack)
                    fail_msg("%s = %g is not %s", text.data, v,
                             constant_text(&g->facts.constants, f.constant));
            }
            /* by the exact text: a double may underflow */
            if ((f.flags & FACT_NONZERO) && v == 0 && strcmp(value, "0") == 0)
                fail_msg("%s is nonzero, but is 0 at x = %g, y = %g", text.data, re[0], re[1]);
            if ((f.flags & FACT_INTEGER) && fabs(v) < 1e9 && fabs(v - nearbyint(v)) > 1e-6)
                fail_msg("%s = %g is no integer", text.data, v);
            checked++;
        }
        egraph_free(g);
        buf_free(&text);
        arena_free(&a);
    }
    print_message("%u values compared\n", checked);
    assert_true(checked > 4000);
}

TEST_IN_ARENA(facts_hold_at_random_points)
{
    check_at_random_points(&lang_calculus);
    check_at_random_points(own_language(a));
}

/* ---- order ---- */

static double some_end(struct rng *r)
{
    static const double special[] = {0, 1, 0x1p40, 0x1p-40, 0x1p-41, 0x1.fffp39, INFINITY};
    double v = rng_below(r, 3) ? special[rng_below(r, sizeof special / sizeof *special)]
                               : exp(70 * rng_double(r) - 35);
    if (rng_below(r, 4) == 0)
        v *= 1 - 0x1p-20;
    return rng_below(r, 2) ? v : -v;
}

static struct interval some_interval(struct rng *r)
{
    double a = some_end(r), b = some_end(r);
    return interval_make(fmin(a, b), fmax(a, b), rng_below(r, 2), rng_below(r, 2));
}

static bool is_inside(struct interval a, struct interval b)
{
    struct interval both = interval_meet(a, b);
    return both.lo == a.lo && both.hi == a.hi && both.lo_open == a.lo_open &&
           both.hi_open == a.hi_open;
}

/* Or what is known would depend on the order in which it was found. */
TEST(a_coarser_interval_is_no_weaker_for_more)
{
    struct rng r = rng_new(test_seed(1), 6);
    for (int round = 0; round < 100000; round++) {
        struct interval a = some_interval(&r), b = interval_meet(a, some_interval(&r));
        if (interval_is_empty(a) || interval_is_empty(b))
            continue;
        struct interval coarse = interval_coarsen(a), less = interval_coarsen(b);
        if (!is_inside(a, coarse) || !is_inside(less, coarse) ||
            !is_inside(coarse, interval_coarsen(coarse)) ||
            !is_inside(interval_coarsen(coarse), coarse))
            fail_msg("[%a, %a] in [%a, %a] becomes [%a, %a] in [%a, %a]", b.lo, b.hi, a.lo, a.hi,
                     less.lo, less.hi, coarse.lo, coarse.hi);
    }
}
