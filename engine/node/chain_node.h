/* Chains: a fold in segments, each an action; see chain_node.c. */
#pragma once

#include "engine/node/node.h"

enum outcome chain_run(struct worker *w, struct node_run *r);
/* Fills the node's counts with what a run would do. True: nothing, and its outputs are known. */
bool chain_plan(struct node_run *r);
