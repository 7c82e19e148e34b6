/* Clusters as packed token sequences. */
#ifndef OPS_CORPUS_TOKEN_BATCH_H
#define OPS_CORPUS_TOKEN_BATCH_H

#include "cluster.pb-c.h"
#include "ops/corpus/encoding.h"

/* The first max_members members, in order, as one batch in the arena; all of one cluster number. */
enum err_code token_batch_make(Eqloom__TokenBatch *out, struct arena *a, const struct encoder *c,
                               const Eqloom__Cluster *cluster, uint32_t max_members, struct err *e);

#endif
