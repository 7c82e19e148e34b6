/* y = x W^T + b, with W stored (out, in) as in PyTorch: forward and backward. */
#pragma once

#include "gpu/gpu.h"

/* c (m, n) = alpha a b + beta c. `how` says which operands are stored transposed, as in BLAS: "nn"
 * neither; "tn" a, as (k, m); "nt" b, as (n, k); "tt" both. */
static inline void product(struct gpu_queue *q, const char *how, float *c, const float *a,
                           const float *b, size_t m, size_t n, size_t k, float alpha, float beta,
                           enum gpu_precision p)
{
    bool ta = how[0] == 't', tb = how[1] == 't';
    q->op->matmul(q, &(struct gpu_matmul){.precision = p,
                                          .ta = ta,
                                          .tb = tb,
                                          .m = m,
                                          .n = n,
                                          .k = k,
                                          .alpha = alpha,
                                          .beta = beta,
                                          .a = a,
                                          .lda = ta ? m : k,
                                          .b = b,
                                          .ldb = tb ? k : n,
                                          .c = c,
                                          .ldc = n});
}

/* The epilogue of a product: y = act(x w^T + base + bias). */
struct linear_end {
    const void *base; /* (T, out), or NULL */
    const void *bias; /* (out), or NULL */
    bool relu;
    enum gpu_type read, write; /* types of x and w; of everything else */
};

/* A matrix (out, in), or if `transposed` (in, out), with a row stride of ld. */
struct linear_matrix {
    const void *at;
    size_t ld;
    bool transposed;
};

/* y (T, out) = x (T, in) w^T, and the epilogue */
static inline void linear_by(struct gpu_queue *q, void *y, const void *x, struct linear_matrix w,
                             size_t t, size_t in, size_t out, struct linear_end end,
                             enum gpu_precision p)
{
    q->op->matmul(q, &(struct gpu_matmul){.precision = p,
                                          .tb = !w.transposed,
                                          .m = t,
                                          .n = out,
                                          .k = in,
                                          .alpha = 1,
                                          .a = x,
                                          .lda = in,
                                          .b = w.at,
                                          .ldb = w.ld,
                                          .c = y,
                                          .ldc = out,
                                          .base = end.base,
                                          .beta = end.base ? 1 : 0,
                                          .bias = end.bias,
                                          .relu = end.relu,
                                          .read = end.read,
                                          .write = end.write});
}

static inline void linear(struct gpu_queue *q, float *y, const float *x, const float *w, size_t t,
                          size_t in, size_t out, struct linear_end end, enum gpu_precision p)
{
    linear_by(q, y, x, (struct linear_matrix){w, in, false}, t, in, out, end, p);
}

/* The epilogue of an input gradient: it is multiplied by the factor, and either beta * dx is added
 * or it is set to 0 where the mask (T, in) is not positive. */
struct linear_back_end {
    float factor; /* 0 means 1 */
    float beta;
    const void *mask;
    enum gpu_type read, write; /* types of dy and w; of dx and the mask */
};

/* dx (T, in) = factor * dy (T, out) w [+ beta * dx] */
static inline void linear_back_input(struct gpu_queue *q, void *dx, const void *dy, const void *w,
                                     size_t t, size_t in, size_t out, struct linear_back_end end,
                                     enum gpu_precision p)
{
    q->op->matmul(q, &(struct gpu_matmul){.precision = p,
                                          .m = t,
                                          .n = in,
                                          .k = out,
                                          .alpha = end.factor != 0 ? end.factor : 1,
                                          .a = dy,
                                          .lda = out,
                                          .b = w,
                                          .ldb = in,
                                          .c = dx,
                                          .ldc = in,
                                          .beta = end.beta,
                                          .mask = end.mask,
                                          .read = end.read,
                                          .write = end.write});
}

/* dw (out, in) += dy^T x, where dy and x have the type `read`; db (out) += column sums of dy,
 * unless db is NULL. */
static inline void linear_back_weight(struct gpu_queue *q, float *dw, float *db, enum gpu_type read,
                                      const void *dy, const void *x, size_t t, size_t in,
                                      size_t out, enum gpu_precision p)
{
    q->op->matmul(q, &(struct gpu_matmul){.precision = p,
                                          .ta = true,
                                          .m = out,
                                          .n = in,
                                          .k = t,
                                          .alpha = 1,
                                          .a = dy,
                                          .lda = out,
                                          .b = x,
                                          .ldb = in,
                                          .c = dw,
                                          .ldc = in,
                                          .beta = 1,
                                          .read = read});
    if (db)
        q->op->add_columns(q, db, read, dy, t, out);
}
