/* Shared by the files that implement rocks.h. */
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
    atomic_uint merging;   /* bit mask of families whose tables may be merged */
    atomic_bool damaged;
    pthread_mutex_t lock; /* protects `damage` */
    struct err damage;    /* the first damage met */
    uint64_t lost;
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

/* Writes LISTED: the MANIFEST (RocksDB's list of files) and the current tables. From then on, only
 * the end of the MANIFEST may change. */
void listed_note(struct rocks *r);
/* Returns false, with the file's name, if a file that LISTED notes has changed; checks only the
 * file `only` unless NULL. */
bool listed_is_whole(char bad[64], const char *db_path, const char *only);

/* Creates directory `to` with links to all files of the database or, if `noted_only`, to its logs
 * and those tables that match LISTED. Copies where links are refused; a complete copy works only
 * then, since some files change, and only while nothing writes to them. */
enum err_code links_make(const char *to, const char *db_path, bool noted_only, struct err *e);
/* Returns whether the directory's file system has no hard links; ignores refusals of links to
 * another file system. */
bool links_are_refused(const char *db_path);
