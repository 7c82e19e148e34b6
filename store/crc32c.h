/* CRC-32C (Castagnoli), which RocksDB uses in its logs and for whole files. */
#ifndef STORE_CRC32C_H
#define STORE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

struct crc32c {
    uint32_t table[8][256];
};

void crc32c_init(struct crc32c *c);
/* Extends the checksum of what came before (0: nothing) by n bytes. */
uint32_t crc32c_extend(const struct crc32c *c, uint32_t before, const void *data, size_t n);

#endif
