/* Shared by the files that implement rocks.h. */
#pragma once

#include "base/arena.h"
#include "store/db/rocks.h"

#include <pthread.h>
#include <rocksdb/c.h>
#include <stdatomic.h>

struct rocks {
    rocksdb_t *db;
    rocksdb_column_family_handle_t *family[ROCKS_FAMILIES];
    rocksdb_options_t *options;
    rocksdb_options_t *family_options[ROCKS_FAMILIES];
    rocksdb_readoptions_t *read;
    rocksdb_writeoptions_t *write, *write_sync;
    bool read_only;
    atomic_size_t written; /* bytes put since merging was last considered */
    atomic_uint merging;   /* bit mask of families whose tables may be merged */
    atomic_bool damaged;
    pthread_mutex_t lock; /* protects `damage` */
    struct err damage;    /* the first damage met */
    struct err trouble;   /* the first failure of any kind */
    char loss[120];       /* see rocks_loss */
    int mark; /* file descriptor for rocks_acknowledge; -1: none */
    uint64_t acknowledged;
    char *path;
};

extern const char rocks_repair_hint[];
/* Returns whether RocksDB's message reports damage. */
bool rocks_is_corruption(const char *message);
void rocks_note_damage(struct rocks *r, const char *what);
/* Copies and frees RocksDB's message; "Corruption" is the one kind that callers act on. */
enum err_code rocks_fail(struct err *e, struct rocks *r, const char *what, char *message);

enum { /* unsorted tables: the count that RocksDB would merge, and the count that slows reads */
       ROCKS_TABLES = 4,
       ROCKS_MANY_TABLES = 16
};
/* Lets RocksDB merge the tables of families that have at least this many. */
void rocks_merge_tables(struct rocks *r, uint64_t tables);

/* A file beside the tables holds the sequence number of the last acknowledged write. RocksDB
 * replays its log up to the first entry that it cannot read, and cannot tell an unfinished entry
 * from one that was damaged later. The replayed log must reach this number; 0 if there is none. */
uint64_t rocks_acknowledged(const char *db_path);
void rocks_acknowledge(struct rocks *r, uint64_t number);
enum { ROCKS_PATH = 4096 };
void rocks_mark_path(char path[ROCKS_PATH], const char *db_path);

const char *rocks_family_name(enum rocks_family family);
/* The sequence number of the last entry. */
uint64_t rocks_latest(const struct rocks *r);
/* Repeats each write that can be read in the logs of the database `from` in `to`; works in a new
 * directory. Sets *last to the sequence number of the last entry; 0: there are none. */
enum err_code rocks_repeat_logs(uint64_t *last, struct rocks *to, const char *work,
                                const char *from, struct err *e);
/* Opens a database without comparing it with LISTED, and replays what can be read of its logs. */
enum err_code rocks_open_lenient(struct rocks **out, const char *path, enum rocks_mode mode,
                                 struct err *e);
/* Lets rocksdb_repair_db make a database of the tables in a directory, and opens it. */
enum err_code rocks_open_repaired(struct rocks **out, const char *path, struct err *e);

/* The file LISTED: what the files of the database were like; see listed.c. */
enum { LISTED_NAME = 64 };
struct listed_file {
    char name[LISTED_NAME];
    size_t length;
    char family[16]; /* of a table; else "" */
};
/* Notes the MANIFEST (RocksDB's list of files), of which only the end may change from then on, the
 * current tables, and the logs, but not the one that is being written unless `closing`. */
void listed_note(struct rocks *r, bool closing);
bool listed_find(struct listed_file *out, const char *db_path, const char *name);
/* Returns whether the MANIFEST or a table has changed since it was noted, and the first of them; or
 * the file `only`, if it is not NULL. */
bool listed_find_changed(struct listed_file *out, const char *db_path, const char *only);
/* Returns whether the end of a table has changed, which makes all of it unreadable, and is known: the
 * bytes that belong there. */
bool listed_can_restore(struct span *tail, struct arena *a, const char *db_path, const char *name);
/* Returns whether a log has changed, or is gone, whose number is at least `first`. */
bool listed_find_lost_log(struct listed_file *out, const char *db_path, uint64_t first);

/* Makes `to` a link to a file of the database. Copies it where links are refused; then nothing may
 * write to it. */
enum err_code links_add(const char *to, const char *db_path, const char *name, struct err *e);
/* Makes `to` a copy of a file of the database with another end. */
enum err_code links_restore(const char *to, const char *db_path, const char *name, struct span tail,
                         struct err *e);
/* Adds links to the files that are `wanted` (NULL: all; this works only with copies, since some files
 * change) to the directory `to`. */
typedef bool links_filter(void *arg, const char *name);
enum err_code links_make(const char *to, const char *db_path, links_filter *wanted, void *arg,
                         struct err *e);
/* Returns whether the directory's file system has no hard links; ignores refusals of links to
 * another file system. */
bool links_are_refused(const char *db_path);
