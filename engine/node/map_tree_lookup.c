/* Which blocks of a map's input are known, or can be proved to stand; see map_tree.h. From the
 * top: what is neither is taken apart. */
#include "engine/node/map_tree_internal.h"

#include "base/buf.h"
#include "base/os.h"

struct finding {
    struct map_tree *b;
    struct collection *c;
    struct worker work; /* its arena is of one block */
    uint32_t node;
    uint64_t *unknown; /* by depth: the end of the block found unknown last */
};

/* Under the node's inputs as they are; a larger one's outputs must be there. */
static bool is_known(struct input_block *x, struct finding *f)
{
    struct session *s = f->work.s;
    const struct op *op = s->job->nodes[f->node].op;
    struct action_result made;
    struct key key;
    if (s->nodes[f->node].damaged ||
        node_element_key(&key, s, &f->work.arena, f->node, &x->block.id, NULL) ||
        action_read(&made, &f->work.arena, s->store, op, &key.digest, NULL) ||
        (x->depth && !action_is_whole(s->store, op, &made, NULL, false)))
        return false;
    x->action = key.digest;
    return true;
}

static bool is_proved(struct input_block *x, struct finding *f)
{
    struct map_tree *b = f->b;
    struct reuse_origin origin;
    const char *reason;
    if (b->prove_until_ns && b->prove_until_ns < UINT64_MAX && os_process_ns() >= b->prove_until_ns)
        b->prove_until_ns = 0;
    if (!b->prove_until_ns || !reuse_block(&origin, &reason, &f->work, f->node, &x->block.id))
        return false;
    x->action = origin.action;
    x->origin = arena_memdup(&b->arena, &origin, sizeof origin);
    x->reason = arena_strdup(&b->arena, reason);
    return true;
}

static void add_span(struct map_tree *b, const struct input_block *x)
{
    b->spans = vec_grow(b->spans, &b->cap, b->n + 1, sizeof *b->spans);
    b->spans[b->n++] = *x;
    b->cached += x->known && !x->origin ? x->block.n : 0;
    b->proved += x->origin ? x->block.n : 0;
}

static void add_inner(struct map_tree *b, const struct input_block *x, size_t n_outputs)
{
    b->inners = vec_grow(b->inners, &b->cap_inners, b->n_inners + 1, sizeof *b->inners);
    b->inners[b->n_inners++] =
        (struct inner_block){.block = x->block,
                             .depth = x->depth,
                             .known = x->known,
                             .origin = x->origin,
                             .from = arena_array(&b->arena, uint64_t, n_outputs + 1)};
}

/* What begins at `at`: the largest known block, or an unknown leaf. */
static enum err_code find_span(struct finding *f, uint64_t *at, struct err *e)
{
    size_t n_outputs = op_count_outputs(f->work.s->job->nodes[f->node].op);
    for (unsigned d = collection_depth(f->c); d-- > 0;) {
        struct input_block x = {.depth = d};
        if (*at < f->unknown[d])
            continue;
        enum err_code code = err_up(e, collection_block(&x.block, f->c, d, *at, e));
        if (code)
            return code;
        x.known = is_known(&x, f) || is_proved(&x, f);
        arena_reset(&f->work.arena);
        if (d > 0)
            add_inner(f->b, &x, n_outputs);
        f->unknown[d] = x.block.first + x.block.n;
        if (!x.known && d > 0)
            continue;
        add_span(f->b, &x);
        *at = x.block.first + x.block.n;
        break;
    }
    return OK;
}

enum err_code map_tree_find(struct map_tree *b, struct collection *c, struct worker *w, uint32_t i,
                            struct err *e)
{
    struct finding f = {.b = b, .c = c, .work = {.s = w->s}, .node = i};
    f.unknown = arena_array(&b->arena, uint64_t, collection_depth(c));
    enum err_code code = OK;
    for (uint64_t at = 0; at < collection_count(c) && !code;)
        code = find_span(&f, &at, e);
    arena_free(&f.work.arena);
    return err_up(e, code);
}
