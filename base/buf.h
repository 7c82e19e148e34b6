/* A growing string or byte buffer on the heap, always followed by a NUL. A zeroed struct buf is
 * empty (data NULL); buf_free releases the memory. Aborts if memory runs out, as in arena.h. */
#pragma once

#include "base/arena.h"

struct buf {
    char *data;
    size_t len, cap;
};

void buf_free(struct buf *b);
void buf_clear(struct buf *b);
void buf_reserve(struct buf *b, size_t more);
void buf_add(struct buf *b, const void *data, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
/* Copies the contents into the arena as a string and frees the buffer. */
char *buf_text(struct buf *b, struct arena *a);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Grows a heap array to hold `need` elements; returns the (moved) array and updates *cap.
 *     v = vec_grow(v, &cap, n + 1, sizeof *v); */
void *vec_grow(void *array, size_t *cap, size_t need, size_t element_size);

/* A comparison for qsort and bsearch in arrays of strings. */
int text_compare(const void *a, const void *b);
