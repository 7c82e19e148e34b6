/* See loaded.h. */
#include "ops/learn/transformer/loaded.h"

#include "ops/learn/data/dataset.h"
#include "ops/nn/transformer/shared.h"
#include "ops/nn/transformer/transformer.h"

#include <stdlib.h>
#include <string.h>

/* `model` is the checkpoint's; m has its transposed one. */
static enum err_code load_weights(struct loaded *m, const struct nn_model *model,
                                  const Eqloom__Checkpoint *c, const struct chunk_io *io,
                                  struct err *e)
{
    size_t transposed = m->model->table.total;
    size_t table = (size_t)model->config.max_length * model->config.d_model;
    struct gpu_queue *q = NULL;
    struct trainer_state state = {.weights = malloc(model->table.total * sizeof(float))};
    float *host = calloc(table > transposed ? table : transposed, sizeof *host);
    enum err_code code;
    if (!state.weights || !host) {
        code = err_fail(e, ERR_NOMEM, "no memory for %zu parameters", model->table.count);
        goto out;
    }
    if ((code = err_up(e, checkpoint_read(&state, &model->table, c, io, &m->net.arena, e))) ||
        (code = err_up(e, gpu_queue_new(&q, m->net.device, e))) ||
        (code = err_up(e, trained_alloc(&m->weights, &m->net, transposed * sizeof(float), e))) ||
        (code = err_up(e, trained_alloc(&m->sinusoids, &m->net, table * sizeof(float), e))) ||
        (m->type != GPU_TYPE_F32 &&
         (code =
              err_up(e, trained_alloc(&m->rounded, &m->net, gpu_bytes(m->type, transposed), e)))))
        goto out;
    nn_transpose(host, m->model, state.weights, model);
    gpu_write(q, m->weights, host, transposed * sizeof(float));
    nn_sinusoids(host, model->config.max_length, model->config.d_model);
    gpu_write(q, m->sinusoids, host, table * sizeof(float));
    if (m->rounded)
        q->op->round_bf16(q, m->rounded, m->weights, 1, transposed, transposed);
    code = err_up(e, gpu_finish(q, e));
out:
    gpu_queue_free(q);
    free(state.weights);
    free(host);
    return code;
}

/* The shared projections of all tokens. */
struct projection {
    struct loaded *m;
    struct nn_shared f;
    float *projected;
};

static void lay_out_projection(void *arg, struct gpu_layout *in, struct gpu_layout *l)
{
    struct projection *x = arg;
    const struct nn_config *c = &x->m->model->config;
    nn_shared_layout(&x->f, c, x->m->first, 0, c->vocabulary, x->projected, false, in, l);
}

static enum err_code project_all(struct loaded *m, struct err *e)
{
    const struct nn_config *c = &m->model->config;
    size_t rows = (size_t)c->vocabulary * c->max_length;
    if (rows > m->net.device->cuts.shared_rows)
        return OK;
    struct arena a = {0};
    struct projection x = {.m = m};
    struct nn_buffer memory = {.device = m->net.device};
    struct nn_block block;
    struct gpu_queue *q = NULL;
    enum err_code code;
    m->first = nn_shared_first(&m->net.arena, c, NULL);
    if ((code = gpu_queue_new(&q, m->net.device, e)) ||
        (code = trained_alloc(&x.projected, &m->net, rows * 3 * c->d_model * sizeof(float), e)) ||
        (code = nn_buffer_lay_out(&block, &memory, 0, lay_out_projection, &x, &a, e)))
        goto out;
    nn_shared_load(&block, &x.f, m->first, 0);
    gpu_write(q, block.device, block.host, block.bytes);
    struct nn_weights w = loaded_weights(m);
    nn_shared_forward(q, m->model, &w, &x.f, &(struct nn_scratch){0});
    code = gpu_finish(q, e);
out:
    m->projected = x.projected;
    nn_buffer_free(&memory);
    gpu_queue_free(q);
    arena_free(&a);
    return err_up(e, code);
}

enum err_code loaded_load(void *network, const Eqloom__Checkpoint *c, const struct chunk_io *io,
                          struct err *e)
{
    struct loaded *m = network;
    struct nn_model *model;
    enum err_code code = checkpoint_model(&model, c, &m->net.arena, e);
    if (code)
        return err_up(e, code);
    m->model = nn_model_transposed(&m->net.arena, &model->config);
    m->type = nn_stored(m->net.device, &model->config, m->net.precision);
    if ((code = load_weights(m, model, c, io, e)))
        return err_up(e, code);
    return err_up(e, project_all(m, e));
}

const struct trained_kind loaded_kind = {sizeof(struct loaded), loaded_load};

struct nn_weights loaded_weights(const struct loaded *m)
{
    return (struct nn_weights){.flat = m->weights,
                               .sinusoids = m->sinusoids,
                               .precision = m->net.precision,
                               .shared = m->projected,
                               .rounded = m->rounded};
}

void loaded_tape_layout(struct nn_tape *t, const struct loaded *m, const struct nn_sequences *s,
                        struct gpu_layout *in, struct gpu_layout *l, struct arena *a)
{
    nn_tape_layout(t, m->model, s, m->type, false, NULL, in, l, a);
    t->row = m->projected ? gpu_carve(in, t->tokens * sizeof *t->row) : NULL;
}

void loaded_tape_load(const struct nn_block *in, const struct nn_tape *t, const struct loaded *m,
                      const struct nn_sequences *s)
{
    nn_tape_load(in, t, m->model, s);
    if (t->row)
        nn_shared_rows(nn_host(in, t->row), m->first, s);
}

enum err_code loaded_check(const struct loaded *m, const Eqloom__TokenBatch *b, struct err *e)
{
    const struct nn_config *c = &m->model->config;
    return err_up(e, token_batch_check(b, c->vocabulary, nn_config_room(c), e));
}

struct nn_sequences loaded_inputs(const struct loaded *m, const Eqloom__TokenBatch *b, size_t first,
                                  size_t n, struct arena *a)
{
    bool wrap = m->model->config.wrap;
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

/* ---- embedding of a batch in shards, one after another in the same memory ---- */

/* A shard's tensors should stay in the L2 cache between ops: this many numbers of each tensor that
 * is d_model wide, within the device's bounds. */
enum { SHARD_NUMBERS = 1 << 16 };

/* What the shards of a batch share, and the one at work. */
struct job {
    const struct loaded *model;
    struct gpu_queue *q;
    struct nn_buffer memory;
    bool normalize;
    struct arena *arena;
    struct nn_sequences s;
    struct nn_tape tape;
    float *norms;
};

static size_t shard_tokens(const struct gpu_cuts *cuts, size_t width)
{
    size_t n = SHARD_NUMBERS / width;
    return n < cuts->embed_min ? cuts->embed_min : n > cuts->embed_max ? cuts->embed_max : n;
}

/* Returns the end of the shard that begins with sequence `first`: at most about `tokens` tokens,
 * and at least one sequence. */
static size_t shard_end(const Eqloom__TokenBatch *b, size_t first, size_t tokens)
{
    size_t end = first + 1, n = b->n_offset - 1;
    while (end < n && b->offset[end + 1] - b->offset[first] <= tokens)
        end++;
    return end;
}

static void lay_out_shard(void *arg, struct gpu_layout *in, struct gpu_layout *l)
{
    struct job *job = arg;
    loaded_tape_layout(&job->tape, job->model, &job->s, in, l, job->arena);
    job->norms = gpu_carve_floats(l, job->s.n);
}

static enum err_code embed_shard(float *out, struct job *job, struct err *e)
{
    const struct nn_model *m = job->model->model;
    struct gpu_queue *q = job->q;
    struct nn_tape *t = &job->tape;
    size_t n = job->s.n, d = m->config.d_model;
    struct nn_block block;
    enum err_code code =
        nn_buffer_lay_out(&block, &job->memory, 0, lay_out_shard, job, job->arena, e);
    if (code)
        return err_up(e, code);
    loaded_tape_load(&block, t, job->model, &job->s);
    gpu_write(q, block.device, block.host, block.bytes);
    struct nn_weights w = loaded_weights(job->model);
    nn_encoder_forward(q, m, &w, t, true, &(struct nn_scratch){0}, NULL);
    if (job->normalize)
        q->op->normalize(q, t->pooled, job->norms, t->pooled, n, d);
    gpu_read(q, out, t->pooled, n * d * sizeof *out);
    return OK;
}

enum err_code embedder_run(float *out, const struct loaded *m, const Eqloom__TokenBatch *b,
                           bool normalize, struct arena *a, struct err *e)
{
    struct job job = {
        .model = m, .memory = {.device = m->net.device}, .normalize = normalize, .arena = a};
    enum err_code code;
    if ((code = loaded_check(m, b, e)) || (code = gpu_queue_new(&job.q, m->net.device, e)))
        return err_up(e, code);
    size_t n = b->n_offset - 1, d = m->model->config.d_model;
    for (size_t first = 0, end; first < n && !code; first = end) {
        struct arena_mark mark = arena_mark(a);
        end = shard_end(b, first, shard_tokens(&m->net.device->cuts, d));
        job.s = loaded_inputs(m, b, first, end - first, a);
        code = err_up(e, embed_shard(out + first * d, &job, e));
        arena_release(a, mark);
    }
    if (!code)
        code = err_up(e, gpu_finish(job.q, e));
    gpu_queue_free(job.q);
    nn_buffer_free(&job.memory);
    return code;
}
