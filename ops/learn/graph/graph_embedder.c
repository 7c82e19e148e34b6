#include "ops/learn/graph/graph_embedder.h"

#include "ops/learn/checkpoint/learn_ctx.h"
#include "ops/learn/graph/graph_corpus.h"
#include "ops/learn/graph/graph_similarity.h"
#include "ops/nn/batch_norm.h"

#include <math.h>
#include <string.h>

struct graph_embedder {
    struct trained net;
    struct graph_model *model;
    struct graph_weights w;
    float scale;                            /* factor of vectors */
    const float *count_weight, *count_bias; /* with counts: U and v of graph_model.h */
};

/* Loads E and the norms, computed from the host's weights. */
static enum err_code load_rest(struct graph_embedder *x, const float *flat, const float *weights,
                               struct err *e)
{
    const struct graph_model *m = x->model;
    size_t d = m->config.d, positions = (size_t)m->config.positions * d;
    float *norms, *table, *work = arena_array(&x->net.arena, float, positions);
    void *sinusoids = NULL;
    struct batch_norm norm;
    struct gpu_queue *q = NULL;
    enum err_code code;
    if ((code = gpu_queue_new(&q, x->net.device, e)) ||
        (code =
             trained_alloc(&table, &x->net, graph_table_rows(&m->config) * d * sizeof *table, e)) ||
        (code = trained_alloc(&norms, &x->net, 2 * m->norms * d * sizeof *norms, e)) ||
        (code = gpu_alloc(&sinusoids, x->net.device, positions * sizeof *work, e)))
        goto out;
    x->w.flat = weights;
    x->w.table = table;
    x->w.factor = norms;
    x->w.shift = norms + m->norms * d;
    nn_sinusoids(work, m->config.positions, m->config.d);
    gpu_write(q, sinusoids, work, positions * sizeof *work);
    graph_table_make(q, table, weights, sinusoids, m);
    batch_norm_alloc(&norm, &x->net.arena, d);
    for (size_t i = 0; i < m->norms; i++) {
        batch_norm_running(&norm, flat + m->mean[i], flat + m->variance[i], d);
        gpu_write(q, norms + i * d, norm.factor, d * sizeof(float));
        gpu_write(q, norms + (m->norms + i) * d, norm.shift, d * sizeof(float));
    }
    code = gpu_finish(q, e);
out:
    gpu_free(x->net.device, sinusoids);
    gpu_queue_free(q);
    return err_up(e, code);
}

static enum err_code load(void *network, const Eqloom__Checkpoint *c, const struct chunk_io *io,
                          struct err *e)
{
    struct graph_embedder *x = network;
    struct graph_config config;
    float *flat, *weights;
    enum err_code code;
    if ((code = graph_config_parse(&config, c->architecture, e)) ||
        (code = graph_model_new(&x->model, &x->net.arena, &config, e)) ||
        (code = trained_weights(&flat, &weights, &x->net, &x->model->table, c, io, e)) ||
        (code = load_rest(x, flat, weights, e)))
        return err_up(e, code);
    struct graph_lengths lengths = graph_lengths_running(flat, x->model);
    double length = lengths.mean + lengths.deviation;
    x->w.precision = x->net.precision;
    x->scale = length > 0 ? (float)(1 / length) : 0;
    x->count_weight = config.counts ? flat + x->model->count_weight : NULL;
    x->count_bias = flat + x->model->count_bias;
    return OK;
}

uint32_t graph_embedder_size(const struct graph_embedder *x)
{
    return graph_vector_size(&x->model->config);
}

static void scale_to_one(float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    for (size_t i = 0; i < n && sum > 0; i++)
        x[i] = (float)((double)x[i] / sqrt(sum));
}

static void add_counts(float *out, const struct graph_embedder *x, const struct graph_vertex *v,
                       size_t n)
{
    float b[GRAPH_FEATURES] = {0};
    for (size_t i = 0; i < n; i++) {
        b[v[i].tag]++;
        if (v[i].attribute)
            b[GRAPH_TAGS - 1 + v[i].attribute]++;
        if (v[i].character)
            b[GRAPH_TAGS + GRAPH_ATTRIBUTES - 1 + v[i].character]++;
    }
    scale_to_one(b, GRAPH_FEATURES);
    for (size_t r = 0; r < GRAPH_FEATURES; r++) {
        double sum = (double)x->count_bias[r];
        for (size_t k = 0; k < GRAPH_FEATURES; k++)
            sum += (double)x->count_weight[r * GRAPH_FEATURES + k] * (double)b[k];
        out[r] = (float)sum;
    }
    scale_to_one(out, GRAPH_FEATURES);
}

/* Turns vectors of the network (graphs, out) into those of both parts. */
static void add_second_parts(float *to, const float *from, const struct graph_embedder *x,
                             const struct graph_set *s)
{
    size_t out = x->model->config.out, size = graph_embedder_size(x);
    for (size_t i = 0; i < s->graphs; i++) {
        memcpy(to + i * size, from + i * out, out * sizeof *to);
        scale_to_one(to + i * size, out);
        add_counts(to + i * size + out, x, s->vertices + s->first[i],
                   s->first[i + 1] - s->first[i]);
    }
}

struct pass {
    struct trained_pass base;
    const struct graph_embedder *x;
    const struct graph_set *s;
    float *vectors, **logits; /* logits: NULL if not wanted */
    struct graph_tape tape;
    struct graph_scratch scratch;
};

static void lay_out(void *self, struct gpu_layout *in, struct gpu_layout *l)
{
    struct pass *p = self;
    const struct graph_model *m = p->x->model;
    graph_tape_layout(&p->tape, m, p->s, false, l, p->base.arena);
    graph_scratch_layout(&p->scratch, m, p->s->first[p->s->graphs], false, l);
}

static void compute(void *self, struct gpu_queue *q)
{
    struct pass *p = self;
    const struct graph_model *m = p->x->model;
    const struct graph_tape *t = &p->tape;
    size_t numbers = p->s->graphs * m->config.out;
    graph_lists_write(q, &t->lists, p->s, &m->config, p->base.arena);
    for (size_t stage = 0; stage < graph_stages(m); stage++)
        graph_forward(q, m, &p->x->w, t, &p->scratch, stage, false);
    q->op->scale(q, t->vectors, numbers, p->x->scale);
    gpu_read(q, p->vectors, t->vectors, numbers * sizeof(float));
    for (size_t i = 0; i < GRAPH_HEADS && p->logits; i++)
        gpu_read(q, p->logits[i], t->logits[i],
                 t->lists.hidden * graph_head_classes[i] * sizeof(float));
}

/* Computes the network's vectors (graphs, out), and unless NULL each head's logits. */
static enum err_code forward(float *vectors, float **logits, const struct graph_embedder *x,
                             const struct graph_set *s, struct arena *a, struct err *e)
{
    struct pass p = {
        .base = {lay_out, compute, a}, .x = x, .s = s, .vectors = vectors, .logits = logits};
    return err_up(e, trained_run(&x->net, &p, e));
}

enum err_code graph_embedder_run(float *out, const struct graph_embedder *x,
                                 const struct graph_set *s, struct arena *a, struct err *e)
{
    float *own = x->count_weight ? arena_array(a, float, s->graphs * x->model->config.out) : out;
    enum err_code code = forward(own, NULL, x, s, a, e);
    if (!code && x->count_weight)
        add_second_parts(out, own, x, s);
    return err_up(e, code);
}

static enum err_code embed(struct embedded *out, const void *network, const void *record,
                           struct digest vocabulary, struct op_ctx *ctx, struct err *e)
{
    struct arena *a = op_arena(ctx);
    const struct graph_embedder *x = network;
    const Eqloom__Graph *g = record;
    if (learn_vocabulary_differs(&g->vocabulary_id, vocabulary))
        return err_fail(e, ERR_INPUT, "the graph and the model have different alphabets");
    uint32_t first[] = {0, (uint32_t)g->n_parent};
    struct graph_vertex *vertices = arena_array(a, struct graph_vertex, g->n_parent + 1);
    struct graph_set set = {vertices, first, 1};
    enum err_code code = graph_vertices_read(vertices, g, e);
    if (!code)
        code = embedded_new(out, a, 1, graph_embedder_size(x), NULL, e);
    return err_up(e, code ? code : graph_embedder_run(out->values, x, &set, a, e));
}

const struct trained_kind graph_embedder_kind = {sizeof(struct graph_embedder), load, "graphs",
                                                 embed};

static void softmax(float *x, size_t n)
{
    float most = x[0], sum = 0;
    for (size_t i = 1; i < n; i++)
        most = fmaxf(most, x[i]);
    for (size_t i = 0; i < n; i++)
        sum += x[i] = expf(x[i] - most);
    for (size_t i = 0; i < n; i++)
        x[i] /= sum;
}

enum err_code graph_embedder_fill(float **out, const struct graph_embedder *x,
                                  const struct graph_set *s, size_t hidden, struct arena *a,
                                  struct err *e)
{
    float *vectors = arena_array(a, float, s->graphs * x->model->config.out);
    for (size_t i = 0; i < GRAPH_HEADS; i++)
        out[i] = arena_array(a, float, hidden *graph_head_classes[i] + 1);
    enum err_code code = forward(vectors, out, x, s, a, e);
    for (size_t i = 0; i < GRAPH_HEADS && !code; i++)
        for (size_t k = 0; k < hidden; k++)
            softmax(out[i] + k * graph_head_classes[i], graph_head_classes[i]);
    return err_up(e, code);
}
