/* The scheduler and its workers; see sched.c. */
#pragma once

#include "engine/node/node.h"

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
