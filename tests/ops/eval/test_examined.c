/* Answers to questions among vectors written by hand, ties included; and mistake detection against
 * its definition, step by step and pair by pair. */
#include "base/rng.h"
#include "ops/eval/examined.h"
#include "tests/unit.h"

static Eqloom__Exercise *exercise_of(struct arena *a, size_t n)
{
    Eqloom__Exercise *x = arena_new(a, Eqloom__Exercise);
    eqloom__exercise__init(x);
    x->terms = arena_array(a, Eqloom__ExerciseTerm *, n);
    for (; x->n_terms < n; x->n_terms++)
        eqloom__exercise_term__init(x->terms[x->n_terms] = arena_new(a, Eqloom__ExerciseTerm));
    return x;
}

/* Room for n exercises and so many vectors in the plane. */
static struct examined examined_of(struct arena *a, size_t n, size_t rows)
{
    return (struct examined){
        .exercises = arena_array(a, const Eqloom__Exercise *, n),
        .first = arena_array(a, uint32_t, n),
        .n = n,
        .v = {.x = arena_array(a, float, rows *VECTOR_LANES), .dim = 2, .stride = VECTOR_LANES}};
}

/* ---- questions ---- */

enum { MOST = 6 };

/* One question: the candidates' cosines with the query, the answer's first. */
static void given(struct examined *x, struct arena *a, const float *cosines, const uint32_t *like,
                  size_t n)
{
    Eqloom__Exercise *q = exercise_of(a, n + 1);
    *x = examined_of(a, 1, n + 1);
    x->exercises[0] = q;
    x->v.n = (uint32_t)n + 1;
    for (size_t i = 0; i <= n; i++) {
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

/* ---- derivations ---- */

enum { DERIVATIONS = 30, MOST_STEPS = 9 };

/* Vectors on a half circle, at few angles: equal cosines are equal to the last bit. */
static void random_derivations(struct examined *x, struct arena *a, struct rng *r)
{
    static const float angles[][2] = {{1, 0}, {0.8F, 0.6F}, {0.6F, 0.8F}, {0, 1}, {-0.6F, 0.8F}};
    *x = examined_of(a, DERIVATIONS, DERIVATIONS * (MOST_STEPS + 1));
    for (size_t k = 0; k < DERIVATIONS; k++) {
        Eqloom__Exercise *d = exercise_of(a, 1 + rng_below(r, MOST_STEPS + 1));
        x->exercises[k] = d;
        x->first[k] = x->v.n;
        for (size_t i = 0; i < d->n_terms; i++) {
            const float *angle = angles[rng_below(r, 5)];
            d->terms[i]->wrong = i > 0 && rng_below(r, 4) == 0;
            memcpy(vectors_at(&x->v, x->v.n++), angle, 2 * sizeof *angle);
        }
    }
}

static double cosine(const struct examined *x, size_t k, size_t i)
{
    const float *p = vectors_at(&x->v, x->first[k] + i - 1), *q = p + x->v.stride;
    return p[0] * q[0] + p[1] * q[1];
}

/* counts[wrong][flagged] */
static void count(size_t counts[2][2], const struct examined *x, double threshold)
{
    for (size_t k = 0; k < x->n; k++)
        for (size_t i = 1; i < x->exercises[k]->n_terms; i++)
            counts[x->exercises[k]->terms[i]->wrong][cosine(x, k, i) < threshold]++;
}

static double area_by_pairs(const struct examined *x)
{
    double pairs = 0, won = 0;
    for (size_t k = 0; k < x->n; k++)
        for (size_t i = 1; i < x->exercises[k]->n_terms; i++)
            for (size_t l = 0; l < x->n; l++)
                for (size_t j = 1; j < x->exercises[l]->n_terms; j++)
                    if (x->exercises[k]->terms[i]->wrong && !x->exercises[l]->terms[j]->wrong) {
                        double wrong = cosine(x, k, i), right = cosine(x, l, j);
                        pairs++;
                        won += wrong < right ? 1 : wrong == right ? 0.5 : 0;
                    }
    return won / pairs;
}

static void assert_near(double x, double y)
{
    if (fabs(x - y) > 1e-9)
        fail_msg("%.12g instead of %.12g", x, y);
}

static void check_detected(const struct detected *d, size_t both, size_t found, size_t there)
{
    assert_near(d->precision, found ? (double)both / (double)found : 0);
    assert_near(d->recall, there ? (double)both / (double)there : 0);
    assert_near(d->f1, both ? 2.0 * (double)both / (double)(found + there) : 0);
}

TEST(against_counts)
{
    struct rng r = rng_new(8, 0);
    for (int round = 0; round < 200; round++) {
        struct arena a = {0};
        struct examined x;
        struct detection d;
        size_t c[2][2] = {{0}};
        random_derivations(&x, &a, &r);
        double threshold = 2 * rng_double(&r) - 1;
        count(c, &x, threshold);
        detection_measure(&d, &a, &x, threshold);
        assert_int_equal(d.steps, c[0][0] + c[0][1] + c[1][0] + c[1][1]);
        assert_int_equal(d.wrong, c[1][0] + c[1][1]);
        check_detected(&d.mistake, c[1][1], c[0][1] + c[1][1], c[1][0] + c[1][1]);
        check_detected(&d.no_mistake, c[0][0], c[0][0] + c[1][0], c[0][0] + c[0][1]);
        assert_near(d.auc, area_by_pairs(&x));
        arena_free(&a);
    }
}

TEST(algorithm_1)
{
    struct rng r = rng_new(9, 0);
    for (int round = 0; round < 100; round++) {
        struct arena a = {0};
        struct examined x;
        double sum = 0, threshold;
        size_t n = 0;
        random_derivations(&x, &a, &r);
        for (size_t k = 0; k < x.n; k++) {
            double least = 2;
            for (size_t i = 1; i < x.exercises[k]->n_terms; i++)
                if (!x.exercises[k]->terms[i]->wrong && cosine(&x, k, i) < least)
                    least = cosine(&x, k, i);
            sum += least < 2 ? least : 0;
            n += least < 2;
        }
        assert_true(detection_threshold(&threshold, &x));
        assert_true(fabs(threshold - sum / (double)n) < 1e-6);
        arena_free(&a);
    }
}

TEST_IN_ARENA(nothing_right)
{
    struct rng r = rng_new(10, 0);
    struct examined x;
    struct detection d;
    double threshold;
    random_derivations(&x, a, &r);
    for (size_t k = 0; k < x.n; k++)
        for (size_t i = 1; i < x.exercises[k]->n_terms; i++)
            x.exercises[k]->terms[i]->wrong = true;
    assert_false(detection_threshold(&threshold, &x));
    detection_measure(&d, a, &x, 2);
    assert_true(d.mistake.precision == 1 && d.mistake.recall == 1 && d.mistake.f1 == 1);
    assert_true(d.no_mistake.f1 == 0 && d.auc == 0.5);
}

/* A question is none: its answer follows from no rule. */
TEST_IN_ARENA(not_derivations)
{
    struct rng r = rng_new(11, 0);
    struct examined x;
    random_derivations(&x, a, &r);
    Eqloom__Exercise *d = exercise_of(a, 3);
    Eqloom__ExerciseTerm **t = d->terms;
    x.exercises[0] = d;
    t[1]->reason = "group/rule";
    t[2]->wrong = true;
    assert_true(detection_is_possible(&x, 0));
    t[1]->reason = "";
    assert_false(detection_is_possible(&x, 0));
    t[1]->reason = "group/rule";
    t[0]->wrong = true;
    assert_false(detection_is_possible(&x, 0));
}
