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
    NODE_SKIPPED, /* an upstream node failed, or the run was interrupted */
};

/* The result of a node in a run, or the result that job_plan predicts. */
struct node_result {
    enum node_state state;
    struct digest key;            /* of the node's action, once its inputs are known */
    const struct digest *outputs; /* by op->outputs; zero if unknown */
    uint64_t elements, ran, cached, reused, failed;
    uint64_t wall_ns;
    const char *why;     /* one line: why it ran or did not run */
    const char *failure; /* the first failure: node, element and reason */
};

struct run_result {
    struct node_result *nodes; /* by job->nodes */
    uint64_t nodes_ran, elements, elements_ran, elements_cached, elements_reused, failed;
    bool interrupted;
    bool left; /* threads still use the job, the store and the arena: the process must exit */
    uint64_t wall_ns;
    const char *run; /* "job/000012" */
};

struct run_options {
    unsigned threads;        /* 0: one per processor */
    bool keep_going;         /* default for maps; false: stop at the first failed element */
    bool check;              /* recompute cached results and compare their ids */
    const uint32_t *targets; /* nodes; NULL: all */
    size_t n_targets;
    bool json;     /* NDJSON events to `events` */
    FILE *events;  /* json: standard output; else progress text on standard error */
    bool terminal; /* redraw progress in place; else print plain lines */
    bool color;
    const volatile int *interrupted; /* signals received: 1 ends the run soon, 2 at once; work in
                                      * flight that is not done by then is dropped */
    const struct remote_options *remote; /* the shared cache; NULL: none */
    const char *slurm_dir;   /* folder of the files for Slurm jobs; NULL: everything runs locally */
    const char *const *sets; /* the --set values of the job, passed to Slurm workers */
    size_t n_sets;
    bool allow_outside; /* passed to Slurm workers, too */
    bool leave;         /* permits leaving busy threads behind: run_result.left */
};

/* Runs the job. Returns OK also if elements failed: see the result. */
enum err_code job_run(struct run_result *out, struct arena *a, const struct job *job,
                      struct store *s, const struct run_options *options, struct err *e);
/* Predicts the effect of job_run without running anything expensive; nodes downstream of one that
 * would run are "after X". Writes nothing. */
enum err_code job_plan(struct run_result *out, struct arena *a, const struct job *job,
                       struct store *s, const struct run_options *options, struct err *e);
/* Explains why a node ran or did not run in the last run, and what has changed since: text for
 * people. */
enum err_code job_why(char **out, struct arena *a, const struct job *job, uint32_t node,
                      struct store *s, struct err *e);
