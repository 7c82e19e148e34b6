/* A small tensor-op interface: a device, memory on it, queues, and a table of ops. Models and
 * training are written once on top of it; each back end (cpu/, cuda/) fills the table.
 *
 * Memory: a device pointer is an ordinary pointer that only ops, gpu_read and gpu_write may
 * dereference (on the CPU it is host memory). Pointers in an op's arguments are device pointers
 * unless their comment says otherwise. Matrices are row-major, of f32 where no type is given; `ld`
 * is the distance of rows in elements. Sequences are packed: sequence i has rows offset[i] ..
 * offset[i+1]-1.
 *
 * Order: ops on one queue take effect in order, at once or later; a queue is used by one thread at
 * a time. An op does not return an error: the first failure stays in the queue, the results of
 * later ops are undefined, and gpu_finish returns the failure.
 *
 * Determinism: an op is a fixed sequence of operations on its inputs, whatever the number of
 * threads. Parallelism between ops is the caller's: gpu_each runs items that were cut as the device
 * likes it (gpu_cuts), independently of the number of threads, and the caller joins their results
 * in a fixed order. */
#pragma once

#include "base/err.h"
#include "base/pool.h"

#include <stdbool.h>
#include <stdint.h>

struct gpu_device;
struct gpu_queue;

enum gpu_activation { GPU_RELU, GPU_GELU /* exact: x * Phi(x) */, GPU_TANH, GPU_SIGMOID };
enum gpu_pooling { GPU_MEAN, GPU_MAX, GPU_SUM };

/* Precision of a product's operands: unchanged, or rounded to TF32 or bf16 (to nearest, ties to
 * even) on devices with units for it. Sums are always f32. */
enum gpu_precision { GPU_F32, GPU_TF32, GPU_BF16 };

/* Element type of a tensor; in ops that take it, pointers are void. A device that computes in bf16
 * may also store activations in it (gpu_stored); other tensors are f32. */
enum gpu_type { GPU_TYPE_F32, GPU_TYPE_BF16 };

static inline size_t gpu_bytes(enum gpu_type type, size_t n)
{
    return type == GPU_TYPE_BF16 ? n * sizeof(uint16_t) : n * sizeof(float);
}
/* Returns a pointer to element i of x. */
static inline void *gpu_at(enum gpu_type type, const void *x, size_t i)
{
    return (char *)x + gpu_bytes(type, i);
}

/* c (m, n) = act(alpha * op(a) (m, k) * op(b) (k, n) [+ beta * base] [+ bias]). op is the transpose
 * if ta or tb is set: a is then stored (k, m), b (n, k). With a mask, c is 0 where the mask is not
 * positive: the gradient through a ReLU. */
struct gpu_matmul {
    bool ta, tb;
    bool relu;        /* act */
    float beta;       /* 0: no base, and c is not read */
    const void *base; /* (m, n), rows ldc apart; NULL: c */
    const void *mask; /* (m, n), rows ldc apart; not with beta, bias or relu */
    const void *bias; /* (n), added to each row */
    enum gpu_precision precision;
    enum gpu_type read;  /* a and b */
    enum gpu_type write; /* c, base, mask and bias; bf16 only if a and b are */
    size_t m, n, k;
    float alpha;
    const void *a, *b;
    void *c;
    size_t lda, ldb, ldc;
};

struct gpu_dropout {
    float rate;
    uint64_t key, first; /* first: counter of the first element */
};

/* Attention of each sequence's queries to its keys: sequence i has the query rows first[i] ..
 * end[i]-1, and the key and value rows key_first[i] .. key_end[i]-1, at least one. Head h is
 * columns h * size .. of q, k and v, whose rows are q_ld and kv_ld apart. Self-attention over
 * packed sequences has (offset, offset + 1) for both; several sequences may share their keys, but
 * then there is no backward. `causal`: query i of n attends to the first m - n + 1 + i of m >= n
 * keys. */
struct gpu_attention {
    size_t sequences, heads, size;
    size_t rows; /* of q; upper bound of all ranges */
    const uint32_t *first, *end, *key_first, *key_end;
    enum gpu_type type; /* of q, k, v, the result, and all gradients */
    const void *q, *k, *v;
    size_t q_ld, kv_ld;
    float *lse;  /* (rows of q, heads): logarithm of the softmax's denominator */
    float scale; /* of the scores */
    bool causal;
    /* Dropout of the probabilities; rate 0: none. The counter of query i of sequence s, key j and
     * head h is ((first + first[s]) * heads + h) * 2^40 + j * 2^20 + i. */
    struct gpu_dropout drop;
    size_t longest; /* rows of the longest sequence; 0: unknown */
};

/* Packed sequences of tokens: token[t] is a row of the table; t's index in its sequence is a row of
 * the positions. */
struct gpu_embedding {
    const uint32_t *token, *offset;
    size_t sequences, tokens, cols;
    size_t vocabulary, places; /* rows of table and positions */
    float scale;               /* of the table's rows */
};

/* A convolution without padding and with stride 1, channels-last: x (images, height, width, in),
 * filters (out, filter_height, filter_width, in), y (images, height - filter_height + 1, width -
 * filter_width + 1, out). */
struct gpu_convolution {
    size_t images, height, width, in, out;
    size_t filter_height, filter_width;
    bool relu; /* forward: applies a ReLU to y */
    enum gpu_precision precision;
};

/* Max pooling over adjacent windows: x (images, height, width, channels), y (images, height /
 * window_height, width / window_width, channels). Remaining rows and columns are ignored. A window
 * has at most 254 elements. */
struct gpu_max_pool {
    size_t images, height, width, channels;
    size_t window_height, window_width;
};

/* Layer norm by rows, y = (x - mean) * rstd * gamma + beta, eps 1e-5; mean and rstd are kept. */
struct gpu_norm {
    size_t rows, cols;
    float *x, *mean, *rstd;
    const float *gamma, *beta;
    enum gpu_type type; /* of y and of a branch's gradient */
};

/* Its backward: dx [+]= ..., dgamma += ..., dbeta += ... */
struct gpu_norm_back {
    float *dx, *dgamma, *dbeta;
    bool accumulate; /* adds to dx */
    enum gpu_type dy_type;
    const void *dy;
    void *y; /* recomputed output of norm, which then need not be kept; or NULL */
    /* Set to dropout(dx), the gradient of the residual branch that ended in x; NULL: not computed.
     * A copy of dx if `drop` is NULL. */
    void *branch;
    const struct gpu_dropout *drop;
};

/* Loss and gradient norm of a training step, on the device, so that the update need not wait for
 * the host. */
struct gpu_outcome {
    double loss, accuracy;
    double norm;   /* of the gradient */
    float scale;   /* of the gradient, to clip it */
    uint32_t skip; /* a number is not finite; sticky, so that later updates are skipped too */
};

/* One step of AdamW (Loshchilov and Hutter 2019) as PyTorch's. */
struct gpu_adamw {
    float lr, beta1, beta2, eps, weight_decay;
    float correction1, correction2;    /* 1 - beta^step */
    bool coupled;                      /* Adam: the decay is part of the gradient instead */
    const struct gpu_outcome *outcome; /* on the device: scales the gradient, or skips the update */
};

/* RMSprop with Nesterov's momentum, elements of g being clipped: v = decay v + (1 - decay) g^2;
 * m' = momentum m - lr g / sqrt(v + 1e-10); p += (1 + momentum) m' - momentum m */
struct gpu_rmsprop {
    float lr, decay, momentum, clip;
    const struct gpu_outcome *outcome; /* as in gpu_adamw */
};

/* A loss of each row of logits, which has a target column; the other columns that count are its
 * negatives. Columns of the row's group do not count, nor does the row's own column if `self`: with
 * group == NULL and !self, all columns count. Label smoothing, for the plain cross entropy only, is
 * PyTorch's: the target distribution is 1 - smoothing on the target plus smoothing spread over all
 * columns. */
struct gpu_loss {
    size_t rows, cols, first_row; /* row r of logits is row first_row + r of the complete matrix */
    const uint32_t *target;       /* (all rows): column */
    const uint32_t *group;        /* (all rows, which are the columns), or NULL */
    bool self;
    bool own; /* inverted: only columns of the row's group count */
    float smoothing;
    float margin;   /* triplet_loss, siamese_loss, */
    bool squared;   /* whose hinge terms are squared */
    bool euclidean; /* siamese_loss: uses distances instead of logits */
    float *swapped; /* triplet_loss: (rows, cols), the scores of the rows' targets, or NULL */
    float scale;    /* of the gradient */
    float *loss;    /* (rows) */
    float *correct; /* (rows): 1 where the target has the maximum; ties share it */
};

enum { GPU_BINS = 64 };

struct gpu_ops {
    const char *name; /* "cpu-avx512", ... */

    void (*matmul)(struct gpu_queue *q, const struct gpu_matmul *mm);

    /* x (n) = value; y += x; y = x */
    void (*fill)(struct gpu_queue *q, float *x, size_t n, float value);
    void (*add)(struct gpu_queue *q, float *y, const float *x, size_t n);
    void (*copy)(struct gpu_queue *q, float *y, const float *x, size_t n);
    /* Row i of y = row from[i] of x, or row i if `from` is NULL; rows of cols numbers, ld apart. */
    void (*copy_rows)(struct gpu_queue *q, float *y, size_t y_ld, const float *x, size_t x_ld,
                      const uint32_t *from, size_t rows, size_t cols);
    void (*scale)(struct gpu_queue *q, float *x, size_t n, float factor);
    /* y (rows, cols) = x, whose rows are ld apart, rounded to bf16 */
    void (*round_bf16)(struct gpu_queue *q, uint16_t *y, const float *x, size_t rows, size_t cols,
                       size_t ld);
    /* y = sum of `count` <= 64 vectors of length n, pairwise: ((0+1)+(2+3))+...; y may be the first
     * of them. x is a host array of device pointers. */
    void (*sum_many)(struct gpu_queue *q, float *y, const float *const *x, size_t count, size_t n);
    /* y (rows, cols) += x, row r times factor[r] */
    void (*add_rows)(struct gpu_queue *q, float *y, const float *x, const float *factor,
                     size_t rows, size_t cols);
    /* y (rows, cols) = x + bias (cols) in each row; bias may be NULL; y may be x */
    void (*add_bias)(struct gpu_queue *q, float *y, const float *x, const float *bias, size_t rows,
                     size_t cols);
    /* sum (cols) += column sums of x (rows, cols): the gradient of a bias */
    void (*add_columns)(struct gpu_queue *q, float *sum, enum gpu_type type, const void *x,
                        size_t rows, size_t cols);
    /* *out = sum of squares, in double */
    void (*sum_squares)(struct gpu_queue *q, double *out, const float *x, size_t n);

    /* For batch norm, whose caller derives each column's factor and offset from sums over all rows.
     * sums (2, cols) = column sums of x, and of x * y, in double. */
    void (*column_sums)(struct gpu_queue *q, double *sums, const float *x, const float *y,
                        size_t rows, size_t cols);
    /* y = x * a + z * b + c, with a, b and c (cols) per column; y may be x. If z and b are NULL: y
     * = x * a + c. */
    void (*affine_columns)(struct gpu_queue *q, float *y, const float *x, const float *a,
                           const float *z, const float *b, const float *c, size_t rows,
                           size_t cols);

    /* y = [relu] of the images convolved with the filters, plus bias (out) unless NULL. */
    void (*convolve)(struct gpu_queue *q, float *y, const float *x, const float *filters,
                     const float *bias, const struct gpu_convolution *how);
    /* dx = ... */
    void (*convolve_back_input)(struct gpu_queue *q, float *dx, const float *dy,
                                const float *filters, const struct gpu_convolution *how);
    /* dfilters += ..., dbias (out) += ... */
    void (*convolve_back_filters)(struct gpu_queue *q, float *dfilters, float *dbias,
                                  const float *dy, const float *x,
                                  const struct gpu_convolution *how);
    /* `at`, of y's shape, receives the index of the maximum in its window, row * window_width +
     * column, the first one on ties; NULL: not stored. */
    void (*max_pool)(struct gpu_queue *q, float *y, uint8_t *at, const float *x,
                     const struct gpu_max_pool *how);
    /* dx = dy at the maxima, else 0. */
    void (*max_pool_back)(struct gpu_queue *q, float *dx, const float *dy, const uint8_t *at,
                          const struct gpu_max_pool *how);

    /* y = act(x + bias); bias may be NULL; y may be x. */
    void (*activate)(struct gpu_queue *q, enum gpu_type type, void *y, const void *x,
                     const float *bias, size_t rows, size_t cols, enum gpu_activation kind);
    /* dx = dy * act'; `saved` is the input (before the bias) for GELU, else the output; dx may be
     * dy. */
    void (*activate_back)(struct gpu_queue *q, enum gpu_type type, void *dx, const void *dy,
                          const void *saved, const float *bias, size_t rows, size_t cols,
                          enum gpu_activation kind);

    /* y = x / (1 - rate) for the elements that are kept, else 0; plus base, unless NULL. Whether an
     * element is kept is a function of the key and its counter, so the same call on the gradient is
     * the backward. y may be x or base. */
    void (*dropout)(struct gpu_queue *q, enum gpu_type type, void *y, const void *x,
                    const void *base, size_t n, const struct gpu_dropout *drop);

    void (*norm)(struct gpu_queue *q, void *y, const struct gpu_norm *how);
    /* x = base + dropout(sum), then norm of x: the end of a residual branch and the beginning of
     * the next. */
    void (*residual_norm)(struct gpu_queue *q, void *y, enum gpu_type sum_type, const void *sum,
                          const float *base, const struct gpu_dropout *drop,
                          const struct gpu_norm *how);
    void (*norm_back)(struct gpu_queue *q, const struct gpu_norm_back *to,
                      const struct gpu_norm *how);

    /* out (rows of q, heads * size); fills lse. */
    void (*attention)(struct gpu_queue *q, void *out, const struct gpu_attention *at);
    /* dq, dk and dv, laid out as q, k and v, from dout (rows of q, heads * size). */
    void (*attention_back)(struct gpu_queue *q, void *dq, void *dk, void *dv, const void *dout,
                           const struct gpu_attention *at);

    /* x (tokens, cols) = table[token] * scale + positions[index in the sequence]. */
    void (*embed)(struct gpu_queue *q, float *x, const float *table, const float *positions,
                  const struct gpu_embedding *how);
    /* dtable += ...; dpositions += ... unless NULL. */
    void (*embed_back)(struct gpu_queue *q, float *dtable, float *dpositions, const float *dx,
                       const struct gpu_embedding *how);

    /* y (segments, cols): mean, maximum or sum of the rows x[row[j]], offset[s] <= j < offset[s+1];
     * only sums allow empty segments. `arg` (segments, cols) receives the row of the maximum, the
     * first one on ties; unused otherwise. */
    void (*pool)(struct gpu_queue *q, float *y, uint32_t *arg, const float *x, const uint32_t *row,
                 const uint32_t *offset, size_t segments, size_t cols, enum gpu_pooling kind);
    /* dx += ...; no row may be pooled twice. (The backward of a sum that repeats rows is the sum
     * over the transposed lists.) */
    void (*pool_back)(struct gpu_queue *q, float *dx, const float *dy, const uint32_t *arg,
                      const uint32_t *row, const uint32_t *offset, size_t segments, size_t cols,
                      enum gpu_pooling kind);

    /* y = x / max(|x|, 1e-12) by rows; `norms` (rows) are kept; y may be x. */
    void (*normalize)(struct gpu_queue *q, float *y, float *norms, const float *x, size_t rows,
                      size_t cols);
    /* dx from dy; dx may be dy. */
    void (*normalize_back)(struct gpu_queue *q, float *dx, const float *dy, const float *y,
                           const float *norms, size_t rows, size_t cols);

    /* Losses: logits (rows, cols) become scale * d loss / d logits. */
    void (*cross_entropy)(struct gpu_queue *q, float *logits, const struct gpu_loss *how);
    /* The mean of max(0, margin + logit - target's logit) over the negatives, of which there must
     * be one; `correct`: the fraction of negatives below the target, ties counting a half. With
     * `swapped`, which is replaced by its gradient too, a column's larger logit of the two is used:
     * anchor and positive swap their roles. */
    void (*triplet_loss)(struct gpu_queue *q, float *logits, const struct gpu_loss *how);
    /* The mean of max(0, margin - logit) of the target and of max(0, margin + logit) of each
     * negative; `correct` as above. With `euclidean` and d = sqrt(2 - 2 logit), the distance of
     * unit vectors: of d^2 of the target and of max(0, margin - d)^2 of each negative. */
    void (*siamese_loss)(struct gpu_queue *q, float *logits, const struct gpu_loss *how);
    /* Two histograms, bins (2, GPU_BINS): of the targets' logits and of the negatives'. Bins are
     * evenly spaced from -1 to 1; a logit is shared by the two nearest, by linear interpolation.
     * Logits of columns that do not count become -infinity; `correct` as above. */
    void (*histogram)(struct gpu_queue *q, double *bins, float *logits, const struct gpu_loss *how);
    /* Replaces the logits that histogram left by their gradient, computed from that of the bins. */
    void (*histogram_back)(struct gpu_queue *q, float *logits, const double *dbins,
                           const struct gpu_loss *how);

    /* bins (blocks, 2, GPU_BINS): the first block is replaced by the gradient of the loss with
     * respect to the sum of the blocks; *loss is the loss. */
    void (*histogram_loss)(struct gpu_queue *q, double *bins, double *loss, size_t blocks);
    /* sums[0] = sum of loss[i] / by unless loss is NULL, sums[1] = sum of correct[i] / by */
    void (*sum_losses)(struct gpu_queue *q, double *sums, const float *loss, const float *correct,
                       size_t n, double by);

    /* Loss and accuracy are the sums over `parts` pairs / by; the norm comes from n sums of
     * squares; the scale clips it to `clip`, unless that is 0. Changes nothing once `skip` is
     * set. */
    void (*conclude)(struct gpu_queue *q, struct gpu_outcome *out, const double *sums, size_t parts,
                     double by, const double *squares, size_t n, double clip);
    /* `rounded` receives p in bf16, unless NULL. */
    void (*adamw)(struct gpu_queue *q, float *p, uint16_t *rounded, float *m, float *v,
                  const float *g, size_t n, const struct gpu_adamw *how);
    void (*rmsprop)(struct gpu_queue *q, float *p, float *m, float *v, const float *g, size_t n,
                    const struct gpu_rmsprop *how);
    /* z = a * x + b * y; z may be x. With an outcome: writes nothing if it has `skip`, and scales y
     * by its scale if `clipped`. `rounded` receives z in bf16, unless NULL. */
    void (*combine)(struct gpu_queue *q, float *z, uint16_t *rounded, float a, const float *x,
                    float b, const float *y, size_t n, const struct gpu_outcome *outcome,
                    bool clipped);
};

/* The base of every queue; back ends extend it. */
struct gpu_queue {
    const struct gpu_ops *op;
    struct gpu_device *device;
    unsigned index; /* in gpu_each: below gpu_queues(device) */
    struct err failure;
};

/* How work is divided for a device. Sums depend on the division, so results are a function of
 * it. */
enum { GPU_GROUPS = 8 };
struct gpu_cuts {
    size_t groups;                     /* chains of shards that add up gradients; <= GPU_GROUPS */
    size_t shard_tokens, shard_widths; /* minimum tokens of a training shard, roughly: an absolute
                                          number, and a multiple of the model's width */
    size_t block;                      /* parameters per piece */
    size_t shard_images;               /* maximum images per shard */
    size_t loss_rows;                  /* rows per piece of a score matrix */
    size_t embed_min, embed_max;       /* tokens per inference shard */
    size_t beam_rows;                  /* hypotheses per step, roughly */
    size_t shared_rows;                /* maximum rows of projections worth sharing */
};

/* A small result that is read asynchronously; back ends extend it. */
struct gpu_later {
    struct gpu_queue *queue;
    void *data; /* host memory */
    size_t bytes;
};

/* The base of every device; back ends extend it. The functions below call these. */
typedef void gpu_item(void *arg, size_t item, struct gpu_queue *q);
struct gpu_calls {
    void (*close)(struct gpu_device *d);
    enum err_code (*alloc)(void **out, struct gpu_device *d, size_t bytes, struct err *e);
    void (*free)(struct gpu_device *d, void *memory);
    size_t (*room)(struct gpu_device *d);
    void (*write)(struct gpu_queue *q, void *device, const void *host, size_t bytes);
    void (*read)(struct gpu_queue *q, void *host, const void *device, size_t bytes);
    enum err_code (*later_new)(struct gpu_later **out, struct gpu_queue *q, size_t bytes,
                               struct err *e);
    void (*later_free)(struct gpu_later *l);
    void (*read_later)(struct gpu_later *l, const void *device);
    enum err_code (*await)(struct gpu_later *l, struct err *e);
    enum err_code (*queue_new)(struct gpu_queue **out, struct gpu_device *d, struct err *e);
    void (*queue_free)(struct gpu_queue *q);
    enum err_code (*finish)(struct gpu_queue *q, struct err *e);
    enum err_code (*each)(struct gpu_queue *q, size_t n, size_t chains, gpu_item *fn, void *arg,
                          struct err *e);
};
struct gpu_device {
    const struct gpu_calls *calls;
    struct gpu_ops ops;
    struct gpu_cuts cuts;
    unsigned queues;  /* used by gpu_each at a time */
    bool stores_bf16; /* has bf16 units, and its ops support GPU_TYPE_BF16 */
};

/* Returns the storage type of activations for products of this precision. */
static inline enum gpu_type gpu_stored(const struct gpu_device *d, enum gpu_precision precision)
{
    return d->stores_bf16 && precision == GPU_BF16 ? GPU_TYPE_BF16 : GPU_TYPE_F32;
}

/* Opens the CPU. gpu_each runs on the pool (NULL: on the calling thread), which must outlive the
 * device. isa is "base", "avx2", "avx512", "amx", or NULL for cpu_isa() of base/isa.h. */
enum err_code gpu_open_cpu(struct gpu_device **out, struct pool *pool, const char *isa,
                           struct err *e);
/* A card, and the properties that its results depend on. */
struct gpu_card {
    int index, driver; /* driver: 1000 * major + 10 * minor */
    char name[128];
    char class_name[128]; /* "cuda sm_90, 132 SMs, runtime 13.0, cuBLASLt 13.1.0, cuDNN ..." */
    char no_cudnn[128];   /* why cuDNN is missing, or "" */
    size_t bytes;
    bool bf16;
};
/* Resolves a device name: "cpu", "cuda" (the first card), "cuda:N", or "auto": the first card, else
 * the CPU. Sets *cpu or *card. The first call that may need a card loads the CUDA back end: a
 * shared library beside the program, or $EQLOOM_CUDA. ERR_UNSUPPORTED states in one line why there
 * is no card. */
enum err_code gpu_find(bool *cpu, struct gpu_card *card, const char *name, struct err *e);
/* Returns the devices on which a map may run under this name: the one that gpu_find returns, or, if
 * that is a card and the name has no number, all cards of its class. Indices, -1 for the CPU; at
 * most GPU_CARDS. */
enum { GPU_CARDS = 16 };
enum err_code gpu_find_all(int index[GPU_CARDS], size_t *n, const char *name, struct err *e);
/* Returns in one line why "auto" is the CPU, or NULL. */
const char *gpu_why_cpu(void);
/* Counts the cards. */
enum err_code gpu_count_cards(int *n, struct err *e);
/* Opens a device by name; the pool is for the CPU. */
enum err_code gpu_open(struct gpu_device **out, const char *name, struct pool *pool, struct err *e);
void gpu_close(struct gpu_device *d);
/* Returns the units that multiply bf16 with cpu_isa(): "tiles", "avx512-bf16", or NULL if there are
 * none and GPU_BF16 is computed as GPU_F32. Results of different units may differ in the last
 * bits. */
const char *gpu_cpu_bf16(void);

/* Aligned to 64 bytes, zeroed. */
enum err_code gpu_alloc(void **out, struct gpu_device *d, size_t bytes, struct err *e);
void gpu_free(struct gpu_device *d, void *memory);
/* Returns the number of free bytes, or 0 if unknown. */
size_t gpu_room(struct gpu_device *d);
/* Copies between host and device, in the queue's order; the caller may reuse the host memory on
 * return. */
void gpu_write(struct gpu_queue *q, void *device, const void *host, size_t bytes);
void gpu_read(struct gpu_queue *q, void *host, const void *device, size_t bytes);
/* An asynchronous read: gpu_read_later enqueues it, in the queue's order; gpu_await waits for it
 * alone and returns the queue's first failure so far. *data is valid until the next
 * gpu_read_later. */
enum err_code gpu_later_new(struct gpu_later **out, struct gpu_queue *q, size_t bytes,
                            struct err *e);
void gpu_later_free(struct gpu_later *l);
void gpu_read_later(struct gpu_later *l, const void *device);
enum err_code gpu_await(const void **data, struct gpu_later *l, struct err *e);

/* Creates a queue owned by the caller. */
enum err_code gpu_queue_new(struct gpu_queue **out, struct gpu_device *d, struct err *e);
void gpu_queue_free(struct gpu_queue *q);
/* Waits for the queue and returns its first failure since the last call. */
enum err_code gpu_finish(struct gpu_queue *q, struct err *e);

/* Runs fn for items 0..n-1, in any order, each on one of the device's queues, after earlier and
 * before later work on q. Need not wait: on an asynchronous device, fn has been called for all
 * items, but the work that it enqueued may be pending. Returns the failure of the first queue that
 * has one. */
enum err_code gpu_each(struct gpu_queue *q, size_t n, gpu_item *fn, void *arg, struct err *e);
/* Like gpu_each, in chains: an item starts after item - chains has finished, so that the items of a
 * chain may accumulate into one result in a fixed order. */
enum err_code gpu_each_in_chains(struct gpu_queue *q, size_t n, size_t chains, gpu_item *fn,
                                 void *arg, struct err *e);

/* Allocates aligned pieces from a block. With base == NULL it only counts bytes, so that one
 * function can both measure and lay out. */
struct gpu_layout {
    char *base;
    size_t used;
};

static inline void *gpu_carve(struct gpu_layout *l, size_t bytes)
{
    void *p = l->base ? l->base + l->used : NULL;
    l->used += (bytes + 63) & ~(size_t)63;
    return p;
}

static inline float *gpu_carve_floats(struct gpu_layout *l, size_t n)
{
    return (float *)gpu_carve(l, n * sizeof(float));
}
