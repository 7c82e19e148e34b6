/* Maps by blocks: every leaf of the input collection (some 128 consecutive elements) has an action
 * of its own, whose outputs are those of its elements in order. Its key is an element's, with the
 * id of the leaf in the element's place. So a map of which few elements changed is looked up leaf
 * by leaf, and only the elements of changed leaves one by one.
 *
 * The list of leaves is read-only once made. Feeding (a leaf's outputs summed up while its elements
 * come in order) belongs to whoever holds the map's mutex. */
#ifndef ENGINE_MAP_BLOCKS_H
#define ENGINE_MAP_BLOCKS_H

#include "engine/session.h"

struct map_blocks;
/* NULL when the input has no leaves. Looks every leaf up. */
enum err_code map_blocks_new(struct map_blocks **out, struct session *s, uint32_t i, struct err *e);
void map_blocks_free(struct map_blocks *b, const struct op *op);
/* Elements in known leaves. */
uint64_t map_blocks_cached(const struct map_blocks *b);
/* The first position from `at` on that is not in a known leaf. */
uint64_t map_blocks_skip(const struct map_blocks *b, uint64_t at);
/* How many of the positions from `at` on, which is in no known leaf, are before the next known one;
 * at most `most`. */
uint64_t map_blocks_run(const struct map_blocks *b, uint64_t at, uint64_t most);

/* What is known of the leaf that begins at `at`, if it is known; *n is its length. */
enum err_code map_blocks_read(struct made *made, uint64_t *n, struct map_blocks *b,
                              struct session *s, uint32_t i, uint64_t at, struct arena *a,
                              struct err *e);
/* The outputs of the element at `at`, elements coming in order. At the end of a leaf that was not
 * known, its action goes into the batch. */
enum err_code map_blocks_add(struct map_blocks *b, struct session *s, uint32_t i, uint64_t at,
                             const struct id_list *outputs, struct store_batch *batch,
                             struct err *e);

#endif
