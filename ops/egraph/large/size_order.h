/* Rounds of an iteration's visits: small classes have their turn before large ones. A visit finds
 * about as many matches as the classes of its node and of the arguments have nodes; where these are
 * few, it joins classes at little cost, and what larger ones build afterwards is built once, not
 * for each of two classes that turn out to be one: of sums, half of what an iteration had built
 * died of that.
 *
 * It pays in iterations that are finished. One that the budget cuts would spend it on the visits
 * that add least; so none goes in rounds that will hardly be finished, or where the budget is below
 * graph.rounds_at, and all but the last iterations are short anyway. Whether one does, and what a
 * round is, depends on the graph and the budget alone, not on the rules: one more that matches
 * nowhere changes nothing. */
#ifndef OPS_EGRAPH_LARGE_SIZE_ORDER_H
#define OPS_EGRAPH_LARGE_SIZE_ORDER_H

#include "ops/egraph/run/dirty_set.h"

struct rounds {
    unsigned n;  /* 1: all visits in the order of ids */
    uint8_t *of; /* by cell, unless n is 1 */
    size_t cap;
};

void rounds_free(struct rounds *r);
/* Of an iteration of a run of so many nodes at most. */
void rounds_plan(struct rounds *r, struct egraph *g, uint32_t max_nodes);
/* Word `w` of the visits of round k. */
uint64_t rounds_word(const struct rounds *r, const struct visits *v, size_t w, unsigned k);

#endif
