/* The op `evaluate-analogies`: solves embedded analogies in a pool of embedded expressions. x1 is
 * to y1 as x2 is to the expression other than the inputs whose vector is nearest to y1 - x1 + x2
 * (Mikolov et al. 2013; SemEmb; E-Gen). A pass over all vectors keeps the nearest candidates, which
 * are then compared with the analogy's terms, nearest first, until enough answers are found. */
#include "engine/op.h"
#include "ops/eval/evaluation.h"
#include "ops/expr/equality/equality.h"

#include <math.h>
#include <string.h>

/* Terms of an analogy, of which the last is the expected answer. Those of analogy i are the vectors
 * from index i * TERMS on. */
enum { X1, Y1, X2, Y2, TERMS };
enum { DEPTH = 5, CANDIDATES = 200 }; /* more are needed only if most of them equal an input */

struct answer {
    uint32_t found[DEPTH]; /* rows, nearest first */
    size_t n;
    uint32_t rank; /* of the first that is equal to y2, from 1; 0: none is */
};

struct work {
    struct op_ctx *ctx;
    const struct vectors *v;
    const struct language *lang;
    float **targets; /* one per analogy: (stride); NULL: the zero vector, which has no neighbours */
    uint32_t points; /* at which values are compared */
    bool by_text;    /* as in E-Gen: an answer is right if its text is that of y2 */
    struct answer *answers;
};

/* y1 - x1 + x2 scaled to length 1, from unscaled vectors. */
static float *aim(struct arena *a, const struct vectors *v, size_t first)
{
    const float *x1 = vectors_at(v, first + X1), *y1 = vectors_at(v, first + Y1);
    const float *x2 = vectors_at(v, first + X2);
    float *target = arena_array(a, float, v->stride);
    for (uint32_t d = 0; d < v->dim; d++)
        target[d] = y1[d] - x1[d] + x2[d];
    float norm = sqrtf(vector_dot(target, target, v->stride));
    if (!(norm > 0 && isfinite(norm)))
        return NULL;
    for (uint32_t d = 0; d < v->dim; d++)
        target[d] /= norm;
    return target;
}

/* Skips vectors that have the text of an input; ties are ordered by row. */
static size_t find_nearest(struct neighbour *list, const float *target, size_t first,
                           const struct vectors *v)
{
    size_t n = 0;
    for (uint32_t i = 0; target && i < v->n; i++) {
        bool input = false;
        for (size_t t = X1; t <= X2; t++)
            input = input || strcmp(v->text[i], v->text[first + t]) == 0;
        if (!input)
            n = neighbours_insert(
                list, n, CANDIDATES,
                (struct neighbour){vector_dot(target, vectors_at(v, i), v->stride), i});
    }
    return n;
}

static enum err_code read_term(struct equality_test *out, struct arena *a, const char *text,
                               const struct work *w, struct err *e)
{
    struct ball_options options = {.points = w->points};
    struct expr x;
    enum err_code code = err_up(e, expr_from_prefix(&x, a, w->lang, text, e));
    if (!code)
        equality_test_begin(out, &x, &options);
    return code;
}

/* In the calculus: values agree at all points tried. */
static bool is_equal(struct equality_test *t, const struct expr *y, struct arena *a)
{
    return equality_test_ask(NULL, a, t, y) == EQUALITY_AGREES;
}

static bool is_there(const struct answer *x, const struct vectors *v, const char *text)
{
    for (size_t i = 0; i < x->n; i++)
        if (strcmp(v->text[x->found[i]], text) == 0)
            return true;
    return false;
}

/* Keeps answers with different texts, skipping those that equal an input but not y2; with by_text,
 * skipping those that equal x2 or y2 but do not have the text of y2. */
static enum err_code sift(struct answer *out, const struct neighbour *list, size_t n,
                          struct equality_test *terms, const char *y2, const struct work *w,
                          struct arena *a, struct err *e)
{
    const struct vectors *v = w->v;
    for (size_t i = 0; i < n && out->n < DEPTH; i++) {
        const char *text = v->text[list[i].row];
        struct expr y;
        if (is_there(out, v, text))
            continue;
        enum err_code code = err_up(e, expr_from_prefix(&y, a, w->lang, text, e));
        if (code)
            return code;
        bool right = w->by_text ? strcmp(text, y2) == 0 : is_equal(&terms[Y2], &y, a);
        if (!right && (is_equal(&terms[X2], &y, a) ||
                       (w->by_text ? is_equal(&terms[Y2], &y, a)
                                   : is_equal(&terms[X1], &y, a) || is_equal(&terms[Y1], &y, a))))
            continue;
        out->found[out->n++] = list[i].row;
        if (right && !out->rank)
            out->rank = (uint32_t)out->n;
    }
    return OK;
}

static enum err_code answer_one(void *arg, size_t i, struct arena *a, struct err *e)
{
    struct work *w = arg;
    const char **texts = w->v->text + i * TERMS;
    struct neighbour list[CANDIDATES];
    struct equality_test terms[TERMS] = {0};
    enum err_code code = OK;
    size_t n = find_nearest(list, w->targets[i], i * TERMS, w->v);
    for (int t = 0; t < TERMS && !code; t++)
        code = err_up(e, read_term(&terms[t], a, texts[t], w, e));
    if (!code)
        code = err_up(e, sift(&w->answers[i], list, n, terms, texts[Y2], w, a, e));
    for (int t = 0; t < TERMS; t++)
        equality_test_end(&terms[t]);
    return code;
}

/* ---- reading ---- */

/* The first rows are the vectors of the analogies, four for each. */
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
        if (batches[i]->count != TERMS)
            return err_fail(e, ERR_INPUT, "analogy %zu has %u vectors instead of four", i + 1,
                            batches[i]->count);
    return err_up(e, vectors_load(v, a, batches, n + pool, 0, e));
}

/* ---- the report ---- */

enum { COLUMNS = 6 };

static Eqloom__Table *table_of_answers(const struct work *w, size_t n)
{
    static char *columns[COLUMNS] = {"x1", "y1", "x2", "y2", "answer", "right answer's rank"};
    struct arena *a = op_arena(w->ctx);
    Eqloom__Table *t = table_of(a, "Analogies", columns, COLUMNS, n);
    for (size_t i = 0; i < n; i++) {
        const struct answer *x = &w->answers[i];
        char **cells = table_row(a, t);
        for (int k = 0; k < TERMS; k++)
            cells[k] = expr_infix_of(a, w->lang, w->v->text[i * TERMS + (size_t)k]);
        cells[4] = x->n ? expr_infix_of(a, w->lang, w->v->text[x->found[0]]) : "";
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
    figures_add(&f, "pool", (double)(w->v->n - n * TERMS));
    return err_up(e, evaluation_emit(w->ctx, &f, table_of_answers(w, n), e));
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    size_t n = op_count(ctx, "analogies");
    float **targets = arena_array(a, float *, n + 1);
    struct vectors v;
    const struct language *lang = NULL;
    enum err_code code = err_up(e, load(&v, &lang, ctx, e));
    if (code)
        return code;
    for (size_t i = 0; i < n; i++)
        targets[i] = aim(a, &v, i * TERMS);
    vectors_normalize(&v);
    struct work w = {.ctx = ctx,
                     .v = &v,
                     .targets = targets,
                     .lang = lang,
                     .points = (uint32_t)op_int(ctx, "points"),
                     .by_text = strcmp(op_string(ctx, "match"), "text") == 0,
                     .answers = arena_array(a, struct answer, n + 1)};
    code = err_up(e, evaluation_run(ctx, answer_one, &w, n, e));
    return code ? code : err_up(e, emit(&w, n, e));
}

const struct op op_evaluate_analogies = {
    .name = "evaluate-analogies",
    .version = 5,
    .node = OP_TASK,
    .parallel = true,
    .doc = "Embedding algebra, as in SemEmb and E-Gen: x1 is to y1 as x2 is to the expression "
           "whose vector is nearest to y1 - x1 + x2 by cosine, among the pool and the expressions "
           "of all analogies. The inputs are skipped, and so are expressions that equal an input "
           "but not y2. An answer is right if it equals y2, in whatever form (decided by normal "
           "forms if the language has them, else by values in ball arithmetic, which must agree at "
           "all points tried). accuracy@5: one of the first five answers is right.",
    .params = OP_PARAMS(
        EVALUATION_LABEL,
        {"points", OP_INT, "8", NULL, 1, 1000,
         "The number of points at which values are compared."},
        {"match", OP_ENUM, "equal", "equal|text", 0, 0,
         "Which answers are right: all that equal y2, or, as in the papers, only those written "
         "like y2. In the latter case other expressions that equal y2 or x2 are skipped, but x1 "
         "and y1 only if written the same (E-Gen)."}),
    .inputs = OP_PORTS({"analogies", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
                        "The batches of the op `analogies`, embedded."},
                       {"pool", KIND_EMBEDDING_BATCH, OP_COLLECTION, true,
                        "Possible answers besides the expressions of the analogies."}),
    .outputs = OP_PORTS(
        {"report", KIND_REPORT, OP_ONE, false, "accuracy@1, accuracy@5, analogies, pool by name."}),
    .run = run,
};
