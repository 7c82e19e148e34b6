/* What a source gave when it was read last, as what it will mostly give again. Most of a large file
 * stays as it is, in its order: records that come where they came before need not be looked for in
 * the store, one by one. Constant memory; after insertions, removals and changes of up to a few
 * hundred elements at one place, the lists are found to run alike again. */
#ifndef ENGINE_EXPECTED_H
#define ENGINE_EXPECTED_H

#include "store/store.h"

struct expected;
/* NULL if the collection cannot be read. */
struct expected *expected_new(struct store *s, const struct digest *collection);
void expected_free(struct expected *x); /* NULL is fine */
/* Whether this id comes next, or soon; then the ids after it are expected next. For
 * store_batch_trust. */
bool expected_has(void *expected, const struct digest *id);
/* What was at this position is expected next. */
void expected_go_to(struct expected *x, uint64_t position);

#endif
