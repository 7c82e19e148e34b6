/* The op `evaluate-questions`: measures how many questions are answered correctly by their
 * vectors. */
#include "engine/op.h"
#include "ops/eval/evaluation.h"
#include "ops/eval/examined.h"

enum { QUERY, ANSWER, MISSES }; /* indices of terms */

struct choice {
    uint32_t term;           /* the most similar candidate; of several, the first wrong one */
    uint32_t n_best;         /* the number of candidates as similar as `term` */
    uint32_t n_like[MISSES]; /* of these, near misses of the query of the answer */
    float similarity;        /* of `term` */
    float answer;            /* of the answer */
};

/* Whether the terms are a query, the right answer and wrong answers. */
static bool is_question(const Eqloom__Exercise *q)
{
    /* The second term of a derivation names its rule. */
    bool is = q->n_terms > MISSES && !q->terms[ANSWER]->reason[0];
    for (size_t i = 0; i < q->n_terms; i++)
        is = is && q->terms[i]->wrong == (i >= MISSES) && q->terms[i]->like <= ANSWER;
    return is;
}

static struct choice choose(const struct examined *x, size_t k)
{
    struct choice c = {.term = ANSWER, .n_best = 1};
    c.answer = c.similarity = examined_similarity(x, k, QUERY, ANSWER);
    for (uint32_t i = MISSES; i < x->exercises[k]->n_terms; i++) {
        float similarity = examined_similarity(x, k, QUERY, i);
        if (!(similarity >= c.similarity))
            continue;
        if (similarity > c.similarity)
            c = (struct choice){.term = i, .similarity = similarity, .answer = c.answer};
        c.term = c.term == ANSWER ? i : c.term;
        c.n_best++;
        c.n_like[x->exercises[k]->terms[i]->like]++;
    }
    return c;
}

static Eqloom__Table *table_of_examples(struct arena *a, const struct examined *x,
                                        const struct choice *found, size_t n)
{
    static char *columns[] = {"query", "answer", "chosen instead", "cosine of the answer",
                              "of the chosen one"};
    Eqloom__Table *t = table_of(a, "Questions", columns, sizeof columns / sizeof *columns, n);
    for (size_t i = 0; i < n; i++) {
        const Eqloom__Exercise *q = x->exercises[i];
        const struct choice *c = &found[i];
        bool right = c->term == ANSWER;
        char **cell = table_row(a, t);
        *cell++ = examined_infix(a, q, QUERY);
        *cell++ = examined_infix(a, q, ANSWER);
        *cell++ = right ? "" : examined_infix(a, q, c->term);
        *cell++ = arena_printf(a, "%.3f", (double)c->answer);
        *cell++ = right ? "" : arena_printf(a, "%.3f", (double)c->similarity);
    }
    return t;
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct arena *a = op_arena(ctx);
    size_t shown = (size_t)op_int(ctx, "examples");
    struct examined x;
    struct figures f = evaluation_figures(ctx, "questions");
    double right = 0, like_query = 0, like_answer = 0, guessed = 0;
    enum err_code code = err_up(e, examined_load(&x, ctx, "questions", "embeddings", e));
    if (code)
        return code;
    struct choice *found = arena_array(a, struct choice, x.n + 1);
    for (size_t k = 0; k < x.n; k++) {
        struct choice *c = &found[k];
        if (!is_question(x.exercises[k]))
            return err_fail(e, ERR_INPUT, "exercise %zu of 'questions' is not a question", k + 1);
        *c = choose(&x, k);
        /* A tie is split evenly among its candidates. */
        right += (double)(c->n_best - c->n_like[QUERY] - c->n_like[ANSWER]) / c->n_best;
        like_query += (double)c->n_like[QUERY] / c->n_best;
        like_answer += (double)c->n_like[ANSWER] / c->n_best;
        guessed += 1 / (double)(x.exercises[k]->n_terms - 1);
    }
    double by = 1 / (double)(x.n ? x.n : 1);
    figures_add(&f, "accuracy", right * by);
    figures_add(&f, "random", guessed * by);
    figures_add(&f, "like_query", like_query * by);
    figures_add(&f, "like_answer", like_answer * by);
    figures_add(&f, "questions", (double)x.n);
    Eqloom__Table *examples = table_of_examples(a, &x, found, shown < x.n ? shown : x.n);
    return err_up(e, evaluation_emit(ctx, &f, examples, e));
}

const struct op op_evaluate_questions = {
    .name = "evaluate-questions",
    .version = 2,
    .node = OP_TASK,
    .doc = "E-Gen's semantic understanding test: a question is answered by the candidate whose "
           "vector is most similar to the query's by cosine. accuracy: the share of questions for "
           "which this candidate is equal to the query; ties are split evenly. like_query, "
           "like_answer: the share for which a near miss of the query or of the answer is chosen. "
           "random: the accuracy of guessing.",
    .params = OP_PARAMS(EVALUATION_LABEL, {"examples", OP_INT, "50", NULL, 0, 1e6,
                                           "The number of questions shown as examples, the first "
                                           "ones."}),
    .inputs = OP_PORTS({"questions", KIND_EXERCISE, OP_COLLECTION, false,
                        "Questions that the op `questions` "
                        "drew."},
                       {"embeddings", KIND_EMBEDDING_BATCH, OP_COLLECTION, false,
                        "Their embeddings, by `tokenize-exercises` and then `embed` or `tfidf`."}),
    .outputs = OP_PORTS({"report", KIND_REPORT, OP_ONE, false,
                         "accuracy, random, like_query, like_answer by name."}),
    .run = run,
};
