/* The ready list and its workers; see sched.c. */
#ifndef ENGINE_SCHED_H
#define ENGINE_SCHED_H

#include "engine/session/session.h"

void sched_init(struct session *s, const bool *wanted);
/* Runs fn(arg) in n threads, shows progress and watches signals meanwhile, and waits for them;
 * s->left: they were left behind. */
enum err_code sched_watch(struct session *s, unsigned n, void (*fn)(void *arg), void *arg,
                          struct err *e);
enum err_code sched_run(struct session *s, struct err *e);

#endif
