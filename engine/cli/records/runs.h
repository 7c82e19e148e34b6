/* Runs as stored, summed up: for log, and for naming a run on the command line. */
#ifndef ENGINE_CLI_RUNS_H
#define ENGINE_CLI_RUNS_H

#include "action.pb-c.h"
#include "engine/cli/console/cli.h"
#include "store/store.h"

struct run_summary {
    const char *name; /* "quickstart/000012" */
    const char *job, *job_path;
    /* "running", "done", "failed", "interrupted"; "killed": it ended without a word, as a later run
     * shows (there is but one writer), or that there is no writer. */
    const char *state;
    int64_t started_ns;
    int64_t sorted_ns; /* that, but not before an earlier run's: clocks are set back, too */
    double wall_s;     /* of one that is running: so far */
    uint64_t nodes, nodes_ran, elements, ran, cached, reused, failed;
};

struct run_list {
    struct run_summary *runs; /* newest first */
    size_t n, cap;
};

/* Of one job, or of all if job is NULL. */
enum err_code runs_load(struct run_list *out, struct arena *a, struct store *s, const char *job,
                        struct err *e);
/* "JOB/NUMBER", with or without leading zeros; or "JOB": its last one. ERR_INPUT. */
enum err_code run_find(const Eqloom__Run **out, const char **name, struct cli *c, struct store *s,
                       const char *text, struct err *e);
/* Whether this stands for a run: "JOB/NUMBER" of a run that is stored. */
bool run_is_name(struct arena *a, struct store *s, const char *text);
/* "2026-11-21 23:50:34", local time. */
const char *run_time(struct arena *a, int64_t ns);

#endif
