/* The cache of a map, block by block. Every block of the input collection's tree has an action,
 * whose key is that of an element with the block's id in place of the element's. The action of a
 * leaf (some 128 consecutive elements) holds the outputs of its elements in order; that of a larger
 * block (some 16,000 elements, 2 million, ...) names its slice of the whole map's outputs. A map of
 * which few elements changed is looked up from the top: only changed blocks are opened, and only
 * the elements of changed leaves are looked up one by one.
 *
 * Where side inputs changed and the op can decide (reuse and merge_witnesses), blocks are
 * reused from the top, too, by one witness for all their elements. Elements of a reused block get
 * no actions of their own; should one be needed, it is reused by its own witness.
 *
 * The covering of the input by blocks does not change once it is found. Feeding (taking outputs in
 * order) is done under the map's mutex. */
#pragma once

#include "engine/node/assemble.h"
#include "engine/node/node.h"

struct map_tree;
/* NULL when the input (inputs[0], stored) has no blocks. Looks up blocks, and tries to reuse those
 * that are not cached (reuse_block) unless the session is late. */
enum err_code map_tree_new(struct map_tree **out, struct node_run *r, struct err *e);
void map_tree_free(struct map_tree *b, const struct op *op);
/* Counts elements in cached and in reused blocks, and why; "found" below means either. */
void map_tree_count(struct node_run *r, const struct map_tree *b);
/* The first position from `at` on that is not in a found block. Positions are asked for in order.
 */
uint64_t map_tree_skip(struct map_tree *b, uint64_t at);
/* How many of the positions from `at` on, which is in no found block, are before the next found
 * one; at most `most`. */
uint64_t map_tree_run(struct map_tree *b, uint64_t at, uint64_t most);

/* If a found block begins at *at, adds its outputs and moves *at behind it. The action of a reused
 * leaf goes into the batch. */
enum err_code map_tree_feed(struct map_tree *b, struct assemble *out, uint64_t *at,
                            struct node_run *r, struct store_batch *batch, struct err *e);
/* Adds the outputs and the witness of the element at `at`, which is in no found block; elements
 * come in order. At the end of a leaf its action goes into the batch. */
enum err_code map_tree_add(struct map_tree *b, struct assemble *out, struct node_run *r,
                           uint64_t at, const struct id_list *outputs, struct span witness,
                           struct store_batch *batch, struct err *e);
/* When everything has been fed and the map's outputs are these: writes the actions of the larger
 * blocks. */
enum err_code map_tree_finish(struct map_tree *b, const struct id_list *outputs,
                              const struct assemble *out, struct node_run *r,
                              struct store_batch *batch, struct err *e);
