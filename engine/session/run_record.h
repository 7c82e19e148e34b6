/* Run records. The record of a run is written when the run first does something, every second while
 * elements complete (so that a killed run leaves its progress), and at the end. A run in which
 * nothing has changed since the last run writes no record. */
#pragma once

#include "engine/session/session.h"

enum err_code record_running(struct session *s, struct store_batch *b, struct err *e);
/* Rewrites the record if it is a second old and more elements are done. */
void record_progress(struct session *s, struct store_batch *b);
enum err_code record_final(struct session *s, struct err *e);
/* Called if the run ends with an error: marks its record, if there is one, as failed, as far as the
 * store permits. */
void record_broken(struct session *s);
