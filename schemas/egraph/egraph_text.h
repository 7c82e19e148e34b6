/* A saturated e-graph as text: a picture for Graphviz, and the grammar that it is. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "egraph.pb-c.h"

/* A dashed box for each class, in it its e-nodes, with edges to the classes of their arguments. */
enum err_code egraph_write_dot(struct buf *out, const Eqloom__EGraph *m, struct err *e);
/* A line for each class, the root's first: `e3 -> x | [+ e1 e2]`. */
enum err_code egraph_write_grammar(struct buf *out, const Eqloom__EGraph *m, struct err *e);
