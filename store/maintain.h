/* Garbage collection and checking of a store. */
#ifndef STORE_MAINTAIN_H
#define STORE_MAINTAIN_H

#include "store/store.h"

struct gc_options {
    bool dry_run;
    unsigned keep_runs; /* the newest runs of each job whose outputs are kept */
    /* Records younger than this survive even if nothing refers to them (a run in flight). */
};
struct gc_result {
    uint64_t records_kept, records_removed, bytes_removed, actions_removed;
};
/* Marks from refs, the outputs of the last runs of each job and what those refer to (through
 * *_id and *_ids fields), and actions whose outputs are all marked; sweeps the rest. */
enum err_code store_gc(struct gc_result *out, struct store *s, const struct gc_options *options,
                       struct err *e);

struct fsck_result {
    uint64_t records, actions, bad_records, missing, quarantined;
};
/* Re-hashes every record, checks that actions and refs point to records that exist; calls `bad`
 * for each fault found. With repair, bad records are quarantined and actions that lead nowhere
 * are dropped, so that the next run makes them again. */
enum err_code store_fsck(struct fsck_result *out, struct store *s, bool repair,
                         void (*bad)(void *arg, const struct digest *id, const char *what),
                         void *arg, struct err *e);

#endif
