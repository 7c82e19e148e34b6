/* Source nodes: files -> records; see source_node.c. */
#pragma once

#include "engine/node/node.h"

/* Looks a source up and, if its files are new, runs it into the batch. Sets the node's outputs,
 * refs, state (NODE_RAN: it gave something that the store did not have) and reason. Under --check,
 * a difference is the node's failure. */
enum err_code source_read(struct node_run *r, struct store_batch *b, struct err *e);
