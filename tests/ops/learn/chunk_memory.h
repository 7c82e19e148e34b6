/* Chunks of checkpoints in memory, by content. */
#pragma once

#include "ops/learn/checkpoint/checkpoint.h"
#include "tests/unit.h"

struct chunk_memory {
    struct arena a;
    struct {
        struct digest id;
        struct span data;
    } chunks[512];
    size_t n;
};

static inline void chunk_memory_clear(struct chunk_memory *m)
{
    arena_free(&m->a);
    *m = (struct chunk_memory){.n = 0};
}

static inline enum err_code chunk_memory_put(struct digest *id, void *arg, struct span data,
                                             struct err *e)
{
    struct chunk_memory *m = arg;
    assert_true(m->n < 512 && data.len <= 4 << 20);
    *id = digest_of(&data, 1);
    m->chunks[m->n].id = *id;
    m->chunks[m->n++].data = span_of(arena_memdup(&m->a, data.data, data.len), data.len);
    return OK;
}

static inline enum err_code chunk_memory_get(struct span *out, void *arg, const uint8_t id[32],
                                             struct arena *a, struct err *e)
{
    struct chunk_memory *m = arg;
    for (size_t i = 0; i < m->n; i++)
        if (memcmp(m->chunks[i].id.bytes, id, DIGEST_SIZE) == 0) {
            *out = m->chunks[i].data;
            return OK;
        }
    return err_fail(e, ERR_NOTFOUND, "no such chunk");
}
