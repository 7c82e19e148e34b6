/* Least terms: for each class the least of all its terms, by number of tokens, then by tokens from
 * the left (expr_compare). A property of the set of equalities, not of how it was found. */
#pragma once

#include "ops/egraph/graph/egraph_core.h"

struct least_terms {
    uint32_t *size;  /* by class: tokens; UINT32_MAX where there is no class */
    uint32_t *best;  /* by class: the root node of the least term */
    uint32_t *order; /* classes with a term, by their least terms */
    uint32_t n;
};

/* Of a rebuilt graph. In the arena. */
void least_terms_find(struct least_terms *out, struct arena *a, struct egraph *g);
/* The order of tokens: operators by number, leaves by kind and text. */
int least_terms_compare_tokens(const struct egraph *g, uint32_t op_a, uint32_t op_b);
/* The least term of a class, in prefix tokens. */
void least_terms_write(struct buf *out, const struct least_terms *t, struct egraph *g,
                       uint32_t class);
/* A node over the least terms of its arguments, for people: infix. */
void least_terms_write_node(struct buf *out, struct egraph *g, uint32_t node);
