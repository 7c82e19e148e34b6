/* The first layer's projections, computed once for all occurrences of a token at the same position:
 * without dropout, nothing else enters a token before the first attention. They are computed as for
 * packed sequences, one per token of the vocabulary, that repeat the token from the first position
 * on. */
#pragma once

#include "ops/nn/transformer/tape.h"

/* The rows of some tokens of the vocabulary. */
struct nn_shared {
    size_t rows, sequences;
    uint32_t *token, *offset; /* device: (rows) (sequences + 1) */
    struct nn_attend_tape at; /* x, mean, rstd, n, q */
};

/* Returns first (vocabulary + 1), on the host in the arena: token v has the rows first[v] ..
 * first[v+1]-1, one for each position up to its last in the sequences, or for all positions if s is
 * NULL. */
uint32_t *nn_shared_first(struct arena *a, const struct nn_config *c, const struct nn_sequences *s);
/* Writes the row of each token of the sequences. */
void nn_shared_rows(uint32_t *row, const uint32_t *first, const struct nn_sequences *s);

/* Lays out the rows of the tokens from .. to-1; the caller owns q (rows, 3d). */
void nn_shared_layout(struct nn_shared *f, const struct nn_config *c, const uint32_t *first,
                      uint32_t from, uint32_t to, float *q, bool training, struct gpu_layout *in,
                      struct gpu_layout *l);
void nn_shared_load(const struct nn_block *in, const struct nn_shared *f, const uint32_t *first,
                    uint32_t from);
/* Computes f->at.q. */
void nn_shared_forward(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                       const struct nn_shared *f, const struct nn_scratch *s);
/* Takes dq (T, 3d) and dx (T, d) from the encoder's backward; row i of f stands for the tokens
 * of[of_offset[i]] .. of[of_offset[i+1]-1]. */
void nn_shared_backward(struct gpu_queue *q, float *grad, const float *dq, const float *dx,
                        const uint32_t *of, const uint32_t *of_offset, const struct nn_model *m,
                        const struct nn_weights *w, const struct nn_shared *f,
                        const struct nn_scratch *s);
