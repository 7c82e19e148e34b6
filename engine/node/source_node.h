/* Source nodes: files -> records; see source_node.c. */
#ifndef ENGINE_SOURCE_NODE_H
#define ENGINE_SOURCE_NODE_H

#include "engine/node/node.h"

/* Looks a source up and, if its files are new, runs it into the batch. *fresh: it gave something
 * that the store did not have. Under --check, a difference is noted as the node's failure. */
enum err_code source_node(struct action_result *out, bool *fresh, bool *hit, struct session *s,
                          uint32_t i, struct arena *a, struct store_batch *b, struct err *e);

#endif
