/* Who may write: a lock on a file, which dies with its holder, and what the holder says of itself.
 */
#ifndef STORE_LOCK_H
#define STORE_LOCK_H

#include "base/err.h"

#include <stdbool.h>

/* Opens and locks `path`; *fd keeps it until lock_release. ERR_BUSY says who holds it, after having
 * waited for wait_s seconds (< 0: for ever). */
enum err_code lock_acquire(int *fd, const char *path, const char *command, double wait_s,
                           struct err *e);
void lock_release(int fd);
/* Whether somebody holds it now. */
bool lock_is_held(const char *path);

#endif
