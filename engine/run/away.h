/* The nodes of a run that a cluster computes; see away.c. */
#pragma once

#include "engine/session/session.h"

/* Sets s->away if the options ask for a cluster. */
enum err_code away_open(struct session *s, struct err *e);
void away_close(struct session *s);
/* Until nobody else works: gives nodes to the cluster and takes them back. On a thread of its own.
 */
void away_run(struct session *s);
/* The run is done: jobs that nobody waits for any more end, and what they wrote goes. */
void away_finish(struct session *s);
/* Cancels all that was submitted. */
void away_cancel(struct session *s);
