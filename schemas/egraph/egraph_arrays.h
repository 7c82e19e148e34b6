/* The e-nodes of an EGraph record as plain arrays, and back. All readers of the record's numbers
 * use egraph_arrays_read; schemas/egraph.proto describes the packed form. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "egraph.pb-c.h"

#include <stdbool.h>

/* Class c holds the e-nodes class_begin[c] .. class_begin[c + 1] - 1; e-node n has the children
 * child[child_begin[n]] .. child[child_begin[n + 1] - 1], which are classes. */
struct egraph_arrays {
    uint32_t n_classes, n_nodes;
    uint32_t *class_begin; /* n_classes + 1 */
    uint32_t *child_begin; /* n_nodes + 1 */
    uint32_t *child;
};

/* Reads into the arena. ERR_CORRUPT if the numbers are inconsistent; on success, every e-node has
 * the arity of its operator, and children and the root are classes. */
enum err_code egraph_arrays_read(struct egraph_arrays *out, struct arena *a,
                                 const Eqloom__EGraph *m, struct err *e);
/* Sets class_sizes, first_children and more_children of a message that has its node_ops. */
void egraph_arrays_write(Eqloom__EGraph *out, struct arena *a, const struct egraph_arrays *x);
