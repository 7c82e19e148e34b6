/* Finds and opens the store of a command, and shortens paths for display. */
#pragma once

#include "engine/cli/console/cli.h"
#include "store/store.h"

/* Returns --store, else EQLOOM_STORE, else the nearest .eqloom upward from the job's directory
 * (from the current directory if job is NULL); NULL if there is none. */
char *place_find_store(struct cli *c, const char *job);
/* Returns where `run` creates a store: in the current directory if the job is below it, else beside
 * the job. */
char *place_new_store(struct cli *c, const char *job);
/* Opens c->store unless it is open. ERR_NOTFOUND if there is no store and `use` does not create
 * one. */
enum err_code place_open(struct cli *c, const char *job, enum cli_store use, struct err *e);
void place_close(struct cli *c);
/* Returns a path relative to the current directory if it is below it, else the path itself. */
const char *place_shown(struct arena *a, const char *path);
