/* Drawing different terms of a grammar's root without replacement.
 *
 * How many of each length:
 *   DRAW_LENGTHS       equal shares of all lengths that have terms; what a length cannot give goes
 *                      to the others in equal shares
 *   DRAW_MEAN          shares that grow or shrink by one factor from length to length, such that
 *                      the mean length is mean_tokens, or as near as terms allow
 * Which of a length:
 *   DRAW_PROPORTIONAL  each set of terms is as likely as any other
 *   DRAW_EVEN          one after another, repetitions skipped: at each place an operator, all
 *                      possible ones being equally likely, then an e-node, then how the length is
 *                      split. Where nearly all terms are wanted or repetitions prevail, the rest is
 *                      uniform over the terms not drawn. */
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

/* `wanted` terms or all there are, in random order, so that any prefix is a sample. */
void grammar_draw(struct term **out, uint32_t *n_out, struct arena *a, const struct grammar *g,
                  uint32_t wanted, const struct draw_options *options, struct rng *rng);

/* DRAW_EVEN counts all operators with numbers from DRAW_OPS - 1 on as one. */
enum { DRAW_OPS = 256 };

/* Uniform below n > 0. */
count_t count_below(struct rng *rng, count_t n);
/* k <= n different numbers below n, each set equally likely (Floyd 1987), in no useful order. */
void count_sample(count_t *out, uint32_t k, count_t n, struct rng *rng);
