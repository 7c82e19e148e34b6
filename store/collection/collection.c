/* Collections: building and reading; see collection.h and docs/format.md, section 4.
 *
 * The builder has one cutter per list. A list's ids are held back until there are more than
 * ROOT_MAX, because the root stores a short list directly; from then on blocks are cut and put as
 * soon as they end, so memory is bounded by the longest block per list.
 *
 * Invariant of both: the tree is a function of the sequence of ids alone. */
#include "store/collection/collection.h"

#include "collection.pb-c.h"
#include "store/collection/collection_internal.h"
#include "store/internal.h"

#include <assert.h>
#include <stdlib.h>

enum { ROOT_MAX = 256, BLOCK_MIN = 16, BLOCK_MAX = 1024, CUT_MASK = 127 };

/* A list of the tree under construction: the ids that are not in a block yet. */
struct level {
    struct digest *ids;
    uint64_t *counts; /* elements under each */
    size_t n, cap_ids, cap_counts;
    size_t in_block; /* of the n, how many the cutter has processed */
    bool cutting;    /* more than ROOT_MAX ids were added */
};

struct collection_builder {
    struct store_batch *batch;
    enum record_kind element;
    uint64_t count;
    struct level levels[COLLECTION_MAX_DEPTH + 1];
    unsigned n_levels;
};

struct collection_builder *collection_builder_new(struct store_batch *b, enum record_kind element)
{
    struct collection_builder *c = must_calloc(1, sizeof *c);
    assert(kind_info(element));
    c->batch = b;
    c->element = element;
    c->n_levels = 1;
    return c;
}

void collection_builder_free(struct collection_builder *c)
{
    if (!c)
        return;
    for (unsigned d = 0; d <= COLLECTION_MAX_DEPTH; d++) {
        free(c->levels[d].ids);
        free(c->levels[d].counts);
    }
    free(c);
}

static enum err_code list_add(struct collection_builder *c, unsigned d, const struct digest *id,
                              uint64_t count, struct err *e);

/* Puts the first n pending ids of list d as a block and adds its id to list d + 1. */
static enum err_code put_block(struct collection_builder *c, unsigned d, size_t n, struct err *e)
{
    struct level *l = &c->levels[d];
    Eqloom__CollectionBlock block = EQLOOM__COLLECTION_BLOCK__INIT;
    block.depth = d;
    block.element_ids = (ProtobufCBinaryData){n * DIGEST_SIZE, l->ids[0].bytes};
    if (d > 0) {
        block.n_block_count = n;
        block.block_count = l->counts;
    }
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += l->counts[i];
    struct digest id;
    enum err_code code =
        store_batch_put_message(&id, c->batch, KIND_COLLECTION_BLOCK, &block.base, e);
    if (code != OK)
        return err_up(e, code);
    memmove(l->ids, l->ids + n, (l->n - n) * sizeof *l->ids);
    memmove(l->counts, l->counts + n, (l->n - n) * sizeof *l->counts);
    l->n -= n;
    l->in_block = 0;
    return err_up(e, list_add(c, d + 1, &id, count, e));
}

static bool ends_block(const struct digest *id, size_t n)
{
    return n >= BLOCK_MAX || (n >= BLOCK_MIN && (id->bytes[DIGEST_SIZE - 1] & CUT_MASK) == 0);
}

/* Adds to list d: 0 for elements, d + 1 for blocks of depth d. */
static enum err_code list_add(struct collection_builder *c, unsigned d, const struct digest *id,
                              uint64_t count, struct err *e)
{
    if (d > COLLECTION_MAX_DEPTH)
        return err_fail(e, ERR_LIMIT, "a collection with too many elements");
    if (d >= c->n_levels)
        c->n_levels = d + 1;
    struct level *l = &c->levels[d];
    l->ids = vec_grow(l->ids, &l->cap_ids, l->n + 1, sizeof *l->ids);
    l->counts = vec_grow(l->counts, &l->cap_counts, l->n + 1, sizeof *l->counts);
    l->ids[l->n] = *id;
    l->counts[l->n++] = count;
    l->cutting = l->cutting || l->n > ROOT_MAX;
    while (l->cutting && l->in_block < l->n) {
        l->in_block++;
        if (ends_block(&l->ids[l->in_block - 1], l->in_block)) {
            enum err_code code = put_block(c, d, l->in_block, e);
            if (code != OK)
                return err_up(e, code);
        }
    }
    return OK;
}

enum err_code collection_builder_add(struct collection_builder *c, const struct digest *id,
                                     struct err *e)
{
    c->count++;
    return err_up(e, list_add(c, 0, id, 1, e));
}

enum err_code collection_builder_finish(struct digest *id, struct collection_builder *c,
                                        struct err *e)
{
    unsigned d = 0;
    for (; c->levels[d].cutting; d++)
        if (c->levels[d].n) {
            enum err_code code = put_block(c, d, c->levels[d].n, e);
            if (code != OK)
                return err_up(e, code);
        }
    struct level *root = &c->levels[d];
    Eqloom__Collection message = EQLOOM__COLLECTION__INIT;
    message.count = c->count;
    message.element_kind = (char *)kind_info(c->element)->name;
    message.depth = d;
    message.block_ids = (ProtobufCBinaryData){root->n * DIGEST_SIZE, (uint8_t *)root->ids};
    if (d > 0) {
        message.n_block_count = root->n;
        message.block_count = root->counts;
    }
    return err_up(e, store_batch_put_message(id, c->batch, KIND_COLLECTION, &message.base, e));
}

/* ---- reading ---- */

static enum err_code bad_node(const struct digest *id, const char *what, struct err *e)
{
    char hex[DIGEST_HEX];
    return err_fail(e, ERR_CORRUPT, "record %s: not a collection: %s", digest_hex(hex, id), what);
}

/* Fills a node from its decoded fields and checks that they are consistent. */
static enum err_code node_fill(struct collection_node *node, const struct digest *id,
                               const ProtobufCBinaryData *ids, const uint64_t *counts,
                               size_t n_counts, uint64_t count, struct arena *a, struct err *e)
{
    if (ids->len % DIGEST_SIZE)
        return bad_node(id, "ids cut off", e);
    node->n = ids->len / DIGEST_SIZE;
    if (n_counts != (node->depth > 0 ? node->n : 0))
        return bad_node(id, "not one count for each id", e);
    node->ids = (const struct digest *)ids->data;
    node->count = count;
    node->starts = arena_alloc(a, (node->n + 1) * sizeof *node->starts);
    uint64_t sum = 0;
    for (size_t i = 0; i < node->n; i++) {
        node->starts[i] = sum;
        uint64_t under = node->depth > 0 ? counts[i] : 1;
        if (under == 0 || under > count - sum)
            return bad_node(id, "counts do not add up", e);
        sum += under;
    }
    node->starts[node->n] = sum;
    return sum == count ? OK : bad_node(id, "counts do not add up", e);
}

enum err_code collection_read_root(struct collection_node *node, enum record_kind *element,
                                   struct store *s, const struct digest *id, struct arena *a,
                                   struct err *e)
{
    const Eqloom__Collection *root;
    enum err_code code = store_get_message(&root, s, id, KIND_COLLECTION, a, e);
    if (code != OK)
        return err_up(e, code);
    const struct kind_info *info = kind_by_name(root->element_kind);
    if (!info)
        return bad_node(id, "unknown kind of elements", e);
    if (root->depth > COLLECTION_MAX_DEPTH)
        return bad_node(id, "too deep", e);
    *element = info->kind;
    node->depth = root->depth;
    return err_up(e, node_fill(node, id, &root->block_ids, root->block_count, root->n_block_count,
                               root->count, a, e));
}

enum err_code collection_read_block(struct collection_node *node, struct store *s,
                                    const struct digest *id, unsigned depth, uint64_t count,
                                    struct arena *a, struct err *e)
{
    const Eqloom__CollectionBlock *block;
    enum err_code code = store_get_message(&block, s, id, KIND_COLLECTION_BLOCK, a, e);
    if (code != OK)
        return err_up(e, code);
    if (block->depth != depth)
        return bad_node(id, "a block of another depth", e);
    node->depth = depth;
    return err_up(e, node_fill(node, id, &block->element_ids, block->block_count,
                               block->n_block_count, count, a, e));
}

/* The path from the root to the leaf read last: path[0] is the leaf, path[depth] the root. */
struct collection {
    struct store *store;
    enum record_kind element;
    unsigned depth;
    struct collection_node path[COLLECTION_MAX_DEPTH + 1];
    uint64_t first[COLLECTION_MAX_DEPTH + 1]; /* position of the node's first element */
    bool loaded[COLLECTION_MAX_DEPTH + 1];
    struct arena arenas[COLLECTION_MAX_DEPTH + 1];
};

enum err_code collection_open(struct collection **out, struct store *s, const struct digest *id,
                              struct err *e)
{
    struct collection *c = must_calloc(1, sizeof *c);
    c->store = s;
    struct arena a = {0};
    struct collection_node root;
    enum err_code code = collection_read_root(&root, &c->element, s, id, &a, e);
    if (code != OK) {
        arena_free(&a);
        free(c);
        return err_up(e, code);
    }
    c->depth = root.depth;
    c->path[c->depth] = root;
    c->arenas[c->depth] = a;
    c->loaded[c->depth] = true;
    *out = c;
    return OK;
}

void collection_close(struct collection *c)
{
    if (!c)
        return;
    for (unsigned d = 0; d <= COLLECTION_MAX_DEPTH; d++)
        arena_free(&c->arenas[d]);
    free(c);
}

uint64_t collection_count(const struct collection *c)
{
    return c->path[c->depth].count;
}

enum record_kind collection_element_kind(const struct collection *c)
{
    return c->element;
}

/* Returns the last i with starts[i] <= at. */
static size_t child_of(const struct collection_node *node, uint64_t at)
{
    size_t low = 0, high = node->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (node->starts[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Loads into path[depth] the node of that depth that holds the element at this position. */
static enum err_code descend(struct collection *c, unsigned depth, uint64_t position, struct err *e)
{
    for (unsigned d = c->depth; d > depth; d--) {
        const struct collection_node *node = &c->path[d];
        size_t i = child_of(node, position - c->first[d]);
        uint64_t first = c->first[d] + node->starts[i];
        if (c->loaded[d - 1] && c->first[d - 1] == first)
            continue;
        for (unsigned k = 0; k < d; k++)
            c->loaded[k] = false;
        arena_reset(&c->arenas[d - 1]);
        enum err_code code =
            collection_read_block(&c->path[d - 1], c->store, &node->ids[i], d - 1,
                                  node->starts[i + 1] - node->starts[i], &c->arenas[d - 1], e);
        if (code != OK)
            return err_up(e, code);
        c->first[d - 1] = first;
        c->loaded[d - 1] = true;
    }
    return OK;
}

enum err_code collection_ids(struct digest *ids, struct collection *c, uint64_t from, uint64_t n,
                             struct err *e)
{
    uint64_t count = collection_count(c);
    if (from > count || n > count - from)
        return err_fail(
            e, ERR_NOTFOUND, "a collection of %llu elements has no elements %llu to %llu",
            (unsigned long long)count, (unsigned long long)from, (unsigned long long)(from + n));
    while (n) {
        enum err_code code = descend(c, 0, from, e);
        if (code != OK)
            return err_up(e, code);
        uint64_t skip = from - c->first[0], take = c->path[0].n - skip;
        if (take > n)
            take = n;
        memcpy(ids, c->path[0].ids + skip, take * sizeof *ids);
        ids += take;
        from += take;
        n -= take;
    }
    return OK;
}

enum err_code collection_read(struct collection_head *out, struct store *s, const struct digest *id,
                              uint64_t most, struct arena *a, struct err *e)
{
    struct collection *c;
    enum err_code code = collection_open(&c, s, id, e);
    if (code != OK)
        return err_up(e, code);
    uint64_t count = collection_count(c);
    size_t n = count < most ? count : most;
    struct digest *ids = arena_array(a, struct digest, n);
    *out = (struct collection_head){c->element, count, ids, n};
    code = collection_ids(ids, c, 0, n, e);
    collection_close(c);
    return err_up(e, code);
}

unsigned collection_depth(const struct collection *c)
{
    return c->depth;
}

enum err_code collection_block(struct collection_block *out, struct collection *c, unsigned depth,
                               uint64_t position, struct err *e)
{
    if (depth >= c->depth || position >= collection_count(c))
        return err_fail(e, ERR_NOTFOUND,
                        "a collection without a block of depth %u for element %llu", depth,
                        (unsigned long long)position);
    enum err_code code = descend(c, depth + 1, position, e);
    if (code != OK)
        return err_up(e, code);
    const struct collection_node *node = &c->path[depth + 1];
    size_t i = child_of(node, position - c->first[depth + 1]);
    out->id = node->ids[i];
    out->first = c->first[depth + 1] + node->starts[i];
    out->n = node->starts[i + 1] - node->starts[i];
    return OK;
}

/* ---- slices: a run of elements of one collection appended to another ----
 *
 * If the builder's lists up to depth d are empty and being cut, it is at the start of a block of
 * each depth up to d. If the source has a block of depth d that begins with the next element, the
 * builder would cut the same one, because cuts depend only on the ids since the last cut: so the
 * block's id is added to list d + 1, unread. The last block of a list is excluded, because it ends
 * with the list. Elsewhere elements are added one by one until both cut at the same place: usually
 * within a block. */

/* Returns for how many depths, from 0, the builder is at the start of a block. */
static unsigned depths_in_step(const struct collection_builder *b)
{
    unsigned d = 0;
    while (d <= COLLECTION_MAX_DEPTH && b->levels[d].cutting && b->levels[d].n == 0)
        d++;
    return d;
}

/* Finds the largest block of the source that can be reused; returns false if there is none. */
static bool find_whole(struct collection_block *block, unsigned *depth,
                       const struct collection_builder *b, struct collection *c, uint64_t at,
                       uint64_t end, struct err *e)
{
    unsigned d = depths_in_step(b);
    if (d > c->depth)
        d = c->depth;
    while (d-- > 0) {
        if (collection_block(block, c, d, at, e))
            return false;
        uint64_t after = block->first + block->n;
        *depth = d;
        if (block->first == at && after <= end && after < collection_count(c))
            return true;
    }
    return false;
}

static enum err_code add_elements(struct collection_builder *b, struct collection *c, uint64_t from,
                                  uint64_t n, struct err *e)
{
    enum { AT_ONCE = 64 };
    struct digest ids[AT_ONCE];
    enum err_code code = OK;
    while (n && !code) {
        uint64_t take = n < AT_ONCE ? n : AT_ONCE;
        code = collection_ids(ids, c, from, take, e);
        for (uint64_t i = 0; i < take && !code; i++)
            code = collection_builder_add(b, &ids[i], e);
        from += take;
        n -= take;
    }
    return err_up(e, code);
}

enum err_code collection_builder_add_slice(struct collection_builder *b, struct collection *c,
                                           uint64_t from, uint64_t n, struct err *e)
{
    uint64_t at = from, end = from + n;
    enum err_code code = OK;
    struct err mine = {0};
    if (c->element != b->element || end < from || end > collection_count(c))
        return err_fail(e, ERR_CORRUPT, "a slice of another kind, or beyond the collection's end");
    while (at < end && !code) {
        struct collection_block block = {.first = 0, .n = end};
        unsigned depth;
        if (find_whole(&block, &depth, b, c, at, end, &mine)) {
            code = list_add(b, depth + 1, &block.id, block.n, e);
            b->count += block.n;
            at += block.n;
            continue;
        }
        if (mine.code) {
            if (e)
                *e = mine;
            return err_up(e, mine.code);
        }
        if (c->depth && (code = collection_block(&block, c, 0, at, e)))
            break;
        uint64_t stop = block.first + block.n < end ? block.first + block.n : end;
        code = add_elements(b, c, at, stop - at, e);
        at = stop;
    }
    return err_up(e, code);
}
