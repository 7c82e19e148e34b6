/* Between checkpoints and the engine; see op_chunks.h. */
#include "ops/learn/checkpoint/op_chunks.h"

static enum err_code put(struct digest *id, void *arg, struct span data, struct err *e)
{
    return err_up(e, op_emit_chunk(id, arg, data, e));
}

static enum err_code get(struct span *out, void *arg, const uint8_t id[32], struct arena *a,
                         struct err *e)
{
    return err_up(e, op_get_chunk(out, arg, id, a, e));
}

struct chunk_io op_chunks(struct op_ctx *ctx)
{
    return (struct chunk_io){ctx, put, get};
}
