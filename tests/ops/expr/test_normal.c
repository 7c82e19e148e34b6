/* Normal forms against ball arithmetic: of random terms with branches, those that agree at one
 * point are compared in every domain; what a normal form proves, no open set of values may refute.
 */
#include "base/rng.h"
#include "ops/expr/normal/normal.h"
#include "tests/unit.h"

enum { TERMS = 500, DEPTH = 3 };

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
                                       .seed = 5,
                                       .low = 0.0625,
                                       .high = 8,
                                       .domains = &domains[i],
                                       .n_domains = 1};
        struct ball_compare c;
        const char *way;
        if (!normal_equal(&way, x, y, &domains[i], 1))
            continue;
        ++*proved;
        ball_compare(&c, x, y, &options);
        if (c.verdict == BALL_DIFFERENT)
            fail_msg("for x %s, %s to %s: %s is %s by %s, but at %s", domains[i].domain,
                     domains[i].low ? domains[i].low : "", domains[i].high ? domains[i].high : "",
                     expr_infix(a, x), expr_infix(a, y), way, c.witness);
    }
}

static void test_what_is_proved_is_not_refuted(void **state)
{
    static const char *const names[] = {"x"};
    const double places[] = {1.75, 0.375};
    struct rng r = rng_new(test_seed(7), 0);
    struct arena a = {0};
    static struct expr terms[TERMS];
    static char *values[TERMS][2];
    unsigned proved = 0, pairs = 0;
    for (size_t i = 0; i < TERMS; i++) {
        terms[i] = draw(&a, &r, DEPTH);
        for (size_t p = 0; p < 2; p++) {
            struct ball_point point = {1, names, &places[p], NULL};
            values[i][p] = ball_value_text(&a, &terms[i], &point, 15);
        }
        for (size_t k = 0; k < i; k++)
            for (size_t p = 0; p < 2; p++)
                if (strcmp(values[i][p], values[k][p]) == 0 && values[i][p][0] != 'u' &&
                    !expr_equal(&terms[i], &terms[k])) {
                    pairs++;
                    check(&a, &terms[i], &terms[k], &proved);
                    break;
                }
    }
    ball_thread_cleanup();
    print_message("%u pairs, %u proofs\n", pairs, proved);
    assert_true(pairs > 200 && proved > 100);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_proved_is_not_refuted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
