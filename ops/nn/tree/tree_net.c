#include "ops/nn/tree/tree_net.h"

#include "ops/nn/linear.h"

#include <math.h>

void tree_tape_layout(struct tree_tape *t, const struct tree_model *m,
                      const struct tree_lists *lists, bool training, struct gpu_layout *l)
{
    size_t n = lists->nodes, inner = n - lists->n_leaves, d = m->config.d;
    *t = (struct tree_tape){.lists = lists};
    t->leaves = gpu_carve(l, lists->n_leaves * sizeof *t->leaves);
    t->kids = gpu_carve(l, lists->n_kids * sizeof *t->kids);
    t->r = gpu_carve_floats(l, n * d);
    t->lengths = gpu_carve_floats(l, n);
    t->x = gpu_carve_floats(l, lists->n_kids * d);
    t->hidden = gpu_carve_floats(l, inner * m->config.hidden);
    t->dropped = t->hidden;
    if (!training)
        return;
    t->each = gpu_carve(l, (lists->n_kids + n) * sizeof *t->each);
    t->scaled = gpu_carve_floats(l, n);
    t->dropped = gpu_carve_floats(l, inner * m->config.hidden);
    t->dr = gpu_carve_floats(l, n * d);
    t->sums = gpu_carve(l, lists->n_groups * tree_sums(m) * sizeof *t->sums);
}

void tree_scratch_layout(struct tree_scratch *s, const struct tree_model *m, size_t largest,
                         struct gpu_layout *l)
{
    size_t d = m->config.d, in = TREE_ARITY * d;
    s->dx = gpu_carve_floats(l, largest * in);
    s->dh = gpu_carve_floats(l, largest * m->config.hidden);
    s->h = gpu_carve_floats(l, largest * m->config.hidden);
    s->read = gpu_carve_floats(l, largest * (in + d));
    s->z = gpu_carve_floats(l, largest * (in + d));
    s->dz = gpu_carve_floats(l, largest * (in + d));
    s->unit = gpu_carve_floats(l, largest * in);
    s->dunit = gpu_carve_floats(l, largest * in);
    s->again = gpu_carve_floats(l, largest * d);
    s->dagain = gpu_carve_floats(l, largest * d);
    s->lengths = gpu_carve_floats(l, 2 * largest);
    for (size_t i = 0; i <= m->layers; i++) {
        s->layer[i] = gpu_carve_floats(l, largest * m->width[i]);
        s->dlayer[i] = gpu_carve_floats(l, largest * m->width[i]);
    }
}

void tree_tape_load(struct gpu_queue *q, const struct tree_tape *t, float codes, struct arena *a)
{
    const struct tree_lists *x = t->lists;
    gpu_write(q, t->leaves, x->leaves, x->n_leaves * sizeof *x->leaves);
    gpu_write(q, t->kids, x->kids, x->n_kids * sizeof *x->kids);
    if (!t->each)
        return;
    uint32_t *each = arena_array(a, uint32_t, x->n_kids + x->nodes);
    float *scaled = arena_array(a, float, x->nodes);
    for (size_t i = 0; i < x->n_kids + x->nodes; i++)
        each[i] = (uint32_t)i;
    for (size_t i = 0; i < x->nodes; i++)
        scaled[i] = -codes * x->share[i];
    gpu_write(q, t->each, each, (x->n_kids + x->nodes) * sizeof *each);
    gpu_write(q, t->scaled, scaled, x->nodes * sizeof *scaled);
}

/* ---- one operator, some nodes ---- */

/* A group with its pointers. */
struct site {
    const struct tree_group *g;
    const struct tree_combine *c;
    size_t in;  /* width of its operands */
    size_t row; /* index in the hidden layers */
    float *x, *hidden, *dropped, *r, *lengths;
};

static struct site site_of(const struct tree_pass *p, const struct tree_tape *t,
                           const struct tree_group *g)
{
    size_t d = p->m->config.d, h = p->m->config.hidden, row = g->first - t->lists->n_leaves;
    return (struct site){g,
                         &p->m->combine[g->token],
                         g->arity * d,
                         row,
                         t->x + g->kid * d,
                         t->hidden + row * h,
                         t->dropped + row * h,
                         t->r + g->first * d,
                         t->lengths + g->first};
}

static void drop_hidden(struct gpu_queue *q, const struct tree_pass *p, const struct site *s,
                        float *y, const float *x)
{
    size_t h = p->m->config.hidden;
    struct gpu_dropout drop = {p->dropout, p->key, s->row * h};
    q->op->dropout(q, GPU_TYPE_F32, y, x, NULL, s->g->n * h, &drop);
}

/* Computes r and its lengths from x; keeps hidden before and after dropout. */
static void combine(struct gpu_queue *q, const struct tree_pass *p, const struct site *s,
                    const float *x, float *hidden, float *dropped, float *r, float *lengths)
{
    const struct tree_model *m = p->m;
    size_t n = s->g->n, h = m->config.hidden, d = m->config.d;
    bool functions = m->config.points > 0;
    linear(q, hidden, x, p->flat + s->c->hidden, n, s->in, h,
           functions ? (struct linear_end){.bias = p->flat + s->c->hidden_bias, .relu = true}
                     : (struct linear_end){0},
           p->precision);
    if (!functions)
        q->op->activate(q, GPU_TYPE_F32, hidden, hidden, p->flat + s->c->hidden_bias, n, h,
                        GPU_SIGMOID);
    if (dropped != hidden)
        drop_hidden(q, p, s, dropped, hidden);
    linear(q, r, x, p->flat + s->c->direct, n, s->in, d,
           (struct linear_end){.bias = p->flat + s->c->bias}, p->precision);
    linear(q, r, dropped, p->flat + s->c->through, n, h, d, (struct linear_end){.base = r},
           p->precision);
    if (!functions)
        q->op->normalize(q, r, lengths, r, n, d);
}

/* Replaces dr by the gradient before the division by the length; sets dx and adds to grad. */
static void combine_back(struct gpu_queue *q, float *grad, const struct tree_pass *p,
                         const struct site *s, float *dx, float *dr, const float *x,
                         const float *hidden, const float *dropped, const float *r,
                         const float *lengths, float *dh)
{
    const struct tree_model *m = p->m;
    const struct tree_combine *c = s->c;
    size_t n = s->g->n, h = m->config.hidden, d = m->config.d, in = s->in;
    bool functions = m->config.points > 0;
    if (!functions)
        q->op->normalize_back(q, dr, dr, r, lengths, n, d);
    linear_back_weight(q, grad + c->through, NULL, GPU_TYPE_F32, dr, dropped, n, h, d,
                       p->precision);
    linear_back_weight(q, grad + c->direct, grad + c->bias, GPU_TYPE_F32, dr, x, n, in, d,
                       p->precision);
    linear_back_input(q, dh, dr, p->flat + c->through, n, h, d,
                      (struct linear_back_end){.mask = functions ? hidden : NULL}, p->precision);
    if (dropped != hidden)
        drop_hidden(q, p, s, dh, dh);
    if (!functions)
        q->op->activate_back(q, GPU_TYPE_F32, dh, dh, hidden, NULL, n, h, GPU_SIGMOID);
    linear_back_weight(q, grad + c->hidden, grad + c->hidden_bias, GPU_TYPE_F32, dh, x, n, in, h,
                       p->precision);
    linear_back_input(q, dx, dr, p->flat + c->direct, n, in, d, (struct linear_back_end){0},
                      p->precision);
    linear_back_input(q, dx, dh, p->flat + c->hidden, n, in, h, (struct linear_back_end){.beta = 1},
                      p->precision);
}

/* ---- forward ---- */

void tree_forward(struct gpu_queue *q, const struct tree_pass *p, const struct tree_tape *t)
{
    const struct tree_lists *x = t->lists;
    size_t d = p->m->config.d;
    q->op->copy_rows(q, t->r, d, p->flat + p->m->leaves, d, t->leaves, x->n_leaves, d);
    if (!p->m->config.points)
        q->op->normalize(q, t->r, t->lengths, t->r, x->n_leaves, d);
    for (size_t i = 0; i < x->n_groups; i++) {
        const struct tree_group *g = &x->groups[i];
        struct site s = site_of(p, t, g);
        float *dropped = p->dropout > 0 ? s.dropped : s.hidden;
        q->op->copy_rows(q, s.x, d, t->r, d, t->kids + g->kid, g->n * g->arity, d);
        combine(q, p, &s, s.x, s.hidden, dropped, s.r, s.lengths);
    }
}

void tree_values(struct gpu_queue *q, float *values, const struct tree_pass *p,
                 const struct tree_tape *t)
{
    linear(q, values, t->r, p->flat + p->m->values, t->lists->nodes - t->lists->roots,
           p->m->config.d, TREE_VALUES, (struct linear_end){.bias = p->flat + p->m->values_bias},
           p->precision);
}

/* ---- the subexpression auto-encoder ---- */

static size_t width_read(const struct tree_pass *p, const struct site *s, size_t layer)
{
    return layer < p->m->layers ? p->m->width[layer] : s->in;
}

/* Masks the encoder's input, or its gradient. */
static void mask(struct gpu_queue *q, const struct tree_pass *p, const struct site *s, float *y,
                 const float *x, size_t both)
{
    struct gpu_dropout drop = {p->noise, ~p->key, s->g->first * both};
    q->op->dropout(q, GPU_TYPE_F32, y, x, NULL, s->g->n * both, &drop);
}

/* Writes the reconstructed operands, of length sqrt(operands), to w->unit, and what the operator
 * computes from them to w->again. */
static void encode(struct gpu_queue *q, const struct tree_pass *p, const struct site *s,
                   const struct tree_scratch *w, float size)
{
    const struct tree_model *m = p->m;
    size_t n = s->g->n, d = m->config.d, both = s->in + d;
    struct linear_end bare = {0};
    q->op->copy_rows(q, w->z, both, s->x, s->in, NULL, n, s->in);
    q->op->copy_rows(q, w->z + s->in, both, s->r, d, NULL, n, d);
    mask(q, p, s, w->read, w->z, both);
    q->op->scale(q, w->read, n * both, 1 - p->noise);
    linear(q, w->layer[0], w->read, p->flat + s->c->encoder, n, both, m->width[0], bare,
           p->precision);
    q->op->activate(q, GPU_TYPE_F32, w->layer[0], w->layer[0], NULL, n, m->width[0], GPU_TANH);
    for (size_t i = 0; i < m->layers; i++) {
        size_t out = width_read(p, s, i + 1);
        linear(q, w->layer[i + 1], w->layer[i], p->flat + m->layer[i], n, m->width[i], out, bare,
               p->precision);
        q->op->activate(q, GPU_TYPE_F32, w->layer[i + 1], w->layer[i + 1], NULL, n, out, GPU_TANH);
    }
    q->op->normalize(q, w->unit, w->lengths, w->layer[m->layers], n, s->in);
    q->op->scale(q, w->unit, n * s->in, size);
    combine(q, p, s, w->unit, w->h, w->h, w->again, w->lengths + n);
}

/* From the gradient of w->layer[layers] to that of the input, in w->dz. */
static void encode_back(struct gpu_queue *q, float *grad, const struct tree_pass *p,
                        const struct site *s, const struct tree_scratch *w)
{
    const struct tree_model *m = p->m;
    size_t n = s->g->n, both = s->in + m->config.d;
    struct linear_back_end bare = {0};
    for (size_t i = m->layers + 1; i-- > 0;) {
        size_t out = width_read(p, s, i);
        q->op->activate_back(q, GPU_TYPE_F32, w->dlayer[i], w->dlayer[i], w->layer[i], NULL, n, out,
                             GPU_TANH);
        if (i == 0)
            break;
        linear_back_weight(q, grad + m->layer[i - 1], NULL, GPU_TYPE_F32, w->dlayer[i],
                           w->layer[i - 1], n, m->width[i - 1], out, p->precision);
        linear_back_input(q, w->dlayer[i - 1], w->dlayer[i], p->flat + m->layer[i - 1], n,
                          m->width[i - 1], out, bare, p->precision);
    }
    linear_back_weight(q, grad + s->c->encoder, NULL, GPU_TYPE_F32, w->dlayer[0], w->read, n, both,
                       m->width[0], p->precision);
    linear_back_input(q, w->dz, w->dlayer[0], p->flat + s->c->encoder, n, both, m->width[0], bare,
                      p->precision);
    mask(q, p, s, w->dz, w->dz, both);
    q->op->scale(q, w->dz, n * both, 1 - p->noise);
}

/* Multiplies each row of x by its factor, into y; sums: column sums of y * with. */
static void weigh(struct gpu_queue *q, float *y, const float *x, const float *factor,
                  const float *with, double *sums, size_t n, size_t cols)
{
    q->op->fill(q, y, n * cols, 0);
    q->op->add_rows(q, y, x, factor, n, cols);
    q->op->column_sums(q, sums, y, with, n, cols);
}

/* The objective of the codes: adds its gradient to s's part of t->dr, and writes it to w->dx. */
static void codes_back(struct gpu_queue *q, float *grad, const struct tree_pass *p,
                       const struct tree_tape *t, const struct site *s,
                       const struct tree_scratch *w)
{
    const struct tree_model *m = p->m;
    size_t n = s->g->n, d = m->config.d, both = s->in + d;
    const float *factor = t->scaled + s->g->first;
    double *sums = t->sums + (size_t)(s->g - t->lists->groups) * tree_sums(m);
    float size = sqrtf((float)s->g->arity), *dr = t->dr + s->g->first * d;
    encode(q, p, s, w, size);
    weigh(q, w->dagain, s->r, factor, w->again, sums, n, d);
    weigh(q, w->dunit, s->x, factor, w->unit, sums + 2 * d, n, s->in);
    q->op->add_rows(q, dr, w->again, factor, n, d);
    combine_back(q, grad, p, s, w->dx, w->dagain, w->unit, w->h, w->h, w->again, w->lengths + n,
                 w->dh);
    q->op->add(q, w->dunit, w->dx, n * s->in);
    /* w->unit is the division's result times size, and so is its gradient. */
    q->op->scale(q, w->unit, n * s->in, 1 / size);
    q->op->scale(q, w->dunit, n * s->in, size);
    q->op->normalize_back(q, w->dlayer[m->layers], w->dunit, w->unit, w->lengths, n, s->in);
    encode_back(q, grad, p, s, w);
    q->op->copy_rows(q, w->dx, s->in, w->dz, both, NULL, n, s->in);
    q->op->copy_rows(q, w->dagain, d, w->dz + s->in, both, NULL, n, d);
    q->op->add(q, dr, w->dagain, n * d);
    q->op->scale(q, w->unit, n * s->in, size);
    q->op->add_rows(q, w->dx, w->unit, factor, n, s->in);
}

double tree_codes(const double *sums, const struct tree_model *m, const struct tree_lists *lists)
{
    double loss = 0;
    size_t d = m->config.d;
    for (size_t i = 0; i < lists->n_groups; i++, sums += tree_sums(m)) {
        size_t in = lists->groups[i].arity * d;
        for (size_t k = 0; k < d; k++)
            loss += sums[d + k];
        for (size_t k = 0; k < in; k++)
            loss += sums[2 * d + in + k];
    }
    return loss;
}

/* ---- backward ---- */

static void add_to_kids(struct gpu_queue *q, const struct tree_tape *t, const struct site *s,
                        const float *dx, size_t d)
{
    q->op->pool_back(q, t->dr, dx, NULL, t->kids + s->g->kid, t->each, s->g->n * s->g->arity, d,
                     GPU_SUM);
}

void tree_backward(struct gpu_queue *q, float *grad, const struct tree_pass *p,
                   const struct tree_tape *t, const struct tree_scratch *w, const float *dvectors,
                   const float *dvalues)
{
    const struct tree_lists *x = t->lists;
    size_t d = p->m->config.d, inner = x->nodes - x->roots;
    if (dvalues) {
        linear_back_weight(q, grad + p->m->values, grad + p->m->values_bias, GPU_TYPE_F32, dvalues,
                           t->r, inner, d, TREE_VALUES, p->precision);
        linear_back_input(q, t->dr, dvalues, p->flat + p->m->values, inner, d, TREE_VALUES,
                          (struct linear_back_end){0}, p->precision);
    } else
        q->op->fill(q, t->dr, inner * d, 0);
    q->op->copy(q, t->dr + inner * d, dvectors, x->roots * d);
    for (size_t i = x->n_groups; i-- > 0;) {
        struct site s = site_of(p, t, &x->groups[i]);
        const float *dropped = p->dropout > 0 ? s.dropped : s.hidden;
        if (p->codes > 0) {
            codes_back(q, grad, p, t, &s, w);
            add_to_kids(q, t, &s, w->dx, d);
        }
        combine_back(q, grad, p, &s, w->dx, t->dr + s.g->first * d, s.x, s.hidden, dropped, s.r,
                     s.lengths, w->dh);
        add_to_kids(q, t, &s, w->dx, d);
    }
    struct gpu_embedding how = {.token = t->leaves,
                                .offset = t->each,
                                .sequences = x->n_leaves,
                                .tokens = x->n_leaves,
                                .cols = d,
                                .vocabulary = (size_t)p->m->tokens * p->m->rows,
                                .places = 1,
                                .scale = 1};
    if (!p->m->config.points)
        q->op->normalize_back(q, t->dr, t->dr, t->r, t->lengths, x->n_leaves, d);
    q->op->embed_back(q, grad + p->m->leaves, NULL, t->dr, &how);
}
