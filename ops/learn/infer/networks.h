/* The network of a checkpoint on each device that a map may use; elements are assigned round robin.
 * The devices are of one class, so results do not depend on the assignment. */
#pragma once

#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/infer/trained.h"

#include <stdatomic.h>

struct networks {
    void *all[GPU_CARDS];
    size_t n;
    atomic_size_t turn;
    struct digest vocabulary; /* of the checkpoint, or 0 */
    const struct trained_kind *kind;
};

/* The caller must call networks_close, also after an error. */
enum err_code networks_open(struct networks *s, const struct trained_kind *kind, const char *device,
                            enum gpu_precision precision, const Eqloom__Checkpoint *c,
                            const struct chunk_io *io, struct err *e);
void networks_close(struct networks *s);
void *networks_turn(struct networks *s);

/* The `prepare` and `release` of an op with the input `checkpoint` and the parameters of
 * learn_ctx.h; prepare creates a struct networks. */
enum err_code networks_prepare(void **state, const struct trained_kind *kind, struct op_ctx *ctx,
                               struct err *e);
void networks_release(void *state);
/* The common fields of these ops, and of those among them that embed. */
#define NETWORKS_OP                                                                                \
    .node = OP_MAP, .numerics = true, .check = learn_check_device, .units = learn_units,           \
    .release = networks_release
#define EMBED_OP NETWORKS_OP, .run = networks_embed
enum err_code networks_embed(struct op_ctx *ctx, void *state, struct err *e);
