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

/* A transformer decoder behind an encoder, forward and backward (pre-LN, as PyTorch's
 * TransformerDecoderLayer with norm_first): for each place of a target the logits of its next
 * token, given the tokens up to it and what it sees of the input's encoder: all states, or their
 * pooled vector alone (enum nn_memory), to which attention is the vector's value.
 *
 *     x0 = embedding[token] * sqrt(d_model) + position
 *     x = x + causal self-attention;  x = x + attention to the memory;  x = x + feed-forward
 *     logits = norm(x) W_output^T + b
 *
 * A target t1 .. tn is fed as START t1 .. tn and asked for t1 .. tn END. */
struct nn_decoder_tape {
    size_t tokens, sequences, keys;
    uint32_t *token, *offset, *label; /* device copies; label (tokens): what is asked for */
    const uint32_t *key_offset;       /* of memory by sequence, device */
    const float *memory;              /* (keys, d): what it sees of the encoder */
    uint16_t *rounded;                /* the same in bf16, if activations are stored so */
    struct nn_layer_tape *layers;
    struct nn_final_tape final;
    float *logits, *loss, *correct; /* (tokens, vocabulary) (tokens) (tokens) */
};

/* `targets` as they are fed, of as many sequences as the encoder's tape `in` has. */
void nn_decoder_layout(struct nn_decoder_tape *t, const struct nn_model *m,
                       const struct nn_sequences *targets, const struct nn_tape *in,
                       enum gpu_type type, struct gpu_layout *in_block, struct gpu_layout *l,
                       struct arena *a);
void nn_decoder_load(const struct nn_block *in, const struct nn_decoder_tape *t,
                     const struct nn_sequences *targets, const uint32_t *label);

/* Fills t->logits. drop may be NULL. */
void nn_decoder_forward(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                        struct nn_decoder_tape *t, const struct nn_scratch *s,
                        const struct nn_dropout *drop);
/* Adds to grad the gradient of sum(dlogits * logits), dlogits being in t->logits, and leaves that
 * of the memory in s->dmemory. */
void nn_decoder_backward(struct gpu_queue *q, float *grad, const struct nn_model *m,
                         const struct nn_weights *w, const struct nn_decoder_tape *t,
                         const struct nn_scratch *s, const struct nn_dropout *drop);

/* A decoder one token at a time: rows are hypotheses, each a target so far. The keys and values of
 * the tokens before are kept (the cache), so that a step costs one token's products and attention.
 * The logits are those of nn_decoder_forward for the last token, up to rounding. */
struct nn_decoding {
    size_t rows, length,
        keys;            /* maximal numbers of hypotheses, of tokens of one, of rows of states */
    size_t at;           /* tokens done */
    const float *states; /* (keys, d): the encoder's; borrowed */
    uint16_t *rounded;   /* the same in bf16, if activations are stored so */
    void **cache;        /* by decoder layer: (rows, length, 2d) */
    void **spare;        /* the same again, for moving hypotheses */
    void **cross;        /* by decoder layer: (keys, 2d) */
    uint32_t *offset, *self_first; /* device */
    /* What a step gives, on the device: the parts of `step`. */
    uint32_t *step, *token, *self_end, *cross_first, *cross_end, *parent;
    struct nn_attend_tape self, other;
    struct nn_feed_tape feed;
    struct nn_final_tape final;
    float *logits; /* (rows, vocabulary) */
};

/* The tables of layers live in the arena. */
void nn_decoding_layout(struct nn_decoding *t, const struct nn_model *m, enum gpu_type type,
                        size_t rows, size_t length, size_t keys, struct gpu_layout *l,
                        struct arena *a);
/* Works out the keys and values of the states, which must stay. */
void nn_decoding_begin(struct gpu_queue *q, struct nn_decoding *t, const struct nn_model *m,
                       const struct nn_weights *w, const float *states, struct arena *a);

/* One token for each of n rows. All on the host. */
struct nn_decoding_step {
    size_t n;
    const uint32_t *token;
    const uint32_t *parent; /* which row of the step before each one continues; any at first */
    const uint32_t *states_first, *states_end; /* which states each may look at */
};
/* Fills t->logits. Not more than t->length steps. */
void nn_decoding_next(struct gpu_queue *q, struct nn_decoding *t, const struct nn_model *m,
                      const struct nn_weights *w, const struct nn_decoding_step *s,
                      struct arena *a);
