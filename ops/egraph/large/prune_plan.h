/* The shapes that the states of an automaton need, for pruning. */
#ifndef OPS_EGRAPH_LARGE_PRUNE_PLAN_H
#define OPS_EGRAPH_LARGE_PRUNE_PLAN_H

#include "ops/egraph/large/prune.h"

/* Fills in the states, tests, pairs and shapes of the active rules. */
void pruner_plan(struct pruner *a, const struct ematch *m);

#endif
