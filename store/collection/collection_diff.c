/* What two collections do not share, without reading what they do; see collection.h.
 *
 * Both trees are taken down list by list (the deeper one first, until both are at the same depth).
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

/* Drops from `side` as many of each id as the map has. */
static void drop(struct side *side, struct digest_map *map)
{
    size_t kept = 0;
    for (size_t i = 0; i < side->n; i++) {
        uint64_t *left = digest_map_get(map, &side->entries[i].id);
        if (left && *left)
            --*left;
        else
            side->entries[kept++] = side->entries[i];
    }
    side->n = kept;
}

static void cancel(struct side *x, struct side *y)
{
    struct digest_map in_x = {0}, common = {0};
    for (size_t i = 0; i < x->n; i++)
        ++*digest_map_put(&in_x, &x->entries[i].id, 0, NULL);
    for (size_t i = 0; i < y->n; i++) {
        uint64_t *left = digest_map_get(&in_x, &y->entries[i].id);
        if (left && *left) {
            --*left;
            ++*digest_map_put(&common, &y->entries[i].id, 0, NULL);
        }
    }
    struct digest_map again = {0};
    for (size_t i = 0; i < y->n; i++) {
        uint64_t *n = digest_map_get(&common, &y->entries[i].id);
        if (n)
            *digest_map_put(&again, &y->entries[i].id, 0, NULL) = *n;
    }
    drop(x, &common);
    drop(y, &again);
    digest_map_free(&in_x);
    digest_map_free(&common);
    digest_map_free(&again);
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
