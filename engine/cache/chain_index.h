/* Which segment of a chain gave which record, also for segments whose actions gc removed together
 * with what they made. A segment's key holds the record before it, so without this index a chain
 * whose records in between are gone could not be continued. Shared by all chains that begin with
 * the same text: a segment is found by its action key, or by what it reads (op.reads). */
#ifndef ENGINE_CHAIN_INDEX_H
#define ENGINE_CHAIN_INDEX_H

#include "store/store.h"

struct chain_index {
    struct digest key;    /* of the first segment without its inputs */
    struct digest *pairs; /* a segment's digest, its first output; heap */
    size_t n, cap;
};

/* Empty if nothing is stored. */
void chain_index_load(struct chain_index *x, struct store *s, const struct digest *key);
void chain_index_free(struct chain_index *x);
/* NULL: not there. */
const struct digest *chain_index_find(const struct chain_index *x, const struct digest *segment);
void chain_index_add(struct chain_index *x, const struct digest *segment,
                     const struct digest *output);
/* `action`: of the newest segment; the index stays as long as its output. */
enum err_code chain_index_write(struct store_batch *b, const struct chain_index *x,
                                const struct digest *action, struct err *e);

#endif
