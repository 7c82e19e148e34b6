#include "ops/learn/infer/trained.h"

#include <assert.h>
#include <stdlib.h>

enum err_code trained_new(void *out, const struct trained_kind *kind, const char *device,
                          enum gpu_precision precision, const Eqloom__Checkpoint *c,
                          const struct chunk_io *io, struct err *e)
{
    struct trained *x = must_calloc(1, kind->size);
    x->precision = precision;
    enum err_code code = gpu_open(&x->device, device, NULL, e);
    if (code || (code = kind->load(x, c, io, e)))
        trained_free(x);
    else
        *(void **)out = x;
    return err_up(e, code);
}

void trained_free(void *network)
{
    struct trained *x = network;
    if (!x)
        return;
    while (x->n)
        gpu_free(x->device, x->memory[--x->n]);
    gpu_close(x->device);
    arena_free(&x->arena);
    free(x);
}

enum err_code trained_alloc(void *out, struct trained *x, size_t bytes, struct err *e)
{
    assert(x->n < sizeof x->memory / sizeof *x->memory);
    enum err_code code = gpu_alloc(&x->memory[x->n], x->device, bytes, e);
    if (!code)
        *(void **)out = x->memory[x->n++];
    return err_up(e, code);
}

enum err_code trained_weights(float **host, float **weights, struct trained *x,
                              const struct nn_table *t, const Eqloom__Checkpoint *c,
                              const struct chunk_io *io, struct err *e)
{
    size_t bytes = t->total * sizeof(float);
    struct trainer_state state = {.weights = *host = arena_try_alloc(&x->arena, 1, bytes)};
    struct gpu_queue *q;
    enum err_code code;
    if (!*host)
        return err_fail(e, ERR_NOMEM, "no memory for %zu parameters", t->count);
    if ((code = checkpoint_read(&state, t, c, io, &x->arena, e)) ||
        (code = trained_alloc(weights, x, bytes, e)) || (code = gpu_queue_new(&q, x->device, e)))
        return err_up(e, code);
    gpu_write(q, *weights, *host, bytes);
    code = gpu_finish(q, e);
    gpu_queue_free(q);
    return err_up(e, code);
}

enum err_code embedded_new(struct embedded *out, struct arena *a, size_t n, size_t dim,
                           const Eqloom__TokenBatch *of, struct err *e)
{
    *out = (struct embedded){arena_try_alloc(a, n * dim, sizeof(float)), n, dim, of};
    return out->values ? OK : err_fail(e, ERR_NOMEM, "no memory for %zu vectors", n);
}

enum err_code trained_run(const struct trained *x, void *pass, struct err *e)
{
    struct trained_pass *p = pass;
    struct nn_buffer memory = {.device = x->device};
    struct gpu_queue *q;
    enum err_code code = gpu_queue_new(&q, x->device, e);
    if (code)
        return err_up(e, code);
    if (!(code = nn_buffer_lay_out(NULL, &memory, 0, p->lay_out, p, p->arena, e))) {
        p->compute(p, q);
        code = gpu_finish(q, e);
    }
    nn_buffer_free(&memory);
    gpu_queue_free(q);
    return err_up(e, code);
}
