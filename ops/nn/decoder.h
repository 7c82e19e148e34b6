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
#pragma once

#include "ops/nn/tape.h"

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
