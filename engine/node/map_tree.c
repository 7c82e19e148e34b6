/* See map_tree.h. Blocks are looked up from the top of the input's tree; one that is neither cached
 * nor reused is divided into its children. Then the outputs of found blocks are fed, those of new
 * elements added, and blocks' actions written. */
#include "engine/node/map_tree.h"

#include "base/buf.h"
#include "base/os.h"
#include "engine/cache/witness_union.h"
#include "engine/node/element_reuse.h"
#include "store/collection/collection.h"

#include <stdlib.h>
#include <string.h>

enum { IDS_MAX = 1 << 16 }; /* outputs of one leaf: actions stay small */

/* The input is covered by found blocks of any depth, and leaves that were not found. */
struct input_block {
    struct collection_block block;
    unsigned depth;
    bool found;
    struct digest action;              /* if found: has its outputs */
    const struct reuse_origin *origin; /* if reused; else NULL */
    const char *reason;                /* of the reuse, as the op gave it */
};

/* A block above the leaves that was looked up. Blocks inside a found one are not listed. */
struct inner_block {
    struct collection_block block;
    unsigned depth;
    bool found;
    const struct reuse_origin *origin;
    uint64_t *from;                 /* by output: where its outputs begin in the map's */
    struct witness_union witnesses; /* if not found: of the elements in it so far */
};

struct map_tree {
    struct arena arena;
    struct input_block *spans;
    size_t n, cap;
    struct inner_block *inners; /* ascending; larger ones first */
    size_t n_inners, cap_inners;
    uint64_t cached, reused; /* elements */
    bool may_reuse;
    size_t feeding, feeding_inner;  /* what comes next */
    size_t *open, n_open;           /* inners that contain the next element, larger ones first */
    struct id_list *sum;            /* outputs of the leaf that is being added */
    size_t *caps;                   /* both by output */
    struct witness_union witnesses; /* of that leaf */
};

/* ---- looking up ---- */

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
    if (node_element_key(&key, s, &f->work.arena, f->node, &x->block.id, NULL) ||
        action_read(&made, &f->work.arena, s->store, op, &key.digest, NULL) ||
        (x->depth && !action_is_whole(s->store, op, &made)))
        return false;
    x->action = key.digest;
    return true;
}

static bool is_reused(struct input_block *x, struct finding *f)
{
    struct map_tree *b = f->b;
    struct reuse_origin origin;
    const char *reason;
    b->may_reuse = b->may_reuse && !session_late(f->work.s);
    if (!b->may_reuse || !reuse_block(&origin, &reason, &f->work, f->node, &x->block.id))
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

/* Covers the input: fills spans and inners. */
static enum err_code cover(struct map_tree *b, struct collection *c, struct worker *w, uint32_t i,
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

enum err_code map_tree_new(struct map_tree **out, struct worker *w, uint32_t i, struct err *e)
{
    struct session *s = w->s;
    struct node_run *r = &s->nodes[i];
    const struct op *op = s->job->nodes[i].op;
    struct collection *c;
    *out = NULL;
    if (!r->inputs[0].n)
        return OK;
    enum err_code code = collection_open(&c, s->store, r->inputs[0].ids, e);
    if (code || collection_depth(c) == 0) {
        if (!code)
            collection_close(c);
        return err_up(e, code);
    }
    struct map_tree *b = must_calloc(1, sizeof *b);
    size_t n_outputs = op_count_outputs(op);
    b->sum = arena_array(&b->arena, struct id_list, n_outputs);
    b->caps = arena_array(&b->arena, size_t, n_outputs);
    b->open = arena_array(&b->arena, size_t, collection_depth(c));
    /* A parallel op is prepared when no other op runs. */
    b->may_reuse = op->merge_witnesses && !op->parallel;
    code = cover(b, c, w, i, e);
    collection_close(c);
    *out = b;
    return err_up(e, code);
}

void map_tree_free(struct map_tree *b, const struct op *op)
{
    if (!b)
        return;
    for (size_t r = 0; r < op_count_outputs(op); r++)
        free(b->sum[r].ids);
    for (size_t k = 0; k < b->n_inners; k++)
        witness_union_clear(&b->inners[k].witnesses);
    witness_union_clear(&b->witnesses);
    arena_free(&b->arena);
    free(b->spans);
    free(b->inners);
    free(b);
}

/* ---- queries ---- */

static uint64_t end_of(const struct collection_block *block)
{
    return block->first + block->n;
}

/* The last span that begins at or before a position. */
static size_t span_at(const struct map_tree *b, uint64_t at)
{
    size_t low = 0, high = b->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (b->spans[middle].block.first <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint64_t map_tree_cached(const struct map_tree *b)
{
    return b ? b->cached : 0;
}

uint64_t map_tree_reused(const struct map_tree *b)
{
    return b ? b->reused : 0;
}

void map_tree_witnesses(struct witness_counts *to, const struct map_tree *b)
{
    for (size_t i = 0; b && i < b->n; i++)
        if (b->spans[i].origin)
            witness_counts_add(to, b->spans[i].reason, b->spans[i].block.n);
}

uint64_t map_tree_skip(const struct map_tree *b, uint64_t at)
{
    for (size_t k = b ? span_at(b, at) : 0; b && k < b->n && b->spans[k].found; k++)
        at = end_of(&b->spans[k].block);
    return at;
}

uint64_t map_tree_run(const struct map_tree *b, uint64_t at, uint64_t most)
{
    if (!b)
        return most;
    uint64_t end = at;
    for (size_t k = span_at(b, at); k < b->n && !b->spans[k].found && end - at < most; k++)
        end = end_of(&b->spans[k].block);
    return end - at < most ? end - at : most;
}

/* ---- feeding ---- */

/* Called before the outputs of the element or block at `at` are added. */
static void mark_beginnings(struct map_tree *b, const struct assemble *out, uint64_t at,
                            size_t n_outputs)
{
    while (b->n_open && end_of(&b->inners[b->open[b->n_open - 1]].block) <= at)
        b->n_open--;
    for (; b->feeding_inner < b->n_inners && b->inners[b->feeding_inner].block.first <= at;
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
        if (b->inners[b->open[k]].depth > depth)
            witness_union_add(&b->inners[b->open[k]].witnesses, op, witness);
}

static bool is_in_larger(const struct map_tree *b, unsigned depth)
{
    return b->n_open && b->inners[b->open[0]].depth > depth;
}

/* Writes the action of a block for the node's present inputs, and its trace. A reused block has an
 * `origin`; any other one may have a witness. */
static enum err_code write_block(const struct collection_block *block, struct action_result *made,
                                 const struct reuse_origin *origin, struct span witness,
                                 struct worker *w, uint32_t i, struct store_batch *batch,
                                 struct err *e)
{
    struct key key;
    made->run = w->s->run;
    made->cost_ns = 0;
    made->finished_ns = os_wall_ns();
    enum err_code code = node_element_key(&key, w->s, &w->arena, i, &block->id, e);
    if (!code)
        code = action_write(batch, &w->arena, w->s->job->nodes[i].op, &key, made, e);
    if (!code && origin)
        code = reuse_follow(batch, w, origin, &key.digest, e);
    else if (!code && witness.data)
        code = reuse_store_witness(batch, w, i, &block->id, &key.digest, witness, e);
    return err_up(e, code);
}

static enum err_code feed_found(struct map_tree *b, struct assemble *out,
                                const struct input_block *x, struct worker *w, uint32_t i,
                                struct store_batch *batch, struct err *e)
{
    struct session *s = w->s;
    const struct op *op = s->job->nodes[i].op;
    struct action_result made;
    enum err_code code;
    if (action_read(&made, &w->arena, s->store, op, &x->action, NULL))
        return err_fail(e, ERR_CORRUPT, "a cached result of node %s can no longer be read",
                        s->job->nodes[i].name);
    if (x->depth == 0)
        code = assemble_add(out, made.outputs, e);
    else
        code = made.slices ? assemble_add_slices(out, made.slices, e)
                           : OK; /* no slices: all outputs are empty */
    if (code || !batch)
        return err_up(e, code);
    if (op->merge_witnesses && is_in_larger(b, x->depth))
        pass_witness(b, op, x->depth, reuse_find_witness(w, i, &x->block.id, &x->action));
    if (!x->origin || x->depth)
        return OK; /* larger blocks are written by map_tree_finish */
    made.note = arena_printf(&w->arena, WITNESS_NOTE "%s", x->reason);
    return err_up(e, write_block(&x->block, &made, x->origin, (struct span){0}, w, i, batch, e));
}

enum err_code map_tree_feed(struct map_tree *b, struct assemble *out, uint64_t *at,
                            struct session *s, uint32_t i, struct store_batch *batch, struct err *e)
{
    if (!b || b->feeding == b->n || !b->spans[b->feeding].found ||
        b->spans[b->feeding].block.first != *at)
        return OK;
    struct worker work = {.s = s};
    const struct input_block *x = &b->spans[b->feeding++];
    mark_beginnings(b, out, *at, op_count_outputs(s->job->nodes[i].op));
    enum err_code code = feed_found(b, out, x, &work, i, batch, e);
    *at = end_of(&x->block);
    arena_free(&work.arena);
    return err_up(e, code);
}

static enum err_code write_leaf(struct map_tree *b, const struct collection_block *block,
                                struct session *s, uint32_t i, struct store_batch *batch,
                                struct err *e)
{
    const struct op *op = s->job->nodes[i].op;
    struct worker work = {.s = s};
    struct action_result made = {.outputs = b->sum};
    struct span witness =
        op->merge_witnesses ? witness_union_get(&b->witnesses, op) : (struct span){0};
    enum err_code code = OK;
    size_t n = 0;
    for (size_t r = 0; r < op_count_outputs(op); r++)
        n += b->sum[r].n;
    if (n <= IDS_MAX)
        code = write_block(block, &made, NULL, witness, &work, i, batch, e);
    if (op->merge_witnesses)
        pass_witness(b, op, 0, witness);
    for (size_t r = 0; r < op_count_outputs(op); r++)
        b->sum[r].n = 0;
    witness_union_clear(&b->witnesses);
    arena_free(&work.arena);
    return err_up(e, code);
}

enum err_code map_tree_add(struct map_tree *b, struct assemble *out, struct session *s, uint32_t i,
                           uint64_t at, const struct id_list *outputs, struct span witness,
                           struct store_batch *batch, struct err *e)
{
    const struct op *op = s->job->nodes[i].op;
    size_t n_outputs = op_count_outputs(op);
    if (b)
        mark_beginnings(b, out, at, n_outputs);
    enum err_code code = assemble_add(out, outputs, e);
    if (code)
        return err_up(e, code);
    for (size_t r = 0; b && batch && r < n_outputs; r++) {
        struct id_list *sum = &b->sum[r];
        sum->ids = vec_grow(sum->ids, &b->caps[r], sum->n + outputs[r].n + 1, sizeof *sum->ids);
        if (outputs[r].n)
            memcpy(sum->ids + sum->n, outputs[r].ids, outputs[r].n * sizeof *sum->ids);
        sum->n += outputs[r].n;
    }
    if (b && batch && op->merge_witnesses)
        witness_union_add(&b->witnesses, op, witness);
    if (!b || at + 1 < end_of(&b->spans[b->feeding].block))
        return OK;
    const struct input_block *x = &b->spans[b->feeding++];
    return batch ? err_up(e, write_leaf(b, &x->block, s, i, batch, e)) : OK;
}

/* Where the outputs of the block at a position begin. Every upper block ends where another one
 * begins, or at the end of the input. */
static uint64_t from_at(const struct map_tree *b, const struct assemble *out, uint64_t at, size_t r)
{
    size_t low = 0, high = b->n_inners;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->inners[middle].block.first < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < b->n_inners ? b->inners[low].from[r] : assemble_count(out, r);
}

enum err_code map_tree_finish(struct map_tree *b, const struct id_list *outputs,
                              const struct assemble *out, struct session *s, uint32_t i,
                              struct store_batch *batch, struct err *e)
{
    const struct op *op = s->job->nodes[i].op;
    size_t n = op_count_outputs(op);
    struct worker work = {.s = s};
    enum err_code code = OK;
    for (size_t k = 0; b && k < b->n_inners && !code; k++) {
        struct inner_block *u = &b->inners[k];
        struct action_result made = {.outputs = (struct id_list *)outputs,
                                     .slices = arena_array(&work.arena, struct slice, n)};
        struct span witness = {0};
        for (size_t r = 0; r < n; r++)
            made.slices[r] = (struct slice){outputs[r].ids[0], u->from[r],
                                            from_at(b, out, end_of(&u->block), r) - u->from[r]};
        if (!u->found && op->merge_witnesses)
            witness = witness_union_get(&u->witnesses, op);
        code = write_block(&u->block, &made, u->origin, witness, &work, i, batch, e);
        arena_reset(&work.arena);
    }
    arena_free(&work.arena);
    return err_up(e, code);
}
