/* A decoder one token at a time: rows are hypotheses, each a target so far. The keys and values of
 * the tokens before are kept (the cache), so that a step costs one token's products and attention.
 * The logits are those of nn_decoder_forward for the last token, up to rounding. */
#pragma once

#include "ops/nn/tape.h"

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
