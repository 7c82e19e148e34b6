/* Stored runs: summaries for `log`, and lookup by name. */
#pragma once

#include "action.pb-c.h"
#include "engine/cli/console/cli.h"
#include "store/store.h"

struct run_summary {
    const char *name; /* "quickstart/000012" */
    const char *job, *job_path;
    /* "running", "done", "failed", "interrupted"; "killed": stored as running, but a later run has
     * begun since (there is one writer only), or there is no writer. */
    const char *state;
    int64_t started_ns;
    int64_t sorted_ns; /* not before an earlier run's, even if the clock was set back */
    double wall_s;     /* so far, if it is running */
    uint64_t nodes, nodes_ran, elements, ran, cached, reused, failed;
};

struct run_list {
    struct run_summary *runs; /* newest first */
    size_t n, cap;
};

/* Loads the runs of one job, or of all jobs if job is NULL. */
enum err_code runs_load(struct run_list *out, struct arena *a, struct store *s, const char *job,
                        struct err *e);
/* Returns the last run of a job; *out is NULL if there is none. */
enum err_code run_last(const Eqloom__Run **out, const char **name, struct arena *a, struct store *s,
                       const char *job, struct err *e);
/* Finds a run by "JOB/NUMBER", with or without leading zeros, or the last run of "JOB". ERR_INPUT
 * if there is none. */
enum err_code run_find(const Eqloom__Run **out, const char **name, struct cli *c, const char *text,
                       struct err *e);
/* Whether the text is the "JOB/NUMBER" of a stored run. */
bool run_is_name(struct cli *c, const char *text);
