/* Clusters and other expressions as packed token sequences. */
#ifndef OPS_CORPUS_TOKENS_TOKEN_BATCH_H
#define OPS_CORPUS_TOKENS_TOKEN_BATCH_H

#include "cluster.pb-c.h"
#include "ops/corpus/tokens/encoding.h"

/* These expressions, in prefix tokens, as one batch in the arena; each of a cluster of its own. The
 * texts are borrowed. */
enum err_code token_batch_pack(Eqloom__TokenBatch *out, struct arena *a, const struct encoder *c,
                               char *const *texts, size_t n, struct err *e);
/* The first max_members members, in order, as one batch in the arena; all of one cluster number. */
enum err_code token_batch_make(Eqloom__TokenBatch *out, struct arena *a, const struct encoder *c,
                               const Eqloom__Cluster *cluster, uint32_t max_members, struct err *e);

#endif
