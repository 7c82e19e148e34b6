/* A transformer encoder over packed sequences, forward and backward (pre-LN, as PyTorch's
 * TransformerEncoderLayer with norm_first): tokens in, one vector per token and one per sequence
 * out.
 *
 *     x0 = embedding[token] * sqrt(d_model) + position
 *     x' = x + W_o attention(W_qkv norm1(x));  x = x' + W_2 act(W_1 norm2(x'))    for each layer
 *     states = norm(x);  pooled = mean | max | first | last of the states of a sequence
 *
 * A shard is a run of whole sequences, computed on one queue; gradients of shards add up. A
 * training tape of T tokens has per layer T * (6 d + ff) floats or so. */
#ifndef OPS_NN_ENCODER_H
#define OPS_NN_ENCODER_H

#include "ops/nn/tape.h"

/* Fills t->final.out, the states. drop may be NULL. The scratch is touched only with dropout and
 * with tapes for training. */
void nn_encoder_states(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                       struct nn_tape *t, const struct nn_scratch *s,
                       const struct nn_dropout *drop);
/* Adds to grad the gradient of sum(dstates * states). The same drop;
 * dstates may be s->dn or s->dmemory. */
void nn_encoder_states_back(struct gpu_queue *q, const struct nn_gradients *grad,
                            const float *dstates, const struct nn_model *m,
                            const struct nn_weights *w, const struct nn_tape *t,
                            const struct nn_scratch *s, const struct nn_dropout *drop);

/* The same for t->pooled. */
void nn_encoder_forward(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                        struct nn_tape *t, const struct nn_scratch *s,
                        const struct nn_dropout *drop);
void nn_encoder_backward(struct gpu_queue *q, const struct nn_gradients *grad, const float *dpooled,
                         const struct nn_model *m, const struct nn_weights *w,
                         const struct nn_tape *t, const struct nn_scratch *s,
                         const struct nn_dropout *drop);

/* The same for t->memory, what a decoder sees: the states or t->pooled. */
void nn_encoder_memory(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                       struct nn_tape *t, const struct nn_scratch *s,
                       const struct nn_dropout *drop);
void nn_encoder_memory_back(struct gpu_queue *q, const struct nn_gradients *grad,
                            const float *dmemory, const struct nn_model *m,
                            const struct nn_weights *w, const struct nn_tape *t,
                            const struct nn_scratch *s, const struct nn_dropout *drop);

#endif
