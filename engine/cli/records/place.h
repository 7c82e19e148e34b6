/* Where things are: the store of a command, and paths as people would write them. */
#ifndef ENGINE_CLI_PLACE_H
#define ENGINE_CLI_PLACE_H

#include "engine/cli/console/cli.h"
#include "store/store.h"

enum place_use { PLACE_READ, PLACE_WRITE, PLACE_CREATE };

/* --store, EQLOOM_STORE, else .eqloom upward from the job's directory (from the current one when
 * job is NULL); NULL when there is none. */
char *place_find_store(struct cli *c, const char *job);
/* Where `run` makes a store: in the current directory if the job lies below it, else beside the
 * job. */
char *place_new_store(struct cli *c, const char *job);
/* Opens the command's store; *path says which. ERR_NOTFOUND if there is none (not with
 * PLACE_CREATE). */
enum err_code place_open(struct store **out, char **path, struct cli *c, const char *job,
                         enum place_use use, struct err *e);
/* Relative to the current directory when below it. */
const char *place_shown(struct arena *a, const char *path);

#endif
