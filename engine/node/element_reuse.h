/* Reuse by witness: an element's earlier result, made with other side inputs, is reused if the op
 * shows that it would be made again. A trace (trace.h) leads from an element (with op, version,
 * numerics and parameters) to its latest action and to the witness that the op left then. The same
 * goes for blocks of a map's input (map_tree.h), whose witnesses merge those of their elements. */
#pragma once

#include "engine/node/node.h"

struct reuse_origin {
    struct digest action;  /* the latest action with this result */
    struct digest trace;   /* the element's key in `traces` */
    struct digest made_by; /* the action that ran; its witness is stored under its key */
};

/* True: the earlier result is reused; *made has its outputs and says why, *witness is its witness.
 * False also on any failure: the element is then computed. The op must be prepared. */
bool reuse_element(struct action_result *made, struct reuse_origin *origin, struct span *witness,
                   struct node_run *r, struct arena *a, const struct digest *id);
/* The same for all results of a block. Prepares the op. */
bool reuse_block(struct reuse_origin *origin, const char **reason, struct node_run *r,
                 struct arena *a, const struct digest *id);
/* The witness of an action of an element or block, in the arena; data NULL: none. */
struct span reuse_find_witness(struct node_run *r, struct arena *a, const struct digest *id,
                               const struct digest *action);
/* Stores the witness of an action that ran. */
enum err_code reuse_store_witness(struct store_batch *b, struct node_run *r, struct arena *a,
                                  const struct digest *id, const struct digest *action,
                                  struct span witness, struct err *e);
/* Makes another action, with the same result, the element's latest one. */
enum err_code reuse_follow(struct store_batch *b, struct arena *a,
                           const struct reuse_origin *origin, const struct digest *action,
                           struct err *e);
