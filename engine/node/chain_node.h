/* Chains: a fold in segments, each an action; see chain_node.c. */
#pragma once

#include "engine/node/node.h"

enum outcome chain_run(struct worker *w, uint32_t i);
/* Fills the node's counts with what a run would do; outputs: of the last segment that is stored. */
enum err_code chain_plan(struct digest *outputs, struct worker *w, uint32_t i, struct err *e);
