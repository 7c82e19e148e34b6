/* Folders for the time that something runs, below $TMPDIR or /tmp. A folder is locked while it is
 * in use: those that a killed process left are removed when the next one of their kind is made. */
#pragma once

#include "base/err.h"

struct scratch {
    char *path; /* absolute; NULL: none */
    int lock;
};

/* Makes an empty folder "eqloom-KIND-..." that nobody else may enter. */
enum err_code scratch_open(struct scratch *out, const char *kind, struct err *e);
/* Removes it. Does nothing for a zeroed struct. */
void scratch_close(struct scratch *s);
