#include "engine/node/together.h"

static enum err_code load(const ProtobufCMessage **out, struct together *t, struct worker *w,
                          uint32_t i, const struct digest *id, struct err *e)
{
    struct op_ctx ctx;
    const struct node *node = &w->s->job->nodes[i];
    ProtobufCMessage *m = NULL;
    ctx_init(&ctx, w->s->nodes[i].shared, node, &t->arena, NULL);
    ctx.element = id;
    enum err_code code = op_get(&m, &ctx, node->op->inputs[0].role, 0, e);
    *out = m;
    ctx_finish(&ctx);
    return err_up(e, code);
}

static enum err_code make(void **shares, struct together *t, struct worker *w, uint32_t i,
                          const ProtobufCMessage *const *elements, size_t n, struct err *e)
{
    struct op_ctx ctx;
    struct node_run *r = &w->s->nodes[i];
    const struct node *node = &w->s->job->nodes[i];
    ctx_init(&ctx, r->shared, node, &t->arena, NULL);
    enum err_code code = node->op->together(shares, &ctx, r->op_state, elements, n, e);
    ctx_finish(&ctx);
    return err_up(e, code);
}

/* Whether the element will run; also if that cannot be told. */
static bool will_run(struct digest *id, struct together *t, struct worker *w, uint32_t i,
                     uint64_t position)
{
    struct session *s = w->s;
    const struct op *op = s->job->nodes[i].op;
    struct action_result made;
    struct key key;
    if (ctx_node_element(id, s->nodes[i].shared, position, &(struct err){0}) ||
        node_element_key(&key, s, &t->arena, i, id, &(struct err){0}))
        return false;
    return s->options->check || action_read(&made, &t->arena, s->store, op, &key.digest, NULL) ||
           !action_is_whole(s->store, op, &made);
}

void together_begin(struct together *t, struct worker *w, uint32_t i, uint64_t from, uint64_t n)
{
    struct session *s = w->s;
    struct err e = {0};
    *t = (struct together){.from = from};
    if (!s->job->nodes[i].op->together || s->planning || session_interrupted(s))
        return;
    struct digest *ids = arena_array(&t->arena, struct digest, n);
    uint64_t *positions = arena_array(&t->arena, uint64_t, n);
    size_t found = 0;
    t->shares = arena_array(&t->arena, void *, n);
    for (uint64_t k = 0; k < n; k++)
        if (will_run(&ids[found], t, w, i, from + k))
            positions[found++] = k;
    if (!found || node_prepare(w, i, &e))
        return;
    const ProtobufCMessage **elements = arena_array(&t->arena, const ProtobufCMessage *, found);
    void **shares = arena_array(&t->arena, void *, found);
    for (size_t k = 0; k < found; k++)
        if (load(&elements[k], t, w, i, &ids[k], &e))
            return;
    if (make(shares, t, w, i, elements, found, &e))
        return;
    for (size_t k = 0; k < found; k++)
        t->shares[positions[k]] = shares[k];
}

enum err_code together_share(struct op_ctx *ctx, struct together *t, struct worker *w, uint32_t i,
                             uint64_t position, struct err *e)
{
    const ProtobufCMessage *element;
    if (!w->s->job->nodes[i].op->together)
        return OK;
    if (t->shares && t->shares[position - t->from]) {
        ctx->share = t->shares[position - t->from];
        return OK;
    }
    enum err_code code = load(&element, t, w, i, ctx->element, e);
    if (!code)
        code = make(&ctx->share, t, w, i, &element, 1, e);
    return err_up(e, code);
}

void together_end(struct together *t)
{
    arena_free(&t->arena);
}
