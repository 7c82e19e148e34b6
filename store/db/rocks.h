/* A narrow interface to RocksDB: only this folder uses rocksdb/c.h. One database with the column
 * families of docs/format.md, opened by one writer, or by readers, who see a snapshot from when
 * they opened it. Thread-safe. */
#pragma once

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
/* Suffix of the directory in which a database with bad files is repaired and opened. */
#define ROCKS_REPAIRED ".repair"
enum rocks_mode { ROCKS_READ, ROCKS_WRITE, ROCKS_CREATE };
/* Readers may open a database that has a writer. ERR_NOTFOUND if there is no database, unless
 * ROCKS_CREATE. ERR_CORRUPT for a reader if acknowledged writes are missing; a writer repairs what
 * it can (rocks_damage). */
enum err_code rocks_open(struct rocks **out, const char *path, enum rocks_mode mode, struct err *e);
/* Flushes the memtables if replaying them from the log would be slow. */
void rocks_close(struct rocks *r);
/* Returns why the database could be opened only after a repair, or which bad block was met first
 * since, with the file's name; NULL: no damage. Valid while no other thread uses `r`. */
const char *rocks_damage(const struct rocks *r);
/* For a writer: returns how many acknowledged writes the log had lost at opening. */
uint64_t rocks_lost_writes(const struct rocks *r);
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
/* Visits every readable entry of a family in order (NULL: only reads). For each unreadable range,
 * calls `unreadable` (may be NULL) with its last key or a key shortly after. */
enum err_code rocks_scan(struct rocks *r, enum rocks_family family, rocks_visit *visit,
                         void (*unreadable)(void *arg, const struct digest *last, const char *why),
                         void *arg, struct err *e);

/* Reclaims the space of removed records. */
void rocks_compact(struct rocks *r, enum rocks_family family);
/* Copies the database as it is now, with hard links to its tables if possible; otherwise nothing
 * more can be written to it. */
enum err_code rocks_checkpoint(struct rocks *r, const char *path, struct err *e);
/* Writes all memtables to files. */
enum err_code rocks_flush(struct rocks *r, struct err *e);
