/* A transformer as data: an encoder, or an encoder and a decoder (pre-LN); its configuration, and
 * its parameters as one flat f32 vector with a table of names and shapes.
 *
 * Names and layouts are PyTorch's, so that a checkpoint's tensors load there as they are: those of
 * nn.TransformerEncoder (norm_first, with a final norm) if there is no decoder, else of
 * nn.Transformer. Besides there are embedding.weight, which inputs and targets share;
 * positions.weight if positions are learned, shared as well; and with a decoder output.bias and,
 * unless the output is tied to the embedding, output.weight. */
#pragma once

#include "base/arena.h"
#include "gpu/gpu.h"
#include "ops/nn/parameters.h"

enum nn_positions { NN_SINUSOIDAL, NN_LEARNED };
/* What a decoder sees of its input: each token's state, or the pooled vector alone. */
enum nn_memory { NN_MEMORY_STATES, NN_MEMORY_VECTOR };

struct nn_config {
    uint32_t vocabulary, d_model, layers, heads, d_ff;
    uint32_t max_length; /* of a sequence, in tokens: the rows of the table of positions */
    enum nn_positions positions;
    enum gpu_activation activation;
    enum gpu_pooling pooling;
    bool attention_bias; /* in_proj and out_proj have biases */
    bool wrap;           /* the encoder's inputs stand between start and end tokens */
    uint32_t decoder_layers;
    enum nn_memory memory;
    bool tied_output; /* the decoder's output weights are the embedding's */
};

/* What no encoding of an expression contains, and is not pooled. */
enum { NN_PAD, NN_START, NN_END, NN_SPECIAL_TOKENS };

/* How many tokens a sequence may have, what the model adds to it left out. */
uint32_t nn_config_room(const struct nn_config *c);

/* ERR_INPUT for what cannot be: no layer, heads that do not divide d_model, ... */
enum err_code nn_config_check(const struct nn_config *c, struct err *e);
/* "key=value" lines sorted by key: Checkpoint.architecture. Lines from `wrap` on in the structure
 * are absent where they would say 0 or false. */
char *nn_config_text(struct arena *a, const struct nn_config *c);
/* Reads it back; optional lines may also say 0, false or their first choice. ERR_CORRUPT. */
enum err_code nn_config_parse(struct nn_config *c, const char *text, struct err *e);

/* Where a layer's parameters are in the flat vector; NN_ABSENT for what is not there: biases, and
 * in an encoder's layers `cross` and norm3. */
#define NN_ABSENT SIZE_MAX
struct nn_projections {
    size_t in_weight, in_bias, out_weight, out_bias; /* (3d, d) (3d) (d, d) (d) */
};
struct nn_norm {
    size_t weight, bias; /* (d) (d) */
};
struct nn_layer {
    struct nn_projections self, cross;
    size_t linear1_weight, linear1_bias; /* (ff, d) (ff) */
    size_t linear2_weight, linear2_bias; /* (d, ff) (d) */
    struct nn_norm norm1, norm2, norm3;
};

struct nn_model {
    struct nn_config config;
    struct nn_table table;
    bool turned; /* see nn_model_turned */
    struct nn_layer *layers, *decoder;
    size_t embedding, positions; /* positions: NN_ABSENT if sinusoidal */
    struct nn_norm norm, decoder_norm;
    size_t output_weight /* the embedding if tied */, output_bias;
};

enum err_code nn_model_new(struct nn_model **out, struct arena *a, const struct nn_config *c,
                           struct err *e);
/* The same model, for forwards alone, with the layers' matrices (out, in) as (in, out): products
 * are faster so. Rows that lie a power of two apart share few sets of the caches, hence the gap
 * between them: without it products of AVX2 take up to twice as long. */
enum { NN_TURNED_GAP = 16 };
struct nn_model *nn_model_turned(struct arena *a, const struct nn_config *c);
/* Parameters `from` of m for its turned model; on the host. Gaps are left as they are. */
void nn_turn(float *to, const struct nn_model *turned, const float *from, const struct nn_model *m);
