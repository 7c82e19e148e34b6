/* See update.h. */
#include "ops/learn/train/update.h"

#include "ops/nn/linear.h"

#include <math.h>
#include <stdlib.h>

enum { NEWTON_STEPS = 5 };

/* ---- Muon's working memory ---- */

struct newton {
    size_t rows, cols, smaller;
    float *x, *y, *gram, *square; /* (rows, cols) twice, (smaller, smaller) twice */
    enum gpu_precision precision;
};

static struct newton lay_out_newton(const struct update_piece *x, struct gpu_layout *l)
{
    size_t smaller = x->rows < x->cols ? x->rows : x->cols;
    struct newton w = {.rows = x->rows, .cols = x->cols, .smaller = smaller};
    w.x = gpu_carve(l, x->n * sizeof *w.x);
    w.y = gpu_carve(l, x->n * sizeof *w.y);
    w.gram = gpu_carve(l, smaller * smaller * sizeof *w.gram);
    w.square = gpu_carve(l, smaller * smaller * sizeof *w.square);
    return w;
}

/* ---- pieces ---- */

static int compare_pieces(const void *x, const void *y)
{
    const struct update_piece *a = x, *b = y;
    return (a->at > b->at) - (a->at < b->at);
}

struct planning {
    struct update_plan *plan;
    struct arena *arena;
    size_t block, cap;
};

static void add_piece(struct planning *p, struct update_piece x)
{
    struct update_plan *plan = p->plan;
    plan->pieces =
        arena_grow(p->arena, plan->pieces, plan->n_pieces, &p->cap, sizeof *plan->pieces);
    plan->pieces[plan->n_pieces++] = x;
}

static void add_matrix(struct planning *p, size_t at, size_t rows, size_t cols)
{
    struct update_piece x = {at, rows * cols, rows, cols};
    struct gpu_layout l = {0};
    lay_out_newton(&x, &l);
    add_piece(p, x);
    if (l.used > p->plan->scratch)
        p->plan->scratch = l.used;
}

/* Queries, keys and values are projected by separate matrices, stacked in one tensor. */
static void add_projections(struct planning *p, const struct nn_projections *x, size_t d)
{
    if (x->in_weight == NN_ABSENT)
        return;
    for (size_t i = 0; i < 3; i++)
        add_matrix(p, x->in_weight + i * d * d, d, d);
    add_matrix(p, x->out_weight, d, d);
}

static void add_layers(struct planning *p, const struct nn_layer *layers, size_t n,
                       const struct nn_config *c)
{
    for (size_t i = 0; i < n; i++) {
        add_projections(p, &layers[i].self, c->d_model);
        add_projections(p, &layers[i].cross, c->d_model);
        add_matrix(p, layers[i].linear1_weight, c->d_ff, c->d_model);
        add_matrix(p, layers[i].linear2_weight, c->d_model, c->d_ff);
    }
}

/* Adds the floats between matrices, in blocks. */
static void add_between(struct planning *p, size_t from, size_t to)
{
    for (size_t block = p->block; from < to; from += to - from < block ? to - from : block)
        add_piece(p, (struct update_piece){from, to - from < block ? to - from : block, 0, 0});
}

void update_plan_make(struct update_plan *out, struct arena *a, const struct nn_model *m,
                      enum optimizer_kind kind, size_t block)
{
    *out = (struct update_plan){0};
    struct planning p = {out, a, block, 0};
    if (kind == OPTIMIZER_MUON) {
        add_layers(&p, m->layers, m->config.layers, &m->config);
        add_layers(&p, m->decoder, m->config.decoder_layers, &m->config);
        qsort(out->pieces, out->n_pieces, sizeof *out->pieces, compare_pieces);
    }
    size_t matrices = out->n_pieces, at = 0;
    for (size_t i = 0; i < matrices; i++) {
        struct update_piece x = out->pieces[i];
        add_between(&p, at, x.at);
        at = x.at + x.n;
    }
    add_between(&p, at, m->table.total);
}

/* ---- Muon ---- */

/* y = a x + (b G + c G^2) x, with the coefficients of Jordan et al.: singular values converge to
 * 0.7 .. 1.2, small ones fastest. */
static void newton_step(struct gpu_queue *q, struct newton *w)
{
    static const float a = 3.4445F, b = -4.7750F, c = 2.0315F;
    bool wide = w->rows <= w->cols;
    size_t s = w->smaller;
    product(q, wide ? "nt" : "tn", w->gram, w->x, w->x, s, s, wide ? w->cols : w->rows, 1, 0,
            w->precision);
    struct gpu_matmul mm = {.base = w->gram,
                            .beta = b,
                            .precision = w->precision,
                            .m = s,
                            .n = s,
                            .k = s,
                            .alpha = c,
                            .a = w->gram,
                            .b = w->gram,
                            .c = w->square,
                            .lda = s,
                            .ldb = s,
                            .ldc = s};
    q->op->matmul(q, &mm);
    mm.base = w->x;
    mm.beta = a;
    mm.m = w->rows;
    mm.n = w->cols;
    mm.alpha = 1;
    mm.a = wide ? w->square : w->x;
    mm.lda = wide ? s : w->cols;
    mm.b = wide ? w->x : w->square;
    mm.ldb = wide ? w->cols : s;
    mm.c = w->y;
    mm.ldc = w->cols;
    q->op->matmul(q, &mm);
    float *x = w->x;
    w->x = w->y;
    w->y = x;
}

static void muon(struct gpu_queue *q, const struct update_piece *x, const struct update_state *s,
                 const struct gpu_adamw *how, enum gpu_precision precision, void *work)
{
    struct gpu_layout l = {.base = work};
    struct newton w = lay_out_newton(x, &l);
    size_t n = x->n;
    float *p = s->p + x->at, *m = s->m + x->at;
    uint16_t *rounded = s->rounded ? s->rounded + x->at : NULL;
    w.precision = precision;
    /* Nesterov's momentum: the mean after applying this gradient once more. */
    const float *g = s->g + x->at;
    q->op->combine(q, m, NULL, how->beta1, m, 1 - how->beta1, g, n, how->outcome, true);
    q->op->combine(q, w.x, NULL, how->beta1, m, 1 - how->beta1, g, n, how->outcome, true);
    q->op->normalize(q, w.x, w.gram, w.x, 1, n);
    for (int i = 0; i < NEWTON_STEPS; i++)
        newton_step(q, &w);
    float reach = 0.2F * sqrtf((float)(x->rows > x->cols ? x->rows : x->cols));
    q->op->combine(q, p, rounded, 1 - how->lr * how->weight_decay, p, -how->lr * reach, w.x, n,
                   how->outcome, false);
}

void update_piece(struct gpu_queue *q, const struct update_piece *x, const struct update_state *s,
                  const struct gpu_adamw *how, enum gpu_precision precision, void *work)
{
    if (x->cols)
        muon(q, x, s, how, precision, work);
    else
        q->op->adamw(q, s->p + x->at, s->rounded ? s->rounded + x->at : NULL, s->m + x->at,
                     s->v + x->at, s->g + x->at, x->n, how);
}
