#include "engine/node/together.h"

/* Computes the shares of these elements. */
static enum err_code make(void **shares, struct op_ctx *ctx, struct node_run *r,
                          const struct digest *ids, size_t n, struct err *e)
{
    const ProtobufCMessage **elements = arena_array(ctx->arena, const ProtobufCMessage *, n);
    enum err_code code = OK;
    for (size_t k = 0; k < n && !code; k++) {
        ctx->element = &ids[k];
        code = op_get(&elements[k], ctx, r->op->inputs[0].role, 0, e);
    }
    return err_up(e, code ? code : r->op->together(shares, ctx, r->op_state, elements, n, e));
}

/* Returns whether the element will run, or true if this is unknown. */
static bool will_run(struct digest *id, struct together *t, struct node_run *r, uint64_t position)
{
    struct action_result made;
    struct key key;
    return !ctx_node_element(id, r->shared, position, NULL) &&
           (r->s->options->check || !node_find_element(&made, &key, r, &t->arena, id));
}

void together_begin(struct together *t, struct node_run *r, uint64_t from, uint64_t n)
{
    *t = (struct together){.from = from};
    if (!r->op->together || r->s->planning || session_interrupted(r->s))
        return;
    struct digest *ids = arena_array(&t->arena, struct digest, n);
    uint64_t *positions = arena_array(&t->arena, uint64_t, n);
    size_t found = 0;
    t->shares = arena_array(&t->arena, void *, n);
    for (uint64_t k = 0; k < n; k++)
        if (will_run(&ids[found], t, r, from + k))
            positions[found++] = k;
    if (!found || node_prepare(r, NULL))
        return;
    struct op_ctx ctx;
    void **shares = arena_array(&t->arena, void *, found);
    ctx_init(&ctx, r, &t->arena, NULL);
    bool made = !make(shares, &ctx, r, ids, found, NULL);
    for (size_t k = 0; made && k < found; k++)
        t->shares[positions[k]] = shares[k];
    ctx_finish(&ctx);
}

enum err_code together_share(struct op_ctx *ctx, struct together *t, struct node_run *r,
                             uint64_t position, struct err *e)
{
    if (!r->op->together)
        return OK;
    if (t->shares)
        ctx->share = t->shares[position - t->from];
    return ctx->share ? OK : err_up(e, make(&ctx->share, ctx, r, ctx->element, 1, e));
}

void together_end(struct together *t)
{
    arena_free(&t->arena);
}
