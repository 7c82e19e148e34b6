/* Loaded before the C library (LD_PRELOAD): the EQLOOM_SHIM_AT-th allocation of at least
 * EQLOOM_SHIM_BYTES bytes fails, and so do those after it if EQLOOM_SHIM_LASTS is set. */
#include "tests/e2e/shim.h"

#include <errno.h>
#include <stdbool.h>

static bool fails(size_t size)
{
    long long least = number("EQLOOM_SHIM_BYTES"), at = number("EQLOOM_SHIM_AT");
    if (!least || size < (size_t)least)
        return false;
    long long call = (long long)atomic_fetch_add(&calls, 1) + 1;
    if (!at || call < at || (call > at && !number("EQLOOM_SHIM_LASTS")))
        return false;
    errno = ENOMEM;
    return true;
}

/* The C library's own, by the names under which it has them twice: dlsym itself allocates. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
    return fails(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    size_t bytes;
    bool too_much = __builtin_mul_overflow(n, size, &bytes);
    return !too_much && fails(bytes) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return fails(size) ? NULL : __libc_realloc(p, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(size) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *p = fails(size) ? NULL : __libc_memalign(alignment, size);
    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}
