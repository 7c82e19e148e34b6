/* The alphabet of MathML as maps from names to features, and an equation's graph with these. */
#pragma once

#include "base/arena.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/map.h"
#include "graph.pb-c.h"
#include "token.pb-c.h"

/* Names -> features, each part in a map of its own; features are counted from 1 within it. */
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
