/* Inside of the models: the parts that their layers are made of, each as forward and backward. A
 * part reads its input from its tape; the backward takes the gradient of its output in the
 * scratch's dx and leaves that of its input there. */
#pragma once

#include "ops/nn/tape.h"

/* Everything that the parts of one pass share. */
struct nn_pass {
    struct gpu_queue *q;
    const struct gpu_ops *op;
    const struct nn_model *m;
    const float *w;       /* the flat parameters */
    const void *operands; /* the same, as products read them */
    enum gpu_type type;   /* of these, and of stored activations */
    float *grad;          /* backward: the flat gradients, to which all is added */
    const float *positions;
    const struct nn_scratch *s;
    const struct nn_dropout *drop;           /* NULL: none, but on attention's probabilities */
    const struct nn_dropout *attention_drop; /* there; NULL: none */
    size_t tokens, d, ff;                    /* of the encoder or the decoder */
    enum gpu_precision precision;
    /* A residual branch that its norm has still to close: x = base + dropout(the scratch's branch).
     */
    float *open;
    const float *base;
    struct gpu_dropout branch;
};

struct nn_pass nn_pass_of(struct gpu_queue *q, const struct nn_model *m, const struct nn_weights *w,
                          size_t tokens, const struct nn_scratch *s, const struct nn_dropout *drop);

/* NULL for what is absent. */
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

/* How many floats n stored numbers fill, n being even: copies take them as such. */
static inline size_t nn_floats(const struct nn_pass *p, size_t n)
{
    return gpu_bytes(p->type, n) / sizeof(float);
}

/* Keys and values of earlier tokens: row i's are rows i * length .. of kv, those of the present
 * token being number `at`. */
struct nn_cache {
    void *kv; /* (rows, length, 2d) */
    size_t length, at;
};

/* One attention: where its parameters are, who sees what. */
struct nn_attend {
    struct nn_projections at;
    struct nn_norm norm;
    size_t layer, sequences;
    const uint32_t *offset;              /* of the queries */
    const uint32_t *key_first, *key_end; /* of the keys, by sequence */
    const void *memory;                  /* (keys, d): the rows of keys from elsewhere, or NULL */
    size_t keys;
    bool projected;         /* t->kv holds the keys and values of memory already */
    struct nn_cache *cache; /* self-attention of one token per sequence; or NULL */
    bool causal;
    size_t longest;      /* rows of a sequence, if it is known */
    const float *shared; /* (.., 3d): what was projected before, of which token t has row[t]; or */
    const uint32_t *row; /* NULL */
};
/* A layer's self-attention, and a decoder layer's attention to the memory. */
struct nn_attend nn_self_attention(const struct nn_layer *l, size_t layer, size_t sequences,
                                   const uint32_t *offset);
struct nn_attend nn_cross_attention(const struct nn_layer *l, size_t layer, size_t sequences,
                                    const uint32_t *offset, const void *memory, size_t keys);
void nn_attend(struct nn_pass *p, float *y, const struct nn_attend_tape *t,
               const struct nn_attend *how);
/* A self-attention's t->q from t->x, and what comes before it. */
void nn_project(struct nn_pass *p, const struct nn_attend_tape *t, const struct nn_attend *how);
/* From the scratch's wide, the gradient of t->q. */
void nn_project_back(const struct nn_pass *p, const struct nn_attend_tape *t,
                     const struct nn_attend *how);
/* kv (keys, 2d): keys and values of the rows of memory. */
void nn_project_memory(const struct nn_pass *p, void *kv, const void *memory, size_t keys,
                       const struct nn_projections *at);
/* Not with a cache. dmemory += the gradient of how->memory. Where the projections are shared it
 * ends with them: their gradient is left in t->q, and what else comes to the input in t->x. */
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
/* dx of the scratch from dout, behind so many layers. */
void nn_final_back(const struct nn_pass *p, const float *dout, const struct nn_final_tape *t,
                   struct nn_norm norm, size_t layers);
