/* Expressions written by a trained encoder-decoder, by beam search.
 *
 * Of each input the `beam` best hypotheses go on together. At each step all their next tokens are
 * candidates, by log-probability; of the best `beam` of these, what ends is a result, and the best
 * `beam` that do not end are the next hypotheses. An input is done when it has `beam` results and
 * no hypothesis can become better than the last of them (probabilities only fall), or at
 * max_tokens. Results are in order of their log-probabilities. So a beam of 1 is the greedy choice
 * at each step, and a beam as wide as there are sequences finds them all. Equal candidates are
 * taken in the order of their hypotheses, then of tokens. */
#pragma once

#include "ops/learn/infer/loaded.h"

struct generator_options {
    uint32_t beam;
    uint32_t max_tokens; /* of a result */
};

struct hypothesis {
    uint32_t *tokens; /* without start and end */
    size_t n;
    double log_probability; /* of all tokens and the end */
};

/* What was written for one input: at most `beam`, best first. */
struct generated {
    struct hypothesis *best;
    size_t n;
};

/* out (sequences of the batch); results live in the arena. Several inputs are worked on at a time;
 * which, changes nothing but rounding. ERR_INPUT if the model has no decoder. */
enum err_code generator_run(struct generated *out, const struct loaded *m,
                            const Eqloom__TokenBatch *batch,
                            const struct generator_options *options, struct arena *a,
                            struct err *e);
