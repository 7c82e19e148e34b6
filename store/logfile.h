/* The format of RocksDB's logs, which its MANIFEST and its write-ahead logs share: entries with
 * checksums. Read here to say what in them is bad, which RocksDB does not. */
#ifndef STORE_LOGFILE_H
#define STORE_LOGFILE_H

#include "base/err.h"
#include "base/span.h"

#include <stdint.h>

/* Visits the entries in order. ERR_CORRUPT for the first that is bad, with its place; or the
 * visitor's own error. */
enum err_code logfile_read(struct span bytes,
                           enum err_code (*visit)(void *arg, struct span entry, struct err *e),
                           void *arg, struct err *e);

/* Looks through the write-ahead logs of a database, oldest first, for the first bad entry.
 * ERR_CORRUPT names file and place, or says that no file has one: then one was removed, or cut
 * between two entries. */
enum err_code logfile_find_damage(const char *db_path, struct err *e);

/* The sequence number of the last write up to which the logs hold all after `from`; that itself if
 * they lack the next. */
uint64_t logfile_goes_on_to(const char *db_path, uint64_t from);

#endif
