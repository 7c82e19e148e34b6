/* Shared by the commands that take a job file. */
#pragma once

#include "base/process/scratch.h"
#include "engine/cli/cmd/cmd.h"
#include "engine/run/run.h"
#include "engine/session/history.h"

/* Loads the job file of the first argument, with --set and --allow-outside. */
enum err_code cmd_load_job(struct job **out, struct cli *c, struct err *e);
/* Returns the nodes named by the arguments after the first; NULL if there are no such arguments. */
enum err_code cmd_targets(const uint32_t **targets, size_t *n, struct cli *c, const struct job *job,
                          struct err *e);
/* Returns, by node, whether it is node i or one of its direct or indirect inputs. */
bool *cmd_nodes_above(struct arena *a, const struct job *job, uint32_t i);

/* Options and signal handlers of commands that compute. */
enum err_code cmd_run_options(struct run_options *out, struct cli *c, struct err *e);
void cmd_catch_signals(void);

/* A store to plan against: the job's, else an empty one in a temporary directory. */
struct plan_store {
    struct store *store;
    struct scratch temporary; /* holds the store; none if it is c->store, the job's store */
};
enum err_code plan_store_open(struct plan_store *p, struct cli *c, const char *job, struct err *e);
void plan_store_close(struct plan_store *p);
