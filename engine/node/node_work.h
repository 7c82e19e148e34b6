/* A node from the look into the store to the end of an attempt: what the scheduler calls. */
#pragma once

#include "engine/node/node.h"

/* Looks the node up; OUT_OPEN: it has to run. */
enum outcome node_begin(struct worker *w, struct node_run *r);
/* All of a task or chain. */
enum outcome node_whole(struct worker *w, struct node_run *r);
void node_end_attempt(struct node_run *r);
/* Looks a source up and, if its files are new, runs it into the batch. Sets the node's outputs,
 * refs, state (NODE_RAN: it gave something that the store did not have) and reason. Under --check,
 * a difference is the node's failure. */
enum err_code source_read(struct node_run *r, struct store_batch *b, struct err *e);
