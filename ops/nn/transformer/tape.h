/* The data of a model's passes: sequences, weights, dropout, the tape that a forward leaves for its
 * backward, and scratch memory. Everything on the device is carved from one block (gpu_layout), so
 * that one function both measures and lays out. */
#pragma once

#include "ops/nn/buffer.h"
#include "ops/nn/transformer/model.h"

/* Sequences on the host: sequence i is tokens[offset[i] .. offset[i+1]-1]; offset[0] is 0. */
struct nn_sequences {
    const uint32_t *tokens, *offset;
    size_t n;
};

/* Returns the type in which activations are stored (the void * of the tapes). bf16 products need
 * rows aligned to 16 bytes. */
enum gpu_type nn_stored(const struct gpu_device *d, const struct nn_config *c,
                        enum gpu_precision precision);

/* y = x + out_proj(attention(in_proj(norm(x)))) */
struct nn_attend_tape {
    float *x;           /* (T, d) */
    float *mean, *rstd; /* of the norm: (T) (T) */
    void *n;            /* the norm's output: (T, d); NULL: in the scratch */
    void *q;            /* (T, 3d): queries, keys, values; or (T, d): the queries alone */
    void *kv;           /* (S, 2d): keys and values of other rows; else NULL */
    float *lse;         /* (T, heads) */
    void *out;          /* (T, d) */
};

/* y = x + linear2(act(linear1(norm(x)))) */
struct nn_feed_tape {
    float *x, *mean, *rstd;
    void *n, *h, *act; /* h, act (T, ff): before and after the activation; the same with ReLU */
};

struct nn_layer_tape {
    struct nn_attend_tape self, cross; /* cross: decoders only */
    struct nn_feed_tape feed;
};

/* The final norm's input, statistics and output. */
struct nn_final_tape {
    float *x, *mean, *rstd, *out;
};

/* The encoder's tape. */
struct nn_tape {
    size_t tokens, sequences, pooled_rows;
    size_t longest;                   /* tokens of the longest sequence */
    uint32_t *token, *offset;         /* device copies */
    uint32_t *pool_row, *pool_offset; /* which rows each sequence pools */
    const uint32_t *row;              /* by token: row of the shared projections, if any */
    struct nn_layer_tape *layers;
    struct nn_final_tape final;
    uint32_t *arg; /* the argmax of max pooling */
    float *pooled; /* (sequences, d): the result */
    /* The memory of a decoder: (memory_rows, d), by sequence at memory_offset. */
    const float *memory;
    uint32_t *memory_offset;
    size_t memory_rows;
};

/* Memory of one pass, for one queue at a time. T is the maximum number of tokens of encoder or
 * decoder; S that of the memory's rows. */
struct nn_scratch {
    float *dx;                /* (T, d) */
    void *dn, *wide, *branch; /* (T, d), also as f32; (T, max(ff, 3d)); (T, d) */
    void *n;        /* (T, d): a norm's output, which training recomputes instead of storing it */
    void *dkv;      /* decoder: (S, 2d) */
    float *dmemory; /* decoder: (S, d) */
};

/* Dropout on the embeddings, the residual branches, the activation, and attention's probabilities.
 * Depends only on the key and the token's index in the whole batch. */
struct nn_dropout {
    float rate, attention;
    uint64_t key;
    uint64_t first_token; /* of the shard within the batch */
};

/* Parameters on the device: the flat vector, and the table of sinusoids (NULL if positions are
 * learned); and the precision of products. */
struct nn_weights {
    const float *flat, *sinusoids;
    enum gpu_precision precision;
    const float *shared;     /* the first layer's shared projections (shared.h), or NULL */
    const uint16_t *rounded; /* `flat` in bf16 if activations are stored so; else NULL */
};

/* `type` is that of nn_stored. t->layers is allocated in the arena; a batch's inputs are carved
 * from `in`, the rest from `l`. All layers of an inference tape share one layer's memory. `first`
 * holds the first layer's x and q, or is NULL. */
void nn_tape_layout(struct nn_tape *t, const struct nn_model *m, const struct nn_sequences *s,
                    enum gpu_type type, bool training, const struct nn_attend_tape *first,
                    struct gpu_layout *in, struct gpu_layout *l, struct arena *a);
/* Writes the shard's tokens and the rows to pool to the host block. */
void nn_tape_load(const struct nn_block *in, const struct nn_tape *t, const struct nn_model *m,
                  const struct nn_sequences *s);
/* `memory`: the rows that a decoder attends to, or 0. */
void nn_scratch_layout(struct nn_scratch *s, const struct nn_model *m, enum gpu_type type,
                       size_t tokens, size_t memory, struct gpu_layout *l);

/* ---- for tapes of other models: n rows; keys: rows of keys from another sequence, or 0; first:
 * holds x and q, or NULL ---- */
void nn_attend_layout(struct nn_attend_tape *t, const struct nn_config *c, enum gpu_type type,
                      size_t n, size_t keys, bool training, const struct nn_attend_tape *first,
                      struct gpu_layout *l);
void nn_final_layout(struct nn_final_tape *t, const struct nn_config *c, size_t n,
                     struct gpu_layout *l);
void nn_feed_layout(struct nn_feed_tape *t, const struct nn_config *c, enum gpu_type type, size_t n,
                    bool training, struct gpu_layout *l);
