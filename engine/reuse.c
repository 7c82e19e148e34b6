/* See reuse.h. A trace is a convenience: it may be missing, old or lead nowhere, and then the
 * element is computed as if there were none. */
#include "engine/reuse.h"

#include "schemas/canonical.h"

#include <string.h>

struct op_earlier {
    const Eqloom__ActionKey *key; /* with the side inputs of then */
    struct made made;
    struct span trace;
};

/* Key of the element alone: side inputs are absent. */
static enum err_code trace_key(struct digest *out, struct worker *w, uint32_t i,
                               const struct digest *id, struct err *e)
{
    const struct node *node = &w->s->job->nodes[i];
    struct key_input element = {node->op->inputs[0].role, id, 1};
    struct key_spec spec = {
        .node = node, .numerics = w->s->host.numerics, .inputs = &element, .n_inputs = 1};
    struct key key;
    enum err_code code = key_make(&key, &w->arena, &spec, e);
    if (!code)
        *out = key.digest;
    return err_up(e, code);
}

enum err_code reuse_note(struct store_batch *b, struct worker *w, uint32_t i,
                         const struct digest *id, const struct digest *action, struct span trace,
                         struct err *e)
{
    struct digest key;
    struct span bytes;
    Eqloom__Trace m = EQLOOM__TRACE__INIT;
    m.action_key.data = (uint8_t *)action->bytes;
    m.action_key.len = DIGEST_SIZE;
    m.note.data = (uint8_t *)trace.data;
    m.note.len = trace.len;
    enum err_code code = trace_key(&key, w, i, id, e);
    if (!code)
        code = canonical_pack(&bytes, &w->arena, &m.base, e);
    if (!code)
        code = store_batch_trace(b, &key, bytes, e);
    return err_up(e, code);
}

/* The element's latest action, if all that it made is there. */
static bool find_earlier(struct op_earlier *x, struct worker *w, uint32_t i,
                         const struct digest *id)
{
    struct store *s = w->s->store;
    struct arena *a = &w->arena;
    const struct op *op = w->s->job->nodes[i].op;
    struct digest key;
    struct span bytes;
    ProtobufCMessage *m;
    if (trace_key(&key, w, i, id, NULL) || store_trace(&bytes, s, &key, a, NULL) ||
        canonical_unpack(&m, a, &eqloom__trace__descriptor, bytes, NULL))
        return false;
    const Eqloom__Trace *trace = (const Eqloom__Trace *)m;
    if (trace->action_key.len != DIGEST_SIZE)
        return false;
    memcpy(key.bytes, trace->action_key.data, DIGEST_SIZE);
    x->trace = span_of(trace->note.data, trace->note.len);
    if (made_read(&x->made, a, s, op, &key, NULL) || !made_is_whole(s, op, &x->made, a, false) ||
        store_action(&bytes, s, &key, a, NULL) ||
        canonical_unpack(&m, a, &eqloom__action__descriptor, bytes, NULL))
        return false;
    x->key = ((const Eqloom__Action *)m)->key;
    return x->key != NULL;
}

bool reuse_element(struct made *made, struct span *trace, struct worker *w, uint32_t i,
                   const struct digest *id)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    const struct op *op = s->job->nodes[i].op;
    struct op_earlier x = {0};
    struct op_ctx ctx;
    struct err e = {0};
    bool stands = false;
    const char *reason = "";
    if (!op->reuse || !find_earlier(&x, w, i, id))
        return false;
    ctx_init(&ctx, r->shared, &s->job->nodes[i], &w->arena, NULL);
    ctx.element = id;
    if (op->reuse(&stands, &reason, &ctx, r->op_state, &x, &e) || ctx.loss.input != LOST_NONE)
        stands = false;
    ctx_finish(&ctx);
    if (!stands)
        return false;
    *made = x.made;
    made->note = arena_printf(&w->arena, "reused: %s", reason);
    made->run = s->run;
    *trace = x.trace;
    return true;
}

/* ---- what the op sees of it ---- */

struct span op_earlier_trace(const struct op_earlier *x)
{
    return x->trace;
}

enum err_code op_earlier_get(ProtobufCMessage **out, struct op_ctx *ctx, const struct op_earlier *x,
                             const char *role, uint64_t i, struct err *e)
{
    const struct op_port *outputs = ctx->node->op->outputs;
    for (size_t r = 0; outputs[r].role; r++)
        if (strcmp(outputs[r].role, role) == 0 && i < x->made.outputs[r].n)
            return err_up(e,
                          ctx_get_record(out, ctx, &x->made.outputs[r].ids[i], outputs[r].kind, e));
    return err_fail(e, ERR_NOTFOUND, "the earlier result has no such output");
}

enum err_code op_earlier_added(const uint64_t **positions, size_t *n, struct op_ctx *ctx,
                               const struct op_earlier *x, const char *role, struct err *e)
{
    for (size_t k = 0; k < x->key->n_inputs; k++) {
        const Eqloom__KeyInput *in = x->key->inputs[k];
        struct digest before;
        if (strcmp(in->role, role) != 0 || in->input_ids.len != DIGEST_SIZE)
            continue;
        memcpy(before.bytes, in->input_ids.data, DIGEST_SIZE);
        return err_up(e, ctx_added(positions, n, ctx, role, &before, e));
    }
    return err_fail(e, ERR_NOTFOUND, "the earlier result had no input %s", role);
}
