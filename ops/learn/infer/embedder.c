/* Bulk embedding: a batch in shards, one after another in the same memory; see embedder.h. */
#include "ops/learn/infer/embedder.h"

#include "ops/learn/infer/entry.h"

#include <pthread.h>
#include <stdlib.h>

/* A shard's tensors are to stay in the second cache from one op to the next: so many numbers of
 * each that is as wide as the model, within bounds. */
enum {
    SHARD_NUMBERS = 1 << 16,
    LEAST_TOKENS = 128,
    MOST_TOKENS = 512,
    BULK_TOKENS = 256, /* a batch of so many is worth a table of entries */
};

/* A queue and its memory, kept from one batch to another: made anew for each, a fiftieth of the
 * time goes into pages. */
struct work {
    struct work *next;
    struct gpu_queue *q;
    struct loaded_memory memory;
};

/* As many of them as batches were ever embedded at a time. */
struct idle {
    pthread_mutex_t mutex;
    struct work *first;
};

struct embedder {
    struct loaded *model;
    struct entry_table *entry;
    struct idle *idle;
};

/* What the shards of a batch share. */
struct job {
    const struct loaded *model;
    struct work *work;
    const float *entry; /* or NULL */
    bool normalize;
};

static void work_free(struct work *w, const struct loaded *m)
{
    gpu_free(m->device, w->memory.at);
    gpu_queue_free(w->q);
    free(w);
}

static enum err_code work_take(struct work **out, const struct embedder *em, struct err *e)
{
    pthread_mutex_lock(&em->idle->mutex);
    struct work *w = em->idle->first;
    if (w)
        em->idle->first = w->next;
    pthread_mutex_unlock(&em->idle->mutex);
    if (!w) {
        if (!(w = calloc(1, sizeof *w)))
            return err_fail(e, ERR_NOMEM, "no memory to embed");
        enum err_code code = gpu_queue_new(&w->q, em->model->device, e);
        if (code) {
            free(w);
            return err_up(e, code);
        }
    }
    *out = w;
    return OK;
}

static void work_give(const struct embedder *em, struct work *w)
{
    pthread_mutex_lock(&em->idle->mutex);
    w->next = em->idle->first;
    em->idle->first = w;
    pthread_mutex_unlock(&em->idle->mutex);
}

static void idle_free(struct idle *idle, const struct loaded *m)
{
    if (!idle)
        return;
    for (struct work *w = idle->first, *next; w; w = next) {
        next = w->next;
        work_free(w, m);
    }
    pthread_mutex_destroy(&idle->mutex);
    free(idle);
}

enum err_code embedder_new(struct embedder **out, const Eqloom__Checkpoint *c,
                           const struct chunk_io *io, struct err *e)
{
    struct embedder *em = calloc(1, sizeof *em);
    if (!em)
        return err_fail(e, ERR_NOMEM, "no memory for a model");
    enum err_code code = loaded_new(&em->model, c, io, e);
    if (!code && (em->idle = calloc(1, sizeof *em->idle)))
        pthread_mutex_init(&em->idle->mutex, NULL);
    if (!code && (!em->idle || !(em->entry = entry_table_new())))
        code = err_fail(e, ERR_NOMEM, "no memory for a model");
    if (code)
        embedder_free(em);
    else
        *out = em;
    return err_up(e, code);
}

void embedder_free(struct embedder *em)
{
    if (!em)
        return;
    idle_free(em->idle, em->model);
    entry_table_free(em->entry, em->model);
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

static size_t shard_tokens(size_t width)
{
    size_t n = SHARD_NUMBERS / width;
    return n < LEAST_TOKENS ? LEAST_TOKENS : n > MOST_TOKENS ? MOST_TOKENS : n;
}

/* From sequence `first` on, at most about so many tokens and at least one sequence. */
static size_t shard_end(const Eqloom__TokenBatch *b, size_t first, size_t tokens)
{
    size_t end = first + 1, n = b->n_offset - 1;
    while (end < n && b->offset[end + 1] - b->offset[first] <= tokens)
        end++;
    return end;
}

static enum err_code embed_shard(float *out, struct job *job, const struct nn_sequences *s,
                                 struct arena *a, struct err *e)
{
    const struct nn_model *m = job->model->model;
    struct gpu_queue *q = job->work->q;
    struct loaded_memory *memory = &job->work->memory;
    struct nn_tape t;
    struct gpu_layout l = {0};
    uint32_t *row = NULL;
    float *norms = NULL;
    for (int pass = 0; pass < 2; pass++) {
        nn_tape_layout(&t, m, s, false, &l, a);
        norms = gpu_carve(&l, s->n * sizeof *norms);
        row = gpu_carve(&l, (job->entry ? t.tokens : 0) * sizeof *row);
        enum err_code code = pass ? OK : loaded_reserve(memory, job->model, l.used, e);
        if (code)
            return err_up(e, code);
        if (!pass)
            l = (struct gpu_layout){.base = memory->at};
    }
    nn_tape_load(q, &t, m, s, a);
    struct nn_entry entry = {job->entry, row};
    if (job->entry) {
        uint32_t *host = arena_array(a, uint32_t, t.tokens);
        entry_rows(host, s, &m->config);
        gpu_write(q, row, host, t.tokens * sizeof *row);
        t.entry = &entry;
    }
    struct nn_weights w = loaded_weights(job->model);
    nn_encoder_forward(q, m, &w, &t, &(struct nn_scratch){0}, NULL);
    if (job->normalize)
        q->op->normalize(q, t.pooled, norms, t.pooled, s->n, m->config.d_model);
    gpu_read(q, out, t.pooled, s->n * m->config.d_model * sizeof *out);
    return OK;
}

enum err_code embedder_run(float *out, const struct embedder *embedder, const Eqloom__TokenBatch *b,
                           bool normalize, struct arena *a, struct err *e)
{
    const struct loaded *em = embedder->model;
    struct job job = {.model = em, .normalize = normalize};
    enum err_code code = err_up(e, loaded_check(em, b, e));
    if (code || (code = err_up(e, work_take(&job.work, embedder, e))))
        return code;
    size_t n = b->n_offset - 1, d = em->model->config.d_model;
    if (b->n_tokens >= BULK_TOKENS)
        code = err_up(e, entry_table_get(&job.entry, embedder->entry, em, job.work->q, a, e));
    for (size_t first = 0, end; first < n && !code; first = end) {
        struct arena_mark mark = arena_mark(a);
        end = shard_end(b, first, shard_tokens(d));
        struct nn_sequences s = loaded_inputs(em, b, first, end - first, a);
        code = err_up(e, embed_shard(out + first * d, &job, &s, a, e));
        arena_release(a, mark);
    }
    enum err_code finished = gpu_finish(job.work->q, code ? NULL : e);
    code = code ? code : err_up(e, finished);
    work_give(embedder, job.work);
    return code;
}
