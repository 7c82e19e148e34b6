/* Rebuilding a database without the blocks that RocksDB cannot read. */
#pragma once

#include "store/store.h"

/* Copies what can be read into a new database, which replaces the old one. No other thread may use
 * the store meanwhile. */
enum err_code store_salvage(struct store *s, struct err *e);
/* Calls store_salvage if the store is marked as damaged or its database could be opened only after
 * a repair. Leaves a notice. */
enum err_code salvage_if_damaged(struct store *s, struct err *e);
/* Finishes or undoes an interrupted rebuild. */
void salvage_settle(const char *store_path);
