/* Self-attention over packed sequences, forward and backward, one (sequence, head) at a time.
 *
 * Sequences are short (13 tokens on average for expressions), too short for a matrix library: each
 * head's q, k and v are copied to scratch with rows padded to whole vectors, and all five products
 * go through one small kernel of four rows by up to two vectors. Padded rows and columns are zero.
 * The backward recomputes the softmax from the scores and the stored log-denominator, so nothing
 * quadratic is kept. */
#include "gpu/cpu/cpu.h"
#include "gpu/cpu/vec.h"

#include <math.h>

enum { ROWS = 4 };

/* One head's scratch. n: length; np: n in whole vectors; hp: head size in whole vectors. Rows are
 * padded to np as well (a multiple of ROWS). */
struct head {
    size_t n, np, size, hp;
    float *q, *k, *v; /* (np, hp) */
    float *kt, *vt;   /* (size, np): transposed */
    float *out;       /* (np, hp) */
    float *p, *ds;    /* (np, np) */
};

static size_t carve(struct head *h, float *base, size_t n, size_t size, bool backward)
{
    size_t np = round_up(n, LANES), hp = round_up(size, LANES), used = 0;
    *h = (struct head){.n = n, .np = np, .size = size, .hp = hp};
    float **parts[] = {&h->q, &h->k, &h->v, &h->out, &h->kt, &h->vt, &h->p, &h->ds};
    size_t sizes[] = {np * hp,   np * hp,   np * hp, np * hp,
                      size * np, size * np, np * np, backward ? np * np : 0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        *parts[i] = base ? base + used : NULL;
        used += sizes[i];
    }
    return used * sizeof(float);
}

static void load_rows(float *restrict to, const float *from, size_t stride, const struct head *h)
{
    for (size_t i = 0; i < h->np; i++) {
        size_t have = i < h->n ? h->size : 0;
        if (have)
            memcpy(to + i * h->hp, from + i * stride, have * sizeof *to);
        memset(to + i * h->hp + have, 0, (h->hp - have) * sizeof *to);
    }
}

static void load_transposed(float *restrict to, const float *from, size_t stride,
                            const struct head *h)
{
    for (size_t d = 0; d < h->size; d++) {
        for (size_t i = 0; i < h->n; i++)
            to[d * h->np + i] = from[i * stride + d];
        for (size_t i = h->n; i < h->np; i++)
            to[d * h->np + i] = 0;
    }
}

static void store_rows(float *to, size_t stride, const float *restrict from, const struct head *h)
{
    for (size_t i = 0; i < h->n; i++)
        memcpy(to + i * stride, from + i * h->hp, h->size * sizeof *to);
}

static inline __attribute__((always_inline)) void product_block(float *c, size_t ldc,
                                                                const float *a, size_t row,
                                                                size_t col, const float *b,
                                                                size_t ldb, size_t k, int vectors)
{
    vf sum[ROWS][2] = {0};
    for (size_t l = 0; l < k; l++)
        for (int i = 0; i < ROWS; i++) {
            vf x = vf_set(a[(size_t)i * row + l * col]);
            for (int j = 0; j < vectors; j++)
                sum[i][j] += x * vf_load(b + l * ldb + j * LANES);
        }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < vectors; j++)
            vf_store(c + (size_t)i * ldc + j * LANES, sum[i][j]);
}

/* c (rows, cols) = a (rows, k) b (k, cols); element (i, l) of a at i * row + l * col. rows is a
 * multiple of ROWS, cols of LANES. */
static void product(float *restrict c, size_t ldc, const float *restrict a, size_t row, size_t col,
                    const float *restrict b, size_t ldb, size_t rows, size_t cols, size_t k)
{
    for (size_t i = 0; i < rows; i += ROWS) {
        size_t j = 0;
        for (; j + 2 * LANES <= cols; j += 2 * LANES)
            product_block(c + i * ldc + j, ldc, a + i * row, row, col, b + j, ldb, k, 2);
        for (; j < cols; j += LANES)
            product_block(c + i * ldc + j, ldc, a + i * row, row, col, b + j, ldb, k, 1);
    }
}

/* Rows of scores to probabilities; the padded columns to 0. */
static void softmax_row(float *lse, float *s, float scale, size_t n, size_t np)
{
    size_t whole = n / LANES * LANES;
    vf top = vf_set(-INFINITY);
    for (size_t j = 0; j < whole; j += LANES)
        top = vf_max(top, vf_load(s + j));
    if (whole < n)
        top = vf_max(top, vf_load_part(s + whole, n - whole, -INFINITY));
    float most = vf_greatest(top) * scale;
    vf sum = {0};
    for (size_t j = 0; j < np; j += LANES) {
        vf p = vf_exp(vf_load(s + j) * scale - most);
        vf_store(s + j, p);
        if (j < whole)
            sum += p;
    }
    if (whole < n)
        sum += vf_load_part(s + whole, n - whole, 0);
    float total = vf_sum(sum), by = 1.0f / total;
    for (size_t j = 0; j < n; j++)
        s[j] *= by;
    for (size_t j = n; j < np; j++)
        s[j] = 0;
    *lse = most + logf(total);
}

static size_t longest(const struct gpu_attention *at)
{
    size_t n = 0;
    for (size_t s = 0; s < at->sequences; s++)
        if (at->offset[s + 1] - at->offset[s] > n)
            n = at->offset[s + 1] - at->offset[s];
    return n;
}

static void attention(struct gpu_queue *q, float *out, const struct gpu_attention *at)
{
    struct head h;
    float *scratch = cpu_scratch(q, carve(&h, NULL, longest(at), at->size, false));
    if (!scratch)
        return;
    size_t d = at->heads * at->size, stride = 3 * d;
    for (size_t s = 0; s < at->sequences; s++) {
        size_t first = at->offset[s], n = at->offset[s + 1] - first;
        carve(&h, scratch, n, at->size, false);
        size_t rows = round_up(n, ROWS);
        for (size_t j = 0; j < at->heads; j++) {
            const float *x = at->qkv + first * stride + j * at->size;
            load_rows(h.q, x, stride, &h);
            load_transposed(h.kt, x + d, stride, &h);
            load_rows(h.v, x + 2 * d, stride, &h);
            product(h.p, h.np, h.q, h.hp, 1, h.kt, h.np, rows, h.np, h.size);
            for (size_t i = 0; i < n; i++)
                softmax_row(at->lse + (first + i) * at->heads + j, h.p + i * h.np, at->scale, n,
                            h.np);
            product(h.out, h.hp, h.p, h.np, 1, h.v, h.hp, rows, h.hp, n);
            store_rows(out + first * d + j * at->size, d, h.out, &h);
        }
    }
}

/* From scores in p and dp in ds to the probabilities and ds = p * (dp - sum(p * dp)) * scale. */
static void softmax_row_back(float *p, float *ds, float lse, float scale, size_t n, size_t np)
{
    for (size_t j = 0; j < np; j += LANES)
        vf_store(p + j, vf_exp(vf_load(p + j) * scale - lse));
    for (size_t j = n; j < np; j++)
        p[j] = 0;
    vf sum = {0};
    for (size_t j = 0; j < np; j += LANES)
        sum += vf_load(p + j) * vf_load(ds + j);
    float dot = vf_sum(sum);
    for (size_t j = 0; j < np; j += LANES)
        vf_store(ds + j, vf_load(p + j) * (vf_load(ds + j) - dot) * scale);
}

static void attention_back(struct gpu_queue *q, float *dqkv, const float *dout,
                           const struct gpu_attention *at)
{
    struct head h;
    float *scratch = cpu_scratch(q, carve(&h, NULL, longest(at), at->size, true));
    if (!scratch)
        return;
    size_t d = at->heads * at->size, stride = 3 * d;
    for (size_t s = 0; s < at->sequences; s++) {
        size_t first = at->offset[s], n = at->offset[s + 1] - first;
        carve(&h, scratch, n, at->size, true);
        size_t rows = round_up(n, ROWS);
        for (size_t j = 0; j < at->heads; j++) {
            const float *x = at->qkv + first * stride + j * at->size;
            float *dx = dqkv + first * stride + j * at->size;
            load_rows(h.q, x, stride, &h);
            load_rows(h.k, x + d, stride, &h);
            load_transposed(h.kt, x + d, stride, &h);
            load_transposed(h.vt, x + 2 * d, stride, &h);
            load_rows(h.v, dout + first * d + j * at->size, d, &h); /* v now holds dout */
            product(h.p, h.np, h.q, h.hp, 1, h.kt, h.np, rows, h.np, h.size);
            product(h.ds, h.np, h.v, h.hp, 1, h.vt, h.np, rows, h.np, h.size);
            for (size_t i = 0; i < n; i++)
                softmax_row_back(h.p + i * h.np, h.ds + i * h.np,
                                 at->lse[(first + i) * at->heads + j], at->scale, n, h.np);
            product(h.out, h.hp, h.ds, h.np, 1, h.k, h.hp, rows, h.hp, n);
            store_rows(dx, stride, h.out, &h);
            product(h.out, h.hp, h.ds, 1, h.np, h.q, h.hp, rows, h.hp, n);
            store_rows(dx + d, stride, h.out, &h);
            product(h.out, h.hp, h.p, 1, h.np, h.v, h.hp, rows, h.hp, n);
            store_rows(dx + 2 * d, stride, h.out, &h);
        }
    }
}

void CPU(fill_attention)(struct gpu_ops *t)
{
    t->attention = attention;
    t->attention_back = attention_back;
}
