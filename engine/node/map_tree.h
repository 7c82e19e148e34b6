/* The cache of a map by blocks. Every block of the input collection's Merkle tree has an action;
 * its key is an element's key with the block's id in place of the element's. The action of a leaf
 * (some 128 consecutive elements) holds the outputs of its elements in order; that of a larger
 * block (some 16,000 elements, 2 million, ...) names its slice of the whole map's outputs. Lookup
 * starts at the root: only changed blocks are opened, and only the elements of changed leaves are
 * looked up one by one.
 *
 * If side inputs changed and the op can decide (reuse and merge_witnesses), blocks are reused from
 * the root, too, by one witness for all their elements. Elements of a reused block have no actions
 * of their own; an element that needs one is reused by its own witness.
 *
 * Once found, the cover of the input by blocks does not change. Outputs are fed, in order, under
 * the map's mutex. */
#pragma once

#include "engine/node/assemble.h"
#include "engine/node/node.h"

struct map_tree;
/* Sets *out to NULL if the input (inputs[0], stored) has no blocks. Looks up blocks, and tries to
 * reuse those that are not cached (reuse_block) unless the session is past its deadline. */
enum err_code map_tree_new(struct map_tree **out, struct node_run *r, struct err *e);
void map_tree_free(struct map_tree *b, const struct op *op);
/* Adds the elements of cached and of reused blocks to the node's counts, with the reasons. A
 * "found" block below is either cached or reused. */
void map_tree_count(struct node_run *r, const struct map_tree *b);
/* Returns the first position from `at` on that is not in a found block. Calls must be in order. */
uint64_t map_tree_skip(struct map_tree *b, uint64_t at);
/* Returns the number of positions from `at` (which is in no found block) up to the next found
 * block; at most `most`. */
uint64_t map_tree_run(struct map_tree *b, uint64_t at, uint64_t most);

/* If a found block begins at *at, adds its outputs and advances *at past it. Adds the action of a
 * reused leaf to the batch. */
enum err_code map_tree_feed(struct map_tree *b, struct assemble *out, uint64_t *at,
                            struct node_run *r, struct store_batch *batch, struct err *e);
/* Adds the outputs and the witness of the element at `at`, which is in no found block; elements
 * come in order. At the end of a leaf, adds the leaf's action to the batch. */
enum err_code map_tree_add(struct map_tree *b, struct assemble *out, struct node_run *r,
                           uint64_t at, const struct id_list *outputs, struct span witness,
                           struct store_batch *batch, struct err *e);
/* Writes the actions of the larger blocks. All outputs must have been fed; `outputs` are the map's.
 */
enum err_code map_tree_finish(struct map_tree *b, const struct id_list *outputs,
                              const struct assemble *out, struct node_run *r,
                              struct store_batch *batch, struct err *e);
