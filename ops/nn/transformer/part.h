/* Internal to the models: the parts of their layers, each with forward and backward. A part reads
 * its input from its tape; its backward takes the gradient of the output in the scratch's dx and
 * replaces it by that of the input. */
#pragma once

#include "ops/nn/transformer/tape.h"

/* What the parts of one pass share. */
struct nn_pass {
    struct gpu_queue *q;
    const struct gpu_ops *op;
    const struct nn_model *m;
    const float *w;       /* the flat parameters */
    const void *operands; /* the same, in the type that products read */
    enum gpu_type type;   /* of the operands and of stored activations */
    float *grad;          /* backward: adds to these flat gradients */
    const float *positions;
    const struct nn_scratch *s;
    const struct nn_dropout *drop;           /* NULL for none; without attention's dropout */
    const struct nn_dropout *attention_drop; /* on attention's probabilities; NULL for none */
    size_t tokens, d, ff;                    /* of the encoder or the decoder */
    enum gpu_precision precision;
    /* A pending residual branch, added by the next norm: x = base + dropout(the scratch's
     * branch). */
    float *open;
    const float *base;
    struct gpu_dropout branch;
};

struct nn_pass nn_pass_of(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                          size_t tokens, const struct nn_scratch *s, const struct nn_dropout *drop);

/* Return NULL for an absent parameter. */
static inline const float *nn_weight(const struct nn_pass *p, size_t at)
{
    return at == NN_ABSENT ? NULL : p->w + at;
}

static inline const void *nn_operand(const struct nn_pass *p, size_t at)
{
    return at == NN_ABSENT ? NULL : gpu_at(p->type, p->operands, at);
}

static inline float *nn_gradient(const struct nn_pass *p, size_t at)
{
    return at == NN_ABSENT ? NULL : p->grad + at;
}

/* x = embedding[token] * sqrt(d_model) + position */
void nn_embed(const struct nn_pass *p, float *x, const uint32_t *token, const uint32_t *offset,
              size_t sequences);
void nn_embed_back(const struct nn_pass *p, float *dx, const uint32_t *token,
                   const uint32_t *offset, size_t sequences);

/* Returns how many floats n stored numbers occupy, for copies; n is even. */
static inline size_t nn_floats(const struct nn_pass *p, size_t n)
{
    return gpu_bytes(p->type, n) / sizeof(float);
}

/* The keys and values of earlier tokens: those of row i are rows i * length .. of kv; number `at`
 * is that of the current token. */
struct nn_cache {
    void *kv; /* (rows, length, 2d) */
    size_t length, at;
};

/* One attention: its parameters, and which keys each query sees. */
struct nn_attend {
    struct nn_projections at;
    struct nn_norm norm;
    size_t layer, sequences;
    const uint32_t *offset;              /* of the queries */
    const uint32_t *key_first, *key_end; /* of the keys, by sequence */
    const void *memory;                  /* (keys, d): another sequence's rows for keys, or NULL */
    size_t keys;
    bool projected;         /* t->kv already holds the keys and values of memory */
    struct nn_cache *cache; /* self-attention of one token per sequence; or NULL */
    bool causal;
    size_t longest;      /* rows of the longest sequence, if known */
    const float *shared; /* (.., 3d): shared projections, or NULL; token t has row[t] */
    const uint32_t *row;
};
/* A layer's self-attention, and a decoder layer's attention to the memory. */
struct nn_attend nn_self_attention(const struct nn_layer *l, size_t layer, size_t sequences,
                                   const uint32_t *offset);
struct nn_attend nn_cross_attention(const struct nn_layer *l, size_t layer, size_t sequences,
                                    const uint32_t *offset, const void *memory, size_t keys);
void nn_attend(struct nn_pass *p, float *y, const struct nn_attend_tape *t,
               const struct nn_attend *how);
/* Computes the norm of t->x and its projection t->q. */
void nn_project(struct nn_pass *p, const struct nn_attend_tape *t, const struct nn_attend *how);
/* Takes the gradient of t->q in the scratch's wide. */
void nn_project_back(const struct nn_pass *p, const struct nn_attend_tape *t,
                     const struct nn_attend *how);
/* Computes kv (keys, 2d), the keys and values of the rows of memory. */
void nn_project_memory(const struct nn_pass *p, void *kv, const void *memory, size_t keys,
                       const struct nn_projections *at);
/* Adds the gradient of how->memory to dmemory. Must not be used with a cache. With shared
 * projections it stops there: it leaves their gradient in t->q, and the rest of the input's
 * gradient in t->x. */
void nn_attend_back(const struct nn_pass *p, float *dmemory, const struct nn_attend_tape *t,
                    const struct nn_attend *how);

/* The feed-forward part of a layer. */
struct nn_feed {
    const struct nn_layer *at;
    struct nn_norm norm;
    size_t layer;
};
struct nn_feed nn_feed_of(const struct nn_layer *l, size_t layer);
void nn_feed(struct nn_pass *p, float *y, const struct nn_feed_tape *t, const struct nn_feed *how);
void nn_feed_back(const struct nn_pass *p, const struct nn_feed_tape *t, const struct nn_feed *how);

/* out = norm(x) */
void nn_final(struct nn_pass *p, const struct nn_final_tape *t, struct nn_norm norm);
/* Computes the scratch's dx from dout; `layers` is the number of layers before the norm. */
void nn_final_back(const struct nn_pass *p, const float *dout, const struct nn_final_tape *t,
                   struct nn_norm norm, size_t layers);
