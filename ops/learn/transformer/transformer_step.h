/* Internal to the training of transformers: what its objectives share. An objective is a network.
 */
#pragma once

#include "ops/learn/transformer/transformer_training.h"
#include "ops/nn/transformer/shared.h"

/* Of random numbers. */
enum stream { STREAM_INIT = 1, STREAM_DROPOUT, STREAM_PAIRS, STREAM_VALIDATION };

extern const struct network network_contrastive; /* all objectives that compare vectors */
extern const struct network network_seq2seq;     /* also autoencode */

/* Sequences first .. first + s.n - 1 of the batch; group g has the shards from g * per_group on. */
struct shard {
    size_t first;
    struct nn_sequences s; /* the inputs, with offsets from 0 */
    struct nn_tape tape;   /* contrastive */
    float *in, *maxima;    /* maxsim.c */
    uint32_t *place;       /* argmax of the maxima */
    size_t input;          /* seq2seq: bytes of its inputs in the queue's memory */
};

/* Contrastive: vectors (n, d), with MaxSim those of all tokens; scores (scored, n), of which the
 * first `rows` rows have a loss; on the device. */
struct contrastive {
    size_t rows, scored;
    float *vectors, *units, *norms, *dvectors;
    float *scratch; /* MaxSim: `cosines` floats for each queue */
    size_t cosines;
    float *scores, *loss, *correct;
    uint32_t *target, *group;
    double *bins; /* histogram: (blocks of rows, 2, GPU_BINS), then the gradient of their sum */
};

/* The first layer's projections that the batch's tokens share. */
struct shared_rows {
    const uint32_t *first; /* host, nn_shared_first; NULL: no sharing */
    size_t tokens;
    uint32_t from[GPU_GROUPS + 1]; /* part g has the tokens from[g] .. from[g+1]-1 */
    struct nn_shared parts[GPU_GROUPS];
    uint32_t *row;            /* device: by token of the batch */
    uint32_t *of, *of_offset; /* the inverse: by row */
    float *x, *q;             /* of the shards' tapes: (tokens, d) (tokens, 3d) */
    float *projected;         /* the parts' q */
};

struct transformer {
    struct trainer base;
    const struct nn_model *model;
    struct transformer_config config;
    float *sinusoids;   /* device */
    enum gpu_type type; /* of activations; f32: no rounding */
    struct arena *work; /* by queue */
    struct examples batch;
    struct nn_dropout dropout;
    struct shard *shards;
    size_t n_shards;
    struct nn_scratch *scratch; /* by queue; contrastive */
    struct contrastive c;
    struct shared_rows shared; /* contrastive */
    char *regions;             /* seq2seq: of each queue, `region` bytes */
    size_t region;
};

/* The `open` and `close` of these networks. */
enum err_code transformer_open(void *self, struct err *e);
void transformer_close(void *self);
/* Begins a `cut`: takes the batch, and sets the dropout of its step. */
void transformer_take(struct transformer *t);
/* Cuts the n sequences of t->batch.inputs into shards; weight[i] is the number of tokens of
 * sequences 0 .. i-1. */
void transformer_cut(struct transformer *t, const uint32_t *weight);
struct nn_weights transformer_weights(const struct transformer *t);
/* The sharing of projections in a batch. transformer_share decides whether to share; _layout must
 * follow another layout of the same batch; _tape returns the part of the shard that begins with
 * token `first`; _rows returns the rows of the largest part. Call _forward before the shards'
 * passes and _backward after them. */
void transformer_share(struct transformer *t);
void transformer_share_layout(struct transformer *t, struct gpu_layout *in, struct gpu_layout *l);
void transformer_share_load(const struct transformer *t, const struct nn_block *in);
struct nn_attend_tape transformer_share_tape(const struct transformer *t, size_t first);
size_t transformer_share_rows(const struct transformer *t);
enum err_code transformer_share_forward(struct transformer *t, struct err *e);
enum err_code transformer_share_backward(struct transformer *t, struct err *e);
/* Returns how many sequences of the shard, from its first, have rows in scores. */
static inline size_t shard_scored(const struct transformer *t, const struct shard *s)
{
    size_t scored = t->c.scored;
    return s->first >= scored ? 0 : scored - s->first < s->s.n ? scored - s->first : s->s.n;
}
/* MaxSim scores of t->c.units, a vector for each token. maxsim_forward and maxsim_back_to_maxima
 * process shard `item`, each for all shards in turn; maxsim_back_to_states fills the shard's part
 * of t->c.dvectors. */
void maxsim_layout(struct transformer *t, struct gpu_layout *in, struct gpu_layout *l);
void maxsim_load(const struct transformer *t, const struct nn_block *in);
void maxsim_forward(void *trainer, size_t item, struct gpu_queue *q);
void maxsim_back_to_maxima(void *trainer, size_t item, struct gpu_queue *q);
void maxsim_back_to_states(const struct transformer *t, const struct shard *s, struct gpu_queue *q);
/* Returns the dropout of a shard that begins with token `first` of the batch. */
struct nn_dropout transformer_dropout(const struct transformer *t, uint64_t first);
/* Returns sequences first .. first+n-1, with offsets from 0. */
struct nn_sequences sequences_slice(struct arena *a, const struct nn_sequences *all, size_t first,
                                    size_t n);
