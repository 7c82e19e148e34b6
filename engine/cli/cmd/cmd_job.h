/* What commands on jobs share. */
#pragma once

#include "engine/cli/cmd/cmd.h"
#include "engine/run/run.h"
#include "engine/session/history.h"

/* The job of the first argument, with --set and --allow-outside. */
enum err_code cmd_load_job(struct job **out, struct cli *c, struct err *e);
/* Nodes named by the arguments after the first; NULL when there are none. */
enum err_code cmd_targets(const uint32_t **targets, size_t *n, struct cli *c, const struct job *job,
                          struct err *e);
/* By node: whether node i reads it, by way of others too, or is it. */
bool *cmd_nodes_above(struct arena *a, const struct job *job, uint32_t i);

/* Options of commands that compute, and what happens on signals to them. */
enum err_code cmd_run_options(struct run_options *out, struct cli *c, struct err *e);
void cmd_catch_signals(void);

/* A store to plan against: the job's, else an empty one in a temporary directory. */
struct plan_store {
    struct store *store;
    char *temporary; /* to remove; NULL: the job's store, which is c->store */
};
enum err_code plan_store_open(struct plan_store *p, struct cli *c, const char *job, struct err *e);
void plan_store_close(struct plan_store *p);
