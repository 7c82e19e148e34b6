/* Chains: a fold in segments, each an action.
 *
 * A segment's key holds all inputs and the key of the previous segment, so all keys are known
 * before anything runs. The last stored segment is searched for from the end, because gc may have
 * removed the records in between. If the inputs changed, a second sequence of keys is tried, in
 * which the result of op.reads (what a segment reads of the inputs) replaces the inputs; traces map
 * these keys to actions. */
#pragma once

#include "engine/node/node.h"

struct chain_segment {
    struct digest key;
    struct digest reads; /* key made from op.reads; zero: unknown */
    const char *reason;  /* from op.reads, in the node's arena `work` */
};

struct chain {
    struct node_run *r;
    uint64_t n;
    const struct digest *previous; /* first of the outputs; NULL: no segment is done */
    struct digest *outputs;        /* of the last done segment, by op->outputs */
    struct chain_segment *segments;
    uint64_t done;   /* number of segments up to the last one whose outputs are all stored */
    uint64_t reused; /* how many of these, at the end, were found by `reads` */
};

/* Counts the segments and finds the last stored one. The result is valid for this attempt. */
enum err_code chain_open(struct chain *c, struct node_run *r, struct err *e);

/* Adds the action of the last reused segment to the batch. */
enum err_code chain_adopt(struct store_batch *b, struct chain *c, struct err *e);

enum outcome chain_run(struct worker *w, struct node_run *r);
/* Sets the node's counts to those that a run would have. Returns true if nothing would run; the
 * outputs are then known. */
bool chain_plan(struct node_run *r);
