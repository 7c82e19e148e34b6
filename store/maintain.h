/* Garbage collection, checking, statistics, backup and recompression of a store. */
#pragma once

#include "store/store.h"

struct gc_options {
    bool dry_run;
    unsigned keep_runs; /* the newest runs of each job whose outputs are kept */
};
struct gc_result {
    uint64_t records_kept, records_removed, bytes_removed, actions_removed;
};
/* Marks from refs, the outputs of the last runs of each job and what those refer to (through
 * *_id and *_ids fields), and actions whose outputs are all marked; sweeps the rest. */
enum err_code store_gc(struct gc_result *out, struct store *s, const struct gc_options *options,
                       struct err *e);

struct fsck_result {
    uint64_t records, actions;
    uint64_t bad_records, missing, quarantined;
    uint64_t faults;  /* of any kind: 0 if the store is sound */
    uint64_t awaited; /* of these, refs to missing records that the next run of a job makes again */
    bool repairable;  /* there are others */
};
/* Reads every entry of every column family, re-hashes every record, checks that actions and refs
 * lead to records that exist; calls `bad` (may be NULL) for each fault found, with id NULL where it
 * concerns no record in particular. With repair, bad records are quarantined, actions that lead
 * nowhere are dropped and damaged files are left behind, so that the next run makes again what is
 * missing. */
enum err_code store_fsck(struct fsck_result *out, struct store *s, bool repair,
                         void (*bad)(void *arg, const struct digest *id, const char *what),
                         void *arg, struct err *e);

/* Writer: the same with repair, if somebody has met damage; *checked tells. */
enum err_code store_heal(bool *checked, struct fsck_result *out, struct store *s, struct err *e);

struct kind_stats {
    uint64_t records, raw, stored; /* bytes: of payloads, of envelopes */
    uint64_t with_dictionary;      /* records compressed under one */
};
/* By kind; the counts of keys and bytes on disk of everything. */
struct store_stats {
    struct kind_stats kinds[KIND_END];
    uint64_t actions, refs, runs, files, quarantined;
    uint64_t disk_bytes;
};
enum err_code store_stats(struct store_stats *out, struct store *s, struct err *e);

/* Makes `directory`, which must not exist, a store with everything that is stored now. Tables are
 * hard links where the file system is the same and has them. The last thing to be done with `s`. */
enum err_code store_backup(struct store *s, const char *directory, struct err *e);
/* Compresses all records again at a high level, those of small kinds under fresh dictionaries, and
 * gives back the space of what was removed or replaced. */
enum err_code store_compact(struct store *s, struct err *e);
