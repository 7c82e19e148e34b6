/* Draws different terms of a grammar's root without replacement.
 *
 * How many terms of each length:
 *   DRAW_LENGTHS       equal shares of all lengths that have terms; what a length cannot
 *                      provide is divided equally among the others
 *   DRAW_MEAN          shares that change by a constant factor from length to length, such that
 *                      the mean length is mean_tokens, or as close as the terms allow
 * Which terms of a length:
 *   DRAW_PROPORTIONAL  every set of terms is equally likely
 *   DRAW_EVEN          one after another, skipping repetitions: at each place an operator, all
 *                      possible ones being equally likely, then an e-node, then how the length is
 *                      split. If nearly all terms are wanted or most draws are repetitions, the
 *                      rest is uniform over the terms not drawn yet. */
#pragma once

#include "base/rng.h"
#include "ops/extract/extract_grammar.h"

enum draw_lengths { DRAW_LENGTHS, DRAW_MEAN };
enum draw_shapes { DRAW_PROPORTIONAL, DRAW_EVEN };

struct draw_options {
    enum draw_lengths lengths;
    enum draw_shapes shapes;
    double mean_tokens; /* DRAW_MEAN */
};

/* Draws `wanted` terms, or all if there are fewer, in random order, so that any prefix is a
 * sample. */
void grammar_draw(struct term **out, uint32_t *n_out, struct arena *a, const struct grammar *g,
                  uint32_t wanted, const struct draw_options *options, struct rng *rng);

/* DRAW_EVEN treats all operators with numbers >= DRAW_OPS - 1 as one. */
enum { DRAW_OPS = 256 };

/* Returns a uniform number below n > 0. */
count_t count_below(struct rng *rng, count_t n);
/* Draws k <= n different numbers below n, each set equally likely (Floyd 1987); their order is not
 * random. */
void count_sample(count_t *out, uint32_t k, count_t n, struct rng *rng);
