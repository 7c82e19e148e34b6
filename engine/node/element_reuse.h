/* Reuse by witness: the result that an element had with other side inputs is reused if the op shows
 * that it would come out the same. A trace (cache/action.h) maps an element (with op, version,
 * numerics and parameters) to its latest action and to the witness that the op stored then. Blocks
 * of a map's input (map_tree.h) work in the same way; their witness merges those of their elements.
 */
#pragma once

#include "engine/node/node.h"

struct reuse_origin {
    struct digest action;  /* the latest action with this result */
    struct digest trace;   /* the element's key in `traces` */
    struct digest made_by; /* the action that ran; key of the witness */
    bool foreign;          /* one of these is a claim of a pack */
};

/* Returns true if the earlier result is reused: *made has its outputs and a note with the reason,
 * *witness its witness. Returns false also on any failure; the element is then computed. The op
 * must be prepared. */
bool reuse_element(struct action_result *made, struct reuse_origin *origin, struct span *witness,
                   struct node_run *r, struct arena *a, const struct digest *id);
/* Decides the same for all results of a block. Prepares the op. */
bool reuse_block(struct reuse_origin *origin, const char **reason, struct node_run *r,
                 struct arena *a, const struct digest *id);
/* Returns the witness of an element's or block's action, in the arena; data is NULL if there is
 * none. */
struct span reuse_find_witness(struct node_run *r, struct arena *a, const struct digest *id,
                               const struct digest *action);
/* Stores the witness of an action that ran. */
enum err_code reuse_store_witness(struct store_batch *b, struct node_run *r, struct arena *a,
                                  const struct digest *id, const struct digest *action,
                                  struct span witness, struct err *e);
/* Records another action with the same result as the element's latest one. */
enum err_code reuse_follow(struct store_batch *b, struct arena *a,
                           const struct reuse_origin *origin, const struct digest *action,
                           struct err *e);
