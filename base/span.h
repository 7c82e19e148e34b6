/* Bytes that somebody else owns. */
#ifndef BASE_SPAN_H
#define BASE_SPAN_H

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

/* memcmp order, a prefix before what it begins. */
static inline int span_compare(struct span a, struct span b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int c = n ? memcmp(a.data, b.data, n) : 0;
    return c ? c : (a.len > b.len) - (a.len < b.len);
}

#endif
