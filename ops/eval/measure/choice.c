#include "ops/eval/measure/choice.h"

bool choice_is_possible(const struct examined *x, size_t k)
{
    const Eqloom__Exercise *q = x->exercises[k];
    /* A derivation's second term says its rule. */
    bool possible = q->n_terms > QUESTION_MISSES && !q->terms[QUESTION_ANSWER]->reason[0];
    for (size_t i = 0; i < q->n_terms; i++)
        possible = possible && q->terms[i]->wrong == (i >= QUESTION_MISSES) &&
                   q->terms[i]->like <= QUESTION_ANSWER;
    return possible;
}

void choice_find(struct choice *out, const struct examined *x, size_t k)
{
    *out = (struct choice){.term = QUESTION_ANSWER, .n_best = 1, .answer_best = true};
    out->answer = examined_similarity(x, k, QUESTION_QUERY, QUESTION_ANSWER);
    out->similarity = out->answer;
    for (uint32_t i = QUESTION_MISSES; i < x->exercises[k]->n_terms; i++) {
        float similarity = examined_similarity(x, k, QUESTION_QUERY, i);
        if (similarity > out->similarity)
            *out = (struct choice){
                .term = i, .n_best = 1, .similarity = similarity, .answer = out->answer};
        else if (similarity == out->similarity) {
            out->term = out->term == QUESTION_ANSWER ? i : out->term;
            out->n_best++;
        }
    }
}

static double share_like(const struct examined *x, size_t k, const struct choice *c, uint32_t like)
{
    const Eqloom__Exercise *q = x->exercises[k];
    uint32_t n = 0;
    for (uint32_t i = QUESTION_MISSES; i < q->n_terms; i++)
        n += q->terms[i]->like == like &&
             examined_similarity(x, k, QUESTION_QUERY, i) == c->similarity;
    return (double)n / c->n_best;
}

void choices_sum(struct choices *out, const struct examined *x, const struct choice *found)
{
    *out = (struct choices){0};
    for (size_t k = 0; k < x->n; k++) {
        const struct choice *c = &found[k];
        out->accuracy += c->answer_best ? 1.0 / c->n_best : 0;
        out->like_query += share_like(x, k, c, QUESTION_QUERY);
        out->like_answer += share_like(x, k, c, QUESTION_ANSWER);
        out->random += 1 / (double)(x->exercises[k]->n_terms - 1);
    }
    double by = 1 / (double)(x->n ? x->n : 1);
    out->accuracy *= by;
    out->like_query *= by;
    out->like_answer *= by;
    out->random *= by;
}
