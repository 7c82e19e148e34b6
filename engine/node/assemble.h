/* Assembles the outputs of a map in element order, from single ids and from slices of collections
 * that earlier runs made. Adjacent slices of one collection are joined, so that any number of
 * unchanged elements between two changed ones costs only a few records. Not thread-safe. */
#pragma once

#include "engine/cache/action.h"

struct assemble;
struct assemble *assemble_new(const struct op *op, struct store *s, struct store_batch *b);
void assemble_free(struct assemble *x); /* accepts NULL */
enum err_code assemble_add(struct assemble *x, const struct id_list *outputs, struct err *e);
enum err_code assemble_add_slices(struct assemble *x, const struct slice *slices, struct err *e);
/* Returns the number of elements of an output so far. */
uint64_t assemble_count(const struct assemble *x, size_t output);
/* Returns the collections by output, one id each, in the arena; adds their records to the batch. */
enum err_code assemble_finish(struct id_list **outputs, struct arena *a, struct assemble *x,
                              struct err *e);
