/* Exercises beside their vectors, as `embed` made them of what `tokenize-exercises` made, and what
 * the vectors make of them: answers to questions, and mistakes in derivations. */
#pragma once

#include "engine/op.h"
#include "exercise.pb-c.h"
#include "ops/eval/measure/vectors.h"

struct examined {
    const Eqloom__Exercise **exercises;
    uint32_t *first; /* of each: the row of its first term; the others follow */
    size_t n;
    struct vectors v; /* of length 1 */
};

/* Of two inputs, in the ctx's arena. ERR_INPUT where they do not belong together. */
enum err_code examined_load(struct examined *out, struct op_ctx *ctx, const char *exercises,
                            const char *embeddings, struct err *e);
char *examined_infix(struct arena *a, const Eqloom__Exercise *x, size_t term);
/* Cosine of two terms of exercise k. */
static inline float examined_similarity(const struct examined *x, size_t k, size_t i, size_t j)
{
    const struct vectors *v = &x->v;
    return vector_dot(vectors_at(v, x->first[k] + i), vectors_at(v, x->first[k] + j), v->stride);
}

/* ---- questions: the candidate that is most similar to the query answers ---- */

enum { QUESTION_QUERY, QUESTION_ANSWER, QUESTION_MISSES }; /* places of terms */

struct choice {
    uint32_t term;   /* the most similar; of equally similar ones a wrong one, and the first */
    uint32_t n_best; /* how many are as similar as it, */
    uint32_t n_like[QUESTION_MISSES]; /* of them: near misses of the query, and of the answer */
    bool answer_best;                 /* the answer is one of them */
    float similarity;                 /* of the most similar, */
    float answer;                     /* and of the answer */
};

/* Whether exercise k is a question: a query, its answer and wrong ones. */
bool choice_is_possible(const struct examined *x, size_t k);
void choice_find(struct choice *out, const struct examined *x, size_t k);

/* Over n questions. Where some are equally similar, each of them is chosen a share of the time. */
struct choices {
    double accuracy;
    double like_query, like_answer; /* shares of the questions that near misses of these two win */
    double random;                  /* the accuracy of guessing */
};
void choices_sum(struct choices *out, const struct examined *x, const struct choice *found);

/* ---- derivations: steps whose sides are less similar than a threshold are mistakes ---- */

/* Whether exercise k is a derivation: every right step says its rule. */
bool detection_is_possible(const struct examined *x, size_t k);
/* E-Gen's Algorithm 1: the least similarity of the right steps of each derivation, averaged. False
 * if no derivation has a right step. */
bool detection_threshold(double *out, const struct examined *x);

/* Precision is 0 where nothing was found, recall where there is nothing to find. */
struct detected {
    double precision, recall, f1;
};
struct detection {
    struct detected no_mistake, mistake;
    double auc; /* how likely a wrong step is less similar than a right one; ties count half;
                 * a half, too, where either kind is missing */
    size_t steps, wrong;
};
void detection_measure(struct detection *out, struct arena *a, const struct examined *x,
                       double threshold);
