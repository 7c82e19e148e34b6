/* Where things are: the store of a command, and paths as people would write them. */
#pragma once

#include "engine/cli/console/cli.h"
#include "store/store.h"

/* --store, EQLOOM_STORE, else .eqloom upward from the job's directory (from the current one when
 * job is NULL); NULL when there is none. */
char *place_find_store(struct cli *c, const char *job);
/* Where `run` makes a store: in the current directory if the job lies below it, else beside the
 * job. */
char *place_new_store(struct cli *c, const char *job);
/* Opens c->store, unless it is open. ERR_NOTFOUND if there is none and none is to be made. */
enum err_code place_open(struct cli *c, const char *job, enum cli_store use, struct err *e);
void place_close(struct cli *c);
/* Relative to the current directory when below it. */
const char *place_shown(struct arena *a, const char *path);
