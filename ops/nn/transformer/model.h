/* The configuration of a transformer, an encoder with or without a decoder (pre-LN), and its
 * parameters as one flat f32 vector with a table of names and shapes.
 *
 * Names and layouts are PyTorch's, so that a checkpoint's tensors can be loaded there unchanged:
 * those of nn.TransformerEncoder (norm_first, with a final norm) without a decoder, else of
 * nn.Transformer. In addition there are embedding.weight, shared by inputs and targets;
 * positions.weight if positions are learned, also shared; and with a decoder output.bias and,
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
    uint32_t max_length; /* of a sequence, in tokens: rows of the position table */
    enum nn_positions positions;
    enum gpu_activation activation;
    enum gpu_pooling pooling;
    bool attention_bias; /* in_proj and out_proj have biases */
    bool wrap;           /* start and end tokens surround the encoder's inputs */
    uint32_t decoder_layers;
    enum nn_memory memory;
    bool tied_output; /* the decoder's output weights are the embedding's */
};

/* Special tokens: no encoding of an expression contains them, and they are not pooled. */
enum { NN_PAD, NN_START, NN_END, NN_SPECIAL_TOKENS };

/* Returns how many tokens a sequence may have, without those that the model adds. */
uint32_t nn_config_room(const struct nn_config *c);

/* ERR_INPUT for an invalid configuration: no layer, heads that do not divide d_model, ... */
enum err_code nn_config_check(const struct nn_config *c, struct err *e);
/* Returns "key=value" lines sorted by key, for Checkpoint.architecture. Fields from `wrap` on in
 * the structure are omitted if they are 0 or false. */
char *nn_config_text(struct arena *a, const struct nn_config *c);
/* Parses the text; optional lines may also be 0, false or the first choice. ERR_CORRUPT. */
enum err_code nn_config_parse(struct nn_config *c, const char *text, struct err *e);

/* Offsets of a layer's parameters in the flat vector; NN_ABSENT for those that it does not have:
 * biases, and in an encoder's layers `cross` and norm3. */
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
    bool transposed; /* see nn_model_transposed */
    struct nn_layer *layers, *decoder;
    size_t embedding, positions; /* positions: NN_ABSENT if sinusoidal */
    struct nn_norm norm, decoder_norm;
    size_t output_weight /* the embedding if tied */, output_bias;
};

enum err_code nn_model_new(struct nn_model **out, struct arena *a, const struct nn_config *c,
                           struct err *e);
/* The same model, for inference only, with the layers' (out, in) matrices stored as (in, out),
 * which makes products faster. Rows are padded: at strides of a power of two they map to few cache
 * sets, and AVX2 products take up to twice as long. */
enum { NN_TRANSPOSED_GAP = 16 };
struct nn_model *nn_model_transposed(struct arena *a, const struct nn_config *c);
/* Copies the parameters `from` of m to the layout of its transposed model, on the host. The padding
 * is not written. */
void nn_transpose(float *to, const struct nn_model *transposed, const float *from,
                  const struct nn_model *m);
