/* A saturated e-graph as text: a picture for Graphviz, or its grammar. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "egraph.pb-c.h"

/* Writes a dashed box for each class with its e-nodes, and edges to the classes of their
 * arguments. */
enum err_code egraph_write_dot(struct buf *out, const Eqloom__EGraph *m, struct err *e);
/* Writes a line for each class, the root's first: `e3 -> x | [+ e1 e2]`. */
enum err_code egraph_write_grammar(struct buf *out, const Eqloom__EGraph *m, struct err *e);
