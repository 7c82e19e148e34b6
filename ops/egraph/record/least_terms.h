/* Least terms: for each class the least of all its terms, by number of tokens, then by tokens from
 * the left (expr_compare). They depend on the set of equalities, not on how it was found. */
#pragma once

#include "ops/egraph/graph/egraph_core.h"

struct least_terms {
    uint32_t *size;  /* by class: number of tokens; UINT32_MAX if this is not a class */
    uint32_t *best;  /* by class: the root node of the least term */
    uint32_t *order; /* classes with a term, sorted by their least terms */
    uint32_t n;
};

/* The graph must be rebuilt. The result lives in the arena. */
void least_terms_find(struct least_terms *out, struct arena *a, struct egraph *g);
/* Compares tokens: operators by number, leaves by kind and text. */
int least_terms_compare_tokens(const struct egraph *g, uint32_t op_a, uint32_t op_b);
/* Writes the least term of a class in prefix tokens. */
void least_terms_write(struct buf *out, const struct least_terms *t, struct egraph *g,
                       uint32_t class);
/* Writes a node over the least terms of its arguments as readable infix text. */
void least_terms_write_node(struct buf *out, struct egraph *g, uint32_t node);
