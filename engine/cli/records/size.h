/* How many bytes things take in the store, compressed: a collection with its blocks and elements, a
 * checkpoint or file with its chunks. What a record merely refers to (a cluster's e-graph) does not
 * count; what two of them share counts for each. */
#ifndef ENGINE_CLI_SIZE_H
#define ENGINE_CLI_SIZE_H

#include "store/store.h"

struct sizes;
/* Looks at every record once. */
enum err_code sizes_load(struct sizes **out, struct store *s, struct err *e);
void sizes_free(struct sizes *z); /* NULL is fine */
uint64_t sizes_of(const struct sizes *z, const struct digest *id, const struct record *r);

#endif
