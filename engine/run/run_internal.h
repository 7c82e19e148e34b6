/* Declarations that the files of this folder share. */
#pragma once

#include "engine/node/node.h"

/* ---- opening and closing a session, for runs and plans: run.c ---- */
enum err_code session_open(struct session *s, struct arena *a, const struct job *job,
                           struct store *store, const struct run_options *options, struct err *e);
void session_close(struct session *s);
void session_fill_result(struct run_result *out, struct session *s);

/* ---- the scheduler and its workers: sched.c ---- */
void sched_init(struct session *s, const bool *wanted);
/* Runs fn in n threads, shows progress and watches for signals until all have ended. Sets s->left
 * if threads were left behind. */
enum err_code sched_watch(struct session *s, unsigned n, void (*fn)(struct session *s),
                          struct err *e);
enum err_code sched_run(struct session *s, struct err *e);
/* Starts the thread pool if a wanted node has a parallel op. */
void sched_start_pool(struct session *s);
/* Reports that the node is done, unless this has been reported. */
void sched_report(struct node_run *r);
/* Makes the next sched_run look up all nodes again. No worker may be running. */
void sched_restart(struct session *s);

/* ---- nodes that run on a cluster: offload.c ---- */
/* Sets s->offload if the options request a cluster. */
enum err_code offload_open(struct session *s, struct err *e);
void offload_close(struct session *s);
/* Submits nodes to the cluster and collects their results until no worker is active. Runs on a
 * thread of its own. */
void offload_run(struct session *s);
/* Called at the end of a run: cancels jobs that are no longer needed and removes their files. */
void offload_finish(struct session *s);
/* Cancels all submitted jobs. */
void offload_cancel(struct session *s);
