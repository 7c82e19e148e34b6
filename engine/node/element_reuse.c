/* See element_reuse.h. */
#include "engine/node/element_reuse.h"

#include "engine/cache/trace.h"

#include <string.h>

struct op_earlier {
    const Eqloom__ActionKey *key; /* includes the side inputs of that time */
    struct action_result made;
    struct span witness;
};

/* The key of the element without side inputs. */
static enum err_code trace_key(struct digest *out, struct worker *w, uint32_t i,
                               const struct digest *id, struct err *e)
{
    const struct node *node = &w->s->job->nodes[i];
    return err_up(e, key_of_input(out, &w->arena, node, w->s->host.numerics,
                                  node->op->inputs[0].role, id, e));
}

enum err_code reuse_store_witness(struct store_batch *b, struct worker *w, uint32_t i,
                                  const struct digest *id, const struct digest *action,
                                  struct span witness, struct err *e)
{
    struct digest key;
    struct trace latest = {.action = *action, .made_by = *action};
    struct trace own = {.action = *action, .witness = witness};
    enum err_code code = trace_key(&key, w, i, id, e);
    if (!code)
        code = trace_write(b, &w->arena, &key, &latest, e);
    if (!code)
        code = trace_write(b, &w->arena, action, &own, e);
    return err_up(e, code);
}

enum err_code reuse_follow(struct store_batch *b, struct worker *w,
                           const struct reuse_origin *origin, const struct digest *action,
                           struct err *e)
{
    struct trace latest = {.action = *action, .made_by = origin->made_by};
    return err_up(e, trace_write(b, &w->arena, &origin->trace, &latest, e));
}

static struct span witness_under(struct worker *w, const struct digest *action)
{
    struct trace t;
    bool found = trace_read(&t, &w->arena, w->s->store, action) && t.witness.len;
    return found ? t.witness : (struct span){0};
}

struct span reuse_find_witness(struct worker *w, uint32_t i, const struct digest *id,
                               const struct digest *action)
{
    struct digest key;
    struct trace latest;
    struct span witness = witness_under(w, action);
    if (!witness.len && !trace_key(&key, w, i, id, NULL) &&
        trace_read(&latest, &w->arena, w->s->store, &key) && digest_equal(&latest.action, action))
        witness = witness_under(w, &latest.made_by);
    return witness;
}

/* The latest action of the element or block, and the witness of the one that ran. */
static bool find_earlier(struct op_earlier *x, struct reuse_origin *origin, struct worker *w,
                         uint32_t i, const struct digest *id)
{
    struct trace latest;
    struct store *s = w->s->store;
    if (trace_key(&origin->trace, w, i, id, NULL) ||
        !trace_read(&latest, &w->arena, s, &origin->trace) || digest_is_zero(&latest.made_by))
        return false;
    origin->action = latest.action;
    origin->made_by = latest.made_by;
    if (action_read_key(&x->made, &x->key, &w->arena, s, w->s->job->nodes[i].op, &origin->action,
                        NULL) ||
        !x->key)
        return false;
    x->witness = witness_under(w, &origin->made_by);
    return x->witness.len > 0;
}

/* Asks the op. `element` is NULL for a block. */
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

bool reuse_element(struct action_result *made, struct reuse_origin *origin, struct span *witness,
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
    *witness = x.witness;
    made->note = arena_printf(&w->arena, WITNESS_NOTE "%s", reason);
    made->run = s->run;
    return true;
}

/* Does not check that a leaf's outputs exist; nor does map_tree.c. */
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
    return x->witness;
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
