/* The scheduler and its workers; see sched.c. */
#ifndef ENGINE_SCHED_H
#define ENGINE_SCHED_H

#include "engine/session/session.h"

void sched_init(struct session *s, const bool *wanted);
/* Runs fn(arg) in n threads, shows progress and watches signals meanwhile, and waits for them;
 * s->left: they were left behind. */
enum err_code sched_watch(struct session *s, unsigned n, void (*fn)(void *arg), void *arg,
                          struct err *e);
enum err_code sched_run(struct session *s, struct err *e);
/* Tells that the node is done, unless that has been told. */
void sched_report(struct session *s, uint32_t i);
/* All nodes are looked up again by the next sched_run; no worker is left. */
void sched_restart(struct session *s);

#endif
