/* Earlier runs of a job: the last one, and for each node the last run in which it had outputs.
 * `plan`, `why` and the time estimates read it. */
#pragma once

#include "engine/job/job.h"
#include "engine/run/run.h"
#include "schemas/action.pb-c.h"
#include "store/store.h"

struct history {
    const Eqloom__Run *last; /* NULL: the job has never run */
    /* By job->nodes; NULL: no outputs in any recent run. */
    const Eqloom__RunNode **made;
};

enum err_code history_load(struct history *out, struct arena *a, struct store *s,
                           const struct job *job, struct err *e);
const Eqloom__RunNode *history_node(const Eqloom__Run *run, const char *name);
/* Returns the name of the next run: "JOB/000001" for the first one. */
char *history_next_run(struct arena *a, const struct history *h, const struct job *job);
const char *node_state_name(enum node_state state);
/* The unit in which the work of the op's nodes is counted: "element" or "segment". */
const char *node_unit(const struct op *op);
