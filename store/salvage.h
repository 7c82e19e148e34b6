/* Rebuilding a database without what RocksDB cannot read. */
#pragma once

#include "store/store.h"

/* Closes the database, if it is open, copies what can be read of it into a new one, which replaces
 * it, and opens that. `why` says what was found damaged. Leaves a notice; what is gone is in
 * s->gone. No other thread may use the store meanwhile. */
enum err_code store_salvage(struct store *s, const char *why, struct err *e);
/* Finishes or undoes an interrupted rebuild. */
void salvage_settle(const char *store_path);
