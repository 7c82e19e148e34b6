/* Drawing different terms of a grammar's root without replacement.
 *
 * How many of each length:
 *   DRAW_LENGTHS  equal shares of all lengths that have terms; what a length cannot give goes to
 *                 the others in equal shares
 *   DRAW_TERMS    as many as a uniform draw from all terms would take
 *   DRAW_MEAN     shares that grow or shrink by one factor from length to length
 * (extract_lengths.c), the factor such that the mean length is mean_tokens, or as near as terms
 * allow Which, at a length: DRAW_PROPORTIONAL  each set of terms is as likely as any other
 *   DRAW_ROOT          equal shares of the alternatives at the root, uniform within each
 *   DRAW_EVEN          one after another, repetitions skipped: at each place an operator, all of
 *                      those possible there being equally likely, then an e-node, then how the
 *                      length is split. Where nearly all terms are wanted or repetitions prevail,
 *                      the rest is uniform over the terms not drawn. */
#ifndef OPS_EXTRACT_EXTRACT_DRAW_H
#define OPS_EXTRACT_EXTRACT_DRAW_H

#include "base/rng.h"
#include "ops/extract/extract_grammar.h"

enum draw_lengths { DRAW_LENGTHS, DRAW_TERMS, DRAW_MEAN };
enum draw_shapes { DRAW_PROPORTIONAL, DRAW_ROOT, DRAW_EVEN };

struct draw_options {
    enum draw_lengths lengths;
    enum draw_shapes shapes;
    double mean_tokens; /* DRAW_MEAN */
};

/* `wanted` terms or all there are, in random order, so that any prefix is a sample. */
void grammar_draw(struct term **out, uint32_t *n_out, struct arena *a, const struct grammar *g,
                  uint32_t wanted, const struct draw_options *options, struct rng *rng);

/* DRAW_EVEN takes operators with numbers from DRAW_OPS - 1 on for one. */
enum { DRAW_OPS = 256 };

/* Uniform below n > 0. */
count_t count_below(struct rng *rng, count_t n);
/* k <= n different numbers below n, each set equally likely (Floyd 1987), in no useful order. */
void count_sample(count_t *out, uint32_t k, count_t n, struct rng *rng);

/* ---- between the files of drawing ---- */
/* `share` of `wanted`, at most what there is, by length; limit[i] terms have length i < n. */
void draw_share_lengths(uint32_t *share, const count_t *limit, uint32_t n, uint32_t wanted,
                        const struct draw_options *options, struct arena *a, struct rng *rng);
void draw_share_evenly(uint32_t *share, const count_t *limit, uint32_t n, uint32_t wanted,
                       struct arena *a, struct rng *rng);

#endif
