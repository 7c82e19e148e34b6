/* Recall; see ctx.h. Equal parameters and equal reads give equal records, so whichever action wrote
 * the trace last is as good as any. */
#include "engine/cache/trace.h"
#include "engine/cache/witness_counts.h"
#include "engine/ctx/ctx_internal.h"

static bool find_made(struct action_result *made, struct op_ctx *ctx, const struct digest *at)
{
    struct store *s = ctx->shared->host.store;
    const struct op *op = ctx->node->op;
    return trace_follow(made, ctx->arena, s, op, at) && !made->slices &&
           action_is_whole(s, op, made);
}

bool op_recall(struct op_ctx *ctx, struct span reads, const char *reason)
{
    struct recall *k = &ctx->recall;
    struct digest d = digest_of(&reads, 1);
    struct key at;
    k->asked =
        ctx->node->op->node == OP_MAP && ctx->element &&
        !key_of_input(&at, ctx->arena, ctx->node, ctx->shared->host.numerics, "@reads", &d, NULL);
    if (k->asked)
        k->at = at.digest;
    k->found = k->asked && k->may && find_made(&k->made, ctx, &k->at);
    if (k->found)
        k->made.note = arena_printf(ctx->arena, WITNESS_NOTE "%s", reason);
    return k->found;
}

enum err_code recall_write(struct store_batch *b, struct op_ctx *ctx, const struct digest *action,
                           struct err *e)
{
    const struct recall *k = &ctx->recall;
    struct trace trace = {.action = *action};
    return k->asked ? err_up(e, trace_write(b, ctx->arena, &k->at, &trace, e)) : OK;
}
