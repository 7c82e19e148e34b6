/* See idtable.h. Stores the first eight bytes of an id, as a number. Ids are hashes, so an id's
 * position follows approximately from its value. Ids that share these bytes are stored in full
 * (`twins`). */
#include "store/check/idtable.h"

#include "base/buf.h"

#include <stdlib.h>

static uint64_t prefix_of(const struct digest *id)
{
    uint64_t prefix = 0;
    for (int i = 0; i < 8; i++)
        prefix = prefix << 8 | id->bytes[i];
    return prefix;
}

void id_table_free(struct id_table *t)
{
    free(t->prefix);
    free(t->flags);
    digest_map_free(&t->twins);
    *t = (struct id_table){0};
}

void id_table_add(struct id_table *t, const struct digest *id, uint8_t flags)
{
    uint64_t prefix = prefix_of(id);
    if (t->n && t->prefix[t->n - 1] == prefix) {
        digest_map_put(&t->twins, &t->last, t->n - 1, NULL);
        digest_map_put(&t->twins, id, t->n, NULL);
    }
    t->prefix = vec_grow(t->prefix, &t->cap_prefix, t->n + 1, sizeof *t->prefix);
    t->flags = vec_grow(t->flags, &t->cap_flags, t->n + 1, sizeof *t->flags);
    t->prefix[t->n] = prefix;
    t->flags[t->n++] = flags;
    t->last = *id;
}

/* Returns the first position whose prefix is not below: by interpolation, every other time by
 * bisection, in case ids were chosen adversarially. */
static size_t lower_bound(const struct id_table *t, uint64_t prefix)
{
    size_t low = 0, high = t->n; /* all before low are below, all from high on are not */
    for (bool halves = false; low < high; halves = !halves) {
        size_t middle = low + (high - low) / 2;
        uint64_t first = t->prefix[low], last = t->prefix[high - 1];
        if (!halves && prefix > first && prefix < last)
            middle = low + (size_t)((unsigned __int128)(prefix - first) * (high - 1 - low) /
                                    (last - first));
        if (t->prefix[middle] < prefix)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint8_t *id_table_find(const struct id_table *t, const struct digest *id)
{
    uint64_t prefix = prefix_of(id);
    size_t at = lower_bound(t, prefix);
    if (at == t->n || t->prefix[at] != prefix)
        return NULL;
    if (at + 1 < t->n && t->prefix[at + 1] == prefix) {
        const uint64_t *exact = digest_map_get(&t->twins, id);
        return exact ? &t->flags[*exact] : NULL;
    }
    return &t->flags[at];
}
