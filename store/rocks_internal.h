/* What the files of rocks.h share. */
#ifndef STORE_ROCKS_INTERNAL_H
#define STORE_ROCKS_INTERNAL_H

#include "store/rocks.h"

#include "store/watermark.h"

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
    bool secondary;
    atomic_size_t written; /* bytes put since merging was last thought of */
    atomic_uint merging;   /* families whose tables may be merged, a bit each */
    atomic_bool damaged;
    pthread_mutex_t lock; /* of what follows */
    struct err damage;    /* what was met first */
    struct err log_damage;
    uint64_t lost;
    struct watermark watermark;
    char *path;
};

/* The message stands for damage; under a reader, a file that is gone may be one that the writer has
 * removed. */
bool rocks_is_corruption(const struct rocks *r, const char *message);
void rocks_note_damage(struct rocks *r, const char *what);
/* Takes RocksDB's message over; "Corruption" is the one kind that callers act on. */
enum err_code rocks_fail(struct err *e, struct rocks *r, const char *what, char *message);

extern const char *const rocks_family_names[ROCKS_FAMILIES];
rocksdb_options_t *rocks_database_options(bool create, bool secondary);
rocksdb_options_t *rocks_family_options(enum rocks_family family, rocksdb_cache_t *cache);

enum {
    ROCKS_TABLES = 4,
    ROCKS_MANY_TABLES = 16
}; /* unsorted: RocksDB would merge; reading suffers */
/* Lets RocksDB merge the tables of families that have so many. */
void rocks_merge_tables(struct rocks *r, uint64_t tables);

#endif
