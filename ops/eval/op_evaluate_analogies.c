/* The op `evaluate-analogies`: embedded analogies, and a pool of embedded expressions -> figures
 * and a table of answers. */
#include "engine/op.h"
#include "ops/eval/evaluation.h"
#include "ops/eval/measure/analogy.h"

#include <string.h>

struct work {
    struct op_ctx *ctx;
    const struct vectors *v;
    const struct analogy *analogies;
    struct analogy_rules how;
    struct analogy_answer *answers;
};

static enum err_code answer_one(void *arg, size_t i, struct arena *a, struct err *e)
{
    struct work *w = arg;
    return err_up(e, analogy_find(&w->answers[i], a, &w->analogies[i], w->v, &w->how, e));
}

/* ---- reading ---- */

/* The analogies' vectors are the first rows, four for each. */
static enum err_code load(struct vectors *v, const struct language **lang, struct op_ctx *ctx,
                          struct err *e)
{
    struct arena *a = op_arena(ctx);
    size_t n = op_count(ctx, "analogies"), pool = op_count(ctx, "pool");
    Eqloom__EmbeddingBatch **batches = arena_array(a, Eqloom__EmbeddingBatch *, n + pool + 1);
    enum err_code code;
    if ((code = err_up(e, evaluation_get_texts(batches, lang, n, ctx, "analogies", e))) ||
        (code = err_up(e, evaluation_get_texts(batches + n, lang, pool, ctx, "pool", e))))
        return code;
    for (size_t i = 0; i < n; i++)
        if (batches[i]->count != ANALOGY_TERMS)
            return err_fail(e, ERR_INPUT, "analogy %zu has %u vectors instead of four", i + 1,
                            batches[i]->count);
    return err_up(e, vectors_load(v, a, batches, n + pool, 0, e));
}

/* ---- the report ---- */

enum { COLUMNS = 6 };

static Eqloom__Table *table_of_answers(const struct work *w, size_t n)
{
    static char *columns[COLUMNS] = {"x1", "y1", "x2", "y2", "answer", "right at"};
    struct arena *a = op_arena(w->ctx);
    Eqloom__Table *t = table_of(a, "Analogies", columns, COLUMNS, n);
    for (size_t i = 0; i < n; i++) {
        const struct analogy_answer *x = &w->answers[i];
        char **cells = table_row(a, t);
        for (int k = 0; k < ANALOGY_TERMS; k++)
            cells[k] = expr_infix_of(a, w->how.lang, w->v->text[w->analogies[i].row[k]]);
        cells[4] = x->n ? expr_infix_of(a, w->how.lang, w->v->text[x->found[0]]) : "";
        cells[5] = x->rank ? arena_printf(a, "%u", x->rank) : "";
    }
    return t;
}

static enum err_code emit(const struct work *w, size_t n, struct err *e)
{
    struct figures f = evaluation_figures(w->ctx, "analogies");
    size_t first = 0, five = 0;
    for (size_t i = 0; i < n; i++) {
        first += w->answers[i].rank == 1;
        five += w->answers[i].rank > 0;
    }
    double by = 1 / (double)(n ? n : 1);
    figures_add(&f, "accuracy@1", (double)first * by);
    figures_add(&f, "accuracy@5", (double)five * by);
    figures_add(&f, "analogies", (double)n);
    figures_add(&f, "pool", (double)(w->v->n - n * ANALOGY_TERMS));
    return err_up(e, evaluation_emit(w->ctx, &f, table_of_answers(w, n), e));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    size_t n = op_count(ctx, "analogies");
    struct analogy *analogies = arena_array(a, struct analogy, n + 1);
    struct vectors v;
    const struct language *lang = NULL;
    enum err_code code = err_up(e, load(&v, &lang, ctx, e));
    if (code)
        return code;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < ANALOGY_TERMS; k++)
            analogies[i].row[k] = (uint32_t)i * ANALOGY_TERMS + k;
        analogy_aim(&analogies[i], a, &v);
    }
    vectors_normalize(&v);
    struct work w = {.ctx = ctx,
                     .v = &v,
                     .analogies = analogies,
                     .how = {lang, (uint32_t)op_int(ctx, "points"),
                             strcmp(op_string(ctx, "match"), "text") == 0},
                     .answers = arena_array(a, struct analogy_answer, n + 1)};
    code = err_up(e, evaluation_run(ctx, answer_one, &w, n, e));
    return code ? code : err_up(e, emit(&w, n, e));
}

const struct op op_evaluate_analogies = {
    .name = "evaluate-analogies",
    .version = 4,
    .node = OP_TASK,
    .parallel = true,
    .doc = "Embedding algebra, as SemEmb and E-Gen measure it: x1 is to y1 as x2 is to the "
           "expression whose vector is nearest to y1 - x1 + x2 by cosine, among the pool and the "
           "expressions of all analogies. Passed over are the inputs, and what equals an input "
           "and not y2. An answer is right if it equals y2, however it is written (by normal forms "
           "where the language has them, else its values agree in ball arithmetic at all points "
           "tried). accuracy@5: one of the first five is right.",
    .params = OP_PARAMS(
        EVALUATION_LABEL,
        {"points", OP_INT, "8", NULL, 1, 1000,
         "The number of points at which values are compared."},
        {"match", OP_ENUM, "equal", "equal|text", 0, 0,
         "What is right: all that equals y2, or, as the papers have it, y2 as it is written; what "
         "else "
         "equals y2 or x2 is then passed over, and x1 and y1 only as they are written (E-Gen)."}),
    .inputs = OP_PORTS({"analogies", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
                        "The embedded batches of the op `analogies`."},
                       {"pool", KIND_EMBEDDING_BATCH, OP_COLLECTION, true,
                        "Possible answers besides the expressions of the analogies."}),
    .outputs = OP_PORTS(
        {"report", KIND_REPORT, OP_ONE, false, "accuracy@1, accuracy@5, analogies, pool by name."}),
    .run = run,
};
