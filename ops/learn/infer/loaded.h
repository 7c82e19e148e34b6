/* A checkpoint's transformer, for inference; each thread has a queue of its own. */
#pragma once

#include "ops/learn/infer/network.h"
#include "ops/nn/tape.h"
#include "token.pb-c.h"

struct loaded {
    struct network net;
    struct nn_model *model;     /* transposed */
    float *weights, *sinusoids; /* device */
    uint16_t *rounded;          /* the weights in bf16, if activations are stored so */
    uint32_t *first;            /* the first layer's projections are made for all tokens at all */
    float *projected;   /* places (ops/nn/shared.h), on the device; NULL: they are too many */
    enum gpu_type type; /* of activations */
};
extern const struct network_kind loaded_kind;

struct nn_weights loaded_weights(const struct loaded *m);

/* ERR_INPUT, ERR_LIMIT, ERR_CORRUPT if the model cannot take the batch. */
enum err_code loaded_check(const struct loaded *m, const Eqloom__TokenBatch *b, struct err *e);
/* Sequences first .. first+n-1 of the batch, between start and end tokens if the model wants it; in
 * the arena. */
struct nn_sequences loaded_inputs(const struct loaded *m, const Eqloom__TokenBatch *b, size_t first,
                                  size_t n, struct arena *a);

/* An inference tape, and what a batch gives it. */
void loaded_tape_layout(struct nn_tape *t, const struct loaded *m, const struct nn_sequences *s,
                        struct gpu_layout *in, struct gpu_layout *l, struct arena *a);
void loaded_tape_load(const struct nn_block *in, const struct nn_tape *t, const struct loaded *m,
                      const struct nn_sequences *s);

/* Device memory that grows; contents do not survive. */
struct loaded_memory {
    void *at;
    size_t size;
};
/* After two layouts were measured, the first of what the batch gives: restarts them on memory of
 * the measured size. The block's host memory is in the arena. */
enum err_code loaded_reserve(struct nn_block *block, struct gpu_layout *in, struct gpu_layout *l,
                             struct loaded_memory *memory, const struct loaded *m, struct arena *a,
                             struct err *e);

/* out (sequences, d_model): one vector per sequence of the batch, of length 1 if `normalize`. The
 * arena serves as working memory only. */
enum err_code embedder_run(float *out, const struct loaded *m, const Eqloom__TokenBatch *batch,
                           bool normalize, struct arena *a, struct err *e);
