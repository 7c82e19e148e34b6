/* What the states of an automaton ask of classes, for looking ahead. */
#ifndef OPS_EGRAPH_LARGE_PRUNE_PLAN_H
#define OPS_EGRAPH_LARGE_PRUNE_PLAN_H

#include "ops/egraph/large/prune.h"

/* Fills in the states, their tests and their pairs, for the rules that are awake, and the shapes
 * that these have. */
void ahead_plan(struct ahead *a, const struct machine *m);

#endif
