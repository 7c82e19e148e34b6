#include "engine/node/element_reuse.h"

#include "engine/cache/trace.h"

/* The key of the element without side inputs. */
static enum err_code trace_key(struct digest *out, struct worker *w, uint32_t i,
                               const struct digest *id, struct err *e)
{
    const struct node *node = &w->s->job->nodes[i];
    struct key key;
    enum err_code code =
        key_of_input(&key, &w->arena, node, w->s->host.numerics, node->op->inputs[0].role, id, e);
    if (!code)
        *out = key.digest;
    return err_up(e, code);
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
    if (action_read(&x->made, &w->arena, s, w->s->job->nodes[i].op, &origin->action, NULL) ||
        !x->made.key)
        return false;
    x->witness = witness_under(w, &origin->made_by);
    return x->witness.len > 0;
}

/* Asks the op. `element` is NULL for a block. */
static bool is_reusable(const char **reason, const struct op_earlier *x, struct worker *w,
                        uint32_t i, const struct digest *element)
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
    if (op->reuse(&yes, reason, &ctx, r->op_state, x, &e) || ctx.lost[0])
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
        !action_is_whole(s->store, op, &x.made) || !is_reusable(&reason, &x, w, i, id))
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
    return op->merge_witnesses && find_earlier(&x, origin, w, i, id) &&
           (!x.made.slices || action_is_whole(s->store, op, &x.made)) && !node_prepare(w, i, &e) &&
           is_reusable(reason, &x, w, i, NULL);
}
