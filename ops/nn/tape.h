/* What the passes of a model work on: sequences, weights, dropout, the tape that a forward leaves
 * for its backward, and scratch memory. Everything on the device is carved from one block
 * (gpu_layout), so that one function both sizes and lays out. */
#pragma once

#include "ops/nn/model.h"

/* Sequences on the host: sequence i is tokens[offset[i] .. offset[i+1]-1], offset[0] being 0. */
struct nn_sequences {
    const uint32_t *tokens, *offset;
    size_t n;
};

/* What activations of the model are stored as, those of the tapes that are void: products of bf16
 * want rows that begin at multiples of 16 bytes. */
enum gpu_type nn_stored(const struct gpu_device *d, const struct nn_config *c,
                        enum gpu_precision precision);

/* y = x + out_proj(attention(in_proj(norm(x)))) */
struct nn_attend_tape {
    float *x;           /* (T, d) */
    float *mean, *rstd; /* of the norm: (T) (T) */
    void *n;            /* its output: (T, d); NULL: the scratch's */
    void *q;            /* (T, 3d): queries, keys, values; or (T, d), the queries alone, */
    void *kv;           /* (S, 2d): to keys and values of other rows; else NULL */
    float *lse;         /* (T, heads) */
    void *out;          /* (T, d) */
};

/* y = x + linear2(act(linear1(norm(x)))) */
struct nn_feed_tape {
    float *x, *mean, *rstd;
    void *n, *h, *act; /* h, act (T, ff): before and after the activation; one with ReLU */
};

struct nn_layer_tape {
    struct nn_attend_tape self, cross; /* cross: decoders only */
    struct nn_feed_tape feed;
};

/* The final norm's input, statistics, output. */
struct nn_final_tape {
    float *x, *mean, *rstd, *out;
};

/* The encoder's. */
struct nn_tape {
    size_t tokens, sequences, pooled_rows;
    size_t longest;                   /* tokens of a sequence */
    uint32_t *token, *offset;         /* device copies */
    uint32_t *pool_row, *pool_offset; /* which rows each sequence pools */
    const uint32_t *row;              /* of the shared projections, where they are; else unused */
    struct nn_layer_tape *layers;
    struct nn_final_tape final;
    uint32_t *arg; /* of pooling by maximum */
    float *pooled; /* (sequences, d): the result */
    /* What a decoder sees: (memory_rows, d), those of each sequence by memory_offset. */
    const float *memory;
    uint32_t *memory_offset;
    size_t memory_rows;
};

/* Memory of one pass, for one queue at a time: T, the maximal tokens of encoder or decoder; S, the
 * rows that a decoder sees. */
struct nn_scratch {
    float *dx;                /* (T, d) */
    void *dn, *wide, *branch; /* (T, d), also of f32; (T, max(ff, 3d)) (T, d) */
    void *n;   /* (T, d): what a norm gives, which training makes again instead of keeping it */
    void *dkv; /* decoder: (S, 2d) */
    float *dmemory; /* decoder: (S, d) */
};

/* Dropout on the embeddings, the residual branches and the activation, and on attention's
 * probabilities. A function of the key and the token's place in the whole batch. */
struct nn_dropout {
    float rate, attention;
    uint64_t key;
    uint64_t first_token; /* of the shard within the batch */
};

/* Parameters on the device: the flat vector, and the table of sinusoids (or NULL if learned); and
 * how their products are computed. */
struct nn_weights {
    const float *flat, *sinusoids;
    enum gpu_precision precision;
    const float *shared; /* the first layer's projections of the rows that tapes name (shared.h), or
                          * NULL: it makes its own */
    const uint16_t *rounded; /* `flat` in bf16, if activations are stored so; else NULL */
};

/* What a batch gives: memory of the device, and what is to be copied there, at once. */
struct nn_block {
    char *device, *host;
    size_t bytes;
};
struct nn_block nn_block_new(size_t bytes, struct arena *a);
/* Where in the host's memory lies what the device has there. */
static inline void *nn_host(const struct nn_block *b, const void *device)
{
    return b->host + ((const char *)device - b->device);
}

/* `type`: as nn_stored says. t->layers lives in the arena; what the batch gives is carved from
 * `in`, the rest from `l`. An inference tape has one layer's memory, used again and again. `first`
 * says where the first layer's x and q lie, or is NULL. */
void nn_tape_layout(struct nn_tape *t, const struct nn_model *m, const struct nn_sequences *s,
                    enum gpu_type type, bool training, const struct nn_attend_tape *first,
                    struct gpu_layout *in, struct gpu_layout *l, struct arena *a);
/* The shard's tokens, and the rows that are pooled. */
void nn_tape_load(const struct nn_block *in, const struct nn_tape *t, const struct nn_model *m,
                  const struct nn_sequences *s);
/* `memory` tokens of the encoder under a decoder, or 0. */
void nn_scratch_layout(struct nn_scratch *s, const struct nn_model *m, enum gpu_type type,
                       size_t tokens, size_t memory, struct gpu_layout *l);

/* ---- for tapes of other models: n rows; keys: rows of keys from elsewhere, or 0;
 * first: where x and q lie, or NULL ---- */
void nn_attend_layout(struct nn_attend_tape *t, const struct nn_config *c, enum gpu_type type,
                      size_t n, size_t keys, bool training, const struct nn_attend_tape *first,
                      struct gpu_layout *l);
void nn_final_layout(struct nn_final_tape *t, const struct nn_config *c, size_t n,
                     struct gpu_layout *l);
void nn_feed_layout(struct nn_feed_tape *t, const struct nn_config *c, enum gpu_type type, size_t n,
                    bool training, struct gpu_layout *l);
