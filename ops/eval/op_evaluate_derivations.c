/* The op `evaluate-derivations`: measures mistake detection in derivations by their vectors. */
#include "engine/op.h"
#include "ops/eval/evaluation.h"
#include "ops/eval/examined.h"

#include <math.h>
#include <stdlib.h>

/* Every right step names its rule. */
static bool is_derivation(const Eqloom__Exercise *d)
{
    bool is = d->n_terms > 0 && !d->terms[0]->wrong;
    for (size_t i = 1; i < d->n_terms; i++)
        is = is && (d->terms[i]->wrong || d->terms[i]->reason[0]);
    return is;
}

static enum err_code load(struct examined *x, struct op_ctx *ctx, const char *derivations,
                          const char *embeddings, struct err *e)
{
    enum err_code code = err_up(e, examined_load(x, ctx, derivations, embeddings, e));
    for (size_t k = 0; !code && k < x->n; k++)
        if (!is_derivation(x->exercises[k]))
            code = err_fail(e, ERR_INPUT, "exercise %zu of '%s' is not a derivation", k + 1,
                            derivations);
    return code;
}

/* E-Gen's Algorithm 1: the mean over derivations of the lowest similarity of their right steps.
 * Returns false if no derivation has a right step. */
static bool find_threshold(double *out, const struct examined *x)
{
    double sum = 0;
    size_t n = 0;
    for (size_t k = 0; k < x->n; k++) {
        double least = INFINITY;
        for (size_t i = 1; i < x->exercises[k]->n_terms; i++)
            if (!x->exercises[k]->terms[i]->wrong)
                least = fmin(least, examined_similarity(x, k, i - 1, i));
        if (least == INFINITY)
            continue;
        sum += least;
        n++;
    }
    *out = n ? sum / (double)n : 0;
    return n > 0;
}

struct step {
    float similarity;
    bool wrong;
};

static int by_similarity(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    return (x->similarity > y->similarity) - (x->similarity < y->similarity);
}

static struct step *all_steps(size_t *n, struct arena *a, const struct examined *x)
{
    struct step *steps = arena_array(a, struct step, x->v.n);
    *n = 0;
    for (size_t k = 0; k < x->n; k++)
        for (size_t i = 1; i < x->exercises[k]->n_terms; i++)
            steps[(*n)++] = (struct step){examined_similarity(x, k, i - 1, i),
                                          x->exercises[k]->terms[i]->wrong};
    qsort(steps, *n, sizeof *steps, by_similarity);
    return steps;
}

/* The probability that a wrong step is less similar than a right one; 0.5 if either kind is
 * missing. Counts pairs by runs of equal similarity; ties count half. */
static double area(const struct step *steps, size_t n, size_t n_wrong)
{
    double pairs = 0, wrong_before = 0;
    for (size_t i = 0, end; i < n; i = end) {
        double wrong = 0, right = 0;
        for (end = i; end < n && steps[end].similarity == steps[i].similarity; end++) {
            wrong += steps[end].wrong;
            right += !steps[end].wrong;
        }
        pairs += right * (wrong_before + wrong / 2);
        wrong_before += wrong;
    }
    double all = (double)n_wrong * (double)(n - n_wrong);
    return all > 0 ? pairs / all : 0.5;
}

/* Precision is 0 if nothing was found, recall if there is nothing to find. */
static void add_figures(struct figures *f, const char *what, size_t right, size_t found,
                        size_t there)
{
    double precision = found ? (double)right / (double)found : 0;
    double recall = there ? (double)right / (double)there : 0;
    figures_add(f, arena_printf(f->a, "%s_precision", what), precision);
    figures_add(f, arena_printf(f->a, "%s_recall", what), recall);
    figures_add(f, arena_printf(f->a, "%s_f1", what),
                right ? 2 * precision * recall / (precision + recall) : 0);
}

/* A row for each step. */
static Eqloom__Table *table_of_steps(struct arena *a, const struct examined *x, size_t n,
                                     double threshold)
{
    enum { COLUMNS = 5 };
    static char *columns[COLUMNS] = {"derivation", "step", "reason", "cosine", "classified as"};
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
    size_t shown = (size_t)op_int(ctx, "examples"), n, flagged = 0, wrong = 0, both = 0;
    struct examined x, calibration;
    struct figures f = evaluation_figures(ctx, "derivations");
    double threshold;
    enum err_code code;
    if ((code = err_up(e, load(&x, ctx, "derivations", "embeddings", e))) ||
        (code = err_up(e, load(&calibration, ctx, "calibration", "calibration_embeddings", e))))
        return code;
    if (!find_threshold(&threshold, &calibration))
        return err_fail(e, ERR_INPUT, "no derivation of 'calibration' has a correct step");
    const struct step *steps = all_steps(&n, a, &x);
    for (size_t i = 0; i < n; i++) {
        bool flag = (double)steps[i].similarity < threshold;
        flagged += flag;
        wrong += steps[i].wrong;
        both += flag && steps[i].wrong;
    }
    add_figures(&f, "no_mistake", n - flagged - wrong + both, n - flagged, n - wrong);
    add_figures(&f, "mistake", both, flagged, wrong);
    figures_add(&f, "auc", area(steps, n, wrong));
    figures_add(&f, "threshold", threshold);
    figures_add(&f, "steps", (double)n);
    figures_add(&f, "mistakes", (double)wrong);
    figures_add(&f, "derivations", (double)x.n);
    Eqloom__Table *table = table_of_steps(a, &x, shown < x.n ? shown : x.n, threshold);
    return err_up(e, evaluation_emit(ctx, &f, table, e));
}

const struct op op_evaluate_derivations = {
    .name = "evaluate-derivations",
    .version = 4,
    .node = OP_TASK,
    .doc = "E-Gen's mistake detection: a step is classified as a mistake if the cosine of its two "
           "sides is below a threshold, the mean over the derivations of `calibration` of the "
           "lowest cosine of their right steps (the paper's Algorithm 1). Reports precision, "
           "recall and F1 of finding the mistakes and of finding the right steps. auc does not "
           "depend on a threshold: the probability that a wrong step's cosine is below a right "
           "one's; 0.5 is chance, or there are no wrong steps.",
    .params = OP_PARAMS(EVALUATION_LABEL, {"examples", OP_INT, "10", NULL, 0, 1e6,
                                           "The number of derivations shown as examples, the first "
                                           "ones."}),
    .inputs = OP_PORTS({"derivations", KIND_EXERCISE, OP_COLLECTION, false,
                        "Derivations that the op `derivations` drew from held-out clusters."},
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
