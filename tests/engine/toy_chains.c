/* The chains of the engine's tests; see graph_build.h.
 *
 *   fold     chain over expr: each segment hashes the record before; state in a Chunk
 *   spell    chain over expr: segment k reads its k-th letter alone, and says so; the first none */
#include "graph_build.h"

#include "schemas/checkpoint.pb-c.h"
#include "schemas/expr.pb-c.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static enum err_code fold_segments(uint64_t *n, struct op_ctx *ctx, struct err *e)
{
    *n = 1 + (uint64_t)op_int(ctx, "steps");
    return OK;
}

static enum err_code fold_segment(struct op_segment *out, struct op_ctx *ctx, uint64_t index,
                                  struct err *e)
{
    out->key = arena_printf(op_arena(ctx), "%" PRIu64, index);
    out->label = out->key;
    return OK;
}

static enum err_code read_state(uint64_t *value, struct op_ctx *ctx, const ProtobufCMessage *m,
                                struct err *e)
{
    enum err_code code;
    const Eqloom__Checkpoint *before = (const Eqloom__Checkpoint *)m;
    struct span data;
    if ((code = op_get_chunk(&data, ctx, before->tensors[0]->chunk_ids.data, op_arena(ctx), e)))
        return err_up(e, code);
    memcpy(value, data.data, sizeof *value);
    return OK;
}

static enum err_code emit_state(struct op_ctx *ctx, uint64_t value, struct err *e)
{
    enum err_code code;
    uint64_t data[32];
    for (size_t i = 0; i < 32; i++)
        data[i] = rng_mix(value + i + op_segment_index(ctx));
    struct digest chunk;
    if ((code = op_emit_chunk(&chunk, ctx, span_of(data, sizeof data), e)))
        return err_up(e, code);
    Eqloom__Tensor tensor = EQLOOM__TENSOR__INIT, *tensors[] = {&tensor};
    tensor.name = (char *)"w";
    tensor.chunk_ids = (ProtobufCBinaryData){DIGEST_SIZE, chunk.bytes};
    Eqloom__Checkpoint out = EQLOOM__CHECKPOINT__INIT;
    out.step = op_segment_index(ctx);
    out.tensors = tensors;
    out.n_tensors = 1;
    return op_emit(NULL, ctx, "checkpoint", &out.base, e);
}

static enum err_code fold_run(struct op_ctx *ctx, void *state, struct err *e)
{
    enum err_code code;
    ProtobufCMessage *m;
    uint64_t value = 1;
    atomic_fetch_add(&ops_ran, 1);
    if (op_int(ctx, "ms"))
        usleep((useconds_t)op_int(ctx, "ms") * 1000);
    if ((code = op_previous(&m, ctx, e)))
        return err_up(e, code);
    if (m) {
        if ((code = read_state(&value, ctx, m, e)))
            return err_up(e, code);
    } else if ((code = op_get(&m, ctx, "expr", 0, e))) {
        return err_up(e, code);
    } else {
        value = strlen(((Eqloom__Expr *)m)->prefix);
    }
    return emit_state(ctx, value, e);
}

/* The letter that the segment reads; 0: none. */
static enum err_code spell_letter(uint8_t *out, struct op_ctx *ctx, struct err *e)
{
    enum err_code code;
    Eqloom__Expr *m;
    uint64_t index = op_segment_index(ctx);
    *out = 0;
    if (!index)
        return OK;
    if ((code = op_get(&m, ctx, "expr", 0, e)))
        return err_up(e, code);
    const char *text = m->prefix;
    *out = index <= strlen(text) ? (uint8_t)text[index - 1] : 0;
    return OK;
}

static enum err_code spell_reads(struct digest *out, const char **reason, struct op_ctx *ctx,
                                 void *state, struct err *e)
{
    uint8_t letter;
    enum err_code code = spell_letter(&letter, ctx, e);
    struct span part = span_of(&letter, 1);
    *out = digest_of(&part, 1);
    *reason = arena_printf(op_arena(ctx), "the same letters up to %" PRIu64, op_segment_index(ctx));
    return code;
}

static enum err_code spell_run(struct op_ctx *ctx, void *state, struct err *e)
{
    enum err_code code;
    ProtobufCMessage *before;
    uint8_t letter;
    uint64_t value = 1;
    atomic_fetch_add(&ops_ran, 1);
    if ((code = spell_letter(&letter, ctx, e)) || (code = op_previous(&before, ctx, e)) ||
        (before && (code = read_state(&value, ctx, before, e))))
        return err_up(e, code);
    return emit_state(ctx, value + letter, e);
}

static const struct op_port expr_port[] = {
    {.role = "expr", .kind = KIND_EXPR, .cardinality = OP_ONE}, {0}};
static const struct op_port checkpoint_port[] = {
    {.role = "checkpoint", .kind = KIND_CHECKPOINT, .cardinality = OP_ONE}, {0}};
static const struct op_param fold_params[] = {{.name = "steps", .type = OP_INT, .initial = "4"},
                                              {.name = "ms", .type = OP_INT, .initial = "0"},
                                              {0}};
const struct op toy_fold = {.name = "fold",
                            .version = 1,
                            .node = OP_CHAIN,
                            .numerics = true,
                            .params = fold_params,
                            .inputs = expr_port,
                            .outputs = checkpoint_port,
                            .run = fold_run,
                            .segments = fold_segments,
                            .segment = fold_segment};
const struct op toy_spell = {.name = "spell",
                             .version = 1,
                             .node = OP_CHAIN,
                             .params = fold_params,
                             .inputs = expr_port,
                             .outputs = checkpoint_port,
                             .run = spell_run,
                             .segments = fold_segments,
                             .segment = fold_segment,
                             .reads = spell_reads};
