/* Living with blocks that RocksDB cannot read: walking past them, and leaving them behind. */
#ifndef STORE_REBUILD_H
#define STORE_REBUILD_H

#include "base/digest.h"
#include "store/rocks.h"
#include "store/store.h"

/* The first 32 bytes of a key as a digest; false if the key has another length. */
bool scan_key_id(struct digest *id, struct span key);
/* Visits all that can be read in a family, in order. For each stretch that cannot be, `unreadable`
 * gets the last key of it, or a key shortly after. */
enum err_code store_scan(struct rocks *r, enum rocks_family family,
                         enum err_code (*visit)(void *arg, struct span key, struct span value,
                                                struct err *e),
                         void (*unreadable)(void *arg, const struct digest *last, const char *why),
                         void *arg, struct err *e);

/* Copies what can be read into a new database, which takes the old one's place. Nobody else may use
 * the store meanwhile. */
enum err_code store_rebuild(struct store *s, struct err *e);
/* Asks for that at the next opening for writing, which tells why. */
enum err_code store_mark_damaged(struct store *s, const char *why, struct err *e);
/* Finishes or undoes a rebuild that was cut off. */
void store_settle_rebuild(const char *store_path);
/* A directory with all in it; it is no error if it is not there. */
void store_remove_tree(const char *path);
/* Does what was asked for. */
enum err_code store_rebuild_if_damaged(struct store *s, struct err *e);

#endif
