/* What ops see of an earlier result (op.reuse), how its side inputs differ from those of now, and
 * what they find in the middle of their run (op_recall). */
#include "engine/ctx/ctx_internal.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

struct span op_earlier_witness(const struct op_earlier *x)
{
    return x->witness;
}

struct digest op_earlier_input_id(const struct op_earlier *x, const char *role)
{
    struct digest id = {0};
    for (size_t k = 0; k < x->made.key->n_inputs; k++) {
        const Eqloom__KeyInput *in = x->made.key->inputs[k];
        if (strcmp(in->role, role) == 0 && in->input_ids.len == DIGEST_SIZE)
            memcpy(id.bytes, in->input_ids.data, DIGEST_SIZE);
    }
    return id;
}

static enum err_code take_added(void *arg, bool added, uint64_t position, const struct digest *id,
                                struct err *e)
{
    struct ctx_difference *d = arg;
    if (!added)
        return OK;
    d->positions = vec_grow(d->positions, &d->cap, d->n + 1, sizeof *d->positions);
    d->positions[d->n++] = position;
    return OK;
}

/* Found once for each collection of before. */
enum err_code op_earlier_added(const uint64_t **positions, size_t *n, struct op_ctx *ctx,
                               const struct op_earlier *x, const char *role, struct err *e)
{
    struct ctx_node *node = ctx->shared;
    struct digest before = op_earlier_input_id(x, role);
    size_t p = ctx_port_of(ctx, role);
    pthread_mutex_lock(&node->mutex);
    struct ctx_difference *d = node->differences;
    while (d && (d->port != p || !digest_equal(&d->before, &before)))
        d = d->next;
    if (!d) {
        d = arena_new(&node->arena, struct ctx_difference);
        *d = (struct ctx_difference){.port = p, .before = before, .next = node->differences};
        node->differences = d;
        d->code =
            collection_diff(ctx_store(ctx), &before, node->r->inputs[p].ids, take_added, d, NULL);
    }
    pthread_mutex_unlock(&node->mutex);
    *positions = d->positions;
    *n = d->n;
    return d->code ? err_fail(e, d->code, "what %s was cannot be read", role) : OK;
}

struct removal {
    struct store *store;
    enum record_kind kind;
    struct arena *arena;
    ProtobufCMessage **messages;
    size_t n, cap;
};

static enum err_code read_removed(void *arg, bool added, uint64_t position, const struct digest *id,
                                  struct err *e)
{
    struct removal *r = arg;
    if (added)
        return OK;
    r->messages = vec_grow(r->messages, &r->cap, r->n + 1, sizeof *r->messages);
    return err_up(e, store_get_message(&r->messages[r->n++], r->store, id, r->kind, r->arena, e));
}

enum err_code op_earlier_removed(ProtobufCMessage ***out, size_t *n, struct op_ctx *ctx,
                                 const struct op_earlier *x, const char *role, struct arena *a,
                                 struct err *e)
{
    struct digest before = op_earlier_input_id(x, role);
    size_t p = ctx_port_of(ctx, role);
    struct removal r = {.store = ctx_store(ctx), .kind = ctx->node->op->inputs[p].kind, .arena = a};
    enum err_code code =
        collection_diff(r.store, &before, ctx->shared->r->inputs[p].ids, read_removed, &r, e);
    *n = r.n;
    *out = arena_memdup(a, r.messages, r.n * sizeof *r.messages);
    free(r.messages);
    return err_up(e, code);
}

/* ---- recall: equal parameters and equal reads give equal records, so whichever action wrote the
 * trace last is as good as any ---- */

static bool find_made(struct action_result *made, struct op_ctx *ctx, const struct digest *at)
{
    struct store *s = ctx_store(ctx);
    const struct op *op = ctx->node->op;
    return trace_follow(made, ctx->arena, s, op, at) && !made->slices &&
           action_is_whole(s, op, made);
}

bool op_recall(struct op_ctx *ctx, struct span reads, const char *reason)
{
    struct recall *k = &ctx->recall;
    struct digest d = digest_of(&reads, 1);
    struct key at;
    k->asked = ctx->node->op->node == OP_MAP && ctx->element &&
               !key_of_input(&at, ctx->arena, ctx->node, op_numerics(ctx), "@reads", &d, NULL);
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
