/* Earlier runs of a job: the last one, and for each node the last run in which it had outputs.
 * What `plan`, `why` and the estimates of the progress line know of the past. */
#pragma once

#include "engine/job/job.h"
#include "engine/run/run.h"
#include "schemas/action.pb-c.h"
#include "store/store.h"

struct history {
    const Eqloom__Run *last; /* NULL: never run */
    /* By job->nodes; NULL: not made in any of the recent runs. */
    const Eqloom__RunNode **made;
};

enum err_code history_load(struct history *out, struct arena *a, struct store *s,
                           const struct job *job, struct err *e);
const Eqloom__RunNode *history_node(const Eqloom__Run *run, const char *name);
/* "JOB/000001" for the first run, and so on. */
char *history_next_run(struct arena *a, const struct history *h, const struct job *job);
const char *node_state_name(enum node_state state);
/* "element" or "segment": what the work of the op's nodes is counted in. */
const char *node_unit(const struct op *op);
