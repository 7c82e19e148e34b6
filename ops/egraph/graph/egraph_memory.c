/* Memory of the arrays of an e-graph; see egraph_memory.h. */
#include "ops/egraph/graph/egraph_memory.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAPPED = 1 << 18, PAGE = 4096 };

static size_t pages(size_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

static void *map_new(size_t size)
{
    void *p = mmap(NULL, pages(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void *egraph_memory_resize(void *array, size_t old, size_t size)
{
    void *p;
    if (size < MAPPED && old < MAPPED) {
        p = realloc(array, size);
    } else if (size >= MAPPED && old >= MAPPED) {
        p = mremap(array, pages(old), pages(size), MREMAP_MAYMOVE);
        p = p == MAP_FAILED ? NULL : p;
    } else {
        p = size < MAPPED ? malloc(size) : map_new(size);
        if (p && old)
            memcpy(p, array, old < size ? old : size);
        if (p)
            egraph_memory_free(array, old);
    }
    if (!p)
        out_of_memory(size);
    return p;
}

void *egraph_memory_grow(void *array, size_t *cap, size_t need, size_t element_size)
{
    if (need <= *cap)
        return array;
    size_t more = *cap ? *cap + *cap / 2 : 16;
    more = more < need ? need : more;
    array = egraph_memory_resize(array, *cap * element_size, more * element_size);
    *cap = more;
    return array;
}

void egraph_memory_free(void *array, size_t size)
{
    if (size < MAPPED)
        free(array);
    else
        munmap(array, pages(size));
}
