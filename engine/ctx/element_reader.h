/* The ids of a collection by position, for many threads: a collection reader behind a mutex, with
 * a window of ids so that walking in order asks the reader once in a few hundred elements. */
#ifndef ENGINE_ELEMENTS_H
#define ENGINE_ELEMENTS_H

#include "store/collection/collection.h"

struct elements;
enum err_code elements_open(struct elements **out, struct store *s, const struct digest *id,
                            struct err *e);
void elements_close(struct elements *el); /* NULL is fine */
uint64_t elements_count(const struct elements *el);
enum err_code elements_at(struct digest *id, struct elements *el, uint64_t i, struct err *e);

#endif
