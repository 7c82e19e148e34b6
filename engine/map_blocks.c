/* See map_blocks.h. */
#include "engine/map_blocks.h"

#include "base/buf.h"
#include "base/os.h"
#include "engine/elements.h"

#include <stdlib.h>
#include <string.h>

enum { IDS_MAX = 1 << 16 }; /* outputs of one leaf: actions stay small */

struct map_blocks {
    struct arena arena;
    struct collection_leaf *leaves;
    bool *known; /* by leaf */
    size_t n;
    uint64_t cached;
    size_t feeding; /* the leaf whose elements come in */
    struct id_list *sum;
    size_t *caps; /* both by output */
};

/* The last leaf that begins at or before a position. */
static size_t leaf_of(const struct map_blocks *b, uint64_t at)
{
    size_t low = 0, high = b->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (b->leaves[middle].first <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

enum err_code map_blocks_new(struct map_blocks **out, struct session *s, uint32_t i, struct err *e)
{
    struct node_run *r = &s->nodes[i];
    const struct op *op = s->job->nodes[i].op;
    size_t n_outputs = op_count_outputs(op);
    struct arena a = {0}, list = {0};
    struct collection_leaf *leaves;
    size_t n;
    *out = NULL;
    enum err_code code = elements_leaves(&leaves, &n, &list, ctx_node_list(r->shared), e);
    if (code || !n) {
        arena_free(&list);
        return err_up(e, code);
    }
    struct map_blocks *b = calloc(1, sizeof *b);
    if (!b)
        abort(); /* as small allocations do */
    b->arena = list;
    b->leaves = leaves;
    b->n = n;
    b->known = arena_array(&b->arena, bool, n);
    b->sum = arena_array(&b->arena, struct id_list, n_outputs);
    b->caps = arena_array(&b->arena, size_t, n_outputs);
    for (size_t k = 0; k < n && !code; k++) {
        struct key key;
        struct made made;
        code = map_element_key(&key, s, &a, i, &leaves[k].id, e);
        b->known[k] = !code && !made_read(&made, &a, s->store, op, &key.digest, NULL);
        b->cached += b->known[k] ? leaves[k].n : 0;
        arena_reset(&a);
    }
    arena_free(&a);
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
    free(b);
}

uint64_t map_blocks_cached(const struct map_blocks *b)
{
    return b ? b->cached : 0;
}

uint64_t map_blocks_skip(const struct map_blocks *b, uint64_t at)
{
    for (size_t k = b ? leaf_of(b, at) : 0; b && k < b->n && b->known[k]; k++)
        at = b->leaves[k].first + b->leaves[k].n;
    return at;
}

uint64_t map_blocks_run(const struct map_blocks *b, uint64_t at, uint64_t most)
{
    if (!b)
        return most;
    uint64_t end = at;
    for (size_t k = leaf_of(b, at); k < b->n && !b->known[k] && end - at < most; k++)
        end = b->leaves[k].first + b->leaves[k].n;
    return end - at < most ? end - at : most;
}

enum err_code map_blocks_read(struct made *made, uint64_t *n, struct map_blocks *b,
                              struct session *s, uint32_t i, uint64_t at, struct arena *a,
                              struct err *e)
{
    size_t k = b ? leaf_of(b, at) : 0;
    struct key key;
    if (!b || k >= b->n || !b->known[k] || b->leaves[k].first != at)
        return ERR_NOTFOUND;
    *n = b->leaves[k].n;
    enum err_code code = map_element_key(&key, s, a, i, &b->leaves[k].id, e);
    if (!code && made_read(made, a, s->store, s->job->nodes[i].op, &key.digest, NULL))
        code = err_fail(e, ERR_CORRUPT, "what was known of node %s a moment ago cannot be read",
                        s->job->nodes[i].name);
    return err_up(e, code);
}

static enum err_code write_leaf(struct map_blocks *b, struct session *s, uint32_t i,
                                struct store_batch *batch, struct err *e)
{
    const struct op *op = s->job->nodes[i].op;
    struct arena a = {0};
    struct key key;
    struct made made = {.outputs = b->sum, .run = s->run, .finished_ns = os_wall_ns()};
    size_t n = 0;
    for (size_t r = 0; r < op_count_outputs(op); r++)
        n += b->sum[r].n;
    enum err_code code = map_element_key(&key, s, &a, i, &b->leaves[b->feeding].id, e);
    if (!code && n <= IDS_MAX)
        code = made_write(batch, &a, op, &key, &made, e);
    for (size_t r = 0; r < op_count_outputs(op); r++)
        b->sum[r].n = 0;
    arena_free(&a);
    return err_up(e, code);
}

enum err_code map_blocks_add(struct map_blocks *b, struct session *s, uint32_t i, uint64_t at,
                             const struct id_list *outputs, struct store_batch *batch,
                             struct err *e)
{
    if (!b)
        return OK;
    while (at >= b->leaves[b->feeding].first + b->leaves[b->feeding].n)
        b->feeding++;
    const struct collection_leaf *leaf = &b->leaves[b->feeding];
    for (size_t r = 0; r < op_count_outputs(s->job->nodes[i].op); r++) {
        struct id_list *sum = &b->sum[r];
        sum->ids = vec_grow(sum->ids, &b->caps[r], sum->n + outputs[r].n + 1, sizeof *sum->ids);
        if (outputs[r].n)
            memcpy(sum->ids + sum->n, outputs[r].ids, outputs[r].n * sizeof *sum->ids);
        sum->n += outputs[r].n;
    }
    return at + 1 == leaf->first + leaf->n ? err_up(e, write_leaf(b, s, i, batch, e)) : OK;
}
