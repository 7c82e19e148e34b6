/* A session's begin and end, for runs and plans. */
#pragma once

#include "engine/session/session.h"

enum err_code session_open(struct session *s, struct arena *a, const struct job *job,
                           struct store *store, const struct run_options *options, struct err *e);
void session_close(struct session *s);
void session_fill_result(struct run_result *out, struct session *s);
