/* Ids of millions of records with a byte of flags each, in nine bytes a record: appended in
 * ascending order, as a scan of the database visits them, and looked up at random. */
#pragma once

#include "base/map.h"

struct id_table { /* zeroed: empty */
    uint64_t *prefix;
    uint8_t *flags;
    size_t n, cap_prefix, cap_flags;
    struct digest last;
    struct digest_map twins;
};

void id_table_free(struct id_table *t);
/* `id` must be greater than all ids added before. */
void id_table_add(struct id_table *t, const struct digest *id, uint8_t flags);
/* Returns the flags of an id, or NULL if it is absent. Ids in the table are distinguished exactly;
 * an absent id is taken for a present one with probability n / 2^64. */
uint8_t *id_table_find(const struct id_table *t, const struct digest *id);
