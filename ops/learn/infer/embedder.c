/* Embedding of a batch in shards, one after another in the same memory; see embedder.h. */
#include "ops/learn/infer/embedder.h"

#include "ops/nn/encoder.h"

/* A shard's tensors are to stay in the second cache from one op to the next: so many numbers of
 * each that is as wide as the model, within the
 * device's bounds. */
enum { SHARD_NUMBERS = 1 << 16 };

/* What the shards of a batch share. */
struct job {
    const struct loaded *model;
    struct gpu_queue *q;
    struct loaded_memory memory;
    bool normalize;
};

static size_t shard_tokens(const struct gpu_cuts *cuts, size_t width)
{
    size_t n = SHARD_NUMBERS / width;
    return n < cuts->embed_min ? cuts->embed_min : n > cuts->embed_max ? cuts->embed_max : n;
}

/* The end of the shard that begins with sequence `first`: about `tokens` tokens at most, and at
 * least one sequence. */
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
    struct gpu_queue *q = job->q;
    struct nn_tape t;
    struct gpu_layout in = {0}, l = {0};
    struct nn_block block = {0};
    float *norms = NULL;
    enum err_code code;
    for (int pass = 0; pass < 2; pass++) {
        loaded_tape_layout(&t, job->model, s, &in, &l, a);
        norms = gpu_carve(&l, s->n * sizeof *norms);
        if (pass == 0 && (code = loaded_reserve(&block, &in, &l, &job->memory, job->model, a, e)))
            return err_up(e, code);
    }
    loaded_tape_load(&block, &t, job->model, s);
    gpu_write(q, block.device, block.host, block.bytes);
    struct nn_weights w = loaded_weights(job->model);
    nn_encoder_forward(q, m, &w, &t, true, &(struct nn_scratch){0}, NULL);
    if (job->normalize)
        q->op->normalize(q, t.pooled, norms, t.pooled, s->n, m->config.d_model);
    gpu_read(q, out, t.pooled, s->n * m->config.d_model * sizeof *out);
    return OK;
}

enum err_code embedder_run(float *out, const struct loaded *m, const Eqloom__TokenBatch *b,
                           bool normalize, struct arena *a, struct err *e)
{
    struct job job = {.model = m, .normalize = normalize};
    enum err_code code;
    if ((code = loaded_check(m, b, e)) || (code = gpu_queue_new(&job.q, m->net.device, e)))
        return err_up(e, code);
    size_t n = b->n_offset - 1, d = m->model->config.d_model;
    for (size_t first = 0, end; first < n && !code; first = end) {
        struct arena_mark mark = arena_mark(a);
        end = shard_end(b, first, shard_tokens(&m->net.device->cuts, d));
        struct nn_sequences s = loaded_inputs(m, b, first, end - first, a);
        code = err_up(e, embed_shard(out + first * d, &job, &s, a, e));
        arena_release(a, mark);
    }
    if (!code)
        code = err_up(e, gpu_finish(job.q, e));
    gpu_queue_free(job.q);
    gpu_free(m->net.device, job.memory.at);
    return code;
}
