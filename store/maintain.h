/* Garbage collection and checking of a store. */
#ifndef STORE_MAINTAIN_H
#define STORE_MAINTAIN_H

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
    uint64_t records, actions, tables;
    uint64_t bad_records, missing, quarantined;
    uint64_t faults; /* of any kind: 0 if the store is sound */
};
/* Compares every table file with its checksum, reads every entry of every column family, re-hashes
 * every record, checks that actions and refs lead to records that exist; calls `bad` for each fault
 * found, with id NULL where it concerns no record in particular. With repair, bad records are
 * quarantined, actions that lead nowhere are dropped and damaged files are left behind, so that the
 * next run makes again what is missing. */
enum err_code store_fsck(struct fsck_result *out, struct store *s, bool repair,
                         void (*bad)(void *arg, const struct digest *id, const char *what),
                         void *arg, struct err *e);

struct kind_stats {
    uint64_t records, raw, stored; /* bytes: of payloads, of envelopes */
    uint64_t dense;                /* records coded under the model of their kind */
    uint64_t with_dictionary;      /* records of format 1 */
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
/* Makes dense what can be, and gives back the space of what was removed or replaced. */
enum err_code store_compact(struct store *s, struct err *e);

/* The same bit by bit, for the end of a run: clusters first, e-graphs last, goes on where the last
 * one stopped, for so long. Space comes back when RocksDB merges tables. */
struct tidy_options {
    uint64_t budget_ns;       /* below a tenth of a second nothing is begun */
    bool any;                 /* begin whatever the budget is and however little waits */
    const volatile int *stop; /* not zero: at once; may be NULL */
    /* NULL, or told when it begins, if there may be much to do. */
    void (*begins)(void *arg, uint64_t budget_ns);
    void *arg;
};
/* *waiting: bytes of payloads that are still to be looked at. */
enum err_code store_tidy(uint64_t *waiting, struct store *s, const struct tidy_options *options,
                         struct err *e);

#endif
