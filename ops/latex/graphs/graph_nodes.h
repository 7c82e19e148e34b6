/* The nodes of an equation's graph: the tree of its MathML, in which a leaf of several characters
 * is a node without a character above one for each. */
#pragma once

#include "ops/latex/mathml/mathml_tree.h"

enum { FEATURE_TAGS = 32, FEATURE_ATTRIBUTES = 32, FEATURE_CHARACTERS = 192, FEATURES = 256 };

struct graph_node {
    uint32_t parent; /* index + 1; 0: the root */
    uint32_t position;
    const char *tag, *attributes;
    char character[5]; /* UTF-8; "" if none */
};

struct graph_nodes {
    struct graph_node *nodes;
    uint32_t n;
};

/* NULL, or why it is no tree. */
const char *graph_nodes_of(struct graph_nodes *out, struct arena *a, const char *mathml);
