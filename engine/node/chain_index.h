/* What is left of a chain: which segment gave which record, for segments whose own actions may be
 * gone, because gc removed what they made. The key of each segment holds the record before it, so
 * without the trail a chain that was trimmed could not be gone on with.
 *
 * And what stays of it: refs "JOB/NODE/at/SEGMENT" for the records that the node's `keep` asks for,
 * and for the newest one while the chain is not finished. */
#ifndef ENGINE_CHAIN_INDEX_H
#define ENGINE_CHAIN_INDEX_H

#include "engine/run/session.h"

struct chain_index {
    struct digest key;    /* that of the first segment */
    struct digest *pairs; /* segment's key, its first output; heap */
    size_t n, cap;
};

/* Empty if nothing is stored. */
void chain_index_load(struct chain_index *t, struct store *s, const struct digest *first_segment);
void chain_index_free(struct chain_index *t);
/* NULL: not known. */
const struct digest *chain_index_find(const struct chain_index *t, const struct digest *segment);
void chain_index_add(struct chain_index *t, const struct digest *segment, const struct digest *output);
/* `segment`: the newest, whose action stays as long as what it made. */
enum err_code chain_index_write(struct store_batch *b, const struct chain_index *t,
                          const struct digest *segment, struct err *e);

/* Segment `index` gave `output`, and the chain goes on. */
enum err_code chain_refs_set_head(struct store_batch *b, struct session *s, uint32_t i, uint64_t index,
                              const struct digest *output, struct err *e);
/* All n segments are done and gave these: refs for what is kept and still there, none else. */
enum err_code chain_refs_finish(struct store_batch *b, struct session *s, uint32_t i,
                         const struct digest *outputs, uint64_t n, struct err *e);
/* No refs are left of a node that the job has no more. */
enum err_code chain_refs_drop(struct store_batch *b, struct session *s, const char *node, struct err *e);

#endif
