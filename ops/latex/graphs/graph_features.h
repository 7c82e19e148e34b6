/* An equation's graph: its MathML tree, in which a leaf of several characters becomes a node
 * without a character and one child for each character; and the same graph with the features of an
 * alphabet. */
#pragma once

#include "base/arena.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/map.h"
#include "graph.pb-c.h"
#include "ops/latex/mathml/mathml_tree.h"
#include "token.pb-c.h"

enum { FEATURE_TAGS = 32, FEATURE_ATTRIBUTES = 32, FEATURE_CHARACTERS = 192, FEATURES = 256 };

struct graph_node {
    uint32_t parent; /* index + 1, or 0 for the root */
    uint32_t position;
    const char *tag, *attributes;
    char character[5]; /* UTF-8, or "" */
};

struct graph_nodes {
    struct graph_node *nodes;
    uint32_t n;
};

/* Returns NULL, or the reason why the text is not a MathML tree. */
const char *graph_nodes_of(struct graph_nodes *out, struct arena *a, const char *mathml);

/* The alphabet maps names to features. Tags, attributes and characters each have their own map, and
 * their features are numbered from 1 within it. */
struct graph_features {
    struct name_map parts[3];
    struct digest id; /* the vocabulary's */
};

/* Fails with ERR_INPUT if the vocabulary is not a MathML alphabet. */
enum err_code graph_features_init(struct graph_features *out, const Eqloom__Vocabulary *v,
                                  const struct digest *id, struct err *e);
void graph_features_free(struct graph_features *f);
/* Makes the graph in the arena; its place is not set. Fails with ERR_CORRUPT if the text is not in
 * the form that mathml_tree_write writes, and with ERR_LIMIT above max_nodes. */
enum err_code graph_features_of(Eqloom__Graph *out, struct arena *a, const struct graph_features *f,
                                const char *mathml, uint32_t max_nodes, struct err *e);
