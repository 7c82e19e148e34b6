/* RocksDB behind a narrow interface: only this folder uses rocksdb/c.h. One database with the
 * column families of docs/format.md, opened by its one writer, or by readers, who see it as it was
 * then. Thread-safe. */
#pragma once

#include "base/digest.h"
#include "base/err.h"
#include "base/span.h"

enum rocks_family {
    ROCKS_DEFAULT, /* RocksDB demands it; empty */
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
/* Appended to the path of a database whose files are bad: it is repaired and opened there. */
#define ROCKS_REPAIRED ".repair"
enum rocks_mode { ROCKS_READ, ROCKS_WRITE, ROCKS_CREATE };
/* A reader may have a writer beside it. ERR_NOTFOUND when there is no database, but for
 * ROCKS_CREATE. ERR_CORRUPT for a reader that does not get all that was acknowledged; a writer
 * repairs what it can (rocks_damage). */
enum err_code rocks_open(struct rocks **out, const char *path, enum rocks_mode mode, struct err *e);
/* Writes out what is in memory when replaying it from the log would be slow. */
void rocks_close(struct rocks *r);
/* Why it could be opened only after a repair, or which bad block was met first since, with the
 * file's name; good for as long as nobody else uses it. NULL: neither. */
const char *rocks_damage(const struct rocks *r);
/* Writer: how many acknowledged writes the log did not give back when it was opened. */
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
    bool remove; /* the key; value is not looked at */
    struct span key, value;
};
/* All or nothing. With sync it has reached the disk on return. */
enum err_code rocks_write(struct rocks *r, const struct rocks_write *writes, size_t n, bool sync,
                          struct err *e);

/* Visits the entries whose keys begin with the prefix, in order, until one is not OK. */
typedef enum err_code rocks_visit(void *arg, struct span key, struct span value, struct err *e);
enum err_code rocks_each(struct rocks *r, enum rocks_family family, struct span prefix,
                         rocks_visit *visit, void *arg, struct err *e);

/* The same backwards, from the last key <= `end`. */
enum err_code rocks_each_back(struct rocks *r, enum rocks_family family, struct span prefix,
                              struct span end, rocks_visit *visit, void *arg, struct err *e);
/* Visits all that can be read in a family, in order (NULL: only reads it). For each stretch that
 * cannot be read, `unreadable` (may be NULL) gets the last key of it, or a key shortly after. */
enum err_code rocks_scan(struct rocks *r, enum rocks_family family, rocks_visit *visit,
                         void (*unreadable)(void *arg, const struct digest *last, const char *why),
                         void *arg, struct err *e);

/* Gives the space of removed records back. */
void rocks_compact(struct rocks *r, enum rocks_family family);
/* A copy of the database as it is now, of links to its tables where possible; elsewhere nothing
 * more can be written to it. */
enum err_code rocks_checkpoint(struct rocks *r, const char *path, struct err *e);
/* Writes all that is in memory into files. */
enum err_code rocks_flush(struct rocks *r, struct err *e);
