/* What a cluster depends on, as bytes: two e-graphs with equal bytes give the same cluster,
 * whatever else differs (statistics of rules, unreachable classes, the numbers of classes).
 *
 * The bytes hold the e-nodes that occur in terms of the root within the budget, class by class in
 * the order in which a walk from the root meets them, each with the classes of its operands; and
 * the seed, with which members are compared. That is enough: call a pair (slot, length) reached if
 * some term of the root has a part there; draws look at no other pairs. The grammar of these
 * e-nodes alone has no terms that the whole one lacks, and by induction over the length it has all
 * of the reached pairs. So its counts there are the same, and so are the draws. */
#pragma once

#include "base/span.h"
#include "ops/extract/extract_grammar.h"

/* In the arena. */
struct span extract_reads(struct arena *a, const struct grammar *g, const Eqloom__EGraph *egraph);
