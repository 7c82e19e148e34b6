/* The ids of millions of records with a byte of flags each, in nine bytes a record: gathered in
 * ascending order, as a scan of the database gives them, and looked up at random. */
#pragma once

#include "base/map.h"

struct id_table { /* a zeroed one is empty */
    uint64_t *prefix;
    uint8_t *flags;
    size_t n, cap_prefix, cap_flags;
    struct digest last;
    struct digest_map twins;
};

void id_table_free(struct id_table *t);
/* `id` is greater than all before it. */
void id_table_add(struct id_table *t, const struct digest *id, uint8_t flags);
/* Its flags, or NULL when it is not there. Those that are there are told apart exactly; one that is
 * not passes for another with a chance of n in 2^64. */
uint8_t *id_table_find(const struct id_table *t, const struct digest *id);
