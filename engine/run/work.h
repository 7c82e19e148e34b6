/* A worker of a cluster: computes one block of a node (cluster/errand.h). */
#pragma once

#include "engine/run/run.h"

struct work_order {
    uint32_t node;
    const char *folder; /* of the node's errand */
    struct digest key;  /* of the block */
};

/* Into a store of the worker's own; then KEY.pack or KEY.failed lies ready. ERR_CANCELLED:
 * interrupted. */
enum err_code job_work(struct run_result *out, struct arena *a, const struct job *job,
                       struct store *store, const struct run_options *options,
                       const struct work_order *order, struct err *e);

/* Shows the master the result, once the store is closed: the folder may then go. */
enum err_code work_publish(struct arena *a, const struct work_order *order, struct err *e);
