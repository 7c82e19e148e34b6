#include "engine/node/element_reuse.h"

/* Computes the key of the element without side inputs. */
static enum err_code trace_key(struct digest *out, struct node_run *r, struct arena *a,
                               const struct digest *id, struct err *e)
{
    struct key key;
    enum err_code code =
        key_of_input(&key, a, r->node, r->s->numerics, r->op->inputs[0].role, id, e);
    if (!code)
        *out = key.digest;
    return err_up(e, code);
}

enum err_code reuse_store_witness(struct store_batch *b, struct node_run *r, struct arena *a,
                                  const struct digest *id, const struct digest *action,
                                  struct span witness, struct err *e)
{
    struct digest key;
    struct trace latest = {.action = *action, .made_by = *action};
    struct trace own = {.action = *action, .witness = witness};
    enum err_code code = trace_key(&key, r, a, id, e);
    if (!code)
        code = trace_write(b, a, &key, &latest, e);
    if (!code)
        code = trace_write(b, a, action, &own, e);
    return err_up(e, code);
}

enum err_code reuse_follow(struct store_batch *b, struct arena *a,
                           const struct reuse_origin *origin, const struct digest *action,
                           struct err *e)
{
    struct trace latest = {
        .action = *action, .made_by = origin->made_by, .foreign = origin->foreign};
    return err_up(e, trace_write(b, a, &origin->trace, &latest, e));
}

static struct span witness_under(bool *foreign, struct node_run *r, struct arena *a,
                                 const struct digest *action)
{
    struct trace t;
    bool found = trace_read(&t, a, r->s->store, action) && t.witness.len;
    *foreign = *foreign || (found && t.foreign);
    return found ? t.witness : (struct span){0};
}

struct span reuse_find_witness(struct node_run *r, struct arena *a, const struct digest *id,
                               const struct digest *action)
{
    struct digest key;
    struct trace latest;
    bool foreign = false;
    struct span witness = witness_under(&foreign, r, a, action);
    if (!witness.len && !trace_key(&key, r, a, id, NULL) &&
        trace_read(&latest, a, r->s->store, &key) && digest_equal(&latest.action, action))
        witness = witness_under(&foreign, r, a, &latest.made_by);
    return witness;
}

/* Finds the latest action of the element or block, and the witness of the action that ran. */
static bool find_earlier(struct op_earlier *x, struct reuse_origin *origin, struct node_run *r,
                         struct arena *a, const struct digest *id)
{
    struct trace latest;
    struct store *s = r->s->store;
    if (trace_key(&origin->trace, r, a, id, NULL) || !trace_read(&latest, a, s, &origin->trace) ||
        digest_is_zero(&latest.made_by))
        return false;
    origin->action = latest.action;
    origin->made_by = latest.made_by;
    if (action_read(&x->made, a, s, r->op, &origin->action, NULL) || !x->made.key)
        return false;
    origin->foreign = latest.foreign || x->made.foreign;
    x->witness = witness_under(&origin->foreign, r, a, &origin->made_by);
    x->made.foreign = origin->foreign;
    return x->witness.len > 0;
}

/* Calls op->reuse. `element` is NULL for a block. */
static bool is_reusable(const char **reason, const struct op_earlier *x, struct node_run *r,
                        struct arena *a, const struct digest *element)
{
    struct op_ctx ctx;
    bool yes = false;
    *reason = "";
    ctx_init(&ctx, r, a, NULL);
    ctx.element = element;
    if (r->op->reuse(&yes, reason, &ctx, r->op_state, x, NULL) || ctx.lost[0])
        yes = false;
    ctx_finish(&ctx);
    return yes;
}

bool reuse_element(struct action_result *made, struct reuse_origin *origin, struct span *witness,
                   struct node_run *r, struct arena *a, const struct digest *id)
{
    struct op_earlier x = {0};
    const char *reason;
    if (!r->op->reuse || !find_earlier(&x, origin, r, a, id) ||
        !action_is_complete(r->s->store, r->op, &x.made) || !is_reusable(&reason, &x, r, a, id))
        return false;
    *made = x.made;
    *witness = x.witness;
    made->note = arena_printf(a, WITNESS_NOTE "%s", reason);
    made->run = r->s->run;
    return true;
}

/* Neither this function nor map_tree.c checks that a leaf's outputs exist. */
bool reuse_block(struct reuse_origin *origin, const char **reason, struct node_run *r,
                 struct arena *a, const struct digest *id)
{
    struct op_earlier x = {0};
    return r->op->merge_witnesses && find_earlier(&x, origin, r, a, id) &&
           (!x.made.slices || action_is_complete(r->s->store, r->op, &x.made)) &&
           !node_prepare(r, NULL) && is_reusable(reason, &x, r, a, NULL);
}
