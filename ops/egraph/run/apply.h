/* Applying one match: its conditions are asked, its right-hand side is built and joined with the
 * class of the match. Matches whose conditions may come to hold later are kept. */
#ifndef OPS_EGRAPH_RUN_APPLY_H
#define OPS_EGRAPH_RUN_APPLY_H

#include "ops/egraph/large/prefetch.h"
#include "ops/egraph/match/ematch.h"

struct applier {
    struct egraph *g;
    const struct ruleset *rules;
    const uint32_t *leaf; /* of the graph, by leaf of the rule set */
    uint32_t *values;     /* scratch: the variables' classes, then what was built */
    struct prefetched prefetched;
    struct u32_list waiting; /* matches whose conditions failed: each the rule, then its record */
};

bool apply_conditions_hold(struct applier *x, size_t rule, const uint32_t *record);
/* `known`: nodes of the right-hand side that were prefetched, or NULL. Returns whether the equality
 * is new. */
bool apply_match(struct applier *x, size_t rule, const uint32_t *record, const uint32_t *known);

#endif
