/* A worker of a cluster: computes one block of a node (cluster/node_dispatch.h). */
#pragma once

#include "engine/run/run.h"

struct work_order {
    uint32_t node;
    const char *folder; /* the node's folder (cluster/node_dispatch.h) */
    struct digest key;  /* key of the block */
};

/* Computes the block in the worker's own store and writes KEY.pack or KEY.failed. Returns
 * ERR_CANCELLED if it was interrupted. */
enum err_code job_work(struct run_result *out, struct arena *a, const struct job *job,
                       struct store *store, const struct run_options *options,
                       const struct work_order *order, struct err *e);

/* Makes the result visible to the master. Call it after closing the store: the master may then
 * remove the folder. */
enum err_code work_publish(struct arena *a, const struct work_order *order, struct err *e);
