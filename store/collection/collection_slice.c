/* A run of elements of one collection appended to another; see collection.h.
 *
 * Where the builder's lists up to depth d are empty and being cut, it stands at the start of a
 * block of each depth up to d. If the source has a block of depth d beginning with the next
 * element, the builder would cut the same one, because cuts depend on the ids since the last cut
 * alone: so the block's id goes into list d + 1, unread. All but the last block of a list, which
 * ends because the list does. Elsewhere elements go in one by one, until both cut at the same
 * place: mostly within a block. */
#include "store/collection/collection_internal.h"

/* So many depths, from 0, at which the builder stands at the start of a block. */
static unsigned depths_in_step(const struct collection_builder *b)
{
    unsigned d = 0;
    while (d <= COLLECTION_MAX_DEPTH && b->levels[d].cutting && b->levels[d].n == 0)
        d++;
    return d;
}

/* The largest block of the source that can be taken over as it is; false: none. */
static bool find_whole(struct collection_block *block, unsigned *depth,
                       const struct collection_builder *b, struct collection *c, uint64_t at,
                       uint64_t end, struct err *e)
{
    unsigned d = depths_in_step(b);
    if (d > collection_depth(c))
        d = collection_depth(c);
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
    if (collection_element_kind(c) != b->element || end < from || end > collection_count(c))
        return err_fail(e, ERR_CORRUPT, "a slice of another kind, or beyond the collection's end");
    while (at < end && !code) {
        struct collection_block block = {.first = 0, .n = end};
        unsigned depth;
        if (find_whole(&block, &depth, b, c, at, end, &mine)) {
            code = collection_list_add(b, depth + 1, &block.id, block.n, e);
            b->count += block.n;
            at += block.n;
            continue;
        }
        if (mine.code) {
            if (e)
                *e = mine;
            return err_up(e, mine.code);
        }
        if (collection_depth(c) && (code = collection_block(&block, c, 0, at, e)))
            break;
        uint64_t stop = block.first + block.n < end ? block.first + block.n : end;
        code = add_elements(b, c, at, stop - at, e);
        at = stop;
    }
    return err_up(e, code);
}
