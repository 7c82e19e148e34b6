/* Eight bytes at a time by tables; see crc32c.h. table[k][b] is the checksum of byte b followed by
 * k zero bytes. */
#include "store/crc32c.h"

enum { POLYNOMIAL = (int)0x82f63b78 };

void crc32c_init(struct crc32c *c)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t r = b;
        for (int bit = 0; bit < 8; bit++)
            r = r >> 1 ^ (r & 1 ? (uint32_t)POLYNOMIAL : 0);
        c->table[0][b] = r;
    }
    for (int k = 1; k < 8; k++)
        for (int b = 0; b < 256; b++)
            c->table[k][b] = c->table[k - 1][b] >> 8 ^ c->table[0][c->table[k - 1][b] & 0xff];
}

uint32_t crc32c_extend(const struct crc32c *c, uint32_t before, const void *data, size_t n)
{
    const uint8_t *p = data;
    uint32_t r = ~before;
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t low = r ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
                            (uint32_t)p[3] << 24);
        r = c->table[7][low & 0xff] ^ c->table[6][low >> 8 & 0xff] ^ c->table[5][low >> 16 & 0xff] ^
            c->table[4][low >> 24] ^ c->table[3][p[4]] ^ c->table[2][p[5]] ^ c->table[1][p[6]] ^
            c->table[0][p[7]];
    }
    while (n--)
        r = r >> 8 ^ c->table[0][(r ^ *p++) & 0xff];
    return ~r;
}
