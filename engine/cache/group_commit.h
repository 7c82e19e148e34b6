/* Group commit: the results of many actions are written together, after COMMIT_RECORDS records,
 * COMMIT_BYTES bytes, or COMMIT_MS milliseconds from the first of them. Everything passed to one
 * call of append (an action with its outputs) is committed atomically. Thread-safe. */
#pragma once

#include "store/store.h"

enum { COMMIT_RECORDS = 1000, COMMIT_BYTES = 8 << 20, COMMIT_MS = 50 };

struct committer;
struct committer *committer_new(struct store *s);
/* Drops results that were not flushed. */
void committer_free(struct committer *c);
/* Moves the content of the batch to the committer. Blocks while too much is pending. */
enum err_code committer_append(struct committer *c, struct store_batch *b, struct err *e);
/* Stops writing: from now on, appended results stay pending but can be read. */
void committer_hold(struct committer *c);
/* Writes everything appended so far; it is in the store when this returns OK. */
enum err_code committer_flush(struct committer *c, struct err *e);
/* Flushes if the oldest pending result is COMMIT_MS old. */
enum err_code committer_tick(struct committer *c, struct err *e);
