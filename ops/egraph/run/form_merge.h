/* Joins classes that normal forms prove equal, during saturation. Candidates are classes whose
 * least terms are short and have the same values at two points. Their terms are then compared by
 * normal forms, the goal's first, then from the least term on, up to `forms` pairs per run. With
 * proofs, each union is a separate step between the two least terms, named after the method of the
 * normal form. */
#pragma once

#include "base/map.h"
#include "ops/egraph/graph/egraph_core.h"

struct form_merger {
    struct egraph *g;
    const struct saturate_options *options;
    uint32_t compared;   /* pairs */
    struct map64 failed; /* the pairs already compared, by their texts */
};

/* Takes a rebuilt graph and rebuilds it again. Returns whether any classes were joined. */
bool form_merge(struct form_merger *m);
void form_merger_free(struct form_merger *m);
