/* Generates expressions with a trained encoder-decoder, by beam search.
 *
 * The `beam` best hypotheses of each input are kept. At each step all their continuations are
 * candidates, ranked by log-probability; among the best `beam` of them, those that end are results,
 * and the best `beam` that do not end are the next hypotheses. An input is done when it has `beam`
 * results and no hypothesis can become better than the last of them (log-probabilities only fall),
 * or at max_tokens. Results are sorted by log-probability. A beam of 1 is greedy decoding, and a
 * beam as wide as the number of sequences finds all of them. Ties are broken by the order of
 * hypotheses, then of tokens. */
#pragma once

#include "ops/learn/transformer/loaded.h"

struct generator_options {
    uint32_t beam;
    uint32_t max_tokens; /* of a result */
};

struct hypothesis {
    uint32_t *tokens; /* without start and end */
    size_t n;
    double log_probability; /* of all tokens and the end */
};

/* The results for one input: at most `beam`, best first. */
struct generated {
    struct hypothesis *best;
    size_t n;
};

/* Writes out (sequences of the batch), with results in the arena. Processes several inputs at a
 * time; how they are grouped affects only rounding. ERR_INPUT if the model has no decoder. */
enum err_code generator_run(struct generated *out, const struct loaded *m,
                            const Eqloom__TokenBatch *batch,
                            const struct generator_options *options, struct arena *a,
                            struct err *e);
