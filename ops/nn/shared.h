/* The first layer's projections, made once for all tokens that are equal and stand at the same
 * place: up to its attention a token knows nothing else, unless there is dropout. They are those of
 * packed sequences, one for each token of the vocabulary, that repeat it from the first place on.
 */
#pragma once

#include "ops/nn/tape.h"

/* Rows of some tokens of the vocabulary. */
struct nn_shared {
    size_t rows, sequences;
    uint32_t *token, *offset; /* device: (rows) (sequences + 1) */
    struct nn_attend_tape at; /* x, mean, rstd, n, q */
};

/* Token v has the rows first[v] .. first[v+1]-1, one for each place up to its last in the
 * sequences, or for all places if there are none given. On the host, in the arena: (vocabulary +
 * 1). */
uint32_t *nn_shared_first(struct arena *a, const struct nn_config *c, const struct nn_sequences *s);
/* The row of each token. */
void nn_shared_rows(uint32_t *row, const uint32_t *first, const struct nn_sequences *s);

/* Of tokens from .. to-1; q (rows, 3d) is the caller's. */
void nn_shared_layout(struct nn_shared *f, const struct nn_config *c, const uint32_t *first,
                      uint32_t from, uint32_t to, float *q, bool training, struct gpu_layout *in,
                      struct gpu_layout *l);
void nn_shared_load(const struct nn_block *in, const struct nn_shared *f, const uint32_t *first,
                    uint32_t from);
/* f->at.q */
void nn_shared_forward(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                       const struct nn_shared *f, const struct nn_scratch *s);
/* dq (T, 3d), dx (T, d): what the backward of the encoder left; row i of f stands for the tokens
 * of[of_offset[i]] .. of[of_offset[i+1]-1]. */
void nn_shared_backward(struct gpu_queue *q, float *grad, const float *dq, const float *dx,
                        const uint32_t *of, const uint32_t *of_offset, const struct nn_model *m,
                        const struct nn_weights *w, const struct nn_shared *f,
                        const struct nn_scratch *s);
