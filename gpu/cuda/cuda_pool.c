/* Memory that was given back, kept for who asks next: the driver takes long for either. Sizes are
 * rounded up, so that they come again. */
#include "gpu/cuda/cuda_queue.h"

#include <stdlib.h>

struct cuda_block {
    struct cuda_block *next;
    void *at;
    size_t size;
};

static struct cuda_block *unlink_block(struct cuda_block **list, const void *at, size_t size)
{
    for (; *list; list = &(*list)->next)
        if (at ? (*list)->at == at : (*list)->size == size) {
            struct cuda_block *b = *list;
            *list = b->next;
            return b;
        }
    return NULL;
}

static void link_block(struct cuda_block **list, struct cuda_block *b)
{
    b->next = *list;
    *list = b;
}

void cuda_pool_clear(struct cuda_pool *p)
{
    for (struct cuda_block *b; (b = p->idle);) {
        p->idle = b->next;
        cudaFree(b->at);
        free(b);
    }
}

void cuda_pool_close(struct cuda_pool *p)
{
    cuda_pool_clear(p);
    p->idle = p->used; /* what could not be given back */
    p->used = NULL;
    cuda_pool_clear(p);
}

static cudaError_t make(struct cuda_block **out, struct cuda_pool *p, size_t size)
{
    struct cuda_block *b = calloc(1, sizeof *b);
    if (!b)
        return cudaErrorMemoryAllocation;
    b->size = size;
    cudaError_t status = cudaMalloc(&b->at, size);
    if (status == cudaErrorMemoryAllocation && p->idle) {
        cudaGetLastError();
        cuda_pool_clear(p);
        status = cudaMalloc(&b->at, size);
    }
    if (status)
        free(b);
    else
        *out = b;
    return status;
}

cudaError_t cuda_pool_take(void **out, struct cuda_pool *p, size_t bytes)
{
    size_t size = cuda_rounded(bytes < 256 ? 256 : bytes);
    cudaError_t status = cudaSuccess;
    pthread_mutex_lock(&p->lock);
    struct cuda_block *b = unlink_block(&p->idle, NULL, size);
    if (!b)
        status = make(&b, p, size);
    if (!status) {
        link_block(&p->used, b);
        *out = b->at;
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

void cuda_pool_give(struct cuda_pool *p, void *memory)
{
    pthread_mutex_lock(&p->lock);
    struct cuda_block *b = unlink_block(&p->used, memory, 0);
    if (b)
        link_block(&p->idle, b);
#if EQLOOM_PLANT == 4 /* a fault for the tests to find: one of what is in use is idle, too */
    for (b = p->used; b && b->next;)
        b = b->next;
    if (b)
        link_block(&p->idle, unlink_block(&p->used, b->at, 0));
#endif
    pthread_mutex_unlock(&p->lock);
}
