/* The terms of small e-graphs, cyclic ones among them, written out by plain recursion and rejected
 * by a filter that looks at whole trees. */
#pragma once

#include "base/rng.h"
#include "ops/extract/extract_draw.h"

enum { MAX_NODES = 64, MAX_CLASSES = 16, MAX_LENGTH = 6 };

struct graph {
    Eqloom__EGraph m;
    uint32_t class_begin[MAX_CLASSES + 1], node_op[MAX_NODES], child_begin[MAX_NODES + 1],
        child[2 * MAX_NODES];
};

struct texts {
    char **text;
    size_t n, cap;
};

/* The numbers of the message from the arrays. */
void ref_graph_pack(struct graph *g, uint32_t classes, uint32_t nodes);
void ref_graph_random(struct graph *g, struct rng *rng);
void ref_graphs_free(void);
void ref_texts_sort(struct texts *t);
/* The terms of the root's class of a length, sorted; false: too many. */
bool ref_terms(struct texts *out, struct arena *a, const struct graph *g, int length);
