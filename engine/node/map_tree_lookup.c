/* Looks up the blocks of a map's input from the top of its tree; see map_tree.h. A block that is
 * neither cached nor reused is divided into its children. */
#include "engine/node/map_tree_internal.h"

#include "base/buf.h"
#include "base/os.h"

struct finding {
    struct map_tree *b;
    struct collection *c;
    struct worker work; /* its arena is of one block */
    uint32_t node;
    uint64_t *absent_end; /* by depth: the end of the last block that was not found */
};

/* With the node's present inputs. The outputs of a block above the leaves must exist. */
static bool is_cached(struct input_block *x, struct finding *f)
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

static bool is_reused(struct input_block *x, struct finding *f)
{
    struct map_tree *b = f->b;
    struct reuse_origin origin;
    const char *reason;
    if (b->reuse_until_ns && b->reuse_until_ns < UINT64_MAX && os_process_ns() >= b->reuse_until_ns)
        b->reuse_until_ns = 0;
    if (!b->reuse_until_ns || !reuse_block(&origin, &reason, &f->work, f->node, &x->block.id))
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
    b->cached += x->found && !x->origin ? x->block.n : 0;
    b->reused += x->origin ? x->block.n : 0;
}

static void add_inner(struct map_tree *b, const struct input_block *x, size_t n_outputs)
{
    b->inners = vec_grow(b->inners, &b->cap_inners, b->n_inners + 1, sizeof *b->inners);
    b->inners[b->n_inners++] =
        (struct inner_block){.block = x->block,
                             .depth = x->depth,
                             .found = x->found,
                             .origin = x->origin,
                             .from = arena_array(&b->arena, uint64_t, n_outputs + 1)};
}

/* Adds the largest block that begins at `at` and is found, or the leaf there. */
static enum err_code find_span(struct finding *f, uint64_t *at, struct err *e)
{
    size_t n_outputs = op_count_outputs(f->work.s->job->nodes[f->node].op);
    for (unsigned d = collection_depth(f->c); d-- > 0;) {
        struct input_block x = {.depth = d};
        if (*at < f->absent_end[d])
            continue;
        enum err_code code = err_up(e, collection_block(&x.block, f->c, d, *at, e));
        if (code)
            return code;
        x.found = is_cached(&x, f) || is_reused(&x, f);
        arena_reset(&f->work.arena);
        if (d > 0)
            add_inner(f->b, &x, n_outputs);
        f->absent_end[d] = x.block.first + x.block.n;
        if (!x.found && d > 0)
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
    f.absent_end = arena_array(&b->arena, uint64_t, collection_depth(c));
    enum err_code code = OK;
    for (uint64_t at = 0; at < collection_count(c) && !code;)
        code = find_span(&f, &at, e);
    arena_free(&f.work.arena);
    return err_up(e, code);
}
