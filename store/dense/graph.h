/* The arrays of an EGraph, coded together: classes, their e-nodes, children and facts. */
#ifndef STORE_DENSE_GRAPH_H
#define STORE_DENSE_GRAPH_H

#include "store/dense/walk.h"

/* Whether a field of EGraph is one of those. */
bool graph_has_field(const ProtobufCFieldDescriptor *field);
/* Codes them. When writing, false if the arrays are not those of an e-graph (docs/format.md), after
 * which they are coded like those of any message; so it is in what is read. */
bool graph_code(struct walk *w, ProtobufCMessage *message);

#endif
