/* Designed points, beside oracles: any two variables meet in all combinations of levels, every gap
 * between the roots of a random polynomial has a point, and names do not matter. */
#include "base/rng.h"
#include "ops/expr/compare/design.h"
#include "ops/expr/rational.h"
#include "tests/ops/expr/balls.h"
#include "tests/ops/terms.h"

enum { POINTS = 400, ROOTS = 4 };

static double to_double(struct arena *a, const fmpq_t x)
{
    char *text = fmpq_get_str(NULL, 10, x);
    double out = number_double(number_read(a, text, strlen(text)));
    flint_free(text);
    return out;
}

static double level(struct arena *a, const struct design_variable *v, unsigned index, uint32_t k)
{
    struct design_number x;
    design_number_init(&x);
    design_level(&x, v, index, 7, k);
    assert_true(fmpq_is_zero(&x.im));
    double out = to_double(a, &x.re);
    design_number_clear(&x);
    return out;
}

/* -3 to 3: a sign and an order of magnitude. */
static int kind_of(double x)
{
    int size = fabs(x) < 0.25 ? 1 : fabs(x) < 10 ? 2 : 3;
    return x < 0 ? -size : size;
}

TEST_IN_ARENA(variables_meet_in_all_combinations)
{
    static const struct design_variable real = {.kind = DESIGN_REAL};
    enum { VARIABLES = 12, FIRST = 169 };
    for (unsigned i = 0; i < VARIABLES; i++)
        for (unsigned j = i + 1; j < VARIABLES; j++) {
            bool met[7][7] = {{false}};
            unsigned n = 0;
            for (uint32_t k = 0; k < FIRST; k++) {
                int x = kind_of(level(a, &real, i, k)) + 3, y = kind_of(level(a, &real, j, k)) + 3;
                n += !met[x][y];
                met[x][y] = true;
            }
            assert_int_equal(n, 36);
        }
}

TEST_IN_ARENA(levels_are_in_their_domain)
{
    static const struct design_variable domains[] = {
        {.kind = DESIGN_REAL, .low = "0"},          {.kind = DESIGN_REAL, .low = "-1/1000"},
        {.kind = DESIGN_REAL, .high = "-7/3"},      {.kind = DESIGN_REAL, .low = "1/3", .high = "2/5"},
        {.kind = DESIGN_INTEGER, .low = "21/2"},    {.kind = DESIGN_INTEGER, .high = "-40"},
    };
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
        for (uint32_t k = 0; k < 1000; k++) {
            const struct design_variable *v = &domains[i];
            double x = level(a, v, (unsigned)(k % 3), k);
            assert_true(!v->low || x > number_double(v->low));
            assert_true(!v->high || x < number_double(v->high) ||
                        (v->kind == DESIGN_INTEGER && x <= number_double(v->high)));
            assert_true(v->kind != DESIGN_INTEGER || x == floor(x));
        }
}

/* Many points of a single variable are different. */
TEST_IN_ARENA(levels_are_different)
{
    static const struct design_variable kinds[] = {{.kind = DESIGN_REAL}, {.kind = DESIGN_INTEGER}};
    enum { N = 5000 };
    double *x = arena_array(a, double, N);
    for (size_t i = 0; i < 2; i++) {
        unsigned same = 0;
        for (uint32_t k = 0; k < N; k++)
            x[k] = level(a, &kinds[i], 0, k);
        for (uint32_t k = 0; k < N; k++)
            for (uint32_t j = 0; j < k; j++)
                same += x[j] == x[k];
        assert_in_range(same, 0, N / 10);
    }
}

static struct design_points cells_of(const char *text, const struct design_variable *v, size_t n,
                                     struct arena *a, bool exact)
{
    struct design_points points;
    struct expr x = infix_term(a, &lang_calculus, text);
    const struct design_limits limits = {.points = POINTS, .salt = 1, .exact = exact};
    design_cells(&points, v, n, &x, 1, NULL, 0, &limits);
    return points;
}

/* How many points lie between two numbers. */
static unsigned count_between(struct arena *a, const struct design_points *p, const char *low,
                              const char *high)
{
    unsigned n = 0;
    fmpq_t l, h;
    fmpq_init(l);
    fmpq_init(h);
    fmpq_set_str(l, low, 10);
    fmpq_set_str(h, high, 10);
    for (size_t k = 0; k < p->n; k++) {
        const fmpq *x = &design_point(p, k)->re;
        n += fmpq_cmp(l, x) < 0 && fmpq_cmp(x, h) < 0;
    }
    fmpq_clear(l);
    fmpq_clear(h);
    return n;
}

static int by_value(const void *x, const void *y)
{
    return number_compare(*(const char *const *)x, *(const char *const *)y);
}

/* Around polynomials with known roots stand functions with pieces; the roots are as close to each
 * other as 10^-60. */
TEST_IN_ARENA(gaps_between_roots_have_points)
{
    static const char *const around[] = {"abs(%s)", "sqrt(%s)", "ln(1/(%s))", "asin(1 + %s)",
                                         "abs(abs(x - x) + %s)", "1/(%s)"};
    struct rng r = rng_new(test_seed(4), 0);
    const struct design_variable real = {X_SYM, "x", DESIGN_REAL, NULL, NULL};
    for (int round = 0; round < CASES(300, 40); round++) {
        const char *roots[ROOTS], *product = "1";
        size_t n = 1 + (size_t)rng_below(&r, ROOTS);
        for (size_t i = 0; i < n; i++) {
            const char *text = arena_printf(a, "%d/%d", (int)rng_below(&r, 2001) - 1000,
                                            1 + (int)rng_below(&r, 50));
            const char *tiny = i ? arena_printf(a, "1/1%0*d", 1 + (int)rng_below(&r, 60), 0) : "0";
            roots[i] = rng_below(&r, 2) && i
                           ? number_combine(a, '+', roots[i - 1], tiny, EXPR_MAX_DIGITS)
                           : number_read(a, text, strlen(text));
            product = arena_printf(a, "%s*(x - (%s))", product, roots[i]);
        }
        qsort(roots, n, sizeof *roots, by_value);
        const char *shape = around[rng_below(&r, sizeof around / sizeof *around)];
        const char *hole = strstr(shape, "%s");
        const char *text =
            arena_printf(a, "%.*s%s%s", (int)(hole - shape), shape, product, hole + 2);
        struct design_points p = cells_of(text, &real, 1, a, false);
        for (size_t i = 0; i + 1 < n; i++)
            if (strcmp(roots[i], roots[i + 1]) != 0 && !count_between(a, &p, roots[i], roots[i + 1]))
                fail_msg("%s: none between %s and %s", text, roots[i], roots[i + 1]);
        if (!count_between(a, &p, "-10000000000000", roots[0]) ||
            !count_between(a, &p, roots[n - 1], "10000000000000"))
            fail_msg("%s: none beyond", text);
        design_points_free(&p);
    }
}

/* What is not a polynomial: numbers between which a point must be. */
TEST_IN_ARENA(pieces_have_points)
{
    static const struct {
        const char *term, *low, *high;
    } cases[] = {
        {"sqrt(ln(x) - 5)", "1", "148.42"},
        {"sqrt(ln(x) - 5)", "148.42", "200"},
        {"abs(e^x - 1000)*abs(x - 7)", "6.9078", "7"},
        {"asin(sin(x))", "1.5708", "4.7123"},
        {"ln(sqrt(x - 1) - 2)", "1", "5"},
        {"abs(abs(x - 3) - 1/10)", "2.9", "3"},
        {"abs(abs(x - 3) - 1/10)", "3", "3.1"},
        {"e^(-10^6*(x - 3)^2)", "2.99", "3.01"},
        {"1/(1 + 10^8*(x - 3)^2)^50", "2.9999", "3.0001"},
        {"abs(x - pi)*abs(x - 22/7)", "3.141593", "3.142857"},
        {"sqrt(2 - x)/sqrt(1 - x)", "1", "2"},
    };
    const struct design_variable real = {X_SYM, "x", DESIGN_REAL, NULL, NULL};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *low = number_read(a, cases[i].low, strlen(cases[i].low));
        const char *high = number_read(a, cases[i].high, strlen(cases[i].high));
        /* the place itself is such a point where two meet */
        struct design_points p = cells_of(cases[i].term, &real, 1, a, true);
        if (!count_between(a, &p, low, high))
            fail_msg("%s: none between %s and %s", cases[i].term, low, high);
        design_points_free(&p);
    }
}

TEST_IN_ARENA(cells_of_two_variables)
{
    const struct design_variable real[] = {{X_SYM, "x", DESIGN_REAL, NULL, NULL},
                                           {X_SYM, "y", DESIGN_REAL, NULL, NULL}};
    struct design_points p = cells_of("abs(x - 1)*abs(x - 101/100)*abs(y - x)*abs(y - x - 1/1000)",
                                      real, 2, a, false);
    unsigned found = 0;
    for (size_t k = 0; k < p.n; k++) {
        double x = to_double(a, &design_point(&p, k)[0].re);
        double y = to_double(a, &design_point(&p, k)[1].re);
        found += x > 1 && x < 1.01 && y > x && y < x + 0.001;
    }
    assert_true(found);
    design_points_free(&p);
}

/* Integers: on both sides of a place, of both parities, and far out. */
TEST_IN_ARENA(integers_beyond_places)
{
    const struct design_variable n = {X_SYM, "n", DESIGN_INTEGER, NULL, NULL};
    struct design_points p = cells_of("abs(n - 1000)*abs(2*n + 77)", &n, 1, a, false);
    assert_true(count_between(a, &p, "1000", "1001000") >= 4);
    assert_true(count_between(a, &p, "1000", "1002"));
    assert_true(count_between(a, &p, "-39", "-37"));
    assert_true(count_between(a, &p, "-1000000000", "-50000"));
    unsigned odd = 0;
    for (size_t k = 0; k < p.n; k++) {
        assert_true(fmpz_is_one(fmpq_denref(&design_point(&p, k)->re)));
        odd += fmpz_is_odd(fmpq_numref(&design_point(&p, k)->re));
    }
    assert_in_range(odd, p.n / 4, p.n * 3 / 4);
    design_points_free(&p);
}

TEST_IN_ARENA(names_do_not_matter)
{
    const struct design_variable first[] = {{X_SYM, "x", DESIGN_REAL, NULL, NULL},
                                            {X_SYM, "y", DESIGN_COMPLEX, NULL, NULL}},
                                 second[] = {{X_SYM, "b", DESIGN_REAL, NULL, NULL},
                                             {X_SYM, "a", DESIGN_COMPLEX, NULL, NULL}};
    struct design_points p = cells_of("ln(x*y - 1) + sqrt(x)", first, 2, a, true);
    struct design_points q = cells_of("ln(b*a - 1) + sqrt(b)", second, 2, a, true);
    assert_int_equal(p.n, q.n);
    assert_true(p.n > 100);
    for (size_t k = 0; k < 2 * p.n; k++)
        assert_true(fmpq_equal(&p.at[k].re, &q.at[k].re) && fmpq_equal(&p.at[k].im, &q.at[k].im));
    design_points_free(&p);
    design_points_free(&q);
    struct expr x = infix_term(a, &lang_calculus, "x*y + x");
    struct expr y = infix_term(a, &lang_calculus, "b*a + b");
    assert_true(design_salt(&x, first, 2) == design_salt(&y, second, 2));
}

TESTS_AROUND(NULL, balls_clean)
