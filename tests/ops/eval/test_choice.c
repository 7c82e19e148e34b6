/* Answers to questions among vectors written by hand, ties included. */
#include "ops/eval/measure/choice.h"
#include "tests/unit.h"

enum { MOST = 6 };

/* One question: the candidates' cosines with the query, the answer's first. */
static void given(struct examined *x, struct arena *a, const float *cosines, const uint32_t *like,
                  size_t n)
{
    Eqloom__Exercise *q = arena_new(a, Eqloom__Exercise);
    eqloom__exercise__init(q);
    q->n_terms = n + 1;
    q->terms = arena_array(a, Eqloom__ExerciseTerm *, n + 1);
    *x = (struct examined){.exercises = arena_array(a, const Eqloom__Exercise *, 1),
                           .first = arena_array(a, uint32_t, 1),
                           .n = 1,
                           .v = {.n = (uint32_t)n + 1, .dim = 2, .stride = VECTOR_LANES}};
    x->exercises[0] = q;
    x->v.x = arena_array(a, float, (n + 1) * VECTOR_LANES);
    for (size_t i = 0; i <= n; i++) {
        q->terms[i] = arena_new(a, Eqloom__ExerciseTerm);
        eqloom__exercise_term__init(q->terms[i]);
        q->terms[i]->wrong = i > 1;
        q->terms[i]->like = i > 1 ? like[i - 1] : 0;
        float cosine = i ? cosines[i - 1] : 1;
        vectors_at(&x->v, i)[0] = cosine;
        vectors_at(&x->v, i)[1] = sqrtf(1 - cosine * cosine);
    }
}

static struct choices sums_of(const float *cosines, const uint32_t *like, size_t n,
                              struct choice *found)
{
    struct arena a = {0};
    struct examined x;
    struct choices sums;
    given(&x, &a, cosines, like, n);
    assert_true(choice_is_possible(&x, 0));
    choice_find(found, &x, 0);
    choices_sum(&sums, &x, found);
    assert_true(fabs(sums.accuracy + sums.like_query + sums.like_answer - 1) < 1e-12);
    assert_true(fabs(sums.random - 1 / (double)n) < 1e-12);
    arena_free(&a);
    return sums;
}

static const uint32_t like[MOST] = {0, 0, 0, 1, 1, 1};

TEST(right_and_wrong)
{
    struct choice c;
    struct choices s = sums_of((const float[]){0.9F, 0.5F, 0.8F, 0.1F, -1, 0}, like, 6, &c);
    assert_true(c.answer_best && c.term == QUESTION_ANSWER && c.n_best == 1);
    assert_true(s.accuracy == 1);
    s = sums_of((const float[]){0.9F, 0.5F, 0.95F, 0.1F, -1, 0}, like, 6, &c);
    assert_true(!c.answer_best && c.term == 3 && c.similarity > 0.94F && c.answer < 0.91F);
    assert_true(s.like_query == 1);
    s = sums_of((const float[]){-0.9F, -0.95F, -0.95F, -0.95F, -0.95F, -0.5F}, like, 6, &c);
    assert_true(c.term == 6 && s.like_answer == 1);
}

TEST(ties)
{
    struct choice c;
    struct choices s = sums_of((const float[]){0.5F, 0.5F, 0.25F, 0.5F, 0.5F, 0}, like, 6, &c);
    assert_true(c.answer_best && c.n_best == 4 && c.term == 2);
    assert_true(s.accuracy == 0.25 && s.like_query == 0.25 && s.like_answer == 0.5);
    s = sums_of((const float[]){0.25F, 0.5F, 0.25F, 0.5F, 0.5F, 0}, like, 6, &c);
    assert_true(!c.answer_best && c.n_best == 3 && c.term == 2);
    assert_true(s.accuracy == 0);
}

TEST_IN_ARENA(not_questions)
{
    struct examined x;
    given(&x, a, (const float[]){1, 1, 1}, like, 3);
    assert_true(choice_is_possible(&x, 0));
    x.exercises[0]->terms[1]->wrong = true;
    assert_false(choice_is_possible(&x, 0));
    x.exercises[0]->terms[1]->wrong = false;
    x.exercises[0]->terms[2]->wrong = false;
    assert_false(choice_is_possible(&x, 0));
    x.exercises[0]->terms[2]->wrong = true;
    x.exercises[0]->terms[2]->like = 2;
    assert_false(choice_is_possible(&x, 0));
    x.exercises[0]->terms[2]->like = 0;
    x.exercises[0]->terms[1]->reason = "group/rule"; /* as a derivation's step says */
    assert_false(choice_is_possible(&x, 0));
    given(&x, a, (const float[]){1}, like, 1);
    assert_false(choice_is_possible(&x, 0));
}
