/* See reads_trace.h. Like all traces, these are a convenience: one that is missing or leads to
 * nothing costs no more than the run. Equal parameters and equal reads give equal records, so
 * whichever action wrote last is as good as any. */
#include "engine/ctx/reads_trace.h"

#include "engine/cache/witness_counts.h"
#include "engine/ctx/ctx_internal.h"
#include "schemas/canonical.h"

#include <string.h>

/* Key of an element that is known by what is read of it, a role that no op can declare. */
static enum err_code find_place(struct digest *at, struct op_ctx *ctx, struct span reads,
                                struct err *e)
{
    struct digest d = digest_of(&reads, 1);
    struct key_input input = {"@reads", &d, 1};
    struct key_spec spec = {
        .node = ctx->node, .numerics = ctx->shared->host.numerics, .inputs = &input, .n_inputs = 1};
    struct key key;
    enum err_code code = key_make(&key, ctx->arena, &spec, e);
    if (!code)
        *at = key.digest;
    return err_up(e, code);
}

bool reads_trace_find(struct action_result *out, struct arena *a, struct store *s,
                      const struct op *op, const struct digest *at)
{
    struct span bytes;
    ProtobufCMessage *m;
    struct digest action;
    if (store_trace(&bytes, s, at, a, NULL) ||
        canonical_unpack(&m, a, &eqloom__trace__descriptor, bytes, NULL))
        return false;
    const ProtobufCBinaryData *id = &((const Eqloom__Trace *)m)->action_key;
    if (id->len != DIGEST_SIZE)
        return false;
    memcpy(action.bytes, id->data, DIGEST_SIZE);
    return !action_read(out, a, s, op, &action, NULL);
}

enum err_code reads_trace_write(struct store_batch *b, struct arena *a, const struct digest *at,
                                const struct digest *action, struct err *e)
{
    struct span bytes;
    Eqloom__Trace m = EQLOOM__TRACE__INIT;
    m.action_key = (ProtobufCBinaryData){DIGEST_SIZE, (uint8_t *)action->bytes};
    enum err_code code = canonical_pack(&bytes, a, &m.base, e);
    if (!code)
        code = store_batch_trace(b, at, bytes, e);
    return err_up(e, code);
}

static bool find_made(struct action_result *made, struct op_ctx *ctx, const struct digest *at)
{
    struct store *s = ctx->shared->host.store;
    const struct op *op = ctx->node->op;
    return reads_trace_find(made, ctx->arena, s, op, at) && !made->slices &&
           action_is_whole(s, op, made, ctx->arena, false);
}

bool op_recall(struct op_ctx *ctx, struct span reads, const char *reason)
{
    struct recall *k = &ctx->recall;
    k->asked =
        ctx->node->op->node == OP_MAP && ctx->element && find_place(&k->at, ctx, reads, NULL) == OK;
    k->found = k->asked && k->may && find_made(&k->made, ctx, &k->at);
    if (k->found)
        k->made.note = arena_printf(ctx->arena, WITNESS_NOTE "%s", reason);
    return k->found;
}

enum err_code reads_trace_commit(struct store_batch *b, struct op_ctx *ctx,
                                 const struct digest *action, struct err *e)
{
    const struct recall *k = &ctx->recall;
    return k->asked ? err_up(e, reads_trace_write(b, ctx->arena, &k->at, action, e)) : OK;
}
