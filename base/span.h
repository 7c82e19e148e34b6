/* Borrowed bytes, and little-endian numbers in them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
    const uint8_t *data;
    size_t len;
};

static inline struct span span_of(const void *data, size_t len)
{
    return (struct span){data, len};
}

static inline struct span span_str(const char *s)
{
    return (struct span){(const uint8_t *)s, strlen(s)};
}

static inline bool span_equal(struct span a, struct span b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static inline bool span_starts_with(struct span s, struct span prefix)
{
    return s.len >= prefix.len && memcmp(s.data, prefix.data, prefix.len) == 0;
}

static inline bool text_ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* ---- little-endian numbers, at any alignment ---- */
/* Reads a number of `width` bytes, 1 to 8. */
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
