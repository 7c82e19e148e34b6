/* Rounds of an iteration's visits: small classes have their turn before large ones. A visit finds
 * about as many matches as the classes of its node and of the arguments have nodes; where these are
 * few, it joins classes at little cost, and what larger ones build afterwards is built once, not
 * for each of two classes that turn out to be one: of sums, half of what an iteration had built
 * died of that.
 *
 * It pays in iterations that are finished. One that the budget cuts would spend it on the visits
 * that add least; so none goes in rounds that will hardly be finished, or where the budget is below
 * graph.size_order_at, and all but the last iterations are short anyway. Whether one does, and what
 * a round is, depends on the graph and the budget alone, not on the rules: one more that matches
 * nowhere changes nothing. */
#ifndef OPS_EGRAPH_LARGE_SIZE_ORDER_H
#define OPS_EGRAPH_LARGE_SIZE_ORDER_H

#include "ops/egraph/run/dirty_set.h"

struct size_order {
    unsigned n;  /* 1: all visits in the order of ids */
    uint8_t *of; /* by cell, unless n is 1 */
    size_t cap;
};

void size_order_free(struct size_order *r);
/* Of an iteration of a run of so many nodes at most. */
void size_order_plan(struct size_order *r, struct egraph *g, uint32_t max_nodes);
/* Word `w` of the visits of round k. */
uint64_t size_order_word(const struct size_order *r, const struct dirty_set *v, size_t w,
                         unsigned k);

#endif
