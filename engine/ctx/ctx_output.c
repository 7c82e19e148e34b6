/* Outputs of ops; see op.h. The records that one call emits are listed by role. */
#include "engine/ctx/ctx_internal.h"

#include "base/buf.h"
#include "schemas/checkpoint.pb-c.h"
#include "schemas/report.pb-c.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPILL_BYTES = 32 << 20, SPILL_RECORDS = 50000 };

void ctx_finish(struct op_ctx *ctx)
{
    for (size_t r = 0; r < op_count_outputs(ctx->node->op); r++) {
        free(ctx->outputs[r].ids);
        ctx->outputs[r] = (struct id_list){0};
        ctx->output_caps[r] = 0;
    }
}

static enum err_code collect(struct digest *id, struct op_ctx *ctx, size_t r, struct err *e)
{
    struct collection_builder *b =
        collection_builder_new(ctx->batch, ctx->node->op->outputs[r].kind);
    enum err_code code = OK;
    for (size_t i = 0; !code && i < ctx->outputs[r].n; i++)
        code = collection_builder_add(b, &ctx->outputs[r].ids[i], e);
    if (!code)
        code = collection_builder_finish(id, b, e);
    collection_builder_free(b);
    return err_up(e, code);
}

enum err_code ctx_collected(struct action_result *out, struct op_ctx *ctx, struct arena *a,
                            struct err *e)
{
    size_t n = op_count_outputs(ctx->node->op);
    enum err_code code = OK;
    *out = (struct action_result){.outputs = arena_array(a, struct id_list, n)};
    for (size_t r = 0; !code && r < n; r++) {
        struct digest *id = arena_new(a, struct digest);
        bool many = ctx->node->op->outputs[r].cardinality == OP_COLLECTION;
        if (many)
            code = collect(id, ctx, r, e);
        else if (ctx->outputs[r].n)
            *id = ctx->outputs[r].ids[0];
        out->outputs[r] = (struct id_list){id, many || ctx->outputs[r].n};
    }
    return err_up(e, code);
}

/* An action and its outputs share a commit. Only if one action outputs a lot at once (a large
 * checkpoint, a corpus in one task) are records written before it, never after. */
static void spill_if_large(struct op_ctx *ctx)
{
    struct session *s = ctx->shared->r->s;
    struct err e = {0};
    bool large = store_batch_bytes(ctx->batch) > SPILL_BYTES ||
                 store_batch_count(ctx->batch) > SPILL_RECORDS;
    if (large && !s->options->check && !s->planning && committer_append(s->commit, ctx->batch, &e))
        session_fail(s, &e);
}

void ctx_add_output(struct op_ctx *ctx, size_t output, const struct digest *id)
{
    struct id_list *list = &ctx->outputs[output];
    list->ids = vec_grow(list->ids, &ctx->output_caps[output], list->n + 1, sizeof *list->ids);
    list->ids[list->n++] = *id;
}

enum err_code op_emit(struct digest *id, struct op_ctx *ctx, const char *role,
                      const ProtobufCMessage *message, struct err *e)
{
    const struct op *op = ctx->node->op;
    const struct op_port *port = op_find_port(op->outputs, role);
    if (!port || !ctx->batch || message->descriptor != kind_info(port->kind)->descriptor) {
        fprintf(stderr, "eqloom: op %s emits the undeclared output %s\n", op->name, role);
        abort();
    }
    struct digest made;
    enum err_code code = store_batch_put_message(&made, ctx->batch, port->kind, message, e);
    if (code)
        return err_up(e, code);
    ctx_add_output(ctx, (size_t)(port - op->outputs), &made);
    if (id)
        *id = made;
    spill_if_large(ctx);
    return OK;
}

enum err_code op_pass(struct op_ctx *ctx, const char *role, const char *input, uint64_t i,
                      struct err *e)
{
    const struct op *op = ctx->node->op;
    const struct op_port *port = op_find_port(op->outputs, role);
    size_t p = ctx_port_of(ctx, input);
    struct digest id;
    if (!port || !ctx->batch || port->kind != op->inputs[p].kind) {
        fprintf(stderr, "eqloom: op %s passes on the undeclared output %s\n", op->name, role);
        abort();
    }
    enum err_code code = ctx_input_id(&id, ctx, p, i, e);
    if (err_up(e, ctx_keep_loss(ctx, code, e)))
        return code;
    ctx_add_output(ctx, (size_t)(port - op->outputs), &id);
    return OK;
}

enum err_code op_emit_chunk(struct digest *id, struct op_ctx *ctx, struct span data, struct err *e)
{
    assert(ctx->batch);
    Eqloom__Chunk chunk = EQLOOM__CHUNK__INIT;
    chunk.data.data = (uint8_t *)data.data;
    chunk.data.len = data.len;
    enum err_code code = store_batch_put_message(id, ctx->batch, KIND_CHUNK, &chunk.base, e);
    if (!code)
        spill_if_large(ctx);
    return err_up(e, code);
}

enum err_code op_emit_file(struct op_ctx *ctx, const char *role, struct span data,
                           const char *media_type, struct err *e)
{
    return err_up(e, ctx_emit_named_file(ctx, role, "", data, media_type, e));
}

enum { CHUNK_SIZE = 4 << 20 };

static enum err_code write_chunk(struct op_writer *w, struct op_ctx *ctx, struct err *e)
{
    struct digest id;
    enum err_code code = op_emit_chunk(&id, ctx, span_of(w->chunk.data, w->chunk.len), e);
    if (code)
        return err_up(e, code);
    buf_add(&w->ids, id.bytes, DIGEST_SIZE);
    buf_clear(&w->chunk);
    return OK;
}

/* Writes a full chunk only when more data follows: a file that fits into one chunk is stored in the
 * File record itself. */
enum err_code op_write(struct op_writer *w, struct op_ctx *ctx, struct span data, struct err *e)
{
    for (size_t at = 0, n; at < data.len; at += n) {
        enum err_code code = w->chunk.len == CHUNK_SIZE ? write_chunk(w, ctx, e) : OK;
        if (code)
            return err_up(e, code);
        n = data.len - at < CHUNK_SIZE - w->chunk.len ? data.len - at : CHUNK_SIZE - w->chunk.len;
        buf_add(&w->chunk, (const char *)data.data + at, n);
    }
    return OK;
}

static enum err_code end_file(struct op_writer *w, struct op_ctx *ctx, const char *role,
                              const char *name, const char *media_type, struct err *e)
{
    Eqloom__File file = EQLOOM__FILE__INIT;
    enum err_code code = w->ids.len ? err_up(e, write_chunk(w, ctx, e)) : OK;
    file.media_type = (char *)media_type;
    file.name = (char *)name;
    file.data = (ProtobufCBinaryData){w->chunk.len, (uint8_t *)w->chunk.data};
    file.chunk_ids = (ProtobufCBinaryData){w->ids.len, (uint8_t *)w->ids.data};
    if (!code)
        code = err_up(e, op_emit(NULL, ctx, role, &file.base, e));
    op_write_drop(w);
    return code;
}

enum err_code op_write_end(struct op_writer *w, struct op_ctx *ctx, const char *role,
                           const char *media_type, struct err *e)
{
    return err_up(e, end_file(w, ctx, role, "", media_type, e));
}

void op_write_drop(struct op_writer *w)
{
    buf_free(&w->chunk);
    buf_free(&w->ids);
    *w = (struct op_writer){0};
}

enum err_code ctx_emit_named_file(struct op_ctx *ctx, const char *role, const char *name,
                                  struct span data, const char *media_type, struct err *e)
{
    struct op_writer w = {0};
    enum err_code code = op_write(&w, ctx, data, e);
    if (!code)
        code = end_file(&w, ctx, role, name, media_type, e);
    op_write_drop(&w);
    return err_up(e, code);
}

enum err_code ctx_check_outputs(const struct op_ctx *ctx, struct err *e)
{
    const struct op *op = ctx->node->op;
    if (op->node == OP_MAP)
        return OK;
    for (size_t r = 0; op->outputs[r].role; r++) {
        if (op->outputs[r].cardinality == OP_COLLECTION || ctx->outputs[r].n == 1)
            continue;
        if (ctx->outputs[r].n == 0 && op->outputs[r].optional)
            continue;
        return err_fail(e, ERR_FAILED,
                        "op %s emitted %zu records for its output %s, which takes one", op->name,
                        ctx->outputs[r].n, op->outputs[r].role);
    }
    return OK;
}
