/* The writer's lock, on a file that also says who holds it. The kernel drops it when the holder
 * dies. */
#pragma once

#include "base/err.h"

#include <stdbool.h>

/* Opens and locks `path`; *fd keeps it until lock_release. ERR_BUSY says who holds it, after having
 * waited for wait_s seconds (< 0: for ever). */
enum err_code lock_acquire(int *fd, const char *path, const char *command, double wait_s,
                           struct err *e);
void lock_release(int fd);
/* Whether somebody holds it now. */
bool lock_is_held(const char *path);
