/* See map_tree.h. Blocks are looked up from the root of the input's tree; a block that is neither
 * cached nor reused is divided into its children. Then the outputs of found blocks are fed, those
 * of new elements are added, and blocks' actions are written. */
#include "engine/node/map_tree.h"

#include "base/buf.h"
#include "base/os.h"
#include "engine/node/element_reuse.h"
#include "store/collection/collection.h"

#include <stdlib.h>
#include <string.h>

enum {
    IDS_MAX = 1 << 16,      /* outputs of one leaf, to keep actions small */
    UNION_BATCH = 64,       /* witnesses merged at a time */
    WITNESS_MAX = 64 << 10, /* bytes; a larger union is dropped */
};

/* Witnesses of results (op_set_witness), merged by the op as they arrive: those of a leaf's
 * elements, or those of a larger block's leaves. Zero-initialized: empty. */
struct witness_union {
    struct arena arena;
    struct span witnesses[UNION_BATCH];
    size_t n;
    bool lacking; /* a result has no witness, so the union has none */
};

/* A block of the cover: the input is covered by found blocks of any depth and leaves that were not
 * found. */
struct input_block {
    struct collection_block block;
    unsigned depth;
    bool found;
    struct digest action;              /* if found: the action with its outputs */
    const struct reuse_origin *origin; /* if reused; else NULL */
    const char *reason;                /* the op's reason for the reuse */
};

/* A block above the leaves that was looked up. Blocks within a found one are not listed. */
struct inner_block {
    struct input_block x;
    uint64_t *from, *to;            /* by output: its slice [from, to) of the map's outputs */
    struct witness_union witnesses; /* if not found: of its elements so far */
};

struct map_tree {
    struct arena arena;
    struct input_block *spans;
    size_t n, cap;
    struct inner_block *inners; /* sorted by position; larger ones first */
    size_t n_inners, cap_inners;
    bool may_reuse;
    size_t handing;                 /* last span that span_at returned */
    size_t feeding, feeding_inner;  /* next span and next inner to feed */
    size_t *open, n_open;           /* inners that contain the next element, larger ones first */
    struct id_list *sum;            /* outputs of the leaf that is being added */
    size_t *caps;                   /* both by output */
    struct witness_union witnesses; /* of that leaf */
};

/* ---- unions of witnesses ---- */

/* Merges all collected witnesses into the first one. */
static void unite(struct witness_union *p, const struct op *op)
{
    struct arena fresh = {0};
    struct span all = {0};
    if (op->merge_witnesses(&all, &fresh, p->witnesses, p->n, NULL) || all.len > WITNESS_MAX)
        p->lacking = true;
    arena_free(&p->arena);
    p->arena = fresh;
    p->witnesses[0] = all;
    p->n = 1;
}

/* Adds a copy of the witness. Without data: the result has none. */
static void union_add(struct witness_union *p, const struct op *op, struct span witness)
{
    p->lacking = p->lacking || !witness.data;
    if (p->lacking)
        return;
    if (p->n == UNION_BATCH)
        unite(p, op);
    p->witnesses[p->n++] = span_of(arena_memdup(&p->arena, witness.data, witness.len), witness.len);
}

/* Returns one witness for all results, valid until the next call; data is NULL if there is none. */
static struct span union_get(struct witness_union *p, const struct op *op)
{
    if (!p->lacking && p->n > 1)
        unite(p, op);
    return p->lacking || !p->n ? (struct span){0} : p->witnesses[0];
}

static void union_clear(struct witness_union *p)
{
    arena_free(&p->arena);
    *p = (struct witness_union){0};
}

/* ---- lookup ---- */

static uint64_t end_of(const struct input_block *x)
{
    return x->block.first + x->block.n;
}

struct finding {
    struct map_tree *b;
    struct collection *c;
    struct node_run *r;
    struct arena arena;   /* of one block */
    uint64_t *absent_end; /* by depth: end of the last block that was not found */
};

/* Returns whether the block has an action for the node's current inputs. Above the leaves, its
 * outputs must exist, too. */
static bool is_cached(struct input_block *x, struct finding *f)
{
    struct store *s = f->r->s->store;
    struct action_result made;
    struct key key;
    if (node_element_key(&key, f->r, &f->arena, &x->block.id, NULL) ||
        action_read(&made, &f->arena, s, f->r->op, &key.digest, NULL) ||
        (x->depth && !action_is_complete(s, f->r->op, &made)))
        return false;
    x->action = key.digest;
    return true;
}

static bool is_reused(struct input_block *x, struct finding *f)
{
    struct map_tree *b = f->b;
    struct reuse_origin origin;
    const char *reason;
    b->may_reuse = b->may_reuse && !session_late(f->r->s);
    if (!b->may_reuse || !reuse_block(&origin, &reason, f->r, &f->arena, &x->block.id))
        return false;
    x->action = origin.action;
    x->origin = arena_memdup(&b->arena, &origin, sizeof origin);
    x->reason = arena_strdup(&b->arena, reason);
    return true;
}

/* Adds the largest found block that begins at `at`, or the leaf there. */
static enum err_code find_span(struct finding *f, uint64_t *at, struct err *e)
{
    struct map_tree *b = f->b;
    for (unsigned d = collection_depth(f->c); d-- > 0;) {
        struct input_block x = {.depth = d};
        if (*at < f->absent_end[d])
            continue;
        enum err_code code = err_up(e, collection_block(&x.block, f->c, d, *at, e));
        if (code)
            return code;
        x.found = is_cached(&x, f) || is_reused(&x, f);
        arena_reset(&f->arena);
        if (d > 0) {
            size_t n_outputs = op_count_outputs(f->r->op);
            b->inners =
                arena_grow(&b->arena, b->inners, b->n_inners, &b->cap_inners, sizeof *b->inners);
            b->inners[b->n_inners++] =
                (struct inner_block){x, .from = arena_array(&b->arena, uint64_t, n_outputs),
                                     .to = arena_array(&b->arena, uint64_t, n_outputs)};
        }
        f->absent_end[d] = end_of(&x);
        if (!x.found && d > 0)
            continue;
        b->spans = arena_grow(&b->arena, b->spans, b->n, &b->cap, sizeof *b->spans);
        b->spans[b->n++] = x;
        *at = end_of(&x);
        break;
    }
    return OK;
}

enum err_code map_tree_new(struct map_tree **out, struct node_run *r, struct err *e)
{
    struct collection *c;
    *out = NULL;
    if (!r->inputs[0].n)
        return OK;
    enum err_code code = collection_open(&c, r->s->store, r->inputs[0].ids, e);
    if (code)
        return err_up(e, code);
    if (collection_depth(c) > 0) {
        struct map_tree *b = *out = must_calloc(1, sizeof *b);
        size_t n_outputs = op_count_outputs(r->op);
        b->sum = arena_array(&b->arena, struct id_list, n_outputs);
        b->caps = arena_array(&b->arena, size_t, n_outputs);
        b->open = arena_array(&b->arena, size_t, collection_depth(c));
        /* A parallel op must be prepared when no other op runs. */
        b->may_reuse = r->op->merge_witnesses && !r->op->parallel;
        struct finding f = {.b = b, .c = c, .r = r};
        f.absent_end = arena_array(&b->arena, uint64_t, collection_depth(c));
        for (uint64_t at = 0; at < collection_count(c) && !code;)
            code = find_span(&f, &at, e);
        arena_free(&f.arena);
    }
    collection_close(c);
    return err_up(e, code);
}

void map_tree_free(struct map_tree *b, const struct op *op)
{
    if (!b)
        return;
    for (size_t r = 0; r < op_count_outputs(op); r++)
        free(b->sum[r].ids);
    for (size_t k = 0; k < b->n_inners; k++)
        union_clear(&b->inners[k].witnesses);
    union_clear(&b->witnesses);
    arena_free(&b->arena);
    free(b);
}

/* ---- queries ---- */

/* Returns the last span that begins at or before a position. */
static size_t span_at(struct map_tree *b, uint64_t at)
{
    while (b->handing + 1 < b->n && b->spans[b->handing + 1].block.first <= at)
        b->handing++;
    return b->handing;
}

void map_tree_count(struct node_run *r, const struct map_tree *b)
{
    for (const struct input_block *x = b ? b->spans : NULL; b && x < b->spans + b->n; x++) {
        r->cached += x->found && !x->origin ? x->block.n : 0;
        r->reused += x->origin ? x->block.n : 0;
        if (x->origin)
            witness_counts_add(&r->witnesses, &r->arena, x->reason, x->block.n);
    }
}

uint64_t map_tree_skip(struct map_tree *b, uint64_t at)
{
    for (size_t k = b ? span_at(b, at) : 0; b && k < b->n && b->spans[k].found; k++)
        at = end_of(&b->spans[k]);
    return at;
}

uint64_t map_tree_run(struct map_tree *b, uint64_t at, uint64_t most)
{
    if (!b)
        return most;
    uint64_t end = at;
    for (size_t k = span_at(b, at); k < b->n && !b->spans[k].found && end - at < most; k++)
        end = end_of(&b->spans[k]);
    return end - at < most ? end - at : most;
}

/* ---- feeding ---- */

/* Records where blocks begin and end in the outputs. Called before the outputs of the element or
 * block at `at` are added, and at the end. */
static void mark_bounds(struct map_tree *b, const struct assemble *out, uint64_t at,
                        size_t n_outputs)
{
    for (; b->n_open && end_of(&b->inners[b->open[b->n_open - 1]].x) <= at; b->n_open--)
        for (size_t r = 0; r < n_outputs; r++)
            b->inners[b->open[b->n_open - 1]].to[r] = assemble_count(out, r);
    for (; b->feeding_inner < b->n_inners && b->inners[b->feeding_inner].x.block.first <= at;
         b->feeding_inner++) {
        for (size_t r = 0; r < n_outputs; r++)
            b->inners[b->feeding_inner].from[r] = assemble_count(out, r);
        b->open[b->n_open++] = b->feeding_inner;
    }
}

/* Adds a block's witness to the larger blocks that contain it. */
static void pass_witness(struct map_tree *b, const struct op *op, unsigned depth,
                         struct span witness)
{
    for (size_t k = 0; k < b->n_open; k++)
        if (b->inners[b->open[k]].x.depth > depth)
            union_add(&b->inners[b->open[k]].witnesses, op, witness);
}

/* Writes the action of a block for the node's current inputs, and its trace. A block that is not
 * reused may have a witness. */
static enum err_code write_block(const struct input_block *x, struct action_result *made,
                                 struct span witness, struct node_run *r, struct arena *a,
                                 struct store_batch *batch, struct err *e)
{
    struct key key;
    made->run = r->s->run;
    made->cost_ns = 0;
    made->finished_ns = os_wall_ns();
    made->foreign = made->foreign || (x->origin ? x->origin->foreign : r->foreign);
    enum err_code code = node_element_key(&key, r, a, &x->block.id, e);
    if (!code)
        code = action_write(batch, a, r->op, &key, made, e);
    if (!code && x->origin)
        code = reuse_follow(batch, a, x->origin, &key.digest, e);
    else if (!code && witness.data)
        code = reuse_store_witness(batch, r, a, &x->block.id, &key.digest, witness, e);
    return err_up(e, code);
}

static enum err_code feed_found(struct map_tree *b, struct assemble *out,
                                const struct input_block *x, struct node_run *r, struct arena *a,
                                struct store_batch *batch, struct err *e)
{
    struct action_result made;
    enum err_code code = OK;
    if (action_read(&made, a, r->s->store, r->op, &x->action, NULL))
        return err_fail(e, ERR_CORRUPT, "a cached result of node %s can no longer be read",
                        r->node->name);
    r->foreign = r->foreign || made.foreign || (x->origin && x->origin->foreign);
    if (x->depth == 0)
        code = assemble_add(out, made.outputs, e);
    else if (made.slices) /* otherwise all outputs are empty */
        code = assemble_add_slices(out, made.slices, e);
    if (code)
        return err_up(e, code);
    if (r->op->merge_witnesses && b->n_open && b->inners[b->open[0]].x.depth > x->depth)
        pass_witness(b, r->op, x->depth, reuse_find_witness(r, a, &x->block.id, &x->action));
    if (!x->origin || x->depth)
        return OK; /* larger blocks are written by map_tree_finish */
    made.note = arena_printf(a, WITNESS_NOTE "%s", x->reason);
    return err_up(e, write_block(x, &made, (struct span){0}, r, a, batch, e));
}

enum err_code map_tree_feed(struct map_tree *b, struct assemble *out, uint64_t *at,
                            struct node_run *r, struct store_batch *batch, struct err *e)
{
    if (!b || b->feeding == b->n || !b->spans[b->feeding].found ||
        b->spans[b->feeding].block.first != *at)
        return OK;
    struct arena a = {0};
    const struct input_block *x = &b->spans[b->feeding++];
    mark_bounds(b, out, *at, op_count_outputs(r->op));
    enum err_code code = feed_found(b, out, x, r, &a, batch, e);
    *at = end_of(x);
    arena_free(&a);
    return err_up(e, code);
}

static enum err_code write_leaf(struct map_tree *b, const struct input_block *x, struct node_run *r,
                                struct store_batch *batch, struct err *e)
{
    const struct op *op = r->op;
    struct arena a = {0};
    struct action_result made = {.outputs = b->sum};
    struct span witness = {0};
    enum err_code code = OK;
    size_t n = 0;
    if (op->merge_witnesses)
        witness = union_get(&b->witnesses, op);
    for (size_t k = 0; k < op_count_outputs(op); k++)
        n += b->sum[k].n;
    if (n <= IDS_MAX)
        code = write_block(x, &made, witness, r, &a, batch, e);
    if (op->merge_witnesses)
        pass_witness(b, op, 0, witness);
    for (size_t k = 0; k < op_count_outputs(op); k++)
        b->sum[k].n = 0;
    union_clear(&b->witnesses);
    arena_free(&a);
    return err_up(e, code);
}

enum err_code map_tree_add(struct map_tree *b, struct assemble *out, struct node_run *r,
                           uint64_t at, const struct id_list *outputs, struct span witness,
                           struct store_batch *batch, struct err *e)
{
    size_t n_outputs = op_count_outputs(r->op);
    if (b)
        mark_bounds(b, out, at, n_outputs);
    enum err_code code = assemble_add(out, outputs, e);
    if (code || !b)
        return err_up(e, code);
    for (size_t k = 0; k < n_outputs; k++) {
        struct id_list *sum = &b->sum[k];
        sum->ids = vec_grow(sum->ids, &b->caps[k], sum->n + outputs[k].n + 1, sizeof *sum->ids);
        if (outputs[k].n)
            memcpy(sum->ids + sum->n, outputs[k].ids, outputs[k].n * sizeof *sum->ids);
        sum->n += outputs[k].n;
    }
    if (r->op->merge_witnesses)
        union_add(&b->witnesses, r->op, witness);
    if (at + 1 < end_of(&b->spans[b->feeding]))
        return OK;
    return err_up(e, write_leaf(b, &b->spans[b->feeding++], r, batch, e));
}

enum err_code map_tree_finish(struct map_tree *b, const struct id_list *outputs,
                              const struct assemble *out, struct node_run *r,
                              struct store_batch *batch, struct err *e)
{
    size_t n = op_count_outputs(r->op);
    struct arena a = {0};
    enum err_code code = OK;
    if (b)
        mark_bounds(b, out, UINT64_MAX, n);
    for (size_t i = 0; b && i < b->n_inners && !code; i++, arena_reset(&a)) {
        struct inner_block *u = &b->inners[i];
        struct action_result made = {.outputs = (struct id_list *)outputs,
                                     .slices = arena_array(&a, struct slice, n)};
        struct span witness = {0};
        for (size_t k = 0; k < n; k++)
            made.slices[k] = (struct slice){outputs[k].ids[0], u->from[k], u->to[k] - u->from[k]};
        if (!u->x.found && r->op->merge_witnesses)
            witness = union_get(&u->witnesses, r->op);
        code = write_block(&u->x, &made, witness, r, &a, batch, e);
    }
    arena_free(&a);
    return err_up(e, code);
}
