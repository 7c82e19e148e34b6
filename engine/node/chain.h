/* Chains: a fold in segments, each an action.
 *
 * A segment's key holds all inputs and the key of the segment before it, so all keys are known
 * before anything has run, and the last segment that is stored is looked for from the end: records
 * in between may be gone. Where the inputs changed, a second row of keys holds what the segments
 * read of them (op.reads) instead; traces lead from these to actions. */
#pragma once

#include "engine/node/node.h"

struct chain_segment {
    struct digest key;
    struct digest reads; /* the key by what is read; zero: unknown */
    const char *reason;  /* from op.reads, in the node's arena `work` */
};

struct chain {
    struct node_run *r;
    uint64_t n;
    const struct digest *previous; /* the first of the outputs; NULL: no segment is done */
    struct digest *outputs;        /* of the last segment done, by op->outputs */
    struct chain_segment *segments;
    uint64_t done;   /* up to the last segment whose outputs are all stored */
    uint64_t reused; /* the last of these: found by what they read alone */
};

/* Counts the segments and looks for the end. What it finds lives as long as the attempt. */
enum err_code chain_open(struct chain *c, struct node_run *r, struct err *e);

/* Into the batch: the action of the last segment that is reused. */
enum err_code chain_adopt(struct store_batch *b, struct chain *c, struct err *e);

enum outcome chain_run(struct worker *w, struct node_run *r);
/* Fills the node's counts with what a run would do. True: nothing, and its outputs are known. */
bool chain_plan(struct node_run *r);
