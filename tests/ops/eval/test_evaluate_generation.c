/* Op evaluate-generation on candidates written by hand, whose verdicts are known. */
#include "generation.pb-c.h"
#include "tests/ops/expr/balls.h"
#include "tests/ops/in_memory.h"
#include "tests/unit.h"

extern const struct op op_evaluate_generation;

enum { CANDIDATES = 12 };

struct written {
    const char *input;
    const char *candidates[CANDIDATES]; /* ended by NULL */
};

/* Each a record of its own. */
static ProtobufCMessage **generations(struct arena *a, const char *language,
                                      const struct written *from, size_t n)
{
    ProtobufCMessage **all = arena_array(a, ProtobufCMessage *, n + 1);
    for (size_t i = 0; i < n; i++, from++) {
        Eqloom__Generation *g = arena_new(a, Eqloom__Generation);
        Eqloom__Written *w = arena_new(a, Eqloom__Written);
        eqloom__generation__init(g);
        eqloom__written__init(w);
        w->input = (char *)from->input;
        w->candidates = arena_array(a, Eqloom__Candidate *, CANDIDATES);
        for (; from->candidates[w->n_candidates]; w->n_candidates++) {
            Eqloom__Candidate *c = w->candidates[w->n_candidates] = arena_new(a, Eqloom__Candidate);
            eqloom__candidate__init(c);
            c->prefix = (char *)from->candidates[w->n_candidates];
        }
        g->language = (char *)language;
        g->n_written = 1;
        g->written = arena_memdup(a, &w, sizeof w);
        all[i] = &g->base;
    }
    return all;
}

static struct op_ctx given(const char *language, const struct written *w, size_t n)
{
    struct op_ctx ctx = {.op = &op_evaluate_generation};
    ProtobufCMessage **all = generations(&ctx.a, language, w, n);
    ctx.inputs[0].role = "generations";
    ctx.inputs[0].all = all;
    ctx.inputs[0].n = n;
    return ctx;
}

static void evaluate(struct op_ctx *ctx, const char *language, const struct written *w, size_t n)
{
    struct err e = {0};
    *ctx = given(language, w, n);
    if (op_evaluate_generation.run(ctx, NULL, &e))
        fail_msg("%s", e.message);
    assert_int_equal(ctx->n_outputs, 1);
}

static void assert_figure(const struct op_ctx *ctx, const char *name, double want)
{
    double got = figure_emitted(ctx, name);
    if (!(fabs(got - want) < 1e-12))
        fail_msg("%s is %g, not %g", name, got, want);
}

/* The verdict of a single candidate, as the name of its figure. */
static void assert_first(const char *language, const char *input, const char *candidate,
                         const char *want)
{
    static const char *const verdicts[] = {"first_malformed", "first_refuted", "first_undecided",
                                           "first_equal", "first_same"};
    struct op_ctx ctx;
    evaluate(&ctx, language, &(struct written){input, {candidate}}, 1);
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
        if (figure_emitted(&ctx, verdicts[i]) != (strcmp(verdicts[i], want) == 0))
            fail_msg("%s -> %s: %s is %g", input, candidate, verdicts[i],
                     figure_emitted(&ctx, verdicts[i]));
    assert_figure(&ctx, "exact@1", strcmp(want, "first_same") == 0);
    assert_figure(&ctx, "accuracy@1", strcmp(want, "first_equal") == 0);
    arena_free(&ctx.a);
}

TEST(calculus)
{
    assert_first("", "+ x x", "+ x x", "first_same");
    assert_first("", "+ x x", "* 2 x", "first_equal");
    assert_first("", "pow sin x 2", "- 1 pow cos x 2", "first_equal");
    assert_first("", "d x sin x", "cos x", "first_equal");
    assert_first("", "/ - pow x 2 1 - x 1", "+ x 1", "first_equal"); /* but for one point */
    assert_first("", "sqrt pow x 2", "abs x", "first_equal");
    assert_first("", "+ x x", "* 3 x", "first_refuted");
    assert_first("", "sin x", "sin y", "first_refuted");
    assert_first("", "x", "+ x pow 10 -20", "first_refuted"); /* beyond doubles */
    assert_first("", "x", "/ x 0", "first_undecided");        /* defined nowhere */
    assert_first("", "x", "", "first_malformed");
    assert_first("", "x", "+ x", "first_malformed");
    assert_first("", "x", "x x", "first_malformed");
    assert_first("", "x", "and x x", "first_malformed");
}

TEST(normal_forms)
{
    assert_first("boolean", "and p q", "not or not p not q", "first_equal");
    assert_first("boolean", "and p q", "or p q", "first_refuted");
    assert_first("boolean", "and p q", "+ p q", "first_malformed");
    assert_first("polynomial", "* + x y - x y", "- * x x * y y", "first_equal");
    assert_first("polynomial", "* + x y - x y", "- * x x * y x", "first_refuted");
    assert_first("polynomial", "x", "x", "first_same");
}

TEST(figures)
{
    static const struct written written[] = {
        {"+ x x", {"+ x x", "* 2 x"}},                                    /* equal at the second */
        {"sin x", {"cos x", "sin", "+ 0 sin x", "sin x"}},                /* at the third */
        {"pow x 2", {"* x x", "pow x 2"}},                                /* at once */
        {"cos x", {"+", "1", "2", "3", "4", "5", "6", "* 1 cos x"}},      /* at the eighth */
        {"ln x", {"/ x 0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}}, /* nowhere */
        {"tan x", {"tan x"}}, /* the same is no success */
        {"x", {NULL}},
        {"- x 1", {"- 1 x"}},
    };
    enum { N = sizeof written / sizeof *written };
    struct op_ctx ctx;
    evaluate(&ctx, "", written, N);
    assert_figure(&ctx, "inputs", N);
    assert_figure(&ctx, "accuracy@1", 1.0 / N);
    assert_figure(&ctx, "accuracy@5", 3.0 / N);
    assert_figure(&ctx, "accuracy@10", 4.0 / N);
    assert_figure(&ctx, "accuracy@50", 4.0 / N); /* nothing has as many candidates */
    assert_figure(&ctx, "exact@1", 2.0 / N);
    assert_figure(&ctx, "first_same", 2.0 / N);
    assert_figure(&ctx, "first_equal", 1.0 / N);
    assert_figure(&ctx, "first_refuted", 2.0 / N);
    assert_figure(&ctx, "first_undecided", 1.0 / N);
    assert_figure(&ctx, "first_malformed", 1.0 / N);
    assert_figure(&ctx, "without_result", 1.0 / N);
    const Eqloom__Report *r = report_emitted(&ctx);
    assert_int_equal(r->n_tables, 1);
    assert_int_equal(r->tables[0]->n_rows, r->n_values);
    assert_string_equal(r->title, "generation");
    arena_free(&ctx.a);
}

TEST(nothing)
{
    struct op_ctx ctx;
    evaluate(&ctx, "", NULL, 0);
    assert_figure(&ctx, "inputs", 0);
    assert_figure(&ctx, "accuracy@1", 0);
    arena_free(&ctx.a);
}

static void assert_refused(const char *language, const char *input, const char *message)
{
    struct err e = {0};
    struct op_ctx ctx = given(language, &(struct written){input, {"x"}}, 1);
    assert_int_equal(op_evaluate_generation.run(&ctx, NULL, &e), ERR_INPUT);
    assert_string_equal(e.message, message);
    assert_int_equal(ctx.n_outputs, 0);
    arena_free(&ctx.a);
}

TEST(refused)
{
    assert_refused("klingon", "x", "unknown language 'klingon': calculus, boolean or polynomial");
    assert_refused("boolean", "+ x x",
                   "input 1, '+ x x', is not an expression of the language 'boolean'");
    assert_refused("", "", "input 1, '', is not an expression of the language 'calculus'");
}

TESTS_AROUND(NULL, balls_clean)
