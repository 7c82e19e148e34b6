/* The op `evaluate-generation`: measures how often the expressions that a model generates are
 * right. */
#include "engine/op.h"
#include "generation.pb-c.h"
#include "ops/eval/evaluation.h"
#include "ops/expr/equality/equality.h"
#include "ops/expr/own/own.h"

enum { CUTS = 4 };
static const size_t cuts[CUTS] = {1, 5, 10, 50};

/* The verdict on one candidate. EQUAL is proved in languages with a normal form; in the calculus it
 * means that values agree wherever both were defined. */
enum verdict { MALFORMED, DIFFERENT, UNDECIDED, EQUAL, SAME };
enum { VERDICTS = SAME + 1 };

/* The verdicts on the candidates of one input, and the positions of the first EQUAL and SAME
 * ones. */
struct outcome {
    size_t equal_at, same_at; /* SIZE_MAX: none */
    bool any;
    enum verdict first;
    size_t candidates, malformed;
};

struct work {
    const struct language *lang;
    Eqloom__Written **written;
    struct outcome *out;
    uint32_t points;
};

static enum verdict compare(struct equality_test *input, const struct expr *y, struct arena *a)
{
    if (expr_equal(&input->x, y))
        return SAME;
    switch (equality_test_ask(NULL, a, input, y)) {
    case EQUALITY_AGREES: return EQUAL;
    case EQUALITY_REFUTED: return DIFFERENT;
    case EQUALITY_UNDECIDED: return UNDECIDED;
    }
    return UNDECIDED;
}

static enum err_code judge(void *arg, size_t item, struct arena *a, struct err *e)
{
    const struct work *k = arg;
    const Eqloom__Written *w = k->written[item];
    struct outcome *out = &k->out[item];
    struct expr x, y;
    *out = (struct outcome){
        .equal_at = SIZE_MAX, .same_at = SIZE_MAX, .any = w->n_candidates > 0, .first = MALFORMED};
    if (expr_from_prefix(&x, a, k->lang, w->input, NULL))
        return err_fail(e, ERR_INPUT,
                        "input %zu, '%.60s', is not an expression of the language '%s'", item + 1,
                        w->input, k->lang->name);
    struct ball_options options = {.points = k->points};
    struct equality_test input;
    equality_test_begin(&input, &x, &options);
    for (size_t i = 0; i < w->n_candidates && i < cuts[CUTS - 1]; i++) {
        enum verdict v = MALFORMED;
        if (!expr_from_prefix(&y, a, k->lang, w->candidates[i]->prefix, NULL))
            v = compare(&input, &y, a);
        out->candidates++;
        out->malformed += v == MALFORMED;
        if (i == 0)
            out->first = v;
        if (v == EQUAL && out->equal_at == SIZE_MAX)
            out->equal_at = i;
        if (v == SAME && out->same_at == SIZE_MAX)
            out->same_at = i;
    }
    equality_test_end(&input);
    return OK;
}

/* ---- the report ---- */

static void measure(struct figures *f, const struct outcome *j, size_t n)
{
    static const char *const accuracy[CUTS] = {"accuracy@1", "accuracy@5", "accuracy@10",
                                               "accuracy@50"};
    static const char *const firsts[VERDICTS] = {"first_malformed", "first_refuted",
                                                 "first_undecided", "first_equal", "first_same"};
    double by = 1 / (double)(n ? n : 1);
    static const char *const exact[CUTS] = {"exact@1", "exact@5", "exact@10", "exact@50"};
    size_t counts[VERDICTS] = {0}, none = 0, candidates = 0, malformed = 0;
    for (size_t i = 0; i < n; i++) {
        candidates += j[i].candidates;
        malformed += j[i].malformed;
        none += !j[i].any;
        counts[j[i].first] += j[i].any;
    }
    for (size_t c = 0; c < CUTS; c++) {
        size_t right = 0, same = 0;
        for (size_t i = 0; i < n; i++) {
            right += j[i].equal_at < cuts[c];
            same += j[i].same_at < cuts[c];
        }
        figures_add(f, accuracy[c], (double)right * by);
        figures_add(f, exact[c], (double)same * by);
    }
    figures_add(f, "malformed", (double)malformed / (double)(candidates ? candidates : 1));
    for (size_t v = 0; v < VERDICTS; v++)
        figures_add(f, firsts[v], (double)counts[v] * by);
    figures_add(f, "without_result", (double)none * by);
    figures_add(f, "inputs", (double)n);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    uint64_t batches = op_count(ctx, "generations");
    Eqloom__Generation **g = arena_array(a, Eqloom__Generation *, batches);
    struct work k = {.points = (uint32_t)op_int(ctx, "points")};
    size_t n = 0;
    enum err_code code = err_up(e, evaluation_get(g, batches, ctx, "generations", e));
    for (uint64_t i = 0; i < batches && !code; i++) {
        code = err_up(e, language_join(&k.lang, a, g[i]->language, e));
        n += g[i]->n_written;
    }
    if (code)
        return code;
    k.written = arena_array(a, Eqloom__Written *, n);
    k.out = arena_array(a, struct outcome, n);
    n = 0;
    for (uint64_t i = 0; i < batches; i++)
        for (size_t j = 0; j < g[i]->n_written; j++)
            k.written[n++] = g[i]->written[j];
    if ((code = err_up(e, evaluation_run(ctx, judge, &k, n, e))))
        return code;
    struct figures f = evaluation_figures(ctx, "generation");
    measure(&f, k.out, n);
    return err_up(e, evaluation_emit(ctx, &f, NULL, e));
}

const struct op op_evaluate_generation = {
    .name = "evaluate-generation",
    .version = 5,
    .node = OP_TASK,
    .parallel = true,
    .doc = "Measures how often the expressions that a model generates are right. accuracy@k: the "
           "first k, or all if there are fewer, contain one that differs from the input as a tree "
           "and equals it (decided by normal forms if the language has them, else by values in "
           "ball arithmetic, which must agree at all points tried). exact@k: they contain the "
           "input itself, which is StructEmb's accuracy. malformed: the share of all outputs that "
           "are not expressions. first_...: the verdict on the first output; refuted means that "
           "two points were found where the values differ.",
    .params = OP_PARAMS(EVALUATION_LABEL, {"points", OP_INT, "8", NULL, 1, 1000,
                                           "The number of points at which values are compared."}),
    .inputs = OP_PORTS({"generations", KIND_GENERATION, OP_COLLECTION,
                        .doc = "The generated "
                               "expressions."}),
    .outputs = OP_PORTS(
        {"report", KIND_REPORT, OP_ONE, .doc = "accuracy@1, @5, @10, @50, exact@1, ... by name."}),
    .run = run,
};
