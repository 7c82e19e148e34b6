/* The signature of a saturation: which tokens (operators and leaves) its searches could see below
 * each argument of each operator, as bits; the nodes at which a search began have separate bits. It
 * rules out matches of most patterns without the e-graph. The union of several signatures rules out
 * what each of them rules out. The bits are stored in a SaturationTrace. */
#pragma once

#include "egraph.pb-c.h"
#include "ops/egraph/graph/egraph.h"

/* Covers the nodes before cell `searched` and all leaves, in the final classes: a superset of what
 * any search of the run could see, since the last search read no later nodes and classes only
 * merge. Roots have separate bits because the last iteration is usually by far the largest and is
 * cut short, so no search began at most of its nodes. */
void signature_write(Eqloom__SaturationTrace *out, struct arena *a,
                     const struct saturate_result *result, struct egraph *g);
void signature_unite(Eqloom__SaturationTrace *out, struct arena *a,
                     const Eqloom__SaturationTrace *const *traces, size_t n);
/* Returns false if the pattern matched nowhere. */
bool signature_may_match(const Eqloom__SaturationTrace *t, const struct expr *pattern);
