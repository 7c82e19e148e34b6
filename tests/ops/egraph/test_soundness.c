/* The shipped library is sound together, not only rule by rule: after saturation every e-node of
 * every class has, at each of a few points, the value of its class. A node's term is its operator
 * over the least terms of its arguments; a class's value is that of the first of its nodes that
 * has one. Balls of complex numbers are compared, so a disagreement is a proof that some step was
 * wrong; the steps are printed. */
#include "ops/egraph/explain/explanation.h"
#include "ops/egraph/record/least_terms.h"
#include "ops/expr/ball/ball.h"
#include "ops/expr/ball/ball_eval.h"
#include "ops/expr/equality/exact.h"
#include "ops/rules/rule.h"
#include "tests/ops/egraph/help.h"

enum { MAX_NODES = 2500, ITERATIONS = 7, N_POINTS = 3, MAX_PRECISION = 800 };

/* Variables are real and positive; the points stand on either side of 1, where the inverse
 * functions change their nature. */
static const double points[N_POINTS][2] = {{0.71875, 2.40625}, {1.59375, 0.40625}, {3.84375, 1.1}};

static const char *const seeds[] = {
    "sin(x)^4 - cos(x)^4",
    "d(x, cot(5*x))",
    "tan(x + y)",
    "tanh(x + y)/coth(x)",
    "ln(x*y) - ln(y)",
    "ln(x^2/y) + ln(2)",
    "sqrt(x^2*y)",
    "sqrt(x^2 - 2*x + 1)",
    "(x^2 - 1)/(x - 1)",
    "x^(1/2)*x^y",
    "((-1)*x)^3 + ((-1)*x)^(1/3)",
    "sin(2*x + 5)^(-8)",
    "asin(x) + acos(x)",
    "atan(x) + atan(1/x)",
    "acot(x - 2) + atan(x - 2)",
    "acosh(x) - asinh(x)",
    "asech(x) + acsch(y)",
    "sinh(acosh(x))",
    "acoth(x) - atanh(1/x)",
    "cos(asin(x))/sin(acos(x))",
    "abs(x - 2)*abs((-1)*x)",
    "d(x, asin(x)*e^x)",
    "d(x, abs(x - 2)^3)",
    "d(x, ln(sin(x)))",
    "e^(x*ln(y))",
    "e^(2*ln(x - 2))",
    "csc(x)^2 - cot(x)^2 + sec(x)",
    "acsc(x)*asec(x)",
    "cosh(2*x) - 2*sinh(x)^2",
    "sqrt((-1)*x)*sqrt(y - 2)",
    "1/(1/(x - x*y))",
    "2*atanh(x) - ln((1 + x)/(1 - x))",
};

struct evaluation {
    struct ball_evaluator v;
    acb_t symbols[2]; /* x, y */
};

static const acb_struct *look_up(void *arg, uint16_t op, const char *name)
{
    struct evaluation *e = arg;
    if (op != X_SYM || name[1] || (name[0] != 'x' && name[0] != 'y'))
        return NULL;
    return e->symbols[name[0] - 'x'];
}

static void evaluation_open(struct evaluation *e)
{
    *e = (struct evaluation){.v = {.lookup = look_up, .lookup_arg = e}};
    acb_init(e->symbols[0]);
    acb_init(e->symbols[1]);
}

static void evaluation_close(struct evaluation *e)
{
    acb_clear(e->symbols[0]);
    acb_clear(e->symbols[1]);
    ball_evaluator_free(&e->v);
}

/* Whether x has a value: narrow, at the last precision at most. */
static bool evaluate(acb_struct *out, struct evaluation *e, const struct expr *x)
{
    for (slong p = 100; p <= MAX_PRECISION; p *= 2) {
        acb_set(out, ball_evaluate(&e->v, x, p));
        if (ball_is_narrow(out))
            return true;
        if (e->v.hopeless)
            break;
    }
    return false;
}

/* The node over the least terms of its arguments. */
static struct expr node_term(struct arena *a, struct egraph *g, const struct least_terms *t,
                             uint32_t n)
{
    uint32_t op = graph_op(g, n);
    if (op & OP_LEAF)
        return expr_leaf(a, g->lang, g->leaves[op & ~OP_LEAF].op,
                         arena_strdup(a, g->leaves[op & ~OP_LEAF].text));
    struct expr kids[LANG_MAX_ARITY];
    uint32_t arity = graph_arity(g, op);
    for (uint32_t i = 0; i < arity; i++) {
        struct buf b = {0};
        least_terms_write(&b, t, g, graph_find(g, *graph_kid(g, n, i)));
        kids[i] = prefix_term(a, g->lang, arena_strndup(a, b.data, b.len));
        buf_free(&b);
    }
    return expr_apply(a, g->lang, (uint16_t)op, kids, arity);
}

static _Noreturn void report(struct arena *a, struct egraph *g, const struct ruleset *set,
                             const struct expr *x, const struct expr *y, const double point[2])
{
    struct explanation steps;
    struct err e = {0};
    print_error("%s\nis held equal to\n%s\nand is not at x = %g, y = %g:\n", expr_infix(a, x),
                expr_infix(a, y), point[0], point[1]);
    if (egraph_explain(&steps, a, g, set, x, y, &e))
        print_error("    (no proof: %s)\n", e.message);
    else
        for (size_t i = 0; i < steps.n; i++)
            print_error("    %s%s\n        %s\n", steps.steps[i].rule,
                        steps.steps[i].backwards ? " (backwards)" : "",
                        expr_infix(a, &steps.steps[i].term));
    fail_msg("unsound");
    abort();
}

/* Returns how many nodes were compared with another of their class. */
static size_t check_class(struct egraph *g, const struct ruleset *set, const struct least_terms *t,
                          uint32_t class, struct evaluation *e)
{
    struct arena a = {0};
    size_t compared = 0;
    acb_t value, other;
    acb_init(value);
    acb_init(other);
    for (int p = 0; p < N_POINTS; p++) {
        struct expr first = {0};
        acb_set_d(e->symbols[0], points[p][0]);
        acb_set_d(e->symbols[1], points[p][1]);
        uint32_t n = t->best[class];
        do {
            if (graph_is_live(g, n)) {
                struct expr x = node_term(&a, g, t, n);
                if (!first.n && evaluate(value, e, &x)) {
                    first = x;
                } else if (first.n && evaluate(other, e, &x)) {
                    compared++;
                    if (!acb_overlaps(value, other))
                        report(&a, g, set, &first, &x, points[p]);
                }
            }
            n = graph_next(g, n);
        } while (n != t->best[class]);
    }
    acb_clear(value);
    acb_clear(other);
    arena_free(&a);
    return compared;
}

static size_t check_seed(const struct rules *rules, const struct ruleset *set, const char *seed,
                         struct evaluation *evaluation)
{
    struct arena a = {0};
    struct err e = {0};
    struct egraph *g = egraph_new(rules->lang);
    egraph_keep_proofs(g);
    struct expr x = infix_term(&a, rules->lang, seed);
    egraph_add_expr(g, &x);
    struct saturate_options o = {.iterations = ITERATIONS,
                                 .max_nodes = MAX_NODES,
                                 .match_limit = 1000,
                                 .ban_length = 5,
                                 .explain = true};
    struct saturate_result r;
    if (egraph_saturate(&r, g, set, &o, &a, &e))
        fail_msg("%s: %s", seed, e.message);
    struct least_terms t;
    least_terms_find(&t, &a, g);
    size_t compared = 0;
    for (uint32_t i = 0; i < t.n; i++)
        compared += check_class(g, set, &t, t.order[i], evaluation);
    egraph_free(g);
    arena_free(&a);
    return compared;
}

TEST_IN_ARENA(equal_nodes_have_equal_values)
{
    struct rules rules = library_rules_on(a, &lang_calculus);
    struct ruleset *set = ruleset_new(&rules);
    struct evaluation evaluation;
    evaluation_open(&evaluation);
    size_t compared = 0;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        size_t here = check_seed(&rules, set, seeds[i], &evaluation);
        if (here < 100)
            fail_msg("%s: only %zu comparisons", seeds[i], here);
        compared += here;
    }
    print_message("%zu comparisons\n", compared);
    evaluation_close(&evaluation);
    ball_thread_cleanup();
    ruleset_free(set);
}

/* The same where values are exact: every node's term is that of its class. */
TEST(languages_are_sound)
{
    static const struct {
        const struct language *lang;
        const char *seed;
    } cases[] = {
        {&lang_boolean, "(a => b) & (b => a)"},
        {&lang_boolean, "not(a & (b | not(a))) ^ c"},
        {&lang_boolean, "((a & b) | (not(a) & c)) | (b & c)"},
        {&lang_boolean, "(a ^ b) ^ (a & (true => b))"},
        {&lang_polynomial, "(a + b)*(a - b) - c"},
        {&lang_polynomial, "(a + 2)*(a + b) + -1*(c - e)"},
        {&lang_polynomial, "a*a - (b*b - 0*c)"},
    };
    struct saturate_options o = {.iterations = ITERATIONS, .max_nodes = MAX_NODES};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct err e = {0};
        struct rules rules = library_rules(&a, cases[i].lang);
        struct egraph *g = egraph_new(rules.lang);
        struct expr x = infix_term(&a, rules.lang, cases[i].seed);
        egraph_add_expr(g, &x);
        saturate(g, &rules, o, &a);
        struct least_terms t;
        least_terms_find(&t, &a, g);
        size_t compared = 0;
        for (uint32_t k = 0; k < t.n; k++) {
            uint32_t class = t.order[k], n = t.best[class];
            struct expr least = node_term(&a, g, &t, n);
            while ((n = graph_next(g, n)) != t.best[class]) {
                if (!graph_is_live(g, n))
                    continue;
                struct exact_result r;
                struct expr other = node_term(&a, g, &t, n);
                assert_int_equal(exact_compare(&r, &a, &least, &other, &e), OK);
                if (!r.equal)
                    fail_msg("%s and %s: %s", expr_infix(&a, &least), expr_infix(&a, &other),
                             r.witness);
                compared++;
            }
        }
        assert_true(compared > 100);
        egraph_free(g);
        arena_free(&a);
    }
}

/* Terms with a part that has no value anywhere mean nothing. They may contradict themselves, and
 * then saturation says so; they must do no harm. */
TEST_IN_ARENA(undefined_terms_do_no_harm)
{
    static const char *const undefined[] = {
        "asinh(1 - 1)*(acsch(-1)/((-1/2)/0))", /* once 0 and nonzero at a time */
        "abs(acsc(0*x))",
        "cot(0) + 1",
        "ln(0)*x",
        "d(x, 0^y)^(-1)",
        "(0 + x) + 0/0",
    };
    struct err e = {0};
    struct rules rules = library_rules_on(a, &lang_calculus);
    struct ruleset *set = ruleset_new(&rules);
    struct saturate_options o = {.iterations = ITERATIONS, .max_nodes = MAX_NODES};
    for (size_t i = 0; i < sizeof undefined / sizeof *undefined; i++) {
        struct egraph *g = egraph_new(rules.lang);
        struct expr x = infix_term(a, rules.lang, undefined[i]);
        struct saturate_result r;
        egraph_add_expr(g, &x);
        if (egraph_saturate(&r, g, set, &o, a, &e) && !strstr(e.message, "contradiction"))
            fail_msg("%s: %s", undefined[i], e.message);
        egraph_free(g);
    }
    ruleset_free(set);
}

/* The test itself sees what is wrong: with one false rule it finds a disagreement. */
TEST_IN_ARENA(a_false_rule_is_seen)
{
    struct rules rules = rules_of(a, "group g\nr: sqrt(?a^2) -> ?a\n");
    struct ruleset *set = ruleset_new(&rules);
    struct egraph *g = egraph_new(rules.lang);
    struct expr x = infix_term(a, rules.lang, "sqrt((x - 2)^2)");
    eclass_id root = egraph_add_expr(g, &x);
    saturate(g, &rules, generous, a);
    struct expr y = infix_term(a, rules.lang, "x - 2");
    assert_int_equal(egraph_find(g, root), egraph_lookup(g, &y));
    struct evaluation e;
    evaluation_open(&e);
    acb_t u, v;
    acb_init(u);
    acb_init(v);
    acb_set_d(e.symbols[0], points[0][0]);
    assert_true(evaluate(u, &e, &x) && evaluate(v, &e, &y));
    assert_false(acb_overlaps(u, v));
    acb_clear(u);
    acb_clear(v);
    evaluation_close(&e);
    ball_thread_cleanup();
    egraph_free(g);
    ruleset_free(set);
}
