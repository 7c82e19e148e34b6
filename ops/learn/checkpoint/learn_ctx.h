/* Shared by ops that train or use models: the chunks of checkpoints, the parameters `precision` and
 * `device`, and the check that vocabularies agree. */
#pragma once

#include "engine/op.h"
#include "gpu/gpu.h"
#include "ops/learn/checkpoint/checkpoint.h"
#include "token.pb-c.h"

/* Reads and writes the op's chunks; valid as long as the ctx. */
struct chunk_io learn_chunks(struct op_ctx *ctx);

/* Iterates over the elements of an input; each is valid until the next call. */
struct learn_elements {
    struct op_ctx *ctx;
    const char *role;
    uint64_t next; /* index */
    struct arena arena;
};
/* Stores the pointer to the next element in *(void **)out. Returns false after the last one and on
 * an error, which it stores in *code; ERR_CANCELLED if the op is cancelled. */
bool learn_next(void *out, struct learn_elements *x, enum err_code *code, struct err *e);

#define LEARN_PRECISION_PARAM                                                                      \
    {                                                                                              \
        "precision", OP_ENUM, "f32", "f32|tf32|bf16",                                              \
            .doc = "Precision of the operands of matrix products; sums and everything else are "   \
                   "f32. tf32 and bf16 need hardware support: a card from sm_80 on, or for bf16 "  \
                   "a processor with AVX512-BF16 or AMX. Elsewhere products are f32. On a card "   \
                   "transformers also store the activations of their layers as bf16."              \
    }
#define LEARN_DEVICE_PARAM                                                                         \
    {                                                                                              \
        "device", OP_STRING, "auto",                                                               \
            .doc = "Where to compute: cpu, cuda (a card), cuda:N, or auto: a card if there is "    \
                   "one, else the CPU. Action keys hold the arithmetic of a card instead.",        \
            .unkeyed = true                                                                        \
    }
/* Returns the index of the parameter's value in "a|b|c". */
unsigned learn_choice(const struct op_ctx *ctx, const char *param, const char *names);
/* Derives a seed from the parameter `seed`, for one of its several uses. */
uint64_t learn_seed(const struct op_ctx *ctx, unsigned stream);
/* The `check` of an op. ERR_INPUT; ERR_UNSUPPORTED if there is no such device. */
enum err_code learn_check_device(struct op_ctx *ctx, struct err *e);
/* The `cards` of an op. */
uint32_t learn_cards(struct op_ctx *ctx);
/* Opens the card that the engine assigned, else the device of the parameter. */
enum err_code learn_open_device(struct gpu_device **out, struct op_ctx *ctx, struct err *e);
/* Returns the parameter's precision, or f32 if the device has no units for it. */
enum gpu_precision learn_precision(const struct op_ctx *ctx);
/* The `units` of an op: a card's class and precision; for a CPU its bf16 unit, or NULL for f32,
 * which the numerics class covers. */
const char *learn_units(struct op_ctx *ctx);
/* The `units` of a chain, whose segments hold the CPU's unit: a card's, or NULL. */
const char *learn_card_units(struct op_ctx *ctx);
/* As learn_units; sets *card to whether it is a card's. */
const char *learn_units_of(bool *card, struct op_ctx *ctx);

/* Emits `count` vectors to the output `embeddings`, with the texts and names of the token batch if
 * it is not NULL. */
enum err_code learn_emit_vectors(struct op_ctx *ctx, const float *vectors, size_t count, size_t dim,
                                 const Eqloom__TokenBatch *of, struct err *e);
/* Returns the vocabulary that a checkpoint was trained with; 0 if it has none. */
struct digest learn_vocabulary(const Eqloom__Checkpoint *c);
/* Returns true if a record's vocabulary is set and is not this one, which may be unset (all 0). */
bool learn_vocabulary_differs(const ProtobufCBinaryData *named, struct digest vocabulary);
