/* What ops can read of an earlier result (op.reuse), how its side inputs differ from the current
 * ones, and what ops can look up in the middle of their run (op_recall, op_part_find). */
#include "engine/ctx/ctx_internal.h"

#include "base/buf.h"
#include "base/os.h"

#include <assert.h>
#include <inttypes.h>
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

/* Computed once for each earlier collection. */
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
    return d->code ? err_fail(e, d->code, "the earlier input %s cannot be read", role) : OK;
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

/* ---- recall: equal parameters and equal reads produce equal records, so it does not matter which
 * action wrote the trace last ---- */

static bool find_made(struct action_result *made, struct op_ctx *ctx, const struct digest *at)
{
    struct store *s = ctx_store(ctx);
    const struct op *op = ctx->node->op;
    return trace_follow(made, ctx->arena, s, op, at) && !made->slices &&
           action_is_complete(s, op, made);
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
    k->found = k->asked && k->allowed && find_made(&k->made, ctx, &k->at);
    if (k->found)
        k->made.note = arena_printf(ctx->arena, WITNESS_NOTE "%s", reason);
    return k->found;
}

enum err_code op_recalled(void *out, struct op_ctx *ctx, const char *role, uint64_t i,
                          struct err *e)
{
    const struct op *op = ctx->node->op;
    const struct op_port *port = op_find_port(op->outputs, role);
    size_t p = (size_t)(port - op->outputs);
    const struct id_list *ids = &ctx->recall.made.outputs[p];
    if (!ctx->recall.found || i >= ids->n)
        return err_fail(e, ERR_NOTFOUND, "no record %" PRIu64 " of %s was recalled", i, role);
    return err_up(e, store_get_message((ProtobufCMessage **)out, ctx_store(ctx), &ids->ids[i],
                                       port->kind, ctx->arena, e));
}

enum err_code recall_write(struct store_batch *b, struct op_ctx *ctx, const struct digest *action,
                           struct err *e)
{
    const struct recall *k = &ctx->recall;
    struct trace trace = {.action = *action};
    return k->asked ? err_up(e, trace_write(b, ctx->arena, &k->at, &trace, e)) : OK;
}

/* ---- parts of a source's work: the records that a part emitted are stored as an action, whose key
 * has the part's key in place of the files, and the op's note is stored as a trace under the same
 * key. If a part is made again with the same key, both are replaced. ---- */

static enum err_code part_key(struct key *out, struct op_ctx *ctx, struct span key, struct err *e)
{
    struct digest *id = arena_new(ctx->arena, struct digest);
    *id = digest_of(&key, 1);
    return err_up(e, key_of_input(out, ctx->arena, ctx->node, op_numerics(ctx), "@part", id, e));
}

bool op_part_find(struct op_part *out, struct op_ctx *ctx, struct span key)
{
    struct action_result *made = arena_new(ctx->arena, struct action_result);
    struct store *s = ctx_store(ctx);
    struct trace trace;
    struct key at;
    if (ctx->shared->r->s->options->check || part_key(&at, ctx, key, NULL) ||
        !trace_read(&trace, ctx->arena, s, &at.digest) ||
        !action_find(made, ctx->arena, s, ctx->node->op, &at.digest))
        return false;
    if (made->foreign || trace.foreign)
        ctx->shared->r->foreign = true;
    *out = (struct op_part){trace.witness, made};
    return true;
}

void op_part_again(struct op_ctx *ctx, const struct op_part *part)
{
    const struct action_result *made = part->made;
    size_t n = 0;
    for (size_t r = 0; r < op_count_outputs(ctx->node->op); r++)
        for (size_t i = 0; i < made->outputs[r].n; i++, n++)
            ctx_add_output(ctx, r, &made->outputs[r].ids[i]);
    ctx->parts.reused += n > 0;
}

void op_part_begin(struct op_ctx *ctx)
{
    size_t n = op_count_outputs(ctx->node->op);
    assert(!ctx->parts.from);
    ctx->parts.from = arena_array(ctx->arena, size_t, n);
    for (size_t r = 0; r < n; r++)
        ctx->parts.from[r] = ctx->outputs[r].n;
}

enum err_code op_part_end(struct op_ctx *ctx, struct span key, struct span note, struct err *e)
{
    size_t n = op_count_outputs(ctx->node->op), emitted = 0;
    struct action_result made = {.outputs = arena_array(ctx->arena, struct id_list, n),
                                 .run = "",
                                 .finished_ns = os_wall_ns()};
    struct key at;
    for (size_t r = 0; r < n; r++) {
        size_t from = ctx->parts.from[r];
        made.outputs[r] = (struct id_list){ctx->outputs[r].ids + from, ctx->outputs[r].n - from};
        emitted += made.outputs[r].n;
    }
    ctx->parts.from = NULL;
    ctx->parts.ran += emitted > 0;
    enum err_code code = part_key(&at, ctx, key, e);
    struct trace trace = {.action = at.digest, .witness = note};
    if (!code)
        code = err_up(e, action_write(ctx->batch, ctx->arena, ctx->node->op, &at, &made, e));
    return code ? code : err_up(e, trace_write(ctx->batch, ctx->arena, &at.digest, &trace, e));
}
