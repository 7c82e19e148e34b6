/* How RocksDB is set up.
 *
 * Its compression is off for objects, which are compressed already. Readers keep all files
 * open, since the writer may remove them, and the writer few. */
#include "store/db/rocks_internal.h"

#include <assert.h>
#include <stdio.h>

enum { BLOCK_SIZE = 16 << 10 };

const char *const rocks_family_names[ROCKS_FAMILIES] = {
    [ROCKS_DEFAULT] = "default", [ROCKS_OBJECTS] = "objects", [ROCKS_ACTIONS] = "actions",
    [ROCKS_TRACES] = "traces",   [ROCKS_REFS] = "refs",       [ROCKS_FILES] = "files",
    [ROCKS_RUNS] = "runs",       [ROCKS_META] = "meta",
};

static rocksdb_options_t *from_string(rocksdb_options_t *base, const char *text)
{
    rocksdb_options_t *out = rocksdb_options_create();
    char *message = NULL;
    rocksdb_get_options_from_string(base, text, out, &message);
    if (message)
        fprintf(stderr, "eqloom: RocksDB refuses an option: %s\n", message);
    assert(!message);
    rocksdb_options_destroy(base);
    return out;
}

rocksdb_options_t *rocks_database_options(enum rocks_mode mode)
{
    rocksdb_options_t *o = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(o, mode == ROCKS_CREATE);
    rocksdb_options_set_paranoid_checks(o, 1);
    rocksdb_options_set_create_missing_column_families(o, mode != ROCKS_READ);
    rocksdb_options_set_max_open_files(o, mode == ROCKS_READ ? -1 : 512);
    /* RocksDB starts so many threads for every family, however few files there are. */
    rocksdb_options_set_max_file_opening_threads(o, 1);
    rocksdb_options_set_skip_stats_update_on_db_open(o, 1);
    /* Only what it says on opening: errors reach us anyway, and on a full disk RocksDB 7.8 dies of
     * an assertion in its own logger. A reader, which need not be able to write, goes without. */
    rocksdb_options_set_info_log_level(o, 5);
    rocksdb_options_set_keep_log_file_num(o, 2);
    if (mode == ROCKS_READ)
        rocksdb_options_set_db_log_dir(o, "/dev/null");
    rocksdb_options_set_recycle_log_file_num(o, 0);
    rocksdb_options_set_max_total_wal_size(o, 256 << 20);
    rocksdb_options_set_wal_recovery_mode(o, rocksdb_point_in_time_recovery);
    rocksdb_options_set_atomic_flush(o, 1);
    rocksdb_options_set_max_background_jobs(o, 2);
    rocksdb_options_set_bytes_per_sync(o, 1 << 20);
    rocksdb_options_set_stats_dump_period_sec(o, 0);
    rocksdb_options_set_stats_persist_period_sec(o, 0);
    return from_string(o, "avoid_flush_during_recovery=true;max_manifest_file_size=4194304");
}

/* Partitioned indexes and filters, read when they are asked for, so that opening a
 * table costs the same however large it is. */
static void part_indexes(rocksdb_block_based_table_options_t *table)
{
    enum { TWO_LEVELS = 2 };
    rocksdb_block_based_options_set_index_type(table, TWO_LEVELS);
    rocksdb_block_based_options_set_partition_filters(table, 1);
    rocksdb_block_based_options_set_metadata_block_size(table, 4096);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_block_based_options_set_pin_top_level_index_and_filter(table, 1);
}

rocksdb_options_t *rocks_family_options(enum rocks_family family, rocksdb_cache_t *cache)
{
    rocksdb_options_t *o = rocksdb_options_create();
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_size(table, BLOCK_SIZE);
    rocksdb_block_based_options_set_format_version(table, 5);
    rocksdb_block_based_options_set_checksum(table, 4); /* XXH3 */
    rocksdb_block_based_options_set_block_cache(table, cache);
    part_indexes(table);
    bool objects = family == ROCKS_OBJECTS;
    bool many = objects || family == ROCKS_ACTIONS || family == ROCKS_TRACES;
    if (many)
        rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom(10));
    rocksdb_options_set_block_based_table_factory(o, table);
    rocksdb_block_based_options_destroy(table);
    rocksdb_options_set_compression(o, objects ? rocksdb_no_compression : rocksdb_lz4_compression);
    rocksdb_options_set_write_buffer_size(o, (size_t)(objects ? 64 : 16) << 20);
    rocksdb_options_set_disable_auto_compactions(o, 1); /* see rocks_tables.c */
    /* A put first looks whether the record exists, and a run whether an action does; mostly neither
     * does, and without a filter the whole memtable is searched. This one takes 512 KiB for
     * objects, ten bits for each of 400,000 records, and a quarter of that for the others. */
    return many ? from_string(o, "memtable_prefix_bloom_size_ratio=0.0078125;"
                                 "memtable_whole_key_filtering=true")
                : o;
}
