/* Garbage collection, checking, statistics, backup and recompression of a store. */
#pragma once

#include "store/store.h"

struct gc_options {
    bool dry_run;
    unsigned keep_runs; /* how many of each job's newest runs keep their outputs */
};
struct gc_result {
    uint64_t records_kept, records_removed, bytes_removed, actions_removed;
};
/* Marks from refs and the outputs of each job's newest runs, through *_id and *_ids fields, and
 * marks actions whose outputs are all marked; sweeps the rest. */
enum err_code store_gc(struct gc_result *out, struct store *s, const struct gc_options *options,
                       struct err *e);

struct fsck_result {
    uint64_t records, actions;
    uint64_t bad_records, missing, quarantined;
    uint64_t faults;  /* of any kind; 0: the store is sound */
    uint64_t awaited; /* of these, refs to missing records that a job's next run makes again */
    bool repairable;  /* some fault can be repaired */
};
/* Reads every entry of every column family, re-hashes every record, and checks that actions and
 * refs lead to existing records; calls `bad` (may be NULL) for each fault, with id NULL if it
 * concerns no single record. With repair, quarantines bad records, drops actions that lead nowhere
 * and leaves damaged files behind, so that the next run makes again what is missing. */
enum err_code store_fsck(struct fsck_result *out, struct store *s, bool repair,
                         void (*bad)(void *arg, const struct digest *id, const char *what),
                         void *arg, struct err *e);

/* For the writer: runs store_fsck with repair if the store is suspect or damaged; sets *checked if
 * so. */
enum err_code store_heal(bool *checked, struct fsck_result *out, struct store *s, struct err *e);

struct kind_stats {
    uint64_t records, raw, stored; /* bytes: of payloads, of envelopes */
    uint64_t with_dictionary;      /* records compressed under one */
};
/* Records by kind; keys and bytes on disk of everything. */
struct store_stats {
    struct kind_stats kinds[KIND_END];
    uint64_t actions, refs, runs, files, quarantined;
    uint64_t disk_bytes;
};
enum err_code store_stats(struct store_stats *out, struct store *s, struct err *e);

/* Creates `directory`, which must not exist, as a store with everything that is stored now. Tables
 * are hard links if the file system allows them. `s` must not be used afterwards except to close
 * it. */
enum err_code store_backup(struct store *s, const char *directory, struct err *e);
/* Recompresses all records at a high level, those of small kinds under fresh dictionaries, and
 * frees the space of removed and replaced records. */
enum err_code store_compact(struct store *s, struct err *e);
