/* See graph_net.h. The neighbour lists are symmetric, so aggregation is its own backward. */
#include "ops/nn/graph/graph_net.h"

#include "ops/nn/linear.h"

size_t graph_stages(const struct graph_model *m)
{
    return m->norms + 1;
}

/* The last layer of a stage. */
static size_t last_layer(const struct graph_model *m, size_t stage)
{
    return 2 * stage < m->config.layers ? 2 * stage : m->config.layers;
}

void graph_tape_layout(struct graph_tape *t, const struct graph_model *m, const struct graph_set *s,
                       bool training, struct gpu_layout *l, struct arena *a)
{
    size_t d = m->config.d, n = s->first[s->graphs];
    *t = (struct graph_tape){.h = arena_array(a, float *, m->config.layers + 1)};
    graph_lists_layout(&t->lists, s, &m->config, l);
    for (size_t i = 0; i <= m->config.layers; i++)
        t->h[i] = training || i == 0 ? gpu_carve_floats(l, n * d) : t->h[0];
    t->pooled = gpu_carve_floats(l, s->graphs * d);
    t->vectors = gpu_carve_floats(l, s->graphs * m->config.out);
    t->states = gpu_carve_floats(l, t->lists.hidden * d);
    for (size_t i = 0; i < GRAPH_HEADS; i++)
        t->logits[i] = gpu_carve_floats(l, t->lists.hidden * graph_head_classes[i]);
    if (!training)
        return;
    t->dh = gpu_carve_floats(l, n * d);
    t->dpooled = gpu_carve_floats(l, s->graphs * d);
    t->dstates = gpu_carve_floats(l, t->lists.hidden * d);
    for (size_t i = 0; i < GRAPH_HEADS; i++) {
        t->loss[i] = gpu_carve_floats(l, t->lists.hidden);
        t->correct[i] = gpu_carve_floats(l, t->lists.hidden);
    }
    t->sums = gpu_carve(l, 2 * d * sizeof(double));
}

void graph_scratch_layout(struct graph_scratch *s, const struct graph_model *m, size_t nodes,
                          bool training, struct gpu_layout *l)
{
    size_t d = m->config.d;
    s->x = gpu_carve_floats(l, nodes * d);
    s->y = gpu_carve_floats(l, nodes * d);
    s->rows = training ? gpu_carve_floats(l, graph_table_rows(&m->config) * d) : NULL;
}

void graph_table_make(struct gpu_queue *q, float *table, const float *flat, const float *sinusoids,
                      const struct graph_model *m)
{
    size_t first = (GRAPH_FEATURES + 1) * (size_t)m->config.d,
           n = (size_t)m->config.positions * m->config.d;
    q->op->copy(q, table, flat + m->first, first);
    product(q, "nn", table + first, sinusoids, flat + m->alpha, n, 1, 1, 1, 0, GPU_F32);
}

void graph_alpha_back(struct gpu_queue *q, float *dflat, const float *dpositions,
                      const float *sinusoids, const struct graph_model *m)
{
    size_t n = (size_t)m->config.positions * m->config.d;
    product(q, "nn", dflat + m->alpha, sinusoids, dpositions, 1, 1, n, 1, 0, GPU_F32);
}

/* ---- forward ---- */

struct pass {
    struct gpu_queue *q;
    const struct graph_model *m;
    const struct graph_weights *w;
    const struct graph_tape *t;
    const struct graph_scratch *s;
    size_t d, nodes;
};

static struct pass pass_of(struct gpu_queue *q, const struct graph_model *m,
                           const struct graph_weights *w, const struct graph_tape *t,
                           const struct graph_scratch *s)
{
    return (struct pass){q, m, w, t, s, m->config.d, t->lists.nodes};
}

/* to (T, d): for each node the sum over itself and its neighbours. */
static void aggregate(const struct pass *p, float *to, const float *from)
{
    p->q->op->pool(p->q, to, NULL, from, p->t->lists.near, p->t->lists.near_first, p->nodes, p->d,
                   GPU_SUM);
}

static void aggregate_relu(const struct pass *p, float *to, const float *from)
{
    aggregate(p, to, from);
    p->q->op->activate(p->q, GPU_TYPE_F32, to, to, NULL, p->nodes, p->d, GPU_RELU);
}

/* The input of layer l, counted from 1. */
static const float *layer_input(const struct pass *p, size_t l)
{
    if (l % 2 == 0)
        return p->t->h[l - 1];
    const struct graph_weights *w = p->w;
    size_t at = graph_norm_of(l) * p->d;
    p->q->op->affine_columns(p->q, p->s->x, p->t->h[l - 1], w->factor + at, NULL, NULL,
                             w->shift + at, p->nodes, p->d);
    return p->s->x;
}

static void convolve(const struct pass *p, size_t l)
{
    struct graph_linear at = p->m->layers[l - 1];
    linear(p->q, p->s->y, layer_input(p, l), p->w->flat + at.weight, p->nodes, p->d, p->d,
           (struct linear_end){.bias = p->w->flat + at.bias}, p->w->precision);
    aggregate_relu(p, p->t->h[l], p->s->y);
}

/* Computes the vectors, and the logits of hidden nodes. */
static void end(const struct pass *p)
{
    const struct graph_tape *t = p->t;
    const struct graph_lists *x = &t->lists;
    const struct graph_model *m = p->m;
    const float *last = t->h[m->config.layers], *flat = p->w->flat;
    p->q->op->pool(p->q, t->pooled, NULL, last, x->counting, x->graph_first, x->graphs, p->d,
                   GPU_MEAN);
    linear(p->q, t->vectors, t->pooled, flat + m->out.weight, x->graphs, p->d, m->config.out,
           (struct linear_end){.bias = flat + m->out.bias}, p->w->precision);
    if (!x->hidden)
        return;
    p->q->op->copy_rows(p->q, t->states, p->d, last, p->d, x->hidden_node, x->hidden, p->d);
    for (size_t i = 0; i < GRAPH_HEADS; i++)
        linear(p->q, t->logits[i], t->states, flat + m->heads[i].weight, x->hidden, p->d,
               graph_head_classes[i], (struct linear_end){.bias = flat + m->heads[i].bias},
               p->w->precision);
}

void graph_forward(struct gpu_queue *q, const struct graph_model *m, const struct graph_weights *w,
                   const struct graph_tape *t, const struct graph_scratch *s, size_t stage,
                   bool sums)
{
    struct pass p = pass_of(q, m, w, t, s);
    size_t last = last_layer(m, stage);
    if (stage == 0) {
        q->op->pool(q, s->y, NULL, w->table, t->lists.use, t->lists.use_first, p.nodes, p.d,
                    GPU_SUM);
        aggregate_relu(&p, t->h[0], s->y);
    }
    for (size_t l = stage ? 2 * stage - 1 : 1; l <= last; l++)
        convolve(&p, l);
    if (stage == m->norms)
        end(&p);
    else if (sums)
        q->op->column_sums(q, t->sums, t->h[last], t->h[last], p.nodes, p.d);
}

/* ---- backward ---- */

static void linear_back(const struct pass *p, const struct graph_gradients *g, const float *dy,
                        const float *x, struct graph_linear at, size_t rows, size_t out)
{
    linear_back_weight(p->q, g->flat + at.weight, g->flat + at.bias, GPU_TYPE_F32, dy, x, rows,
                       p->d, out, p->w->precision);
}

/* Replaces dh by the gradient before the aggregation, in y. */
static void aggregate_back(const struct pass *p, size_t l)
{
    float *dh = p->t->dh;
    p->q->op->activate_back(p->q, GPU_TYPE_F32, dh, dh, p->t->h[l], NULL, p->nodes, p->d, GPU_RELU);
    aggregate(p, p->s->y, dh);
}

static void convolve_back(const struct pass *p, const struct graph_gradients *g, size_t l)
{
    struct graph_linear at = p->m->layers[l - 1];
    aggregate_back(p, l);
    linear_back(p, g, p->s->y, layer_input(p, l), at, p->nodes, p->d);
    linear_back_input(p->q, p->t->dh, p->s->y, p->w->flat + at.weight, p->nodes, p->d, p->d,
                      (struct linear_back_end){0}, p->w->precision);
}

static void first_back(const struct pass *p, const struct graph_gradients *g)
{
    const struct graph_lists *x = &p->t->lists;
    size_t first = GRAPH_FEATURES + 1, rows = graph_table_rows(&p->m->config);
    aggregate_back(p, 0);
    p->q->op->pool(p->q, p->s->rows, NULL, p->s->y, x->used_by, x->used_by_first, rows, p->d,
                   GPU_SUM);
    p->q->op->add(p->q, g->flat + p->m->first, p->s->rows, first * p->d);
    p->q->op->add(p->q, g->positions, p->s->rows + first * p->d, (rows - first) * p->d);
}

static void end_back(const struct pass *p, const struct graph_gradients *g)
{
    const struct graph_tape *t = p->t;
    const struct graph_lists *x = &t->lists;
    const struct graph_model *m = p->m;
    linear_back(p, g, t->vectors, t->pooled, m->out, x->graphs, m->config.out);
    linear_back_input(p->q, t->dpooled, t->vectors, p->w->flat + m->out.weight, x->graphs, p->d,
                      m->config.out, (struct linear_back_end){0}, p->w->precision);
    p->q->op->fill(p->q, t->dh, p->nodes * p->d, 0);
    p->q->op->pool_back(p->q, t->dh, t->dpooled, NULL, x->counting, x->graph_first, x->graphs, p->d,
                        GPU_MEAN);
    if (!x->hidden)
        return;
    for (size_t i = 0; i < GRAPH_HEADS; i++) {
        linear_back(p, g, t->logits[i], t->states, m->heads[i], x->hidden, graph_head_classes[i]);
        linear_back_input(p->q, t->dstates, t->logits[i], p->w->flat + m->heads[i].weight,
                          x->hidden, p->d, graph_head_classes[i],
                          (struct linear_back_end){.beta = i > 0}, p->w->precision);
    }
    p->q->op->pool_back(p->q, t->dh, t->dstates, NULL, x->hidden_node, x->counting, x->hidden, p->d,
                        GPU_SUM);
}

void graph_backward(struct gpu_queue *q, const struct graph_gradients *g,
                    const struct graph_model *m, const struct graph_weights *w,
                    const struct graph_tape *t, const struct graph_scratch *s, size_t stage)
{
    struct pass p = pass_of(q, m, w, t, s);
    size_t last = last_layer(m, stage), at = stage * p.d;
    if (stage == m->norms)
        end_back(&p, g);
    else
        q->op->affine_columns(q, t->dh, t->dh, w->factor + at, t->h[last], w->back + at,
                              w->back_shift + at, p.nodes, p.d);
    for (size_t l = last; stage && l >= 2 * stage - 1; l--)
        convolve_back(&p, g, l);
    if (stage)
        q->op->column_sums(q, t->sums, t->dh, t->h[2 * stage - 2], p.nodes, p.d);
    else
        first_back(&p, g);
}
