/* A transformer encoder over packed sequences, forward and backward (pre-LN, as PyTorch's
 * TransformerEncoderLayer with norm_first): tokens in, one vector per token and one per sequence
 * out.
 *
 *     x0 = embedding[token] * sqrt(d_model) + position
 *     x' = x + W_o attention(W_qkv norm1(x));  x = x' + W_2 act(W_1 norm2(x'))    for each layer
 *     states = norm(x);  pooled = mean | max of the states of a sequence
 *
 * A shard is a run of whole sequences, computed on one queue; gradients of shards add up. A
 * training tape of T tokens has per layer T * (6 d + ff) floats or so. */
#pragma once

#include "ops/nn/tape.h"

/* Fills t->final.out, the states, and if `pool` t->pooled. drop may be NULL. The scratch is touched
 * only with dropout and with tapes for training. */
void nn_encoder_forward(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                        struct nn_tape *t, bool pool, const struct nn_scratch *s,
                        const struct nn_dropout *drop);
/* Adds to grad the gradient of sum(dout * out), out being the states or t->pooled. The same drop;
 * the gradient of states may be s->dn or s->dmemory. With shared projections those of the first
 * layer and of the embedding are left to nn_shared_backward. */
void nn_encoder_backward(struct gpu_queue *q, float *grad, const float *dout,
                         const struct nn_model *m, const struct nn_weights *w,
                         const struct nn_tape *t, bool pool, const struct nn_scratch *s,
                         const struct nn_dropout *drop);

/* Whether t->memory, which a decoder attends to, is t->pooled; else it is the states. */
static inline bool nn_memory_is_pooled(const struct nn_model *m)
{
    return m->config.memory == NN_MEMORY_VECTOR;
}
