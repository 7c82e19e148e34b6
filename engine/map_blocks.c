/* See map_blocks.h. */
#include "engine/map_blocks.h"

#include "base/buf.h"
#include "base/os.h"
#include "store/collection.h"

#include <stdlib.h>
#include <string.h>

enum { IDS_MAX = 1 << 16 }; /* outputs of one leaf: actions stay small */

/* The input is covered by known blocks of any depth and unknown leaves. */
struct span_of_input {
    struct collection_block block;
    unsigned depth;
    bool known;
};

/* A block above the leaves that was looked up; what lies in a known one is not listed. */
struct upper {
    struct collection_block block;
    uint64_t *from; /* by output: where its outputs begin in the map's */
};

struct map_blocks {
    struct arena arena;
    struct span_of_input *spans;
    size_t n, cap;
    struct upper *uppers; /* ascending; larger ones first */
    size_t n_uppers, cap_uppers;
    uint64_t cached;
    size_t feeding, feeding_upper; /* what comes next */
    struct id_list *sum;           /* of the unknown leaf that comes in */
    size_t *caps;                  /* both by output */
};

/* ---- finding ---- */

/* The known action of a block; its outputs must be there. */
static bool read_block(struct made *made, struct arena *a, struct session *s, uint32_t i,
                       const struct digest *id, unsigned depth)
{
    const struct op *op = s->job->nodes[i].op;
    struct key key;
    return !map_element_key(&key, s, a, i, id, NULL) &&
           !made_read(made, a, s->store, op, &key.digest, NULL) &&
           (depth == 0 || made_is_whole(s->store, op, made, NULL, false));
}

static void add_span(struct map_blocks *b, const struct collection_block *block, unsigned depth,
                     bool known)
{
    b->spans = vec_grow(b->spans, &b->cap, b->n + 1, sizeof *b->spans);
    b->spans[b->n++] = (struct span_of_input){*block, depth, known};
    b->cached += known ? block->n : 0;
}

static void add_upper(struct map_blocks *b, const struct collection_block *block, size_t n_outputs)
{
    b->uppers = vec_grow(b->uppers, &b->cap_uppers, b->n_uppers + 1, sizeof *b->uppers);
    b->uppers[b->n_uppers++] =
        (struct upper){*block, arena_array(&b->arena, uint64_t, n_outputs + 1)};
}

/* What begins at `at`: the largest known block, or an unknown leaf. unknown[d]: the end of the
 * block of depth d found unknown last. */
static enum err_code find_span(struct map_blocks *b, struct collection *c, uint64_t *at,
                               uint64_t *unknown, struct session *s, uint32_t i, struct err *e)
{
    size_t n_outputs = op_count_outputs(s->job->nodes[i].op);
    struct arena a = {0};
    enum err_code code = OK;
    for (unsigned d = collection_depth(c); d-- > 0;) {
        struct collection_block block;
        struct made made;
        if (*at < unknown[d])
            continue;
        if ((code = collection_block(&block, c, d, *at, e)))
            break;
        bool known = !s->nodes[i].distrust && read_block(&made, &a, s, i, &block.id, d);
        arena_reset(&a);
        if (d > 0)
            add_upper(b, &block, n_outputs);
        unknown[d] = block.first + block.n;
        if (!known && d > 0)
            continue;
        add_span(b, &block, d, known);
        *at = block.first + block.n;
        break;
    }
    arena_free(&a);
    return err_up(e, code);
}

enum err_code map_blocks_new(struct map_blocks **out, struct session *s, uint32_t i, struct err *e)
{
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
    struct map_blocks *b = calloc(1, sizeof *b);
    if (!b)
        abort(); /* as small allocations do */
    size_t n_outputs = op_count_outputs(op);
    uint64_t *unknown = arena_array(&b->arena, uint64_t, collection_depth(c));
    b->sum = arena_array(&b->arena, struct id_list, n_outputs);
    b->caps = arena_array(&b->arena, size_t, n_outputs);
    for (uint64_t at = 0; at < collection_count(c) && !code;)
        code = find_span(b, c, &at, unknown, s, i, e);
    collection_close(c);
    *out = b;
    return err_up(e, code);
}

void map_blocks_free(struct map_blocks *b, const struct op *op)
{
    if (!b)
        return;
    for (size_t r = 0; r < op_count_outputs(op); r++)
        free(b->sum[r].ids);
    arena_free(&b->arena);
    free(b->spans);
    free(b->uppers);
    free(b);
}

/* ---- asking ---- */

static uint64_t end_of(const struct collection_block *block)
{
    return block->first + block->n;
}

/* The last span that begins at or before a position. */
static size_t span_at(const struct map_blocks *b, uint64_t at)
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

uint64_t map_blocks_cached(const struct map_blocks *b)
{
    return b ? b->cached : 0;
}

uint64_t map_blocks_skip(const struct map_blocks *b, uint64_t at)
{
    for (size_t k = b ? span_at(b, at) : 0; b && k < b->n && b->spans[k].known; k++)
        at = end_of(&b->spans[k].block);
    return at;
}

uint64_t map_blocks_run(const struct map_blocks *b, uint64_t at, uint64_t most)
{
    if (!b)
        return most;
    uint64_t end = at;
    for (size_t k = span_at(b, at); k < b->n && !b->spans[k].known && end - at < most; k++)
        end = end_of(&b->spans[k].block);
    return end - at < most ? end - at : most;
}

/* ---- feeding ---- */

static void note_beginnings(struct map_blocks *b, const struct assemble *out, uint64_t at,
                            size_t n_outputs)
{
    for (; b->feeding_upper < b->n_uppers && b->uppers[b->feeding_upper].block.first <= at;
         b->feeding_upper++)
        for (size_t r = 0; r < n_outputs; r++)
            b->uppers[b->feeding_upper].from[r] = assemble_count(out, r);
}

static enum err_code feed_known(struct assemble *out, const struct span_of_input *x,
                                struct session *s, uint32_t i, struct err *e)
{
    struct arena a = {0};
    struct made made;
    enum err_code code;
    if (!read_block(&made, &a, s, i, &x->block.id, x->depth))
        code = err_fail(e, ERR_CORRUPT, "what was known of node %s a moment ago cannot be read",
                        s->job->nodes[i].name);
    else if (x->depth == 0)
        code = assemble_add(out, made.outputs, e);
    else
        code = made.slices ? assemble_add_slices(out, made.slices, e) : OK; /* all are empty */
    arena_free(&a);
    return err_up(e, code);
}

enum err_code map_blocks_feed(struct map_blocks *b, struct assemble *out, uint64_t *at,
                              struct session *s, uint32_t i, struct err *e)
{
    enum err_code code = OK;
    while (b && !code && b->feeding < b->n && b->spans[b->feeding].known &&
           b->spans[b->feeding].block.first == *at) {
        const struct span_of_input *x = &b->spans[b->feeding++];
        note_beginnings(b, out, *at, op_count_outputs(s->job->nodes[i].op));
        code = feed_known(out, x, s, i, e);
        *at = end_of(&x->block);
    }
    return err_up(e, code);
}

static enum err_code write_leaf(struct map_blocks *b, const struct digest *id, struct session *s,
                                uint32_t i, struct store_batch *batch, struct err *e)
{
    const struct op *op = s->job->nodes[i].op;
    struct arena a = {0};
    struct key key;
    struct made made = {.outputs = b->sum, .run = s->run, .finished_ns = os_wall_ns()};
    size_t n = 0;
    for (size_t r = 0; r < op_count_outputs(op); r++)
        n += b->sum[r].n;
    enum err_code code = map_element_key(&key, s, &a, i, id, e);
    if (!code && n <= IDS_MAX)
        code = made_write(batch, &a, op, &key, &made, e);
    for (size_t r = 0; r < op_count_outputs(op); r++)
        b->sum[r].n = 0;
    arena_free(&a);
    return err_up(e, code);
}

enum err_code map_blocks_add(struct map_blocks *b, struct assemble *out, struct session *s,
                             uint32_t i, uint64_t at, const struct id_list *outputs,
                             struct store_batch *batch, struct err *e)
{
    size_t n_outputs = op_count_outputs(s->job->nodes[i].op);
    if (b)
        note_beginnings(b, out, at, n_outputs);
    if (err_up(e, assemble_add(out, outputs, e)))
        return e ? e->code : ERR_FAILED;
    for (size_t r = 0; b && batch && r < n_outputs; r++) {
        struct id_list *sum = &b->sum[r];
        sum->ids = vec_grow(sum->ids, &b->caps[r], sum->n + outputs[r].n + 1, sizeof *sum->ids);
        if (outputs[r].n)
            memcpy(sum->ids + sum->n, outputs[r].ids, outputs[r].n * sizeof *sum->ids);
        sum->n += outputs[r].n;
    }
    if (!b || at + 1 < end_of(&b->spans[b->feeding].block))
        return OK;
    const struct span_of_input *x = &b->spans[b->feeding++];
    return batch ? err_up(e, write_leaf(b, &x->block.id, s, i, batch, e)) : OK;
}

/* Where the outputs of what begins at a position begin: every upper block ends where another one
 * does, or all. */
static uint64_t from_at(const struct map_blocks *b, const struct assemble *out, uint64_t at,
                        size_t r)
{
    size_t low = 0, high = b->n_uppers;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->uppers[middle].block.first < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < b->n_uppers ? b->uppers[low].from[r] : assemble_count(out, r);
}

enum err_code map_blocks_finish(struct map_blocks *b, const struct id_list *outputs,
                                const struct assemble *out, struct session *s, uint32_t i,
                                struct store_batch *batch, struct err *e)
{
    const struct op *op = s->job->nodes[i].op;
    size_t n = op_count_outputs(op);
    struct arena a = {0};
    enum err_code code = OK;
    for (size_t k = 0; b && k < b->n_uppers && !code; k++) {
        const struct upper *u = &b->uppers[k];
        struct key key;
        struct made made = {.outputs = (struct id_list *)outputs,
                            .slices = arena_array(&a, struct slice, n),
                            .run = s->run,
                            .finished_ns = os_wall_ns()};
        for (size_t r = 0; r < n; r++)
            made.slices[r] = (struct slice){outputs[r].ids[0], u->from[r],
                                            from_at(b, out, end_of(&u->block), r) - u->from[r]};
        code = map_element_key(&key, s, &a, i, &u->block.id, e);
        if (!code)
            code = made_write(batch, &a, op, &key, &made, e);
        arena_reset(&a);
    }
    arena_free(&a);
    return err_up(e, code);
}
