/* The signature of a saturation: what its searches could see, as bits by operator, argument and the
 * token (an operator or leaf) that stood below it; those of the nodes at which a search began
 * apart. It refutes most patterns without the e-graph. Signatures of several runs unite into one
 * that refutes what each of them does not leave possible. The bits live in a SaturationTrace. */
#ifndef OPS_EGRAPH_REUSE_SIGNATURE_H
#define OPS_EGRAPH_REUSE_SIGNATURE_H

#include "egraph.pb-c.h"
#include "ops/egraph/graph/egraph.h"

/* Of the nodes before cell `searched` and of all leaves, in the classes of the end: a superset of
 * what any search of the run could see, since the last one looked at no later nodes and classes
 * only merge. The last iteration is mostly by far the largest, and cut short: at most of its nodes
 * no search began, so roots are told apart. */
void signature_write(Eqloom__SaturationTrace *out, struct arena *a,
                     const struct saturate_result *result, struct egraph *g);
void signature_unite(Eqloom__SaturationTrace *out, struct arena *a,
                     const Eqloom__SaturationTrace *const *traces, size_t n);
/* Whether the signature leaves it possible that the pattern matched somewhere. */
bool signature_may_match(const Eqloom__SaturationTrace *t, const struct expr *pattern);

#endif
