/* Self-attention over packed sequences, forward and backward, one (sequence, head) at a time.
 *
 * Sequences are short (13 tokens on average for expressions), too short for a matrix library: all
 * five products go through one small kernel of up to four rows by two vectors of columns. It reads
 * q, k, v and writes results where they lie when a head is whole vectors wide; other heads are
 * copied to rows padded with zeros. Keys (and values, backward) are transposed, n padded to whole
 * vectors. The backward recomputes the softmax from the scores and the stored log-denominator, so
 * nothing quadratic is kept. */
#include "gpu/cpu/cpu.h"
#include "gpu/cpu/vec.h"

#include <math.h>

enum { ROWS = 4 };

/* Rows of a matrix, `ld` apart. */
struct rows {
    float *at;
    size_t ld;
};

/* One head's scratch. n: length; np: n in whole vectors; size, hp: of the head, in whole vectors.
 */
struct head {
    size_t n, np, size, hp;
    float *copy[4]; /* (n, hp): padded q, k, v or dout, result */
    float *kt, *vt; /* (size, np): transposed */
    float *p, *ds;  /* (n, np) */
};

static size_t carve(struct head *h, float *base, size_t n, size_t size, bool backward)
{
    size_t np = round_up(n, LANES), hp = round_up(size, LANES), used = 0;
    size_t copy = hp == size ? 0 : n * hp;
    *h = (struct head){.n = n, .np = np, .size = size, .hp = hp};
    float **parts[] = {&h->copy[0], &h->copy[1], &h->copy[2], &h->copy[3],
                       &h->kt,      &h->vt,      &h->p,       &h->ds};
    size_t sizes[] = {copy, copy, copy, copy, size * np, size * np, n * np, backward ? n * np : 0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        *parts[i] = base ? base + used : NULL;
        used += sizes[i];
    }
    return used * sizeof(float);
}

/* The head's columns of `from` with rows of whole vectors. */
static struct rows padded(const struct head *h, int copy, const float *from, size_t ld)
{
    if (h->hp == h->size)
        return (struct rows){(float *)from, ld};
    for (size_t i = 0; i < h->n; i++) {
        memcpy(h->copy[copy] + i * h->hp, from + i * ld, h->size * sizeof *from);
        memset(h->copy[copy] + i * h->hp + h->size, 0, (h->hp - h->size) * sizeof *from);
    }
    return (struct rows){h->copy[copy], h->hp};
}

/* Where to write a result that belongs at `to`; finish() puts it there. */
static struct rows result(const struct head *h, float *to, size_t ld)
{
    return h->hp == h->size ? (struct rows){to, ld} : (struct rows){h->copy[3], h->hp};
}

static void finish(const struct head *h, float *to, size_t ld)
{
    if (h->hp != h->size)
        for (size_t i = 0; i < h->n; i++)
            memcpy(to + i * ld, h->copy[3] + i * h->hp, h->size * sizeof *to);
}

static void load_transposed(float *restrict to, const float *from, size_t ld, const struct head *h)
{
    for (size_t d = 0; d < h->size; d++) {
        for (size_t i = 0; i < h->n; i++)
            to[d * h->np + i] = from[i * ld + d];
        for (size_t i = h->n; i < h->np; i++)
            to[d * h->np + i] = 0;
    }
}

static inline __attribute__((always_inline)) void block(float *c, size_t ldc, const float *a,
                                                        size_t row, size_t col, const float *b,
                                                        size_t ldb, size_t k, int rows, int vectors)
{
    vf sum[ROWS][2] = {0};
    for (size_t l = 0; l < k; l++)
        for (int i = 0; i < rows; i++) {
            vf x = vf_set(a[(size_t)i * row + l * col]);
            for (int j = 0; j < vectors; j++)
                sum[i][j] += x * vf_load(b + l * ldb + j * LANES);
        }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++)
            vf_store(c + (size_t)i * ldc + j * LANES, sum[i][j]);
}

static inline __attribute__((always_inline)) void row_block(struct rows c, const float *a,
                                                            size_t row, size_t col, struct rows b,
                                                            size_t cols, size_t k, int rows)
{
    size_t j = 0;
    for (; j + 2 * LANES <= cols; j += 2 * LANES)
        block(c.at + j, c.ld, a, row, col, b.at + j, b.ld, k, rows, 2);
    for (; j < cols; j += LANES)
        block(c.at + j, c.ld, a, row, col, b.at + j, b.ld, k, rows, 1);
}

/* c (n, cols) = a (n, k) b (k, cols); element (i, l) of a at i * row + l * col; cols is a multiple
 * of LANES. */
static void product(struct rows c, const float *a, size_t row, size_t col, struct rows b, size_t n,
                    size_t cols, size_t k)
{
    size_t i = 0;
    for (; i + ROWS <= n; i += ROWS)
        row_block((struct rows){c.at + i * c.ld, c.ld}, a + i * row, row, col, b, cols, k, ROWS);
    c.at += i * c.ld;
    a += i * row;
    switch (n - i) {
    case 3: row_block(c, a, row, col, b, cols, k, 3); break;
    case 2: row_block(c, a, row, col, b, cols, k, 2); break;
    case 1: row_block(c, a, row, col, b, cols, k, 1); break;
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

static void head_forward(const struct head *h, float *out, float *lse, const float *qkv, size_t d,
                         const struct gpu_attention *at)
{
    struct rows q = padded(h, 0, qkv, 3 * d), v = padded(h, 2, qkv + 2 * d, 3 * d);
    struct rows p = {h->p, h->np};
    load_transposed(h->kt, qkv + d, 3 * d, h);
    product(p, q.at, q.ld, 1, (struct rows){h->kt, h->np}, h->n, h->np, h->size);
    for (size_t i = 0; i < h->n; i++)
        softmax_row(lse + i * at->heads, h->p + i * h->np, at->scale, h->n, h->np);
    product(result(h, out, d), h->p, h->np, 1, v, h->n, h->hp, h->n);
    finish(h, out, d);
}

static void attention(struct gpu_queue *q, float *out, const struct gpu_attention *at)
{
    struct head h;
    float *scratch = cpu_scratch(q, carve(&h, NULL, longest(at), at->size, false));
    if (!scratch)
        return;
    size_t d = at->heads * at->size;
    for (size_t s = 0; s < at->sequences; s++) {
        size_t first = at->offset[s];
        carve(&h, scratch, at->offset[s + 1] - first, at->size, false);
        for (size_t j = 0; j < at->heads; j++)
            head_forward(&h, out + first * d + j * at->size, at->lse + first * at->heads + j,
                         at->qkv + first * 3 * d + j * at->size, d, at);
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

static void head_backward(const struct head *h, float *dqkv, const float *dout, const float *lse,
                          const float *qkv, size_t d, const struct gpu_attention *at)
{
    size_t n = h->n, ld = 3 * d;
    struct rows q = padded(h, 0, qkv, ld), k = padded(h, 1, qkv + d, ld);
    struct rows g = padded(h, 2, dout, d), p = {h->p, h->np}, ds = {h->ds, h->np};
    load_transposed(h->kt, qkv + d, ld, h);
    load_transposed(h->vt, qkv + 2 * d, ld, h);
    product(p, q.at, q.ld, 1, (struct rows){h->kt, h->np}, n, h->np, h->size);
    product(ds, g.at, g.ld, 1, (struct rows){h->vt, h->np}, n, h->np, h->size);
    for (size_t i = 0; i < n; i++)
        softmax_row_back(h->p + i * h->np, h->ds + i * h->np, lse[i * at->heads], at->scale, n,
                         h->np);
    product(result(h, dqkv, ld), h->ds, h->np, 1, k, n, h->hp, n); /* dq = ds k */
    finish(h, dqkv, ld);
    product(result(h, dqkv + d, ld), h->ds, 1, h->np, q, n, h->hp, n); /* dk = ds^T q */
    finish(h, dqkv + d, ld);
    product(result(h, dqkv + 2 * d, ld), h->p, 1, h->np, g, n, h->hp, n); /* dv = p^T dout */
    finish(h, dqkv + 2 * d, ld);
}

static void attention_back(struct gpu_queue *q, float *dqkv, const float *dout,
                           const struct gpu_attention *at)
{
    struct head h;
    float *scratch = cpu_scratch(q, carve(&h, NULL, longest(at), at->size, true));
    if (!scratch)
        return;
    size_t d = at->heads * at->size;
    for (size_t s = 0; s < at->sequences; s++) {
        size_t first = at->offset[s];
        carve(&h, scratch, at->offset[s + 1] - first, at->size, true);
        for (size_t j = 0; j < at->heads; j++)
            head_backward(&h, dqkv + first * 3 * d + j * at->size, dout + first * d + j * at->size,
                          at->lse + first * at->heads + j, at->qkv + first * 3 * d + j * at->size,
                          d, at);
    }
}

void CPU(fill_attention)(struct gpu_ops *t)
{
    t->attention = attention;
    t->attention_back = attention_back;
}
