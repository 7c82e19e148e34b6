/* Drawing different terms of a grammar's root without replacement.
 *
 * How many of each length:
 *   DRAW_LENGTHS  equal shares of all lengths that have terms; what a length cannot give goes to
 * the others in equal shares DRAW_TERMS    as many as a uniform draw from all terms would take
 * Which, at a length:
 *   DRAW_PROPORTIONAL  each set of terms is as likely as any other
 *   DRAW_ROOT          equal shares of the alternatives at the root, uniform within each
 *   DRAW_EVEN          one after another, repetitions skipped: at each place an operator, all of
 *                      those possible there being equally likely, then an e-node, then how the
 *                      length is split. Where nearly all terms are wanted or repetitions prevail,
 *                      the rest is uniform over the terms not drawn. */
#ifndef OPS_EGRAPH_EXTRACT_DRAW_H
#define OPS_EGRAPH_EXTRACT_DRAW_H

#include "base/rng.h"
#include "ops/egraph/extract_grammar.h"

enum draw_lengths { DRAW_LENGTHS, DRAW_TERMS };
enum draw_shapes { DRAW_PROPORTIONAL, DRAW_ROOT, DRAW_EVEN };

/* `wanted` terms or all there are, in random order, so that any prefix is a sample. */
void grammar_draw(struct term **out, uint32_t *n_out, struct arena *a, const struct grammar *g,
                  uint32_t wanted, enum draw_lengths lengths, enum draw_shapes shapes,
                  struct rng *rng);

/* Uniform below n > 0. */
count_t count_below(struct rng *rng, count_t n);
/* k <= n different numbers below n, each set equally likely (Floyd 1987), in no useful order. */
void count_sample(count_t *out, uint32_t k, count_t n, struct rng *rng);

#endif
