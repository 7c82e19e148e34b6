/* The dirty set: the nodes that an iteration has to search. They are of a kind at which an active
 * rule begins, and something about them is new to such a rule. Blocks of 64 old nodes are skipped
 * at once.
 *
 * With a large node budget they are searched in passes, nodes of small classes first. A node gives
 * about as many matches as its class and those of its arguments have nodes. Where they are few,
 * applying them joins classes at little cost, and later matches build each term once, not once for
 * each of two classes that turn out equal; without this, half of the sums that an iteration built
 * were duplicates, and searches of a million nodes took twice as long.
 *
 * It pays only in iterations that are completed: one cut short by the budget would spend it on the
 * nodes that add least. So there is a single pass if the iteration will hardly be completed, or if
 * the budget is below egraph.size_order_at (262,144 nodes), where all but the last iterations are
 * short. The passes depend on the graph and the budget only, not on the rules: one more rule that
 * matches nowhere changes nothing. */
#pragma once

#include "ops/egraph/match/ematch.h"

struct dirty_set {
    /* By kind: nodes from `cells` on are dirty, and older ones touched in `epoch` or later. */
    uint32_t cells[GRAPH_KINDS], epoch[GRAPH_KINDS];
    uint64_t *dirty; /* a bit for each cell */
    size_t cap, cap_pass;
    unsigned passes; /* 1: all nodes in the order of ids */
    uint8_t *pass;   /* by cell; unset if there is one */
};

void dirty_set_free(struct dirty_set *v);
/* No rule is active yet. */
void dirty_set_clear(struct dirty_set *v);
/* Adds a rule that begins at these kinds and has seen everything up to that moment. */
void dirty_set_widen(struct dirty_set *v, uint64_t kinds, uint32_t cells, uint32_t epoch);
/* Fills in `dirty`. */
void dirty_set_fill(struct dirty_set *v, const struct egraph *g);
/* Plans the passes of an iteration of a run with this node budget. */
void dirty_set_order(struct dirty_set *v, struct egraph *g, uint32_t max_nodes);
/* Word `w` of the dirty nodes of pass k. */
uint64_t dirty_set_word(const struct dirty_set *v, size_t w, unsigned k);
