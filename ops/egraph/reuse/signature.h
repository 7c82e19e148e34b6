/* The signature of a saturation: which tokens (operators and leaves) its searches could see below
 * each argument of each operator, as bits; the nodes at which a search began have bits of their
 * own. It refutes most patterns without the e-graph. The union of several signatures refutes what
 * each of them refutes. The bits live in a SaturationTrace. */
#pragma once

#include "egraph.pb-c.h"
#include "ops/egraph/graph/egraph.h"

/* Covers the nodes before cell `searched` and all leaves, in the final classes: a superset of what
 * any search of the run could see, since the last search looked at no later nodes and classes only
 * merge. Roots are kept apart because the last iteration is usually by far the largest and cut
 * short, so no search began at most of its nodes. */
void signature_write(Eqloom__SaturationTrace *out, struct arena *a,
                     const struct saturate_result *result, struct egraph *g);
void signature_unite(Eqloom__SaturationTrace *out, struct arena *a,
                     const Eqloom__SaturationTrace *const *traces, size_t n);
/* False: the pattern matched nowhere. */
bool signature_may_match(const Eqloom__SaturationTrace *t, const struct expr *pattern);
