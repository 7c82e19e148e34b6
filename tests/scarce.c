#include "tests/scarce.h"

#include "base/arena.h"

atomic_long scarce_at;

void *__real_arena_try_alloc(struct arena *a, size_t n, size_t size);
void *__wrap_arena_try_alloc(struct arena *a, size_t n, size_t size);

void *__wrap_arena_try_alloc(struct arena *a, size_t n, size_t size)
{
    return atomic_load(&scarce_at) && atomic_fetch_sub(&scarce_at, 1) == 1
               ? NULL
               : __real_arena_try_alloc(a, n, size);
}
