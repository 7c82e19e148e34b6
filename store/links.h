/* The files of a database in a second directory: hard links, or copies where the file system has no
 * links. */
#ifndef STORE_LINKS_H
#define STORE_LINKS_H

#include "base/err.h"

#include <stdbool.h>

/* Makes `to` a directory with links to the tables and logs, or copies where links are refused. */
enum err_code links_make(const char *to, const char *db_path, struct err *e);
/* Makes `to` a directory with copies of all that the database consists of. Nobody may write to it
 * meanwhile. */
enum err_code links_copy(const char *to, const char *db_path, struct err *e);
/* The file system of the directory has no links; a link to another file system is another matter.
 */
bool links_are_refused(const char *db_path);

#endif
