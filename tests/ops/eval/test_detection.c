/* Mistake detection against its definition, step by step and pair by pair, ties included. */
#include "base/rng.h"
#include "ops/eval/measure/detection.h"
#include "tests/unit.h"

enum { DERIVATIONS = 30, MOST_STEPS = 9 };

/* Vectors on a half circle, at few angles: equal cosines are equal to the last bit. */
static void random_derivations(struct examined *x, struct arena *a, struct rng *r)
{
    static const float angles[][2] = {{1, 0}, {0.8F, 0.6F}, {0.6F, 0.8F}, {0, 1}, {-0.6F, 0.8F}};
    size_t rows = 0;
    *x = (struct examined){.exercises = arena_array(a, const Eqloom__Exercise *, DERIVATIONS),
                           .first = arena_array(a, uint32_t, DERIVATIONS),
                           .n = DERIVATIONS,
                           .v = {.dim = 2, .stride = VECTOR_LANES}};
    x->v.x = arena_array(a, float, DERIVATIONS *(MOST_STEPS + 1) * VECTOR_LANES);
    for (size_t k = 0; k < DERIVATIONS; k++) {
        Eqloom__Exercise *d = arena_new(a, Eqloom__Exercise);
        eqloom__exercise__init(d);
        d->n_terms = 1 + rng_below(r, MOST_STEPS + 1);
        d->terms = arena_array(a, Eqloom__ExerciseTerm *, d->n_terms);
        x->exercises[k] = d;
        x->first[k] = (uint32_t)rows;
        for (size_t i = 0; i < d->n_terms; i++, rows++) {
            const float *angle = angles[rng_below(r, 5)];
            d->terms[i] = arena_new(a, Eqloom__ExerciseTerm);
            eqloom__exercise_term__init(d->terms[i]);
            d->terms[i]->wrong = i > 0 && rng_below(r, 4) == 0;
            vectors_at(&x->v, rows)[0] = angle[0];
            vectors_at(&x->v, rows)[1] = angle[1];
        }
    }
    x->v.n = (uint32_t)rows;
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
    Eqloom__ExerciseTerm *t[3];
    Eqloom__Exercise d = {.terms = t, .n_terms = 3};
    x.exercises[0] = &d;
    for (int i = 0; i < 3; i++) {
        t[i] = arena_new(a, Eqloom__ExerciseTerm);
        eqloom__exercise_term__init(t[i]);
    }
    t[1]->reason = "group/rule";
    t[2]->wrong = true;
    assert_true(detection_is_possible(&x, 0));
    t[1]->reason = "";
    assert_false(detection_is_possible(&x, 0));
    t[1]->reason = "group/rule";
    t[0]->wrong = true;
    assert_false(detection_is_possible(&x, 0));
}
