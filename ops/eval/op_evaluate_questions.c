/* The op `evaluate-questions`: questions and their vectors -> how many are answered. */
#include "engine/op.h"
#include "ops/eval/evaluation.h"
#include "ops/eval/examined.h"

enum { QUERY, ANSWER, CHOSEN, OF_ANSWER, OF_CHOSEN, COLUMNS };

static Eqloom__Table *table_of_examples(struct arena *a, const struct examined *x,
                                        const struct choice *found, size_t n)
{
    static char *columns[COLUMNS] = {"query", "answer", "chosen instead", "cosine of the answer",
                                     "of the chosen"};
    Eqloom__Table *t = table_of(a, "Questions", columns, COLUMNS, n);
    for (size_t i = 0; i < n; i++) {
        const Eqloom__Exercise *q = x->exercises[i];
        const struct choice *c = &found[i];
        bool right = c->term == QUESTION_ANSWER;
        char **cells = table_row(a, t);
        cells[QUERY] = examined_infix(a, q, QUESTION_QUERY);
        cells[ANSWER] = examined_infix(a, q, QUESTION_ANSWER);
        cells[CHOSEN] = right ? "" : examined_infix(a, q, c->term);
        cells[OF_ANSWER] = arena_printf(a, "%.3f", c->answer);
        cells[OF_CHOSEN] = right ? "" : arena_printf(a, "%.3f", c->similarity);
    }
    return t;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    size_t shown = (size_t)op_int(ctx, "examples");
    struct examined x;
    struct choices sums;
    struct figures f = evaluation_figures(ctx, "questions");
    enum err_code code = err_up(e, examined_load(&x, ctx, "questions", "embeddings", e));
    if (code)
        return code;
    struct choice *found = arena_array(a, struct choice, x.n + 1);
    for (size_t k = 0; k < x.n; k++) {
        if (!choice_is_possible(&x, k))
            return err_fail(e, ERR_INPUT, "exercise %zu of 'questions' is not a question", k + 1);
        choice_find(&found[k], &x, k);
    }
    choices_sum(&sums, &x, found);
    figures_add(&f, "accuracy", sums.accuracy);
    figures_add(&f, "random", sums.random);
    figures_add(&f, "like_query", sums.like_query);
    figures_add(&f, "like_answer", sums.like_answer);
    figures_add(&f, "questions", (double)x.n);
    Eqloom__Table *examples = table_of_examples(a, &x, found, shown < x.n ? shown : x.n);
    return err_up(e, evaluation_emit(ctx, &f, examples, e));
}

const struct op op_evaluate_questions = {
    .name = "evaluate-questions",
    .version = 1,
    .node = OP_TASK,
    .doc = "E-Gen's semantic understanding test: a question is answered by the candidate whose "
           "vector is most similar to the query's by cosine. accuracy: it is the one that is equal "
           "to the query; of equally similar candidates each is chosen a share of the time. "
           "like_query, like_answer: how often a near miss of the query or of the answer wins. "
           "random: what guessing would reach.",
    .params = OP_PARAMS(EVALUATION_LABEL, {"examples", OP_INT, "50", NULL, 0, 1e6,
                                           "How many of the first questions are shown."}),
    .inputs = OP_PORTS(
        {"questions", KIND_EXERCISE, OP_COLLECTION, false, "What the op `questions` drew."},
        {"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
         "Their embeddings, by `tokenize-exercises` and then `embed` or `tfidf`."}),
    .outputs = OP_PORTS({"report", KIND_REPORT, OP_ONE, false,
                         "accuracy, random, like_query, like_answer by name."}),
    .run = run,
};
