/* See update.h. */
#include "ops/learn/train/update.h"

#include "ops/nn/linear.h"

#include <math.h>

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

/* ---- the optimizer ---- */

struct update_how update_step(const struct optimizer *o, enum gpu_precision precision,
                              uint64_t steps, const struct gpu_outcome *outcome)
{
    double n = (double)(steps + 1);
    float lr = (float)schedule_lr(&o->schedule, steps);
    return (struct update_how){.kind = o->kind,
                               .precision = precision,
                               .adamw = {.lr = lr,
                                         .beta1 = (float)o->beta1,
                                         .beta2 = (float)o->beta2,
                                         .eps = (float)o->eps,
                                         .weight_decay = (float)o->weight_decay,
                                         .coupled = o->kind == OPTIMIZER_ADAM,
                                         .correction1 = (float)(1 - pow(o->beta1, n)),
                                         .correction2 = (float)(1 - pow(o->beta2, n)),
                                         .outcome = outcome},
                               .rmsprop = {.lr = lr,
                                           .decay = (float)o->beta2,
                                           .momentum = (float)o->beta1,
                                           .clip = (float)o->elements,
                                           .outcome = outcome}};
}

/* ---- pieces ---- */

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

/* Adds the floats between matrices, in blocks. */
static void add_between(struct planning *p, size_t from, size_t to)
{
    for (size_t block = p->block; from < to; from += to - from < block ? to - from : block)
        add_piece(p, (struct update_piece){from, to - from < block ? to - from : block, 0, 0});
}

void update_plan_make(struct update_plan *out, struct arena *a, const struct nn_table *t,
                      size_t learnt, enum optimizer_kind kind, size_t block)
{
    *out = (struct update_plan){0};
    struct planning p = {out, a, block, 0};
    size_t at = 0;
    for (size_t i = 0; i < t->n && kind == OPTIMIZER_MUON; i++) {
        const struct nn_param *x = &t->params[i];
        size_t rows = x->stacked ? x->shape[0] / x->stacked : 0, cols = x->shape[1];
        if (x->stacked && x->at < learnt)
            add_between(&p, at, x->at);
        for (size_t k = 0; k < x->stacked && x->at < learnt; k++) {
            add_matrix(&p, x->at + k * rows * cols, rows, cols);
            at = x->at + x->size;
        }
    }
    add_between(&p, at, learnt);
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
                  const struct update_how *how, void *work)
{
    float *p = s->p + x->at, *m = s->m + x->at, *v = s->v + x->at;
    uint16_t *rounded = s->rounded ? s->rounded + x->at : NULL;
    const float *g = s->g + x->at;
    if (x->cols)
        muon(q, x, s, &how->adamw, how->precision, work);
    else if (how->kind != OPTIMIZER_RMSPROP)
        q->op->adamw(q, p, rounded, m, v, g, x->n, &how->adamw);
    else {
        q->op->rmsprop(q, p, m, v, g, x->n, &how->rmsprop);
        if (rounded)
            q->op->round_bf16(q, rounded, p, 1, x->n, x->n);
    }
}
