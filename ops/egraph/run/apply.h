/* Applies one match: decides its conditions, builds the right-hand side, and joins it with the
 * class of the match. Keeps a match whose conditions may hold later. */
#pragma once

#include "ops/egraph/match/ematch.h"

struct applier {
    struct egraph *g;
    const struct ruleset *rules;
    const uint32_t *leaf; /* leaves of the graph, by leaf of the rule set */
    uint32_t *values;     /* scratch: the variables' classes, then the built nodes */
    struct u32_list
        waiting; /* matches whose conditions failed: for each the rule, then the record */
};

bool apply_conditions_hold(struct applier *x, size_t rule, const uint32_t *record);
/* Returns whether the equality is new. */
bool apply_match(struct applier *x, size_t rule, const uint32_t *record);
