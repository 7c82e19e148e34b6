/* Group commit: the results of many actions are written together, at COMMIT_RECORDS records,
 * COMMIT_BYTES bytes or COMMIT_MS milliseconds after the first of them. What is appended at once
 * (an action with its outputs) is never torn apart. Thread-safe. */
#pragma once

#include "store/store.h"

enum { COMMIT_RECORDS = 1000, COMMIT_BYTES = 8 << 20, COMMIT_MS = 50 };

struct committer;
struct committer *committer_new(struct store *s);
/* Drops what was not flushed. */
void committer_free(struct committer *c);
/* Empties the batch. Blocks while too much waits to be written. */
enum err_code committer_append(struct committer *c, struct store_batch *b, struct err *e);
/* From now on nothing is written, and what is appended can be read as if it had been. */
void committer_hold(struct committer *c);
/* Everything appended so far is in the store when it returns OK. */
enum err_code committer_flush(struct committer *c, struct err *e);
/* Flushes if the oldest result has waited long enough. */
enum err_code committer_tick(struct committer *c, struct err *e);
