/* Whether RocksDB's list of files can be believed, asked before it is opened for writing. RocksDB
 * believes too much: no CURRENT is a new database to it, a MANIFEST that was cut short an older
 * one, and then it removes all tables that are not listed. Its repair makes the list again from the
 * tables, but begins with an empty one: cut off, it leaves what looks like a database without
 * tables. So it works elsewhere, on links. */
#ifndef STORE_LIST_H
#define STORE_LIST_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* There are tables or logs in the directory. */
bool list_has_files(const char *db_path);
/* ERR_CORRUPT when the list has to be made again, with the reason. `acknowledged`: see watermark.h;
 * a list that leaves out tables and from which the logs do not go on so far is an old one. */
enum err_code list_check(const char *db_path, uint64_t acknowledged, struct err *e);

#endif
