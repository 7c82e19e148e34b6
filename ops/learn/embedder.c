/* Bulk embedding: a batch in shards, one after another in the same memory; see embedder.h. */
#include "ops/learn/embedder.h"

#include "ops/learn/dataset.h"

#include <stdlib.h>
#include <string.h>

enum { SHARD_TOKENS = 512 };

struct embedder {
    struct arena arena;
    struct nn_model *model;
    struct gpu_device *device;
    float *weights, *sinusoids; /* device */
};

static enum err_code load_weights(struct embedder *em, const Eqloom__Checkpoint *c,
                                  const struct chunk_io *io, struct err *e)
{
    struct nn_model *m = em->model;
    size_t table = (size_t)m->config.max_length * m->config.d_model;
    void *weights = NULL, *sinusoids = NULL;
    struct gpu_queue *q = NULL;
    struct trainer_state state = {.weights = malloc(m->total * sizeof(float))};
    float *host = malloc(table * sizeof *host);
    enum err_code code;
    if (!state.weights || !host) {
        code = err_fail(e, ERR_NOMEM, "no memory for %zu parameters", m->count);
        goto out;
    }
    if ((code = err_up(e, checkpoint_read(&state, m, c, io, &em->arena, e))) ||
        (code = err_up(e, gpu_queue_new(&q, em->device, e))) ||
        (code = err_up(e, gpu_alloc(&weights, em->device, m->total * sizeof(float), e))))
        goto out;
    em->weights = weights;
    if ((code = err_up(e, gpu_alloc(&sinusoids, em->device, table * sizeof(float), e))))
        goto out;
    em->sinusoids = sinusoids;
    nn_sinusoids(host, &m->config);
    gpu_write(q, weights, state.weights, m->total * sizeof(float));
    gpu_write(q, sinusoids, host, table * sizeof(float));
    code = err_up(e, gpu_finish(q, e));
out:
    gpu_queue_free(q);
    free(state.weights);
    free(host);
    return code;
}

enum err_code embedder_new(struct embedder **out, const Eqloom__Checkpoint *c,
                           const struct chunk_io *io, struct err *e)
{
    struct embedder *em = calloc(1, sizeof *em);
    if (!em)
        return err_fail(e, ERR_NOMEM, "no memory for a model");
    enum err_code code;
    if ((code = err_up(e, checkpoint_model(&em->model, c, &em->arena, e))) ||
        (code = err_up(e, gpu_open_cpu(&em->device, NULL, NULL, e))) ||
        (code = err_up(e, load_weights(em, c, io, e)))) {
        embedder_free(em);
        return code;
    }
    *out = em;
    return OK;
}

void embedder_free(struct embedder *em)
{
    if (!em)
        return;
    if (em->device) {
        gpu_free(em->device, em->weights);
        gpu_free(em->device, em->sinusoids);
    }
    gpu_close(em->device);
    arena_free(&em->arena);
    free(em);
}

const struct nn_model *embedder_model(const struct embedder *em)
{
    return em->model;
}

/* From sequence `first` on, at most about SHARD_TOKENS tokens and at least one sequence. */
static size_t shard_end(const Eqloom__TokenBatch *b, size_t first)
{
    size_t end = first + 1, n = b->n_offset - 1;
    while (end < n && b->offset[end + 1] - b->offset[first] <= SHARD_TOKENS)
        end++;
    return end;
}

/* Sequences first .. first+n-1 as the model takes them. */
static struct nn_sequences inputs_of(const Eqloom__TokenBatch *b, size_t first, size_t n, bool wrap,
                                     struct arena *a)
{
    uint32_t around = wrap ? 2 : 0;
    uint32_t *offset = arena_array(a, uint32_t, n + 1);
    for (size_t i = 0; i <= n; i++)
        offset[i] = b->offset[first + i] - b->offset[first] + (uint32_t)i * around;
    if (!wrap)
        return (struct nn_sequences){b->tokens + b->offset[first], offset, n};
    uint32_t *tokens = arena_array(a, uint32_t, offset[n]);
    for (size_t i = 0; i < n; i++) {
        uint32_t length = b->offset[first + i + 1] - b->offset[first + i];
        tokens[offset[i]] = NN_START;
        memcpy(tokens + offset[i] + 1, b->tokens + b->offset[first + i], length * sizeof *tokens);
        tokens[offset[i + 1] - 1] = NN_END;
    }
    return (struct nn_sequences){tokens, offset, n};
}

/* One shard; *memory grows as needed. */
static enum err_code embed_shard(float *out, void **memory, size_t *size, const struct embedder *em,
                                 struct gpu_queue *q, const struct nn_sequences *s, bool normalize,
                                 struct arena *a, struct err *e)
{
    const struct nn_model *m = em->model;
    struct nn_tape t;
    struct gpu_layout l = {0};
    nn_tape_layout(&t, m, s, false, &l, a);
    size_t lengths = l.used;
    l.used += s->n * sizeof(float);
    if (l.used > *size) {
        size_t grown = l.used + l.used / 8;
        gpu_free(em->device, *memory);
        *memory = NULL;
        *size = 0;
        enum err_code code = gpu_alloc(memory, em->device, grown, e);
        if (code)
            return err_up(e, code);
        *size = grown;
    }
    l = (struct gpu_layout){.base = *memory};
    nn_tape_layout(&t, m, s, false, &l, a);
    nn_tape_load(q, &t, m, s, a);
    struct nn_weights w = {em->weights, em->sinusoids, GPU_F32};
    nn_encoder_forward(q, m, &w, &t, &(struct nn_scratch){0}, NULL);
    float *norms = (float *)((char *)*memory + lengths);
    if (normalize)
        q->op->normalize(q, t.pooled, norms, t.pooled, s->n, m->config.d_model);
    gpu_read(q, out, t.pooled, s->n * m->config.d_model * sizeof *out);
    return OK;
}

enum err_code embedder_run(float *out, const struct embedder *em, const Eqloom__TokenBatch *b,
                           bool normalize, struct arena *a, struct err *e)
{
    const struct nn_config *c = &em->model->config;
    enum err_code code = token_batch_check(b, c->vocabulary, nn_config_room(c), e);
    if (code)
        return err_up(e, code);
    struct gpu_queue *q = NULL;
    void *memory = NULL;
    size_t size = 0, n = b->n_offset - 1;
    if ((code = err_up(e, gpu_queue_new(&q, em->device, e))))
        return code;
    for (size_t first = 0, end; first < n && !code; first = end) {
        struct arena_mark mark = arena_mark(a);
        end = shard_end(b, first);
        struct nn_sequences s = inputs_of(b, first, end - first, c->wrap, a);
        code = err_up(
            e, embed_shard(out + first * c->d_model, &memory, &size, em, q, &s, normalize, a, e));
        arena_release(a, mark);
    }
    if (!code)
        code = err_up(e, gpu_finish(q, e));
    gpu_free(em->device, memory);
    gpu_queue_free(q);
    return code;
}
