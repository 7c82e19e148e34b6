/* The outputs of a map put together, in element order: ids one by one, and slices of collections
 * that earlier runs made. Slices that follow each other in one collection are joined, so that what
 * lies between two changed elements costs a few records, however much it is. Belongs to one thread
 * at a time. */
#pragma once

#include "engine/cache/action.h"

struct assemble;
struct assemble *assemble_new(const struct op *op, struct store *s, struct store_batch *b);
void assemble_free(struct assemble *x); /* NULL is fine */
enum err_code assemble_add(struct assemble *x, const struct id_list *outputs, struct err *e);
enum err_code assemble_add_slices(struct assemble *x, const struct slice *slices, struct err *e);
/* Elements of an output so far. */
uint64_t assemble_count(const struct assemble *x, size_t output);
/* The collections by output, one id each, in the arena; their records go into the batch. */
enum err_code assemble_finish(struct id_list **outputs, struct arena *a, struct assemble *x,
                              struct err *e);
