/* A transformer encoder as data: its configuration, and its parameters as one flat f32 vector with
 * a table of names and shapes. Names and layouts are those of PyTorch's nn.TransformerEncoder
 * (norm_first, with a final norm), plus embedding.weight and, if positions are learned,
 * positions.weight; so a checkpoint's tensors load there as they are. */
#ifndef OPS_NN_MODEL_H
#define OPS_NN_MODEL_H

#include "base/arena.h"
#include "base/err.h"
#include "gpu/gpu.h"

#include <stdbool.h>
#include <stdint.h>

enum nn_positions { NN_SINUSOIDAL, NN_LEARNED };
enum nn_pooling { NN_POOL_MEAN, NN_POOL_MAX, NN_POOL_FIRST };

struct nn_config {
    uint32_t vocabulary, d_model, layers, heads, d_ff;
    uint32_t max_length; /* of a sequence, in tokens: the rows of the table of positions */
    enum nn_positions positions;
    enum gpu_activation activation;
    enum nn_pooling pooling;
    bool attention_bias; /* in_proj and out_proj have biases */
};

enum { NN_SPECIAL_TOKENS = 3 }; /* padding, start, end: not pooled */

/* ERR_INPUT for what cannot be: no layer, heads that do not divide d_model, ... */
enum err_code nn_config_check(const struct nn_config *c, struct err *e);
/* "key=value" lines sorted by key: Checkpoint.architecture. */
char *nn_config_text(struct arena *a, const struct nn_config *c);
/* Exactly what nn_config_text writes (ERR_CORRUPT otherwise). */
enum err_code nn_config_parse(struct nn_config *c, const char *text, struct err *e);

enum nn_init {
    NN_INIT_XAVIER, /* uniform in +-sqrt(6 / (rows + cols)) */
    NN_INIT_ZERO,
    NN_INIT_ONE,
};

struct nn_param {
    const char *name;
    uint32_t rank, shape[2];
    size_t at, size; /* floats within the flat vector; at is a multiple of 16 */
    enum nn_init init;
};

/* Where a layer's parameters are in the flat vector; NN_ABSENT for biases that are not there. */
#define NN_ABSENT SIZE_MAX
struct nn_layer {
    size_t in_weight, in_bias, out_weight, out_bias; /* (3d, d) (3d) (d, d) (d) */
    size_t linear1_weight, linear1_bias;             /* (ff, d) (ff) */
    size_t linear2_weight, linear2_bias;             /* (d, ff) (d) */
    size_t norm1_weight, norm1_bias, norm2_weight, norm2_bias;
};

struct nn_model {
    struct nn_config config;
    struct nn_param *params;
    size_t n_params;
    struct nn_layer *layers;
    size_t embedding, positions /* NN_ABSENT: sinusoidal */, norm_weight, norm_bias;
    size_t total; /* floats of the flat vector, gaps included (they stay 0) */
    size_t count; /* of parameters */
};

enum err_code nn_model_new(struct nn_model **out, struct arena *a, const struct nn_config *c,
                           struct err *e);
/* A function of the seed and the parameter's place in the table only. weights: (total), host. */
void nn_model_init(float *weights, const struct nn_model *m, uint64_t seed);
/* table (max_length, d_model), host: sin and cos of Vaswani et al. 2017, interleaved. */
void nn_sinusoids(float *table, const struct nn_config *c);

#endif
