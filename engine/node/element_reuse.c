/* See element_reuse.h. A trace is a convenience: it may be missing, old or lead nowhere, and then
 * the element is computed as if there were none. */
#include "engine/node/element_reuse.h"

#include "schemas/canonical.h"

#include <string.h>

struct op_earlier {
    const Eqloom__ActionKey *key; /* with the side inputs of then */
    struct action_result made;
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

static enum err_code write_trace(struct store_batch *b, struct worker *w, const struct digest *at,
                                 const struct digest *action, const struct digest *made_by,
                                 struct span note, struct err *e)
{
    struct span bytes;
    Eqloom__Trace m = EQLOOM__TRACE__INIT;
    m.action_key = (ProtobufCBinaryData){DIGEST_SIZE, (uint8_t *)action->bytes};
    if (made_by)
        m.made_by = (ProtobufCBinaryData){DIGEST_SIZE, (uint8_t *)made_by->bytes};
    m.note = (ProtobufCBinaryData){note.len, (uint8_t *)note.data};
    enum err_code code = canonical_pack(&bytes, &w->arena, &m.base, e);
    if (!code)
        code = store_batch_trace(b, at, bytes, e);
    return err_up(e, code);
}

enum err_code reuse_note(struct store_batch *b, struct worker *w, uint32_t i,
                         const struct digest *id, const struct digest *action, struct span note,
                         struct err *e)
{
    struct digest key;
    enum err_code code = trace_key(&key, w, i, id, e);
    if (!code)
        code = write_trace(b, w, &key, action, action, (struct span){0}, e);
    if (!code)
        code = write_trace(b, w, action, action, NULL, note, e);
    return err_up(e, code);
}

enum err_code reuse_follow(struct store_batch *b, struct worker *w,
                           const struct reuse_origin *origin, const struct digest *action,
                           struct err *e)
{
    return err_up(e,
                  write_trace(b, w, &origin->trace, action, &origin->made_by, (struct span){0}, e));
}

static const Eqloom__Trace *read_trace(struct worker *w, const struct digest *key)
{
    struct span bytes;
    ProtobufCMessage *m;
    if (store_trace(&bytes, w->s->store, key, &w->arena, NULL) ||
        canonical_unpack(&m, &w->arena, &eqloom__trace__descriptor, bytes, NULL))
        return NULL;
    const Eqloom__Trace *t = (const Eqloom__Trace *)m;
    return t->action_key.len == DIGEST_SIZE ? t : NULL;
}

static struct span note_under(struct worker *w, const struct digest *action)
{
    const Eqloom__Trace *t = read_trace(w, action);
    return t ? span_of(t->note.data, t->note.len) : (struct span){0};
}

struct span reuse_find_note(struct worker *w, uint32_t i, const struct digest *id,
                            const struct digest *action)
{
    struct digest key;
    struct span note = note_under(w, action);
    const Eqloom__Trace *latest;
    if (note.len || trace_key(&key, w, i, id, NULL) || !(latest = read_trace(w, &key)) ||
        latest->made_by.len != DIGEST_SIZE ||
        memcmp(latest->action_key.data, action->bytes, DIGEST_SIZE) != 0)
        return note.len ? note : (struct span){0};
    memcpy(key.bytes, latest->made_by.data, DIGEST_SIZE);
    note = note_under(w, &key);
    return note.len ? note : (struct span){0};
}

/* The latest action of the element or block, and the note of the one that ran. */
static bool find_earlier(struct op_earlier *x, struct reuse_origin *origin, struct worker *w,
                         uint32_t i, const struct digest *id)
{
    const Eqloom__Trace *latest;
    if (trace_key(&origin->trace, w, i, id, NULL) || !(latest = read_trace(w, &origin->trace)) ||
        latest->made_by.len != DIGEST_SIZE)
        return false;
    memcpy(origin->action.bytes, latest->action_key.data, DIGEST_SIZE);
    memcpy(origin->made_by.bytes, latest->made_by.data, DIGEST_SIZE);
    if (action_read_key(&x->made, &x->key, &w->arena, w->s->store, w->s->job->nodes[i].op,
                        &origin->action, NULL) ||
        !x->key)
        return false;
    x->trace = note_under(w, &origin->made_by);
    return x->trace.len > 0;
}

/* `element` NULL: a block. */
static bool stands(const char **reason, const struct op_earlier *x, struct worker *w, uint32_t i,
                   const struct digest *element)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    const struct op *op = s->job->nodes[i].op;
    struct op_ctx ctx;
    struct err e = {0};
    bool yes = false;
    *reason = "";
    ctx_init(&ctx, r->shared, &s->job->nodes[i], &w->arena, NULL);
    ctx.element = element;
    if ((element ? op->reuse : op->reuse_all)(&yes, reason, &ctx, r->op_state, x, &e) ||
        ctx.loss.input != LOST_NONE)
        yes = false;
    ctx_finish(&ctx);
    return yes;
}

bool reuse_element(struct action_result *made, struct reuse_origin *origin, struct span *note,
                   struct worker *w, uint32_t i, const struct digest *id)
{
    struct session *s = w->s;
    const struct op *op = s->job->nodes[i].op;
    struct op_earlier x = {0};
    const char *reason;
    if (!op->reuse || !find_earlier(&x, origin, w, i, id) ||
        !action_is_whole(s->store, op, &x.made, &w->arena, false) || !stands(&reason, &x, w, i, id))
        return false;
    *made = x.made;
    *note = x.trace;
    made->note = arena_printf(&w->arena, WITNESS_NOTE "%s", reason);
    made->run = s->run;
    return true;
}

/* Of a leaf's outputs it is not asked whether they are there, as map_tree.c does not. */
bool reuse_block(struct reuse_origin *origin, const char **reason, struct worker *w, uint32_t i,
                 const struct digest *id)
{
    struct session *s = w->s;
    const struct op *op = s->job->nodes[i].op;
    struct op_earlier x = {0};
    struct err e = {0};
    return op->reuse_all && find_earlier(&x, origin, w, i, id) &&
           (!x.made.slices || action_is_whole(s->store, op, &x.made, &w->arena, false)) &&
           !node_prepare(w, i, &e) && stands(reason, &x, w, i, NULL);
}

/* ---- what the op sees of it ---- */

struct span op_earlier_witness(const struct op_earlier *x)
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

struct digest op_earlier_input_id(const struct op_earlier *x, const char *role)
{
    struct digest id = {0};
    for (size_t k = 0; k < x->key->n_inputs; k++) {
        const Eqloom__KeyInput *in = x->key->inputs[k];
        if (strcmp(in->role, role) == 0 && in->input_ids.len == DIGEST_SIZE)
            memcpy(id.bytes, in->input_ids.data, DIGEST_SIZE);
    }
    return id;
}

static enum err_code find_input(struct digest *id, const struct op_earlier *x, const char *role,
                                struct err *e)
{
    *id = op_earlier_input_id(x, role);
    return digest_is_zero(id)
               ? err_fail(e, ERR_NOTFOUND, "the earlier result had no input %s", role)
               : OK;
}

enum err_code op_earlier_added(const uint64_t **positions, size_t *n, struct op_ctx *ctx,
                               const struct op_earlier *x, const char *role, struct err *e)
{
    struct digest before;
    enum err_code code = find_input(&before, x, role, e);
    if (!code)
        code = ctx_added(positions, n, ctx, role, &before, e);
    return err_up(e, code);
}

enum err_code op_earlier_removed(ProtobufCMessage ***out, size_t *n, struct op_ctx *ctx,
                                 const struct op_earlier *x, const char *role, struct arena *a,
                                 struct err *e)
{
    struct digest before;
    enum err_code code = find_input(&before, x, role, e);
    if (!code)
        code = ctx_removed(out, n, ctx, role, &before, a, e);
    return err_up(e, code);
}
