/* Which nodes an iteration has to visit: those of the kinds at which a rule that is awake begins,
 * and of these the ones at which something is new to such a rule. What it costs to say so follows
 * what is said; what is old and of no kind in question is passed over 64 nodes at a time. */
#ifndef OPS_EGRAPH_RUN_DIRTY_SET_H
#define OPS_EGRAPH_RUN_DIRTY_SET_H

#include "ops/egraph/match/ematch.h"

struct dirty_set {
    /* By kind: nodes to visit are those from `cells` on, and older ones touched in `epoch` or
     * later. */
    uint32_t cells[GRAPH_KINDS], epoch[GRAPH_KINDS];
    uint64_t *dirty; /* by cell, a bit: a node to visit */
    size_t cap;
};

void dirty_set_free(struct dirty_set *v);
/* No rule is awake, so far. */
void dirty_set_clear(struct dirty_set *v);
/* One is, which begins at these kinds and has seen what was there at that moment. */
void dirty_set_widen(struct dirty_set *v, uint64_t kinds, uint32_t cells, uint32_t epoch);
/* Fills in `dirty`. */
void dirty_set_fill(struct dirty_set *v, const struct egraph *g);
/* These nodes of word `w` will soon be visited: memory that is far away is asked for. First where
 * their arguments stand, and once that is there, what is known of these. */
void dirty_set_prefetch_members(const struct egraph *g, size_t w, uint64_t bits);
void dirty_set_prefetch_classes(const struct egraph *g, size_t w, uint64_t bits);

#endif
