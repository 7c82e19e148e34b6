/* A trained tree network, for inference. */
#pragma once

#include "ops/learn/infer/network.h"
#include "ops/learn/tree/tree_points.h"
#include "ops/nn/tree/tree_net.h"

struct tree_embedder;
extern const struct network_kind tree_embedder_kind;
const struct tree_model *tree_embedder_model(const struct tree_embedder *x);

/* Computes out (trees, tree_width): vectors of length 1. Reads `meaning`, by token, only if the
 * network has inputs. Uses the arena as working memory. */
enum err_code tree_embedder_run(float *out, const struct tree_embedder *x, const struct tree_set *s,
                                const struct tree_meaning *meaning, struct arena *a, struct err *e);
