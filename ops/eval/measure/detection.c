#include "ops/eval/measure/detection.h"

#include <math.h>
#include <stdlib.h>

bool detection_is_possible(const struct examined *x, size_t k)
{
    const Eqloom__Exercise *d = x->exercises[k];
    bool possible = d->n_terms > 0 && !d->terms[0]->wrong;
    for (size_t i = 1; i < d->n_terms; i++)
        possible = possible && (d->terms[i]->wrong || d->terms[i]->reason[0]);
    return possible;
}

bool detection_threshold(double *out, const struct examined *x)
{
    double sum = 0;
    size_t n = 0;
    for (size_t k = 0; k < x->n; k++) {
        double least = INFINITY;
        for (size_t i = 1; i < x->exercises[k]->n_terms; i++)
            if (!x->exercises[k]->terms[i]->wrong)
                least = fmin(least, examined_similarity(x, k, i - 1, i));
        if (least == INFINITY)
            continue;
        sum += least;
        n++;
    }
    *out = n ? sum / (double)n : 0;
    return n > 0;
}

struct step {
    float similarity;
    bool wrong;
};

static int by_similarity(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    return (x->similarity > y->similarity) - (x->similarity < y->similarity);
}

static struct step *all_steps(size_t *n, struct arena *a, const struct examined *x)
{
    struct step *steps = arena_array(a, struct step, x->v.n);
    *n = 0;
    for (size_t k = 0; k < x->n; k++)
        for (size_t i = 1; i < x->exercises[k]->n_terms; i++)
            steps[(*n)++] = (struct step){examined_similarity(x, k, i - 1, i),
                                          x->exercises[k]->terms[i]->wrong};
    qsort(steps, *n, sizeof *steps, by_similarity);
    return steps;
}

/* Pairs of a wrong step and a right one, by runs of equal similarity. */
static double area(const struct step *steps, size_t n, size_t n_wrong)
{
    double pairs = 0, wrong_before = 0;
    for (size_t i = 0, end; i < n; i = end) {
        double wrong = 0, right = 0;
        for (end = i; end < n && steps[end].similarity == steps[i].similarity; end++) {
            wrong += steps[end].wrong;
            right += !steps[end].wrong;
        }
        pairs += right * (wrong_before + wrong / 2);
        wrong_before += wrong;
    }
    double all = (double)n_wrong * (double)(n - n_wrong);
    return all > 0 ? pairs / all : 0.5;
}

static struct detected detected_of(size_t right, size_t found, size_t there)
{
    struct detected d = {.precision = found ? (double)right / (double)found : 0,
                         .recall = there ? (double)right / (double)there : 0};
    d.f1 = right ? 2 * d.precision * d.recall / (d.precision + d.recall) : 0;
    return d;
}

void detection_measure(struct detection *out, struct arena *a, const struct examined *x,
                       double threshold)
{
    size_t n, flagged = 0, wrong = 0, both = 0;
    const struct step *steps = all_steps(&n, a, x);
    for (size_t i = 0; i < n; i++) {
        bool flag = steps[i].similarity < threshold;
        flagged += flag;
        wrong += steps[i].wrong;
        both += flag && steps[i].wrong;
    }
    *out = (struct detection){.mistake = detected_of(both, flagged, wrong),
                              .no_mistake =
                                  detected_of(n - flagged - wrong + both, n - flagged, n - wrong),
                              .auc = area(steps, n, wrong),
                              .steps = n,
                              .wrong = wrong};
}
