/* A transformer encoder over packed sequences, forward and backward (pre-LN, as PyTorch's
 * TransformerEncoderLayer with norm_first): tokens in, one vector per sequence out.
 *
 *     x0 = embedding[token] * sqrt(d_model) + position
 *     x' = x + W_o attention(W_qkv norm1(x));  x = x' + W_2 act(W_1 norm2(x'))    for each layer
 *     pooled = mean | max | first of norm(x) over the tokens that are not special
 *
 * A shard is a run of whole sequences, computed on one queue; gradients of shards add up. The tape
 * holds what the backward needs of one shard: a training tape of T tokens has per layer
 * T * (8 d + ff) floats or so; an inference tape has one layer's, used again and again. */
#ifndef OPS_NN_ENCODER_H
#define OPS_NN_ENCODER_H

#include "ops/nn/model.h"

/* Sequences on the host: sequence i is tokens[offset[i] .. offset[i+1]-1], offset[0] being 0. */
struct nn_sequences {
    const uint32_t *tokens, *offset;
    size_t n;
};

/* Each sequence has a token, none more than max_length, all tokens within the vocabulary. */
enum err_code nn_sequences_check(const struct nn_sequences *s, const struct nn_config *c,
                                 struct err *e);

struct nn_layer_tape {
    float *x;                  /* (T, d): the layer's input */
    float *mean1, *rstd1, *n1; /* norm1 */
    float *qkv, *lse, *att;    /* (T, 3d) (T, heads) (T, d) */
    float *mid;                /* (T, d): after attention */
    float *mean2, *rstd2, *n2; /* norm2 */
    float *h, *act;            /* (T, ff): before and after the activation; one with ReLU */
};

struct nn_tape {
    size_t tokens, sequences, pooled_rows;
    uint32_t *token, *offset;         /* device copies */
    uint32_t *pool_row, *pool_offset; /* which rows each sequence pools */
    struct nn_layer_tape *layers;
    float *last, *mean, *rstd, *out; /* the final norm's input, statistics, output */
    uint32_t *arg;                   /* of pooling by maximum */
    float *pooled;                   /* (sequences, d): the result */
};

/* Memory of a backward pass, for one queue at a time. */
struct nn_scratch {
    float *dx, *dn, *wide, *branch; /* (T, d) (T, d) (T, max(ff, 3d)) (T, d) */
};

/* Dropout on the embeddings, both residual branches and the activation; not on attention's
 * probabilities. A function of the key and the token's place in the whole batch. */
struct nn_dropout {
    float rate;
    uint64_t key;
    uint64_t first_token; /* of the shard within the batch */
};

/* Parameters on the device: the flat vector, and the table of sinusoids (or NULL if learned); and
 * how their products are computed. */
struct nn_weights {
    const float *flat, *sinusoids;
    enum gpu_precision precision;
};

/* t->layers lives in the arena; the rest is carved from the layout. */
void nn_tape_layout(struct nn_tape *t, const struct nn_model *m, const struct nn_sequences *s,
                    bool training, struct gpu_layout *l, struct arena *a);
void nn_scratch_layout(struct nn_scratch *s, const struct nn_model *m, size_t tokens, bool training,
                       struct gpu_layout *l);
/* Copies the shard's tokens and works out what is pooled. */
void nn_tape_load(struct gpu_queue *q, struct nn_tape *t, const struct nn_model *m,
                  const struct nn_sequences *s, struct arena *a);

/* Fills t->pooled. drop may be NULL. The scratch is touched only with dropout. */
void nn_encoder_forward(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                        struct nn_tape *t, const struct nn_scratch *s,
                        const struct nn_dropout *drop);
/* Adds to grad (as flat as the weights) the gradient of sum(dpooled * pooled). The same drop. */
void nn_encoder_backward(struct gpu_queue *q, float *grad, const float *dpooled,
                         const struct nn_model *m, const struct nn_weights *w,
                         const struct nn_tape *t, const struct nn_scratch *s,
                         const struct nn_dropout *drop);

#endif
