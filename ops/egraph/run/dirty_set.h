/* The dirty set: the nodes that an iteration has to search. They are of a kind at which an active
 * rule begins, and something about them is new to such a rule. Blocks of 64 old nodes are skipped
 * at once.
 *
 * With a large node budget the nodes are searched in passes, those of small classes first. The
 * number of matches at a node grows with the number of nodes in its class and in those of its
 * arguments. Where there are few, applying them joins classes at little cost, and later matches
 * build each term once, not once for each of two classes that turn out equal; without this, half of
 * the sums that an iteration built were duplicates, and searches of a million nodes took twice as
 * long.
 *
 * Passes pay only in iterations that are completed: one that the budget cuts short would spend it
 * on the nodes that add least. So there is a single pass if the iteration is unlikely to be
 * completed, or if the budget is below egraph.size_order_at (262,144 nodes), where all but the last
 * iterations are short. The passes depend on the graph and the budget only, not on the rules, so an
 * additional rule without matches changes nothing. */
#pragma once

#include "ops/egraph/match/ematch.h"

struct dirty_set {
    /* By kind: nodes from `cells` on are dirty, and so are older ones touched in `epoch` or
     * later. */
    uint32_t cells[GRAPH_KINDS], epoch[GRAPH_KINDS];
    uint64_t *dirty; /* one bit per cell */
    size_t cap, cap_pass;
    unsigned passes; /* 1: all nodes in id order */
    uint8_t *pass;   /* by cell; not set if there is one pass */
};

void dirty_set_free(struct dirty_set *v);
/* Resets the set: no rule is active. */
void dirty_set_clear(struct dirty_set *v);
/* Adds a rule that begins at these kinds and has searched everything up to this moment. */
void dirty_set_widen(struct dirty_set *v, uint64_t kinds, uint32_t cells, uint32_t epoch);
/* Fills in `dirty`. */
void dirty_set_fill(struct dirty_set *v, const struct egraph *g);
/* Plans the passes of an iteration, for a run with this node budget. */
void dirty_set_order(struct dirty_set *v, struct egraph *g, uint32_t max_nodes);
/* Returns word `w` of the bits of the dirty nodes in pass k. */
uint64_t dirty_set_word(const struct dirty_set *v, size_t w, unsigned k);
