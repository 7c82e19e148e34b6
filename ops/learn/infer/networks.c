#include "ops/learn/infer/networks.h"

#include <stdio.h>
#include <stdlib.h>

enum err_code networks_open(struct networks *s, const struct trained_kind *kind, const char *device,
                            enum gpu_precision precision, const Eqloom__Checkpoint *c,
                            const struct chunk_io *io, struct err *e)
{
    int index[GPU_CARDS];
    size_t n;
    enum err_code code = gpu_find_all(index, &n, device, e);
    s->vocabulary = learn_vocabulary(c);
    s->kind = kind;
    while (!code && s->n < n) {
        char name[16];
        snprintf(name, sizeof name, index[s->n] < 0 ? "cpu" : "cuda:%d", index[s->n]);
        if (!(code = trained_new(&s->all[s->n], kind, name, precision, c, io, e)))
            s->n++;
    }
    return err_up(e, code);
}

void networks_close(struct networks *s)
{
    for (size_t i = 0; i < s->n; i++)
        trained_free(s->all[i]);
}

void *networks_turn(struct networks *s)
{
    return s->all[atomic_fetch_add(&s->turn, 1) % s->n];
}

enum err_code networks_prepare(void **state, const struct trained_kind *kind, struct op_ctx *ctx,
                               struct err *e)
{
    const Eqloom__Checkpoint *c;
    struct chunk_io io = learn_chunks(ctx);
    struct networks *s = must_calloc(1, sizeof *s);
    enum err_code code = op_get(&c, ctx, "checkpoint", 0, e);
    if (!code)
        code = networks_open(s, kind, op_string(ctx, "device"), learn_precision(ctx), c, &io, e);
    if (code)
        networks_release(s);
    else
        *state = s;
    return err_up(e, code);
}

void networks_release(void *state)
{
    if (state)
        networks_close(state);
    free(state);
}

enum err_code networks_embed(struct op_ctx *ctx, void *state, struct err *e)
{
    struct networks *s = state;
    struct embedded v;
    ProtobufCMessage *record;
    enum err_code code = op_get(&record, ctx, s->kind->input, 0, e);
    if (code || (code = s->kind->embed(&v, networks_turn(s), record, s->vocabulary, ctx, e)))
        return err_up(e, code);
    return err_up(e, learn_emit_vectors(ctx, v.values, v.n, v.dim, v.of, e));
}
