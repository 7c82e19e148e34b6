/* A node from the look into the store to the end of an attempt: what the scheduler calls. */
#pragma once

#include "engine/node/node.h"

/* Looks the node up; OUT_OPEN: it has to run. */
enum outcome node_begin(struct worker *w, struct node_run *r);
/* All of a source, task or chain. */
enum outcome node_whole(struct worker *w, struct node_run *r);
void node_end_attempt(struct node_run *r);
