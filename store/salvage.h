/* Rebuilding a database without the blocks that RocksDB cannot read. */
#pragma once

#include "store/store.h"

/* Copies what can be read into a new database, which takes the old one's place. Nobody else may use
 * the store meanwhile. */
enum err_code store_salvage(struct store *s, struct err *e);
/* The same for a store that is marked as damaged, or whose database could be opened only after a
 * repair. Leaves a notice. */
enum err_code salvage_if_damaged(struct store *s, struct err *e);
/* Finishes or undoes a rebuild that was cut off. */
void salvage_settle(const char *store_path);
