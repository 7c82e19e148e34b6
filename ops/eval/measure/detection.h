/* Mistake detection: a step of a derivation is taken for a mistake if its two sides are less
 * similar than a threshold. */
#pragma once

#include "ops/eval/examined.h"

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
