/* A narrow interface to RocksDB: only this folder uses rocksdb/c.h. One database with the column
 * families of docs/format.md, opened by one writer, or by readers, who see a snapshot from when
 * they opened it. Thread-safe. */
#pragma once

#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/span.h"

enum rocks_family {
    ROCKS_DEFAULT, /* required by RocksDB; empty */
    ROCKS_OBJECTS,
    ROCKS_ACTIONS,
    ROCKS_TRACES,
    ROCKS_REFS,
    ROCKS_FILES,
    ROCKS_RUNS,
    ROCKS_META,
    ROCKS_FAMILIES
};

struct rocks;
enum rocks_mode { ROCKS_READ, ROCKS_WRITE, ROCKS_CREATE };
/* Readers may open a database that has a writer. ERR_NOTFOUND if there is no database, unless
 * ROCKS_CREATE. ERR_CORRUPT if files are damaged (see rocks_rescue); for a reader also if the log
 * has lost entries that were acknowledged. */
enum err_code rocks_open(struct rocks **out, const char *path, enum rocks_mode mode, struct err *e);
/* For a writer: what the log had lost at opening, as a sentence; NULL: nothing. */
const char *rocks_loss(const struct rocks *r);
/* A writer calls it before anything else: from here on the log, and with it any loss, counts as what
 * was written. */
void rocks_settle(struct rocks *r);
/* Makes what earlier writers left in the logs as durable as a write with sync. */
enum err_code rocks_sync_logs(struct rocks *r, struct err *e);
/* Suffix of the directory that rocks_rescue works in. */
#define ROCKS_REPAIRED ".repair"
/* Makes the new database `to` of everything that can be read of the database `from`, however it may
 * be damaged; `from` stays as it is. Appends a line to `gone` for each part that cannot be read. No
 * process may have `from` open for writing. */
enum err_code rocks_rescue(struct buf *gone, const char *to, const char *from, struct err *e);
/* Flushes the memtables if replaying them from the log would be slow. */
void rocks_close(struct rocks *r);
/* Returns which bad block was met first, with the file's name; NULL: none. Valid while no other thread uses `r`. */
const char *rocks_damage(const struct rocks *r);
/* Returns the first failure of a read since opening, damage or not; NULL: none. Valid while no other
 * thread uses `r`. */
const char *rocks_trouble(struct rocks *r);
bool rocks_is_read_only(const struct rocks *r);

/* A value borrowed from RocksDB until rocks_value_free. */
struct rocks_value {
    struct span bytes;
    void *pin;
};
/* ERR_NOTFOUND; ERR_CORRUPT when a block fails its checksum. */
enum err_code rocks_get(struct rocks_value *out, struct rocks *r, enum rocks_family family,
                        struct span key, struct err *e);
void rocks_value_free(struct rocks_value *v);

struct rocks_write {
    enum rocks_family family;
    bool remove; /* remove the key; value is ignored */
    struct span key, value;
};
/* Atomic. With sync, the writes are on disk on return. */
enum err_code rocks_write(struct rocks *r, const struct rocks_write *writes, size_t n, bool sync,
                          struct err *e);

/* Visits the entries whose keys begin with the prefix, in order, until a visit returns a code that
 * is not OK. */
typedef enum err_code rocks_visit(void *arg, struct span key, struct span value, struct err *e);
enum err_code rocks_each(struct rocks *r, enum rocks_family family, struct span prefix,
                         rocks_visit *visit, void *arg, struct err *e);

/* Like rocks_each, backwards from the last key <= `end`. */
enum err_code rocks_each_back(struct rocks *r, enum rocks_family family, struct span prefix,
                              struct span end, rocks_visit *visit, void *arg, struct err *e);
/* Keys from `first` to `last`, as far as 32 bytes, padded with zeros, tell. */
struct rocks_range {
    struct digest first, last;
};
/* Visits every readable entry of a family within the range (NULL: all) in order. For each range
 * that cannot be read, calls `unreadable` (may be NULL); its first key may have been visited. */
enum err_code rocks_scan(struct rocks *r, enum rocks_family family, const struct rocks_range *within,
                         rocks_visit *visit,
                         void (*unreadable)(void *arg, const struct rocks_range *range,
                                            const char *why),
                         void *arg, struct err *e);

/* Reclaims the space of removed records. */
void rocks_compact(struct rocks *r, enum rocks_family family);
/* Copies the database as it is now, with hard links to its tables if possible; otherwise nothing
 * more can be written to it. */
enum err_code rocks_checkpoint(struct rocks *r, const char *path, struct err *e);
/* Writes all memtables to files. */
enum err_code rocks_flush(struct rocks *r, struct err *e);
