/* The nodes of a shard's trees in the order in which they are computed: leaves first, then level
 * by level, each operator's nodes together, and the roots last. A node of a network of functions is
 * as many rows as there are points, one behind the other. */
#pragma once

#include "ops/nn/tree/tree_model.h"

/* Trees in prefix order; all must be well formed (tree_is_well_formed). */
struct tree_set {
    const uint32_t *const *tokens;
    const uint32_t *length;
    size_t n;
};

/* Rows first .. first + n - 1, which are all of one operator and need nothing of each other. */
struct tree_group {
    uint32_t token; /* model's `tokens`: of roots */
    uint32_t arity;
    size_t first, n;
    size_t kid; /* its operands: kids[kid ..], arity of each row */
};

struct tree_lists {
    size_t nodes, roots; /* rows; roots are nodes of their own, the last rows */
    uint32_t *leaves;    /* (n_leaves) rows of the leaves' table that the first rows are */
    size_t n_leaves;
    uint32_t *kids; /* (n_kids) rows */
    size_t n_kids;
    float *share; /* (nodes): 1 / (nodes of the tree, with its root and one more) */
    struct tree_group *groups;
    size_t n_groups, largest; /* rows of the largest */
};

/* Whether tokens are one expression in prefix order. */
bool tree_is_well_formed(const struct tree_model *m, const uint32_t *tokens, uint32_t n);
/* In the arena. */
void tree_lists_make(struct tree_lists *out, struct arena *a, const struct tree_model *m,
                     const struct tree_set *s);
