/* Growing buffers; see buf.h. */
#include "base/buf.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *vec_grow(void *array, size_t *cap, size_t need, size_t element_size)
{
    if (need <= *cap)
        return array;
    size_t cap_new = *cap ? *cap + *cap / 2 : 16, bytes;
    if (cap_new < need)
        cap_new = need;
    void *moved =
        __builtin_mul_overflow(cap_new, element_size, &bytes) ? NULL : realloc(array, bytes);
    if (!moved)
        out_of_memory(cap_new * element_size);
    *cap = cap_new;
    return moved;
}

void buf_free(struct buf *b)
{
    free(b->data);
    *b = (struct buf){0};
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    if (b->data)
        b->data[0] = 0;
}

void buf_reserve(struct buf *b, size_t more)
{
    b->data = vec_grow(b->data, &b->cap, b->len + more + 1, 1);
}

void buf_add(struct buf *b, const void *data, size_t n)
{
    buf_reserve(b, n);
    if (n)
        memcpy(b->data + b->len, data, n);
    b->len += n;
    b->data[b->len] = 0;
}

void buf_puts(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n > 0) {
        buf_reserve(b, (size_t)n);
        vsnprintf(b->data + b->len, (size_t)n + 1, format, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

char *buf_text(struct buf *b, struct arena *a)
{
    char *text = arena_strndup(a, b->data ? b->data : "", b->len);
    buf_free(b);
    return text;
}

int text_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}
