/* Maps by blocks. Every block of the input collection's tree has an action, whose key is an
 * element's with the block's id in the element's place: a leaf's (some 128 consecutive elements)
 * holds the outputs of its elements in order, a larger block's (some 16,000 elements, 2 million,
 * ...) names the slice of the whole map's outputs that is its own. So a map of which few elements
 * changed is looked up from the top: only changed blocks are taken apart, and only the elements of
 * changed leaves are looked up one by one.
 *
 * Where side inputs changed and the op can (unite and reuse_all), blocks are proved to stand from
 * the top, too, by one note for all their elements: those that an edit cannot have touched cost
 * nothing. Their elements get no actions of their own; should one be asked for, it is proved by
 * itself.
 *
 * What the input's tree is covered with is read-only once found. Feeding (outputs noted while they
 * come in order) belongs to whoever holds the map's mutex. */
#ifndef ENGINE_MAP_TREE_H
#define ENGINE_MAP_TREE_H

#include "engine/node/assemble.h"
#include "engine/node/node.h"

struct map_tree;
/* NULL when the input (inputs[0], stored) has no blocks. Looks up what is needed; what is not known
 * is asked to be proved (reuse_block) until this moment of os_process_ns; 0: nothing is. */
enum err_code map_tree_new(struct map_tree **out, struct worker *w, uint32_t i,
                           uint64_t prove_until_ns, struct err *e);
void map_tree_free(struct map_tree *b, const struct op *op);
/* Elements in known blocks, and in blocks proved to stand, which count as known from here on. */
uint64_t map_tree_cached(const struct map_tree *b);
uint64_t map_tree_proved(const struct map_tree *b);
void map_tree_witnesses(struct witness_counts *to, const struct map_tree *b); /* of these */
/* The first position from `at` on that is not in a known block. */
uint64_t map_tree_skip(const struct map_tree *b, uint64_t at);
/* How many of the positions from `at` on, which is in no known block, are before the next known
 * one; at most `most`. */
uint64_t map_tree_run(const struct map_tree *b, uint64_t at, uint64_t most);

/* Adds the outputs of a known block that begins at *at, and moves *at behind it; else nothing. Of a
 * leaf that was proved the action goes into the batch (NULL: nowhere). */
enum err_code map_tree_feed(struct map_tree *b, struct assemble *out, uint64_t *at,
                            struct session *s, uint32_t i, struct store_batch *batch,
                            struct err *e);
/* The outputs of the element at `at`, which stands in no known block, elements coming in order, and
 * the note that goes with them. At the end of a leaf its action goes into the batch (NULL:
 * nowhere). */
enum err_code map_tree_add(struct map_tree *b, struct assemble *out, struct session *s, uint32_t i,
                           uint64_t at, const struct id_list *outputs, struct span note,
                           struct store_batch *batch, struct err *e);
/* All has been fed, and the map's outputs are these: the actions of the larger blocks. */
enum err_code map_tree_finish(struct map_tree *b, const struct id_list *outputs,
                              const struct assemble *out, struct session *s, uint32_t i,
                              struct store_batch *batch, struct err *e);

#endif
