/* Run records: written when a run first does something, every second while elements come in, so
 * that a run that is killed says how far it came, and at its end. A run that finds everything as
 * the last run left it writes nothing: the last record still holds. */
#pragma once

#include "engine/session/session.h"

enum err_code record_running(struct session *s, struct store_batch *b, struct err *e);
/* Writes the record again if it is a second old and more elements are done. */
void record_progress(struct session *s, struct store_batch *b);
enum err_code record_final(struct session *s, struct err *e);
/* The run ends by an error: its record, if there is one, says so, if it can be written. */
void record_broken(struct session *s);
