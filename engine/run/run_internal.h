/* What the files of this folder share. */
#pragma once

#include "engine/node/node.h"

/* ---- a session's begin and end, for runs and plans: run.c ---- */
enum err_code session_open(struct session *s, struct arena *a, const struct job *job,
                           struct store *store, const struct run_options *options, struct err *e);
void session_close(struct session *s);
void session_fill_result(struct run_result *out, struct session *s);

/* ---- the scheduler and its workers: sched.c ---- */
void sched_init(struct session *s, const bool *wanted);
/* Runs fn in n threads, shows progress and watches signals meanwhile, and waits for them; s->left:
 * they were left behind. */
enum err_code sched_watch(struct session *s, unsigned n, void (*fn)(struct session *s),
                          struct err *e);
enum err_code sched_run(struct session *s, struct err *e);
/* For ops that use all threads; NULL if none is wanted. */
void sched_start_pool(struct session *s);
/* Tells that the node is done, unless that has been told. */
void sched_report(struct node_run *r);
/* All nodes are looked up again by the next sched_run; no worker is left. */
void sched_restart(struct session *s);

/* ---- the nodes of a run that a cluster computes: away.c ---- */
/* Sets s->away if the options ask for a cluster. */
enum err_code away_open(struct session *s, struct err *e);
void away_close(struct session *s);
/* On a thread of its own, until nobody else works: gives nodes to the cluster and takes them back.
 */
void away_run(struct session *s);
/* The run is done: jobs that nobody waits for any more end, and what they wrote goes. */
void away_finish(struct session *s);
/* Cancels all that was submitted. */
void away_cancel(struct session *s);
