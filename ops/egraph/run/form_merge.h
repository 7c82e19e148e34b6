/* Classes that normal forms prove equal are joined during saturation. Candidates are classes whose
 * least terms, if not long, have the same values at two points; the terms are then compared by
 * normal forms, the goal's first, then from the least term on, `forms` pairs in a run. With proofs,
 * each union is a step of its own, named after the way of the normal form, between the two least
 * terms. */
#pragma once

#include "base/map.h"
#include "ops/egraph/graph/egraph_core.h"

struct form_merger {
    struct egraph *g;
    const struct saturate_options *options;
    uint32_t compared;   /* pairs */
    struct map64 failed; /* pairs that were compared, by their texts */
};

/* Of a rebuilt graph, which is rebuilt again. Returns whether any classes were joined. */
bool form_merge(struct form_merger *m);
void form_merger_free(struct form_merger *m);
