/* Memory of tensors, and a queue's scratch; see cpu_queue.h. */
#include "gpu/cpu/cpu_queue.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Tapes take many MiB: with small pages, address translation takes a good part of the time, the
 * more so in a virtual machine. */
void *cpu_alloc(size_t bytes)
{
    enum { HUGE_PAGE = 1 << 21 };
    size_t to = bytes < 4 * (size_t)HUGE_PAGE ? 64 : HUGE_PAGE;
    if (bytes > SIZE_MAX - 2 * to)
        return NULL;
    size_t size = (bytes + to) & ~(to - 1);
    void *p = aligned_alloc(to, size);
    if (p && to == HUGE_PAGE)
        madvise(p, size, MADV_HUGEPAGE); /* best effort: small pages work too */
    return p;
}

void *cpu_scratch(struct gpu_queue *base, size_t bytes)
{
    struct cpu_queue *q = (struct cpu_queue *)base;
    if (!q->scratch || q->scratch_size < bytes) {
        free(q->scratch);
        size_t size = bytes + bytes / 8;
        q->scratch = cpu_alloc(size);
        q->scratch_size = q->scratch ? size : 0;
        if (!q->scratch)
            err_fail(&base->failure, ERR_NOMEM, "no memory for %zu MiB of scratch", bytes >> 20);
    }
    return q->scratch;
}
