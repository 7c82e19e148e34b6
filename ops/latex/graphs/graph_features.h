/* An equation's graph: the tree of its MathML, in which a leaf of several characters is a node
 * without a character above one for each; and the same with features of an alphabet. */
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

/* The alphabet: names -> features, each part in a map of its own; features are counted from 1
 * within it. */
struct graph_features {
    struct name_map parts[3];
    struct digest id; /* of the vocabulary */
};

/* ERR_INPUT if the vocabulary is no alphabet of MathML. */
enum err_code graph_features_init(struct graph_features *out, const Eqloom__Vocabulary *v,
                                  const struct digest *id, struct err *e);
void graph_features_free(struct graph_features *f);
/* In the arena, without a place. ERR_CORRUPT if it is no MathML as mathml_tree_write writes it;
 * ERR_LIMIT: more than max_nodes. */
enum err_code graph_features_of(Eqloom__Graph *out, struct arena *a, const struct graph_features *f,
                                const char *mathml, uint32_t max_nodes, struct err *e);
