/* A transformer encoder over packed sequences, forward and backward (pre-LN, as PyTorch's
 * TransformerEncoderLayer with norm_first): from tokens to one vector per token and one per
 * sequence.
 *
 *     x0 = embedding[token] * sqrt(d_model) + position
 *     x' = x + W_o attention(W_qkv norm1(x));  x = x' + W_2 act(W_1 norm2(x'))    for each layer
 *     states = norm(x);  pooled = mean | max of the states of a sequence
 *
 * A shard is a run of whole sequences, computed on one queue; gradients of shards add up. A
 * training tape of T tokens has about T * (6 d + ff) floats per layer. */
#pragma once

#include "ops/nn/transformer/tape.h"

/* Fills t->final.out, the states, and if `pool` is set t->pooled. drop may be NULL. Uses the
 * scratch only with dropout and with training tapes. */
void nn_encoder_forward(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                        struct nn_tape *t, bool pool, const struct nn_scratch *s,
                        const struct nn_dropout *drop);
/* Adds to grad the gradient of sum(dout * out), where out is the states or t->pooled. Takes the
 * same drop as the forward; dout of the states may be s->dn or s->dmemory. With shared projections,
 * the gradients of the first layer's projections and of the embedding are left to
 * nn_shared_backward. */
void nn_encoder_backward(struct gpu_queue *q, float *grad, const float *dout,
                         const struct nn_model *m, const struct nn_weights *w,
                         const struct nn_tape *t, bool pool, const struct nn_scratch *s,
                         const struct nn_dropout *drop);

/* Returns true if a decoder attends to t->pooled, and false if to the states. */
static inline bool nn_memory_is_pooled(const struct nn_model *m)
{
    return m->config.memory == NN_MEMORY_VECTOR;
}

/* A transformer decoder after an encoder, forward and backward (pre-LN, as PyTorch's
 * TransformerDecoderLayer with norm_first). For each position of a target it computes the logits of
 * the next token, given the tokens up to there and the encoder's memory: all states, or their
 * pooled vector alone (enum nn_memory); attention to a single vector returns the vector's value.
 *
 *     x0 = embedding[token] * sqrt(d_model) + position
 *     x = x + causal self-attention;  x = x + attention to the memory;  x = x + feed-forward
 *     logits = norm(x) W_output^T + b
 *
 * For a target t1 .. tn the input is START t1 .. tn and the labels are t1 .. tn END. */
struct nn_decoder_tape {
    size_t tokens, sequences, keys;
    uint32_t *token, *offset, *label; /* device copies; label (tokens) */
    const uint32_t *key_offset;       /* of memory by sequence, on the device */
    const float *memory;              /* (keys, d): the encoder's memory */
    uint16_t *rounded;                /* the same in bf16 if activations are stored so */
    struct nn_layer_tape *layers;
    struct nn_final_tape final;
    float *logits, *loss, *correct; /* (tokens, vocabulary) (tokens) (tokens) */
};

/* `targets` are the decoder's inputs, one for each sequence of the encoder's tape `in`. */
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
/* Adds to grad the gradient of sum(dlogits * logits), where dlogits is in t->logits, and writes
 * that of the memory to s->dmemory. */
void nn_decoder_backward(struct gpu_queue *q, float *grad, const struct nn_model *m,
                         const struct nn_weights *w, const struct nn_decoder_tape *t,
                         const struct nn_scratch *s, const struct nn_dropout *drop);

/* Incremental decoding: each row is a hypothesis, a prefix of a target. The keys and values of
 * earlier tokens are cached, so that a step costs one token's products and attention. The logits
 * equal those of nn_decoder_forward for the last token, up to rounding. */
struct nn_decoding {
    size_t rows, length, keys;     /* maxima: hypotheses, tokens of each, rows of states */
    size_t at;                     /* tokens decoded so far */
    const float *states;           /* (keys, d): the encoder's; borrowed */
    uint16_t *rounded;             /* the same in bf16 if activations are stored so */
    void **cache;                  /* by decoder layer: (rows, length, 2d) */
    void **spare;                  /* a second cache, for reordering hypotheses */
    void **cross;                  /* by decoder layer: (keys, 2d) */
    uint32_t *offset, *self_first; /* device */
    /* The inputs of a step, on the device: parts of `step`. */
    uint32_t *step, *token, *self_end, *cross_first, *cross_end, *parent;
    struct nn_attend_tape self, other;
    struct nn_feed_tape feed;
    struct nn_final_tape final;
    float *logits; /* (rows, vocabulary) */
};

/* Allocates the tables of layers in the arena. */
void nn_decoding_layout(struct nn_decoding *t, const struct nn_model *m, enum gpu_type type,
                        size_t rows, size_t length, size_t keys, struct gpu_layout *l,
                        struct arena *a);
/* Computes the keys and values of the states, which must outlive the decoding. */
void nn_decoding_begin(struct gpu_queue *q, struct nn_decoding *t, const struct nn_model *m,
                       const struct nn_weights *w, const float *states, struct arena *a);

/* One token for each of n rows. Arrays are on the host. */
struct nn_decoding_step {
    size_t n;
    const uint32_t *token;
    const uint32_t *parent; /* the row of the previous step that each one continues; any at first */
    const uint32_t *states_first, *states_end; /* the states that each may attend to */
};
/* Fills t->logits. At most t->length steps. */
void nn_decoding_next(struct gpu_queue *q, struct nn_decoding *t, const struct nn_model *m,
                      const struct nn_weights *w, const struct nn_decoding_step *s,
                      struct arena *a);
