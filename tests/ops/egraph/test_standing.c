/* Verdicts against an adversary: pairs whose truth is known from how they are made. True ones
 * differ at isolated points, which are likely ones; false ones by bumps of every width and place,
 * or by less than any precision shows; some have a piece without a value. */
#include "base/rng.h"
#include "ops/egraph/derive/standing.h"
#include "tests/ops/library.h"

enum { PAIRS = 1500 };

enum kind { TRUE_PAIR, FALSE_PAIR, NO_VALUE, N_KINDS };

static const char *const bases[] = {
    "x",          "sin(x)",      "x^2 - 3*x",   "e^x/(1 + x)", "ln(x)",       "sqrt(x + 1)",
    "tanh(x)/x",  "1/(x - 3/2)", "atan(x) + x", "x^(1/3)",     "cos(x)*x",    "abs(x - 2)",
    "sqrt(-1)*x", "ln(x - 1)",   "2^x",         "asin(x/9)",   "sqrt(x - 5)", "1000000*x"};

static const char *pick(struct rng *r)
{
    return bases[rng_below(r, sizeof bases / sizeof *bases)];
}

/* A number where points are likely: 3/2, 2, 1/4; or anywhere. */
static char *place(struct arena *a, struct rng *r)
{
    if (rng_below(r, 2))
        return arena_printf(a, "%d/%d", 1 + (int)rng_below(r, 31), 1 << rng_below(r, 4));
    return arena_printf(a, "%d/%d", 1 + (int)rng_below(r, 1000000), 1 + (int)rng_below(r, 1000000));
}

static void make_true(char **x, char **y, struct arena *a, struct rng *r)
{
    const char *f = pick(r), *g = pick(r), *c = place(a, r), *d = place(a, r);
    char *zero = arena_printf(a, "((x - %s)*(x - %s))", c, d);
    switch (rng_below(r, 7)) {
    case 0: /* they differ at c and d, where the argument is on the cut */
        *x = arena_printf(a, "ln(-1 - sqrt(-1)*abs(%s)) + %s", zero, f);
        *y = arena_printf(a, "ln(1 + sqrt(-1)*abs(%s)) - pi*sqrt(-1) + %s", zero, f);
        return;
    case 1:
        *x = arena_printf(a, "(%s)*%s/%s", f, zero, zero);
        *y = arena_printf(a, "%s", f);
        return;
    case 2:
        *x = arena_printf(a, "sqrt(%s^2)*(%s)", zero, f);
        *y = arena_printf(a, "(%s)*abs(%s)", f, zero);
        return;
    case 3:
        *x = arena_printf(a, "(%s + %s)^2", f, g);
        *y = arena_printf(a, "(%s)^2 + 2*(%s)*(%s) + (%s)^2", f, f, g, g);
        return;
    case 4: /* sgn(x - c) squared */
        *x = arena_printf(a, "%s", f);
        *y = arena_printf(a, "(%s)*(abs(x - %s)/(x - %s))^2", f, c, c);
        return;
    case 5:
        *x = arena_printf(a, "sqrt(-1 + sqrt(-1)*%s*0) + %s", zero, f);
        *y = arena_printf(a, "sqrt(-1) + %s", f);
        return;
    default:
        *x = arena_printf(a, "sin(x + %s) + %s", c, f);
        *y = arena_printf(a, "%s + sin(x)*cos(%s) + cos(x)*sin(%s)", f, c, c);
    }
}

static void make_false(char **x, char **y, struct arena *a, struct rng *r)
{
    const char *f = pick(r), *c = place(a, r);
    int digits = 1 + (int)rng_below(r, 300);
    *x = arena_printf(a, "%s", f);
    switch (rng_below(r, 6)) {
    case 0: /* 0, but for |x - c| < w */
        *y = arena_printf(a, "%s + abs(abs(x - %s) - 1/10^%d) - abs(x - %s) + 1/10^%d", f, c,
                          digits, c, digits);
        return;
    case 1: *y = arena_printf(a, "%s + 1/10^%d", f, digits); return;
    case 2: *y = arena_printf(a, "(%s)*(1 + x/10^%d)", f, digits); return;
    case 3: *y = arena_printf(a, "%s + e^(-%d*x)", f, 10 * digits); return;
    case 4: *y = arena_printf(a, "%s + sqrt(10^%d + 1) - 10^%d", f, 2 * digits, digits); return;
    default: /* not zero beyond c */
        *y = arena_printf(a, "%s + abs(x - 100 - %s) + (x - 100 - %s)", f, c, c);
    }
}

static void make_undefined(char **x, char **y, struct arena *a, struct rng *r)
{
    static const char *const nothing[] = {"0/0",       "0*ln(0)",   "(x - x)/0",
                                          "ln(x - x)", "1/0 - 1/0", "x/(2*x - x - x)"};
    const char *f = pick(r), *n = nothing[rng_below(r, sizeof nothing / sizeof *nothing)];
    *x = arena_printf(a, rng_below(r, 2) ? "%s + %s" : "(%s)*(%s)", f, n);
    *y = arena_printf(a, rng_below(r, 3) ? "%s" : "%s + 1/0", f);
}

static void test_no_verdict_is_wrong(void **state)
{
    unsigned counts[N_KINDS][4] = {0};
    struct arena a = {0}, work = {0};
    struct err e = {0};
    struct rng r = rng_new(test_seed(11), 0);
    struct rules rules = library_rules_on(&a, &lang_calculus);
    rules_sort(&rules);
    struct ruleset *set = ruleset_new(&rules);
    struct standing_options options = {.limits = {.iterations = 1, .max_nodes = 60},
                                       .verdict_only = true};
    for (int i = 0; i < PAIRS; i++) {
        enum kind kind = (enum kind)(i % N_KINDS);
        char *x, *y;
        arena_reset(&work);
        (kind == TRUE_PAIR    ? make_true
         : kind == FALSE_PAIR ? make_false
                              : make_undefined)(&x, &y, &work, &r);
        struct expr left = infix_term(&work, &lang_calculus, x);
        struct expr right = infix_term(&work, &lang_calculus, y);
        struct standing_result result;
        if (standing_decide(&result, &work, &rules, set, &left, &right, &options, &e))
            fail_msg("%s = %s: %s", x, y, e.message);
        enum standing s = result.standing;
        counts[kind][s]++;
        bool wrong = kind == TRUE_PAIR    ? s == STANDING_REFUTED || s == STANDING_NO_VALUE
                     : kind == FALSE_PAIR ? s == STANDING_PROVED || s == STANDING_NO_VALUE
                                          : s != STANDING_NO_VALUE;
        if (wrong)
            fail_msg("%s = %s is %s (%s)", x, y, standing_word(s),
                     result.witness ? result.witness
                     : result.way   ? result.way
                                    : "");
    }
    for (int k = 0; k < N_KINDS; k++)
        print_message("%s: %u proved, %u refuted, %u undecided, %u without a value\n",
                      k == TRUE_PAIR    ? "true"
                      : k == FALSE_PAIR ? "false"
                                        : "undefined",
                      counts[k][0], counts[k][1], counts[k][2], counts[k][3]);
    assert_true(counts[TRUE_PAIR][STANDING_PROVED] > PAIRS / 5);
    assert_true(counts[FALSE_PAIR][STANDING_REFUTED] > PAIRS / 8);
    ruleset_free(set);
    arena_free(&work);
    arena_free(&a);
    ball_thread_cleanup();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_verdict_is_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
