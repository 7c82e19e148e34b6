/* Verdicts against an adversary: pairs whose truth is known from how they are made. True ones
 * differ at isolated points, which are likely ones; false ones by bumps of every width and place,
 * or by less than any precision shows; some have a piece without a value. */
#include "base/rng.h"
#include "ops/egraph/derive/standing.h"
#include "tests/ops/library.h"

#include <string.h>

enum { PAIRS = CASES(1500, 300) };

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

static struct arena forever;
static struct rules library;
static struct ruleset *set;

static int begin(void **state)
{
    library = library_rules_on(&forever, &lang_calculus);
    rules_sort(&library);
    set = ruleset_new(&library);
    return 0;
}

static int end(void **state)
{
    ruleset_free(set);
    arena_free(&forever);
    ball_thread_cleanup();
    return 0;
}

TESTS_AROUND(begin, end)

static enum standing decide(struct standing_result *out, struct arena *a, const char *x,
                            const char *y, const struct standing_options *options)
{
    struct err e = {0};
    struct expr left = infix_term(a, &lang_calculus, x), right = infix_term(a, &lang_calculus, y);
    if (standing_decide(out, a, &library, set, &left, &right, options, &e))
        fail_msg("%s = %s: %s", x, y, e.message);
    return out->standing;
}

TEST(no_verdict_is_wrong)
{
    unsigned counts[N_KINDS][4] = {0};
    struct arena work = {0};
    struct rng r = rng_new(test_seed(11), 0);
    struct standing_options options = {.limits = {.iterations = 1, .max_nodes = 60},
                                       .verdict_only = true};
    for (int i = 0; i < PAIRS; i++) {
        enum kind kind = (enum kind)(i % N_KINDS);
        char *x, *y;
        arena_reset(&work);
        (kind == TRUE_PAIR    ? make_true
         : kind == FALSE_PAIR ? make_false
                              : make_undefined)(&x, &y, &work, &r);
        struct standing_result result;
        enum standing s = decide(&result, &work, x, y, &options);
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
    assert_true(counts[TRUE_PAIR][STANDING_PROVED] > PAIRS / N_KINDS * 9 / 10);
    assert_true(counts[FALSE_PAIR][STANDING_REFUTED] > PAIRS / N_KINDS * 19 / 20);
    arena_free(&work);
}

/* ---- atoms that rules make equal, in polynomials that they do not expand ---- */

enum { POLYNOMIALS = CASES(40, 8) };

static const char *const atoms[][2] = {
    {"acosh(cosh(x - y))", "abs(x - y)"},
    {"sqrt((1 - cos(x))/2)", "abs(sin(x/2))"},
    {"sqrt((1 + cos(x + y))/2)", "abs(cos((x + y)/2))"},
    {"(atan(tanh(x)) + atan(1/2))", "atan((tanh(x) + 1/2)/(1 - tanh(x)/2))"},
};

/* (F + k z)(F + l z)(F + m)(F - z) and its terms, each with one of the forms of F; `error` is added
 * to the coefficient of one term. */
static void make_polynomial(char **x, char **y, struct arena *a, struct rng *r, int error)
{
    const char *const *f = atoms[rng_below(r, sizeof atoms / sizeof *atoms)];
    int k = 1 + (int)rng_below(r, 9), l = 1 + (int)rng_below(r, 9), m = 1 + (int)rng_below(r, 9);
    const int terms[][3] = {{1, 4, 0},
                            {k + l - 1, 3, 1},
                            {m, 3, 0},
                            {k * l - k - l, 2, 2},
                            {m * (k + l - 1), 2, 1},
                            {-k * l, 1, 3},
                            {m * (k * l - k - l), 1, 2},
                            {-m * k * l, 0, 3}};
    enum { N = sizeof terms / sizeof *terms };
    size_t wrong = error ? rng_below(r, N) : N;
    *x = arena_printf(a, "(%s + %d*z)*(%s + %d*z)*(%s + %d)*(%s - z)", f[rng_below(r, 2)], k,
                      f[rng_below(r, 2)], l, f[rng_below(r, 2)], m, f[rng_below(r, 2)]);
    *y = arena_strdup(a, "0");
    for (size_t i = 0; i < N; i++)
        *y = arena_printf(a, "%s + (%d)*%s^%d*z^%d", *y, terms[i][0] + (i == wrong ? error : 0),
                          f[rng_below(r, 2)], terms[i][1], terms[i][2]);
}

static bool has_rules_and_form(const struct explanation *p)
{
    size_t rules = 0;
    for (size_t i = 0; i < p->n; i++)
        rules += strchr(p->steps[i].rule, '/') != NULL;
    return rules && rules < p->n;
}

TEST(forms_close_what_rules_begin)
{
    struct arena work = {0};
    struct rng r = rng_new(test_seed(12), 0);
    unsigned proved = 0, together = 0;
    for (int i = 0; i < POLYNOMIALS; i++) {
        struct standing_options options = {.limits = {.iterations = 4, .max_nodes = 1000}};
        char *x, *y;
        int error = i % 2 ? 1 - 2 * (int)rng_below(&r, 2) : 0;
        arena_reset(&work);
        make_polynomial(&x, &y, &work, &r, error);
        struct standing_result result;
        enum standing s = decide(&result, &work, x, y, &options);
        if (error ? s == STANDING_PROVED : s == STANDING_REFUTED || s == STANDING_NO_VALUE)
            fail_msg("%s = %s is %s", x, y, standing_word(s));
        if (s != STANDING_PROVED)
            continue;
        proved++;
        together += has_rules_and_form(&result.derivation.proof);
        options.own_rules = true; /* then nothing but rules */
        options.limits.max_nodes = 200;
        decide(&result, &work, x, y, &options);
        assert_null(result.derivation.checked);
    }
    print_message("%u of %d proved, %u of them by rules and a normal form\n", proved,
                  POLYNOMIALS / 2, together);
    assert_true(proved > POLYNOMIALS / 3 && together > POLYNOMIALS / 8);
    arena_free(&work);
}

/* With p - |p| and p + |p|, of which one is zero at each point, a side may have values on a half
 * line only: rules prove it equal to whatever the other one is there. */
TEST(what_holds_on_a_part_is_not_proved)
{
    static const char *const zeros[] = {"abs(%s)-(%s)",        "abs(%s)+(%s)",
                                        "sqrt((%s)^2)-(%s)",   "abs(%s)/(%s)-1",
                                        "ln((%s)^2)-2*ln(%s)", "((%s)^3)^(1/3)-(%s)"};
    static const char *const shapes[] = {"(%s)/(%s)", "ln(%s)-ln(%s)", "(%s)^(-2)*(%s)^2",
                                         "(%s)*(1/(%s))"};
    static const char *const values[] = {"1", "0", "1", "1"};
    static const char *const places[] = {"x", "x-1"};
    const struct ball_domain real = {"x", "real"};
    struct standing_options options = {
        .limits = {.iterations = 4, .max_nodes = 1000, .domains = &real, .n_domains = 1},
        .verdict_only = true};
    struct arena work = {0};
    struct standing_result r;
    for (size_t z = 0; z < sizeof zeros / sizeof *zeros; z++)
        for (size_t p = 0; p < sizeof places / sizeof *places; p++)
            for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
                const char *zero = arena_printf(&work, zeros[z], places[p], places[p]);
                const char *x = arena_printf(&work, shapes[s], zero, zero);
                if (decide(&r, &work, x, values[s], &options) == STANDING_PROVED)
                    fail_msg("%s = %s is proved", x, values[s]);
                x = arena_printf(&work, shapes[s], "abs(x)+2*x+1", "abs(x)+2*x+1");
                if (z + p == 0 && decide(&r, &work, x, values[s], &options) != STANDING_PROVED)
                    fail_msg("%s = %s is not proved", x, values[s]);
            }
    arena_free(&work);
}
