/* Shared by ops that train or use models; see learn_ctx.h. */
#include "ops/learn/checkpoint/learn_ctx.h"

#include <string.h>

static enum err_code put(struct digest *id, void *arg, struct span data, struct err *e)
{
    return err_up(e, op_emit_chunk(id, arg, data, e));
}

static enum err_code get(struct span *out, void *arg, const uint8_t id[32], struct arena *a,
                         struct err *e)
{
    return err_up(e, op_get_chunk(out, arg, id, a, e));
}

struct chunk_io learn_chunks(struct op_ctx *ctx)
{
    return (struct chunk_io){ctx, put, get};
}

static const char *units(const struct op_ctx *ctx)
{
    return strcmp(op_string(ctx, "precision"), "bf16") == 0 ? gpu_cpu_bf16() : NULL;
}

enum gpu_precision learn_precision(const struct op_ctx *ctx)
{
    return units(ctx) ? GPU_BF16 : GPU_F32;
}

const char *learn_bf16_units(struct op_ctx *ctx)
{
    return units(ctx);
}

bool learn_vocabularies_differ(const ProtobufCBinaryData *a, const ProtobufCBinaryData *b)
{
    return a->len && b->len && !span_equal(span_of(a->data, a->len), span_of(b->data, b->len));
}

ProtobufCBinaryData learn_input_id(struct op_ctx *ctx, const char *role)
{
    struct digest id = op_input_id(ctx, role, 0);
    return (ProtobufCBinaryData){DIGEST_SIZE, arena_memdup(op_arena(ctx), id.bytes, DIGEST_SIZE)};
}
