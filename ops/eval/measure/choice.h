/* What vectors answer to a question: the candidate that is most similar to the query by cosine. */
#pragma once

#include "ops/eval/examined.h"

enum { QUESTION_QUERY, QUESTION_ANSWER, QUESTION_MISSES }; /* places of terms */

struct choice {
    uint32_t term;    /* the most similar; of equally similar ones a wrong one, and the first */
    uint32_t n_best;  /* how many are as similar as it */
    bool answer_best; /* the answer is one of them */
    float similarity; /* of the most similar, */
    float answer;     /* and of the answer */
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
