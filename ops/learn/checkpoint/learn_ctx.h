/* What ops that train or use models have in common: the chunks of checkpoints, the parameter
 * `precision` and `device`, and vocabularies that must agree. */
#pragma once

#include "engine/op.h"
#include "gpu/gpu.h"
#include "ops/learn/checkpoint/checkpoint.h"
#include "token.pb-c.h"

/* Reads and writes the op's chunks; valid as long as the ctx. */
struct chunk_io learn_chunks(struct op_ctx *ctx);

/* The elements of an input, one after the other, each in memory until the next. */
struct learn_elements {
    struct op_ctx *ctx;
    const char *role;
    uint64_t next; /* number */
    struct arena arena;
};
/* False after the last, or as soon as *code is an error: ERR_CANCELLED if the op is. `out` is where
 * the pointer goes. */
bool learn_next(void *out, struct learn_elements *x, enum err_code *code, struct err *e);

#define LEARN_PRECISION_PARAM                                                                      \
    {                                                                                              \
        "precision", OP_ENUM, "f32", "f32|tf32|bf16",                                              \
            .doc = "What matrix products read; sums and all else are f32. tf32 and bf16 take "     \
                   "effect where there are units for it: a card from sm_80 on, for bf16 "          \
                   "processors with AVX512-BF16 or AMX. Elsewhere they are f32. On a card "        \
                   "transformers store the activations of their layers as bf16 as well."           \
    }
#define LEARN_DEVICE_PARAM                                                                         \
    {                                                                                              \
        "device", OP_STRING, "auto",                                                               \
            .doc = "Where to compute: cpu, cuda (a card), cuda:N, or auto: a card if there is "    \
                   "one, else the CPU. Action keys name the arithmetic of a card instead.",        \
            .unkeyed = true                                                                        \
    }
/* Which of "a|b|c" a parameter is, from 0 on. */
unsigned learn_choice(const struct op_ctx *ctx, const char *param, const char *names);
/* Of one of several uses of the parameter `seed`. */
uint64_t learn_seed(const struct op_ctx *ctx, unsigned stream);
/* An op's check: ERR_INPUT, ERR_UNSUPPORTED if there is no such device. */
enum err_code learn_check_device(struct op_ctx *ctx, struct err *e);
/* An op's `cards`. */
uint32_t learn_cards(struct op_ctx *ctx);
/* The card that the engine gave it, else what the parameter names. */
enum err_code learn_open_device(struct gpu_device **out, struct op_ctx *ctx, struct err *e);
/* Of that parameter; what the device has no units for is f32. */
enum gpu_precision learn_precision(const struct op_ctx *ctx);
/* An op's `units`: a card's class and precision; of a CPU what multiplies bf16, or NULL for f32,
 * which the numerics class covers. *card, unless NULL: which of these. */
const char *learn_units(struct op_ctx *ctx);
/* The same for a chain, whose segments name the CPU's: a card's, or NULL. */
const char *learn_card_units(struct op_ctx *ctx);
const char *learn_units_of(bool *card, struct op_ctx *ctx);

/* The output `embeddings`: so many vectors; of a token batch with its texts and names, or NULL. */
enum err_code learn_emit_vectors(struct op_ctx *ctx, const float *vectors, size_t count, size_t dim,
                                 const Eqloom__TokenBatch *of, struct err *e);
/* The vocabulary that a checkpoint names; 0 if it does not say. */
struct digest learn_vocabulary(const Eqloom__Checkpoint *c);
/* Whether a record names a vocabulary other than this one, which may be none (all 0). */
bool learn_vocabulary_differs(const ProtobufCBinaryData *named, struct digest vocabulary);
