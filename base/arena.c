/* A bump allocator; see arena.h. */
#include "base/arena.h"

#include "base/err.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
enum { RED_ZONE = 16 };
#else
#define POISON(p, n) ((void)0)
#define UNPOISON(p, n) ((void)0)
enum { RED_ZONE = 0 };
#endif

enum { FIRST_CHUNK = 16 << 10, LARGEST_STEP = 4 << 20, HEADER = 64 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t at, size; /* offsets from the chunk's start; the data begin at HEADER */
};

static struct arena_chunk *add_chunk(struct arena *a, size_t need)
{
    size_t size = a->chunks ? a->chunks->size * 2 : FIRST_CHUNK;
    if (size > LARGEST_STEP)
        size = LARGEST_STEP;
    if (need > SIZE_MAX - HEADER - 64)
        return NULL;
    if (size < need + HEADER + 64)
        size = need + HEADER + 64;
    struct arena_chunk *c = aligned_alloc(64, (size + 63) & ~(size_t)63);
    if (!c)
        return NULL;
    c->next = a->chunks;
    c->size = (size + 63) & ~(size_t)63;
    c->at = HEADER;
    POISON((char *)c + HEADER, c->size - HEADER);
    a->chunks = c;
    return c;
}

static void *try_alloc(struct arena *a, size_t size, size_t align)
{
    struct arena_chunk *c = a->chunks;
    size_t at = c ? (c->at + align - 1) & ~(align - 1) : 0;
    if (!c || at > c->size || size + RED_ZONE > c->size - at || size > SIZE_MAX - RED_ZONE) {
        c = add_chunk(a, size + RED_ZONE);
        if (!c)
            return NULL;
        at = HEADER;
    }
    void *p = (char *)c + at;
    UNPOISON(p, size);
    c->at = at + size + RED_ZONE;
    a->used += size;
    return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
    void *p = try_alloc(a, size, 16);
    if (!p)
        out_of_memory(size);
    return p;
}

void *arena_try_alloc(struct arena *a, size_t n, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(n, size, &total) || total > SIZE_MAX / 2)
        return NULL;
    return try_alloc(a, total, 64);
}

void *arena_zalloc(struct arena *a, size_t size)
{
    return memset(arena_alloc(a, size), 0, size);
}

void *arena_zalloc_array(struct arena *a, size_t n, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(n, size, &total))
        total = SIZE_MAX / 2; /* aborts below, as any small allocation that fails */
    return arena_zalloc(a, total);
}

void *arena_memdup(struct arena *a, const void *data, size_t n)
{
    void *p = arena_alloc(a, n);
    if (n)
        memcpy(p, data, n);
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, n + 1);
    if (n) /* of an empty buffer, s is NULL */
        memcpy(p, s, n);
    p[n] = 0;
    return p;
}

void *arena_grow(struct arena *a, void *array, size_t n, size_t *cap, size_t item_size)
{
    if (n < *cap)
        return array;
    *cap = *cap ? 2 * *cap : 16;
    void *moved = arena_zalloc_array(a, *cap, item_size);
    if (n)
        memcpy(moved, array, n * item_size);
    return moved;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *p = arena_alloc(a, (size_t)(n < 0 ? 0 : n) + 1);
    p[0] = 0;
    if (n > 0)
        vsnprintf(p, (size_t)n + 1, format, again);
    va_end(again);
    return p;
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){a->chunks, a->chunks ? a->chunks->at : 0, a->used};
}

/* Removes the first chunk of a list. */
static void drop_chunk(struct arena_chunk **list)
{
    struct arena_chunk *c = *list;
    *list = c->next;
    UNPOISON((char *)c + HEADER, c->size - HEADER);
    free(c);
}

void arena_release(struct arena *a, struct arena_mark mark)
{
    while (a->chunks && a->chunks != mark.chunk)
        drop_chunk(&a->chunks);
    if (a->chunks) {
        a->chunks->at = mark.at;
        POISON((char *)a->chunks + mark.at, a->chunks->size - mark.at);
    }
    a->used = mark.used;
}

void arena_reset(struct arena *a)
{
    struct arena_chunk *keep = a->chunks;
    for (struct arena_chunk *c = keep; c; c = c->next)
        keep = c->size > keep->size ? c : keep;
    while (a->chunks != keep)
        drop_chunk(&a->chunks);
    while (keep && keep->next)
        drop_chunk(&keep->next);
    if (keep) {
        keep->at = HEADER;
        POISON((char *)keep + HEADER, keep->size - HEADER);
    }
    a->used = 0;
}

void arena_free(struct arena *a)
{
    while (a->chunks)
        drop_chunk(&a->chunks);
    a->used = 0;
}
