/* Files that others may have put there. */
#pragma once

#include "base/err.h"

#include <stdio.h>

/* Opens a plain file below a folder (a descriptor or AT_FDCWD) for reading, and never waits:
 * ERR_INPUT for a link, a pipe, a device or a folder, ERR_NOTFOUND if there is nothing. `path` is
 * for messages. */
enum err_code in_file_open(FILE **out, int folder, const char *name, const char *path,
                           struct err *e);
