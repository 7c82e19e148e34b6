/* The dirty set: the nodes that an iteration has to search. They are of a kind at which an active
 * rule begins, and something about them is new to such a rule. Blocks of 64 old nodes are skipped
 * at once. */
#pragma once

#include "ops/egraph/match/ematch.h"

struct dirty_set {
    /* By kind: nodes from `cells` on are dirty, and older ones touched in `epoch` or later. */
    uint32_t cells[GRAPH_KINDS], epoch[GRAPH_KINDS];
    uint64_t *dirty; /* a bit for each cell */
    size_t cap;
};

void dirty_set_free(struct dirty_set *v);
/* No rule is active yet. */
void dirty_set_clear(struct dirty_set *v);
/* Adds a rule that begins at these kinds and has seen everything up to that moment. */
void dirty_set_widen(struct dirty_set *v, uint64_t kinds, uint32_t cells, uint32_t epoch);
/* Fills in `dirty`. */
void dirty_set_fill(struct dirty_set *v, const struct egraph *g);
