/* The order in which an iteration searches its nodes: in passes, nodes of small classes first. A
 * node gives about as many matches as its class and those of its arguments have nodes. Where they
 * are few, applying them joins classes at little cost, and later matches build each term once, not
 * once for each of two classes that turn out equal; without this, half of the sums that an
 * iteration built were duplicates.
 *
 * It pays only in iterations that are completed: one cut short by the budget would spend it on the
 * nodes that add least. So there is a single pass if the iteration will hardly be completed, or if
 * the budget is below egraph.size_order_at (262,144 nodes), where all but the last iterations are
 * short. The passes depend on the graph and the budget only, not on the rules: one more rule that
 * matches nowhere changes nothing. */
#pragma once

#include "ops/egraph/run/dirty_set.h"

struct size_order {
    unsigned n;  /* number of passes; 1: all nodes in the order of ids */
    uint8_t *of; /* the pass, by cell; unset if n is 1 */
    size_t cap;
};

void size_order_free(struct size_order *r);
/* Plans an iteration of a run with this node budget. */
void size_order_plan(struct size_order *r, struct egraph *g, uint32_t max_nodes);
/* Word `w` of the dirty nodes of pass k. */
uint64_t size_order_word(const struct size_order *r, const struct dirty_set *v, size_t w,
                         unsigned k);
