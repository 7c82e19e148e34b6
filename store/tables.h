/* The database's files checked byte for byte. RocksDB verifies the blocks that it happens to read;
 * footers, filters and what no lookup needs it does not. It can be told to keep a checksum of each
 * table file in its MANIFEST, computed while the file is written, and those are compared here. */
#ifndef STORE_TABLES_H
#define STORE_TABLES_H

#include "base/arena.h"
#include "base/err.h"
#include "base/span.h"

#include <stdbool.h>
#include <stdint.h>

struct tables_result {
    uint64_t tables, bytes, bad;
    bool manifest_bad; /* nothing is known of the tables, then */
};
/* Checks the tables that the MANIFEST of the database lists, smallest first as far as `budget`
 * bytes go. `bad` gets a sentence for each fault. Works beside a writer: a table that it has
 * removed meanwhile is no fault. ERR_NOTFOUND when there is no database. */
enum err_code tables_check(struct tables_result *out, const char *db_path, uint64_t budget,
                           void (*bad)(void *arg, const char *what), void *arg, struct err *e);

/* ---- the MANIFEST ---- */
struct table {
    uint64_t number, size;
    uint32_t family, level;
    uint32_t crc; /* CRC-32C of the file, if has_crc */
    bool has_crc;
};
struct manifest {
    struct table *tables;
    size_t n, cap;
    char **families; /* names by number; NULL: none */
    size_t n_families, cap_families;
    uint64_t last_sequence; /* of what is in the tables */
};
/* ERR_CORRUPT; ERR_UNSUPPORTED for entries that this version of RocksDB does not write. */
enum err_code manifest_read(struct manifest *m, struct span bytes, struct err *e);
/* The one that CURRENT names. ERR_NOTFOUND without CURRENT. */
enum err_code manifest_load(struct manifest *m, struct arena *a, const char *db_path,
                            struct err *e);
void manifest_free(struct manifest *m);

#endif
