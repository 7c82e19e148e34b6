/* The nodes of a shard's trees in order of computation: leaves first, then level by level, grouped
 * by operator, and the roots last. In a network of functions each node has one row per point,
 * consecutively. */
#pragma once

#include "ops/nn/tree/tree_model.h"

/* Trees in prefix order; all must be well formed (tree_is_well_formed). */
struct tree_set {
    const uint32_t *const *tokens;
    const uint32_t *length;
    size_t n;
};

/* Rows first .. first + n - 1, which have the same operator and do not depend on each other. */
struct tree_group {
    uint32_t token; /* the model's `tokens` for roots */
    uint32_t arity;
    size_t first, n;
    size_t kid; /* its operands: from kids[kid] on, arity for each row */
};

struct tree_lists {
    size_t nodes, roots; /* rows; roots are separate nodes, the last rows */
    uint32_t *leaves;    /* (n_leaves): the first rows, as rows of the table of leaves */
    size_t n_leaves;
    uint32_t *kids; /* (n_kids) rows */
    size_t n_kids;
    float *share; /* (nodes): 1 / (nodes of the tree, with its root and one more) */
    struct tree_group *groups;
    size_t n_groups, largest; /* largest: rows of the largest group */
};

/* Returns true if the tokens are one expression in prefix order. */
bool tree_is_well_formed(const struct tree_model *m, const uint32_t *tokens, uint32_t n);
/* Allocates in the arena. */
void tree_lists_make(struct tree_lists *out, struct arena *a, const struct tree_model *m,
                     const struct tree_set *s);
