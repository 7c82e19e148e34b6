/* Planning and running a job against a store. */
#pragma once

#include "engine/job/job.h"
#include "store/store.h"

#include <stdio.h>

struct remote_options;

enum node_state {
    NODE_WAITING,
    NODE_READ, /* a source, read again (or found unchanged) */
    NODE_CACHED,
    NODE_RAN,
    NODE_REUSED,
    NODE_FAILED,
    NODE_SKIPPED, /* something above it failed, or the run was interrupted */
};

/* What became of a node, or, from job_plan, what would. */
struct node_result {
    enum node_state state;
    struct digest key;            /* of the node's action, when its inputs are known */
    const struct digest *outputs; /* by op->outputs; zero if unknown */
    uint64_t elements, ran, cached, reused, failed;
    uint64_t wall_ns;
    const char *why;     /* one line: why it ran or not */
    const char *failure; /* the first failure: node, element and reason */
};

struct run_result {
    struct node_result *nodes; /* by job->nodes */
    uint64_t nodes_ran, elements, elements_ran, elements_cached, elements_reused, failed;
    bool interrupted;
    bool left; /* the process must end: threads are at work, on the job, the store and the arena */
    uint64_t wall_ns;
    const char *run; /* "job/000012" */
};

struct run_options {
    unsigned threads;        /* 0: all processors */
    bool keep_going;         /* default for maps; false: stop at the first failed element */
    bool check;              /* compute again what is cached and compare ids */
    const uint32_t *targets; /* nodes; NULL: all */
    size_t n_targets;
    bool json;     /* NDJSON events to `events` */
    FILE *events;  /* json: standard output; else narration on standard error */
    bool terminal; /* progress in place; else plain lines */
    bool color;
    const volatile int *interrupted; /* signals received: 1 ends soon, 2 at once; what is in flight
                                      * and not done by then is dropped */
    const struct remote_options *remote; /* the shared cache; NULL: none */
    const char *slurm_dir;   /* NULL: all runs here; else the folder for what Slurm has to do */
    const char *const *sets; /* with which the job was loaded: for workers */
    size_t n_sets;
    bool allow_outside; /* the same */
    bool leave; /* then threads that are still at work may be left behind: run_result.left */
};

/* Makes true what the job says. OK also when elements failed: look at the result. */
enum err_code job_run(struct run_result *out, struct arena *a, const struct job *job,
                      struct store *s, const struct run_options *options, struct err *e);
/* What job_run would do, as far as can be known without doing it (below a node that would run,
 * "after X"). Writes nothing. */
enum err_code job_plan(struct run_result *out, struct arena *a, const struct job *job,
                       struct store *s, const struct run_options *options, struct err *e);
/* Why a node ran or did not in the last run, and what differs now: text for people. */
enum err_code job_why(char **out, struct arena *a, const struct job *job, uint32_t node,
                      struct store *s, struct err *e);
