#include "ops/nn/buffer.h"

void nn_buffer_free(struct nn_buffer *m)
{
    gpu_free(m->device, m->at);
    *m = (struct nn_buffer){.device = m->device};
}

enum err_code nn_buffer_reserve(struct nn_buffer *m, size_t bytes, size_t n, struct err *e)
{
    if (bytes <= m->size)
        return OK;
    nn_buffer_free(m);
    size_t grown = bytes + bytes / 16; /* batches differ by a few percent */
    enum err_code code = gpu_alloc(&m->at, m->device, grown, e);
    size_t room = code == ERR_NOMEM && n ? gpu_room(m->device) : 0;
    if (room)
        return err_fail(e, ERR_NOMEM,
                        "a batch of %zu examples needs %zu MiB, but %zu are free: about %zu would "
                        "fit",
                        n, grown >> 20, room >> 20,
                        (size_t)((double)n * (double)room / (double)grown));
    m->size = code ? 0 : grown;
    return err_up(e, code);
}

struct nn_block nn_block_new(size_t bytes, struct arena *a)
{
    return (struct nn_block){.host = arena_alloc(a, bytes), .bytes = bytes};
}

enum err_code nn_buffer_lay_out(struct nn_block *block, struct nn_buffer *m, size_t n,
                                nn_lay_out *lay_out, void *arg, struct arena *a, struct err *e)
{
    struct gpu_layout in = {0}, l = {0};
    lay_out(arg, &in, &l);
    size_t bytes = in.used;
    enum err_code code = nn_buffer_reserve(m, bytes + l.used, n, e);
    if (code)
        return err_up(e, code);
    if (block) {
        *block = nn_block_new(bytes, a);
        block->device = m->at;
    }
    in = (struct gpu_layout){.base = m->at};
    l = (struct gpu_layout){.base = (char *)m->at + bytes};
    lay_out(arg, &in, &l);
    return OK;
}
