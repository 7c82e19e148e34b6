/* The part of an e-graph that a cluster depends on, as bytes: two e-graphs with equal bytes produce
 * the same cluster, whatever else differs (statistics of rules, unreachable classes, class
 * numbers).
 *
 * The bytes contain the e-nodes that occur in terms of the root within the budget, class by class
 * in the order of a walk from the root, each with the classes of its operands; and the seed, with
 * which members are compared. That is sufficient: call a pair (slot, length) reached if some term
 * of the root has a part there; draws read no other pairs. The grammar of these e-nodes alone has
 * no terms that the whole grammar lacks, and by induction over the length it has all of the reached
 * pairs. So its counts for these pairs are the same, and so are the draws. */
#pragma once

#include "base/span.h"
#include "ops/extract/extract_grammar.h"

/* The bytes live in the arena. */
struct span extract_reads(struct arena *a, const struct grammar *g, const Eqloom__EGraph *egraph);
