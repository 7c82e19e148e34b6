/* What commands on jobs share. */
#ifndef ENGINE_CLI_CMD_JOB_H
#define ENGINE_CLI_CMD_JOB_H

#include "engine/cli/console/cli.h"
#include "engine/run/run.h"

/* The job of the first argument, with --set and --allow-outside. */
enum err_code cmd_load_job(struct job **out, struct cli *c, struct err *e);
/* Nodes named by the arguments after the first; NULL when there are none. */
enum err_code cmd_targets(const uint32_t **targets, size_t *n, struct cli *c, const struct job *job,
                          struct err *e);

#endif
