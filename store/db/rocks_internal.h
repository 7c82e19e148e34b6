/* What the files of rocks.h share. */
#pragma once

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
    atomic_uint merging;   /* families whose tables may be merged, a bit each */
    atomic_bool damaged;
    pthread_mutex_t lock; /* of what follows */
    struct err damage;    /* what was met first */
    uint64_t lost;
    int mark; /* the file that rocks_acknowledge writes; -1: none is kept */
    uint64_t acknowledged;
    char *path;
};

extern const char rocks_repair_hint[];
/* Whether RocksDB's message stands for damage. */
bool rocks_is_corruption(const char *message);
void rocks_note_damage(struct rocks *r, const char *what);
/* Takes RocksDB's message over; "Corruption" is the one kind that callers act on. */
enum err_code rocks_fail(struct err *e, struct rocks *r, const char *what, char *message);

enum { /* unsorted tables: RocksDB would merge so many; so many slow reading down */
       ROCKS_TABLES = 4,
       ROCKS_MANY_TABLES = 16
};
/* Lets RocksDB merge the tables of families that have so many. */
void rocks_merge_tables(struct rocks *r, uint64_t tables);

/* The sequence number of the last write that was acknowledged is kept in a file beside the tables.
 * RocksDB replays its log up to the first entry that it cannot read, and cannot tell an entry that
 * was never finished from one that went bad later. What comes back from the log must reach this
 * number; 0 if there is none. */
uint64_t rocks_acknowledged(const char *db_path);
void rocks_acknowledge(struct rocks *r, uint64_t number);
enum { ROCKS_PATH = 4096 };
void rocks_mark_path(char path[ROCKS_PATH], const char *db_path);

/* Writes LISTED: the MANIFEST (RocksDB's list of files) and the tables as they are now. Only the
 * end of the MANIFEST may change from now on. */
void listed_note(struct rocks *r);
/* False if what was noted (of the file `only`, or NULL) has changed in this one. */
bool listed_is_whole(char bad[64], const char *db_path, const char *only);

/* Makes `to` a directory with links to all that the database consists of, or, `noted_only`, to the
 * tables that are as they were noted and to the logs; where links are refused, with copies. Of all,
 * only where they are, since some files change; and while nobody writes to them. */
enum err_code links_make(const char *to, const char *db_path, bool noted_only, struct err *e);
/* The file system of the directory has no links; a link to another file system is another matter.
 */
bool links_are_refused(const char *db_path);
