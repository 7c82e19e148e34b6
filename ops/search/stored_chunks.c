#include "ops/search/stored_chunks.h"

#include <string.h>

static enum err_code get_chunk(struct span *out, void *arg, const uint8_t id[32], struct arena *a,
                               struct err *e)
{
    struct digest chunk;
    Eqloom__Chunk *m;
    memcpy(chunk.bytes, id, DIGEST_SIZE);
    enum err_code code = err_up(e, tool_get(&m, arg, &chunk, KIND_CHUNK, a, e));
    if (!code)
        *out = span_of(m->data.data, m->data.len);
    return code;
}

struct chunk_io stored_chunks(const struct tool_args *args)
{
    return (struct chunk_io){.arg = (void *)args, .get = get_chunk};
}
