/* Little-endian numbers in bytes, at any alignment. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdint.h>

/* Of `width` bytes, 1 to 8. */
static inline uint64_t get_le(const void *at, int width)
{
    const uint8_t *p = at;
    uint64_t value = 0;
    for (int i = 0; i < width; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

static inline void put_le(void *at, uint64_t value, int width)
{
    uint8_t *p = at;
    for (int i = 0; i < width; i++)
        p[i] = (uint8_t)(value >> (8 * i));
}

#endif
