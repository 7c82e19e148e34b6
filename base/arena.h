/* A bump allocator: memory of one task, freed at once. Not thread-safe; one arena, one thread.
 *
 *     chunk: | header | used ........ | free (poisoned under ASan) |  -> next chunk
 *
 * Small allocations abort the process if memory runs out; large ones use arena_try_alloc, and the
 * caller returns ERR_NOMEM. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

struct arena_chunk;
struct arena {
    struct arena_chunk *chunks; /* newest first */
    size_t used;                /* bytes handed out since the last reset */
};

struct arena_mark {
    struct arena_chunk *chunk;
    size_t at, used;
};

/* A zeroed struct arena is empty. */
void arena_free(struct arena *a);
/* Frees everything but the largest chunk. */
void arena_reset(struct arena *a);
struct arena_mark arena_mark(const struct arena *a);
/* Frees what was allocated since the mark. */
void arena_release(struct arena *a, struct arena_mark mark);

/* Aligned to 16 bytes, not zeroed. Never NULL; size 0 returns a valid pointer. */
void *arena_alloc(struct arena *a, size_t size);
/* Returns NULL if memory runs out or n * size overflows; aligned to 64 bytes. */
void *arena_try_alloc(struct arena *a, size_t n, size_t size);
/* Zeroed. */
void *arena_zalloc(struct arena *a, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
void *arena_memdup(struct arena *a, const void *data, size_t n);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define arena_new(a, type) ((type *)arena_zalloc((a), sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_zalloc_array((a), (n), sizeof(type)))
void *arena_zalloc_array(struct arena *a, size_t n, size_t size);
/* Ensures space for one more item in an array of n items; returns the array, which moves when *cap
 * doubles. New items are zero. */
void *arena_grow(struct arena *a, void *array, size_t n, size_t *cap, size_t item_size);
