/* Bulk embedding: a batch in shards, one after another in the same memory; see embedder.h. */
#include "ops/learn/embedder.h"

#include <stdlib.h>

enum { SHARD_TOKENS = 512 };

struct embedder {
    struct loaded *model;
};

enum err_code embedder_new(struct embedder **out, const Eqloom__Checkpoint *c,
                           const struct chunk_io *io, struct err *e)
{
    struct embedder *em = calloc(1, sizeof *em);
    if (!em)
        return err_fail(e, ERR_NOMEM, "no memory for a model");
    enum err_code code = loaded_new(&em->model, c, io, e);
    if (code)
        free(em);
    else
        *out = em;
    return err_up(e, code);
}

void embedder_free(struct embedder *em)
{
    if (em)
        loaded_free(em->model);
    free(em);
}

const struct nn_model *embedder_model(const struct embedder *em)
{
    return em->model->model;
}

const struct loaded *embedder_loaded(const struct embedder *em)
{
    return em->model;
}

void embedder_set_precision(struct embedder *em, enum gpu_precision precision)
{
    em->model->precision = precision;
}

/* From sequence `first` on, at most about SHARD_TOKENS tokens and at least one sequence. */
static size_t shard_end(const Eqloom__TokenBatch *b, size_t first)
{
    size_t end = first + 1, n = b->n_offset - 1;
    while (end < n && b->offset[end + 1] - b->offset[first] <= SHARD_TOKENS)
        end++;
    return end;
}

static enum err_code embed_shard(float *out, struct loaded_memory *memory, const struct loaded *em,
                                 struct gpu_queue *q, const struct nn_sequences *s, bool normalize,
                                 struct arena *a, struct err *e)
{
    const struct nn_model *m = em->model;
    struct nn_tape t;
    struct gpu_layout l = {0};
    nn_tape_layout(&t, m, s, false, &l, a);
    size_t lengths = l.used;
    enum err_code code = loaded_reserve(memory, em, lengths + s->n * sizeof(float), e);
    if (code)
        return err_up(e, code);
    l = (struct gpu_layout){.base = memory->at};
    nn_tape_layout(&t, m, s, false, &l, a);
    nn_tape_load(q, &t, m, s, a);
    struct nn_weights w = loaded_weights(em);
    nn_encoder_forward(q, m, &w, &t, &(struct nn_scratch){0}, NULL);
    float *norms = (float *)((char *)memory->at + lengths);
    if (normalize)
        q->op->normalize(q, t.pooled, norms, t.pooled, s->n, m->config.d_model);
    gpu_read(q, out, t.pooled, s->n * m->config.d_model * sizeof *out);
    return OK;
}

enum err_code embedder_run(float *out, const struct embedder *embedder, const Eqloom__TokenBatch *b,
                           bool normalize, struct arena *a, struct err *e)
{
    const struct loaded *em = embedder->model;
    enum err_code code = err_up(e, loaded_check(em, b, e));
    if (code)
        return code;
    struct gpu_queue *q = NULL;
    struct loaded_memory memory = {0};
    size_t n = b->n_offset - 1, d = em->model->config.d_model;
    if ((code = err_up(e, gpu_queue_new(&q, em->device, e))))
        return code;
    for (size_t first = 0, end; first < n && !code; first = end) {
        struct arena_mark mark = arena_mark(a);
        end = shard_end(b, first);
        struct nn_sequences s = loaded_inputs(em, b, first, end - first, a);
        code = err_up(e, embed_shard(out + first * d, &memory, em, q, &s, normalize, a, e));
        arena_release(a, mark);
    }
    if (!code)
        code = err_up(e, gpu_finish(q, e));
    gpu_free(em->device, memory.at);
    gpu_queue_free(q);
    return code;
}
