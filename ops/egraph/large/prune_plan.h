/* What the states of an automaton ask of classes, for looking ahead. */
#ifndef OPS_EGRAPH_LARGE_PRUNE_PLAN_H
#define OPS_EGRAPH_LARGE_PRUNE_PLAN_H

#include "ops/egraph/large/prune.h"

/* Fills in the states, their tests and their pairs, for the rules that are awake, and the shapes
 * that these have. */
void pruner_plan(struct pruner *a, const struct ematch *m);

#endif
