/* The difference of two collections, without reading what they share; see collection.h.
 *
 * Both trees are descended list by list (the deeper one first, until both are at the same depth).
 * In each list, nodes that occur on both sides cancel, as multisets; only the rest is read. Equal
 * nodes have equal elements, so cancelling them never changes the difference of the multisets. */
#include "store/collection/collection.h"
#include "store/collection/collection_internal.h"
#include "store/internal.h"

#include <stdlib.h>

struct entry {
    struct digest id;
    uint64_t position, count;
};

/* One side: a list of one depth, less what has been cancelled. */
struct side {
    struct entry *entries;
    size_t n, cap;
    unsigned depth;
};

static void side_add_node(struct side *side, const struct collection_node *node, uint64_t position)
{
    side->entries = vec_grow(side->entries, &side->cap, side->n + node->n, sizeof *side->entries);
    for (size_t i = 0; i < node->n; i++)
        side->entries[side->n++] = (struct entry){node->ids[i], position + node->starts[i],
                                                  node->starts[i + 1] - node->starts[i]};
}

static enum err_code side_open(struct side *side, struct store *s, const struct digest *id,
                               struct err *e)
{
    struct arena a = {0};
    struct collection_node root;
    enum record_kind kind;
    enum err_code code = collection_read_root(&root, &kind, s, id, &a, e);
    if (code == OK) {
        side->depth = root.depth;
        side_add_node(side, &root, 0);
    }
    arena_free(&a);
    return err_up(e, code);
}

/* Replaces each node by its children. */
static enum err_code side_descend(struct side *side, struct store *s, struct err *e)
{
    struct side below = {.depth = side->depth - 1};
    struct arena a = {0};
    enum err_code code = OK;
    for (size_t i = 0; code == OK && i < side->n; i++) {
        const struct entry *entry = &side->entries[i];
        struct collection_node node;
        code = collection_read_block(&node, s, &entry->id, below.depth, entry->count, &a, e);
        if (code == OK)
            side_add_node(&below, &node, entry->position);
        arena_reset(&a);
    }
    arena_free(&a);
    free(side->entries);
    *side = below;
    return err_up(e, code);
}

/* Removes from both sides as many of each id, the first ones, as both have. */
static void cancel(struct side *x, struct side *y)
{
    struct digest_map left = {0}; /* id -> how many of x have no partner */
    size_t kept = 0, from = x->n;
    for (size_t i = 0; i < x->n; i++)
        ++*digest_map_put(&left, &x->entries[i].id, 0, NULL);
    for (size_t i = 0; i < y->n; i++) {
        uint64_t *n = digest_map_get(&left, &y->entries[i].id);
        if (n && *n)
            --*n;
        else
            y->entries[kept++] = y->entries[i];
    }
    y->n = kept;
    for (size_t i = x->n; i-- > 0;) {
        uint64_t *n = digest_map_get(&left, &x->entries[i].id);
        if (*n) {
            --*n;
            x->entries[--from] = x->entries[i];
        }
    }
    x->n -= from;
    if (x->n)
        memmove(x->entries, x->entries + from, x->n * sizeof *x->entries);
    digest_map_free(&left);
}

static enum err_code report(const struct side *side, bool added, collection_visit *visit, void *arg,
                            struct err *e)
{
    enum err_code code = OK;
    for (size_t i = 0; code == OK && i < side->n; i++)
        code = visit(arg, added, side->entries[i].position, &side->entries[i].id, e);
    return code;
}

enum err_code collection_diff(struct store *s, const struct digest *from, const struct digest *to,
                              collection_visit *visit, void *arg, struct err *e)
{
    if (digest_equal(from, to))
        return OK;
    struct side a = {0}, b = {0};
    enum err_code code = side_open(&a, s, from, e);
    if (code == OK)
        code = side_open(&b, s, to, e);
    while (code == OK && (a.depth > 0 || b.depth > 0)) {
        if (a.depth == b.depth)
            cancel(&a, &b);
        struct side *deeper = a.depth > b.depth ? &a : &b;
        bool both = a.depth == b.depth;
        code = side_descend(deeper, s, e);
        if (code == OK && both)
            code = side_descend(&a, s, e);
    }
    if (code == OK) {
        cancel(&a, &b);
        code = report(&b, true, visit, arg, e);
    }
    if (code == OK)
        code = report(&a, false, visit, arg, e);
    free(a.entries);
    free(b.entries);
    return err_up(e, code);
}
