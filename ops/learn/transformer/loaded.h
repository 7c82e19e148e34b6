/* A checkpoint's transformer, for inference; each thread uses its own queue. */
#pragma once

#include "ops/learn/infer/trained.h"
#include "ops/nn/buffer.h"
#include "ops/nn/transformer/tape.h"
#include "token.pb-c.h"

struct loaded {
    struct trained net;
    struct nn_model *model;     /* transposed */
    float *weights, *sinusoids; /* device */
    uint16_t *rounded;          /* the weights in bf16, if activations are stored so */
    uint32_t *first;            /* with `projected`: the first row of each token
                                 * (ops/nn/transformer/shared.h) */
    float *projected;           /* device: the first layer's shared projections; NULL if too
                                 * large */
    enum gpu_type type;         /* of activations */
};
extern const struct trained_kind loaded_kind; /* without `embed` */
enum err_code loaded_load(void *network, const Eqloom__Checkpoint *c, const struct chunk_io *io,
                          struct err *e);

struct nn_weights loaded_weights(const struct loaded *m);

/* ERR_INPUT, ERR_LIMIT or ERR_CORRUPT if the model cannot process the batch. */
enum err_code loaded_check(const struct loaded *m, const Eqloom__TokenBatch *b, struct err *e);
/* Returns sequences first .. first+n-1 of the batch in the arena, with start and end tokens if the
 * model is configured so. */
struct nn_sequences loaded_inputs(const struct loaded *m, const Eqloom__TokenBatch *b, size_t first,
                                  size_t n, struct arena *a);

/* An inference tape, and its inputs. */
void loaded_tape_layout(struct nn_tape *t, const struct loaded *m, const struct nn_sequences *s,
                        struct gpu_layout *in, struct gpu_layout *l, struct arena *a);
void loaded_tape_load(const struct nn_block *in, const struct nn_tape *t, const struct loaded *m,
                      const struct nn_sequences *s);

/* Computes out (sequences, d_model): one vector per sequence of the batch, of length 1 if
 * `normalize`. Uses the arena as working memory only. */
enum err_code embedder_run(float *out, const struct loaded *m, const Eqloom__TokenBatch *batch,
                           bool normalize, struct arena *a, struct err *e);
