/* Reading past blocks that RocksDB cannot read, and rebuilding a database without them. */
#pragma once

#include "store/db/rocks.h"
#include "store/store.h"

/* Visits all that can be read in a family, in order (NULL: only reads it). For each stretch that
 * cannot be read, `unreadable` (may be NULL) gets the last key of it, or a key shortly after. */
enum err_code store_scan(struct rocks *r, enum rocks_family family, rocks_visit *visit,
                         void (*unreadable)(void *arg, const struct digest *last, const char *why),
                         void *arg, struct err *e);

/* Copies what can be read into a new database, which takes the old one's place. Nobody else may use
 * the store meanwhile. */
enum err_code store_salvage(struct store *s, struct err *e);
/* The same for a store that is marked as damaged, or whose database could be opened only after a
 * repair. Leaves a notice. */
enum err_code salvage_if_damaged(struct store *s, struct err *e);
/* Finishes or undoes a rebuild that was cut off. */
void salvage_settle(const char *store_path);
