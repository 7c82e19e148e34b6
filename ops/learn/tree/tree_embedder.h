/* A trained tree network, for inference. */
#pragma once

#include "ops/learn/infer/trained.h"
#include "ops/nn/tree/tree_net.h"

struct tree_embedder;
extern const struct trained_kind tree_embedder_kind;

/* Computes out (trees, tree_width): vectors of length 1. Uses the arena as working memory. */
enum err_code tree_embedder_run(float *out, const struct tree_embedder *x, const struct tree_set *s,
                                struct arena *a, struct err *e);
