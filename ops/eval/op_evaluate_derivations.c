/* The op `evaluate-derivations`: derivations and their vectors -> how many mistakes are found. */
#include "engine/op.h"
#include "ops/eval/evaluation.h"
#include "ops/eval/examined.h"

static enum err_code load(struct examined *x, struct op_ctx *ctx, const char *derivations,
                          const char *embeddings, struct err *e)
{
    enum err_code code = err_up(e, examined_load(x, ctx, derivations, embeddings, e));
    for (size_t k = 0; !code && k < x->n; k++)
        if (!detection_is_possible(x, k))
            code = err_fail(e, ERR_INPUT, "exercise %zu of '%s' is not a derivation", k + 1,
                            derivations);
    return code;
}

/* A row for each step. */
static Eqloom__Table *table_of_steps(struct arena *a, const struct examined *x, size_t n,
                                     double threshold)
{
    enum { COLUMNS = 5 };
    static char *columns[COLUMNS] = {"derivation", "step", "reason", "cosine", "taken for"};
    size_t steps = 0;
    for (size_t k = 0; k < n; k++)
        steps += x->exercises[k]->n_terms - 1;
    Eqloom__Table *t = table_of(a, "Derivations", columns, COLUMNS, steps);
    for (size_t k = 0; k < n; k++) {
        const Eqloom__Exercise *d = x->exercises[k];
        for (size_t i = 1; i < d->n_terms; i++) {
            double cosine = (double)examined_similarity(x, k, i - 1, i);
            char **cell = table_row(a, t);
            *cell++ = i == 1 ? arena_printf(a, "%zu", k + 1) : "";
            *cell++ =
                arena_printf(a, "%s = %s", examined_infix(a, d, i - 1), examined_infix(a, d, i));
            *cell++ = d->terms[i]->wrong ? "a mistake" : d->terms[i]->reason;
            *cell++ = arena_printf(a, "%.3f", cosine);
            *cell++ = cosine < threshold ? "a mistake" : "right";
        }
    }
    return t;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    size_t shown = (size_t)op_int(ctx, "examples");
    struct examined x, calibration;
    struct detection found;
    struct figures f = evaluation_figures(ctx, "derivations");
    double threshold;
    enum err_code code;
    if ((code = err_up(e, load(&x, ctx, "derivations", "embeddings", e))) ||
        (code = err_up(e, load(&calibration, ctx, "calibration", "calibration_embeddings", e))))
        return code;
    if (!detection_threshold(&threshold, &calibration))
        return err_fail(e, ERR_INPUT, "no derivation of 'calibration' has a correct step");
    detection_measure(&found, a, &x, threshold);
    figures_add(&f, "no_mistake_precision", found.no_mistake.precision);
    figures_add(&f, "no_mistake_recall", found.no_mistake.recall);
    figures_add(&f, "no_mistake_f1", found.no_mistake.f1);
    figures_add(&f, "mistake_precision", found.mistake.precision);
    figures_add(&f, "mistake_recall", found.mistake.recall);
    figures_add(&f, "mistake_f1", found.mistake.f1);
    figures_add(&f, "auc", found.auc);
    figures_add(&f, "threshold", threshold);
    figures_add(&f, "steps", (double)found.steps);
    figures_add(&f, "mistakes", (double)found.wrong);
    figures_add(&f, "derivations", (double)x.n);
    Eqloom__Table *steps = table_of_steps(a, &x, shown < x.n ? shown : x.n, threshold);
    return err_up(e, evaluation_emit(ctx, &f, steps, e));
}

const struct op op_evaluate_derivations = {
    .name = "evaluate-derivations",
    .version = 3,
    .node = OP_TASK,
    .doc = "E-Gen's mistake detection: a step is taken for a mistake if the cosine of its two "
           "sides is below a threshold, which is the least cosine of the right steps of each "
           "derivation of `calibration`, averaged (the paper's Algorithm 1). Precision, recall and "
           "F1 of finding the mistakes, and of finding the right steps. auc says what any "
           "threshold could do: how likely a wrong step's cosine is below a right one's; 0.5 is "
           "chance, or no wrong steps.",
    .params = OP_PARAMS(EVALUATION_LABEL, {"examples", OP_INT, "10", NULL, 0, 1e6,
                                           "How many of the first derivations are shown."}),
    .inputs = OP_PORTS({"derivations", KIND_EXERCISE, OP_COLLECTION, false,
                        "What the op `derivations` drew from held-out clusters."},
                       {"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
                        "Their embeddings, by `tokenize-exercises` and then `embed` or `tfidf`."},
                       {"calibration", KIND_EXERCISE, OP_COLLECTION, false,
                        "Derivations from training clusters, which set the threshold."},
                       {"calibration_embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
                        "Their embeddings."}),
    .outputs = OP_PORTS(
        {"report", KIND_REPORT, OP_ONE, false, "mistake_precision, mistake_recall, ... by name."}),
    .run = run,
};
