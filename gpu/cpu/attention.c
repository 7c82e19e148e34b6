/* Attention over packed sequences, forward and backward, one (sequence, head) at a time.
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

/* One head's scratch. n: queries; m: keys; mp: in whole vectors; size, hp: of the head, in whole
 * vectors. */
struct head {
    size_t n, m, mp, size, hp;
    float *copy[4]; /* (max(n, m), hp): padded q, k, v or dout, result */
    float *kt, *vt; /* (size, mp): transposed */
    float *p, *ds;  /* (n, mp) */
};

static size_t carve(struct head *h, float *base, size_t n, size_t m, size_t size, bool backward)
{
    size_t mp = round_up(m, LANES), hp = round_up(size, LANES), used = 0;
    size_t copy = hp == size ? 0 : (n > m ? n : m) * hp;
    *h = (struct head){.n = n, .m = m, .mp = mp, .size = size, .hp = hp};
    float **parts[] = {&h->copy[0], &h->copy[1], &h->copy[2], &h->copy[3],
                       &h->kt,      &h->vt,      &h->p,       &h->ds};
    size_t sizes[] = {copy, copy, copy, copy, size * mp, size * mp, n * mp, backward ? n * mp : 0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        *parts[i] = base ? base + used : NULL;
        used += sizes[i];
    }
    return used * sizeof(float);
}

/* The head's columns of `rows` rows of `from`, in whole vectors. */
static struct rows padded(const struct head *h, int copy, const float *from, size_t ld, size_t rows)
{
    if (h->hp == h->size)
        return (struct rows){(float *)from, ld};
    for (size_t i = 0; i < rows; i++) {
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

static void finish(const struct head *h, float *to, size_t ld, size_t rows)
{
    if (h->hp != h->size)
        for (size_t i = 0; i < rows; i++)
            memcpy(to + i * ld, h->copy[3] + i * h->hp, h->size * sizeof *to);
}

static void load_transposed(float *restrict to, const float *from, size_t ld, const struct head *h)
{
    for (size_t i = 0; i < h->mp; i += LANES)
        for (size_t d = 0; d < h->size; d += LANES) {
            size_t columns = h->size - d < LANES ? h->size - d : LANES;
            vf square[LANES];
            for (size_t j = 0; j < LANES; j++)
                square[j] =
                    i + j < h->m ? vf_load_part(from + (i + j) * ld + d, columns, 0) : vf_set(0);
            vf_transpose(square);
            for (size_t j = 0; j < columns; j++)
                vf_store(to + (d + j) * h->mp + i, square[j]);
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

/* How many keys query i sees. */
static size_t seen(const struct head *h, const struct gpu_attention *at, size_t i)
{
    return at->causal ? h->m - h->n + 1 + i : h->m;
}

static void head_forward(const struct head *h, float *out, float *lse, const float *q,
                         const float *k, const float *v, const struct gpu_attention *at)
{
    size_t d = at->heads * at->size;
    struct rows qs = padded(h, 0, q, at->q_ld, h->n), vs = padded(h, 2, v, at->kv_ld, h->m);
    struct rows p = {h->p, h->mp};
    load_transposed(h->kt, k, at->kv_ld, h);
    product(p, qs.at, qs.ld, 1, (struct rows){h->kt, h->mp}, h->n, h->mp, h->size);
    for (size_t i = 0; i < h->n; i++)
        softmax_row(lse + i * at->heads, h->p + i * h->mp, at->scale, seen(h, at, i), h->mp);
    product(result(h, out, d), h->p, h->mp, 1, vs, h->n, h->hp, h->m);
    finish(h, out, d, h->n);
}

/* Scratch that holds any of the sequences. */
static float *scratch_for(struct gpu_queue *q, const struct gpu_attention *at, bool backward)
{
    struct head h;
    size_t n = 0, m = 0;
    for (size_t s = 0; s < at->sequences; s++) {
        size_t queries = at->end[s] - at->first[s], keys = at->key_end[s] - at->key_first[s];
        n = queries > n ? queries : n;
        m = keys > m ? keys : m;
    }
    return cpu_scratch(q, carve(&h, NULL, n, m, at->size, backward));
}

static void attention(struct gpu_queue *q, float *out, const struct gpu_attention *at)
{
    struct head h;
    float *scratch = scratch_for(q, at, false);
    if (!scratch)
        return;
    size_t d = at->heads * at->size;
    for (size_t s = 0; s < at->sequences; s++) {
        size_t first = at->first[s], key = at->key_first[s] * at->kv_ld;
        carve(&h, scratch, at->end[s] - first, at->key_end[s] - at->key_first[s], at->size, false);
        for (size_t j = 0, c = 0; j < at->heads; j++, c += at->size)
            head_forward(&h, out + first * d + c, at->lse + first * at->heads + j,
                         at->q + first * at->q_ld + c, at->k + key + c, at->v + key + c, at);
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

/* One head's gradients, or its values: they lie alike. */
struct head_at {
    float *q, *k, *v;
};

static void head_backward(const struct head *h, struct head_at to, struct head_at from,
                          const float *dout, const float *lse, const struct gpu_attention *at)
{
    size_t n = h->n, m = h->m, d = at->heads * at->size, ld = at->kv_ld;
    struct rows q = padded(h, 0, from.q, at->q_ld, n), k = padded(h, 1, from.k, ld, m);
    struct rows g = padded(h, 2, dout, d, n), p = {h->p, h->mp}, ds = {h->ds, h->mp};
    load_transposed(h->kt, from.k, ld, h);
    load_transposed(h->vt, from.v, ld, h);
    product(p, q.at, q.ld, 1, (struct rows){h->kt, h->mp}, n, h->mp, h->size);
    product(ds, g.at, g.ld, 1, (struct rows){h->vt, h->mp}, n, h->mp, h->size);
    for (size_t i = 0; i < n; i++)
        softmax_row_back(h->p + i * h->mp, h->ds + i * h->mp, lse[i * at->heads], at->scale,
                         seen(h, at, i), h->mp);
    product(result(h, to.q, at->q_ld), h->ds, h->mp, 1, k, n, h->hp, m); /* dq = ds k */
    finish(h, to.q, at->q_ld, n);
    product(result(h, to.k, ld), h->ds, 1, h->mp, q, m, h->hp, n); /* dk = ds^T q */
    finish(h, to.k, ld, m);
    product(result(h, to.v, ld), h->p, 1, h->mp, g, m, h->hp, n); /* dv = p^T dout */
    finish(h, to.v, ld, m);
}

static void attention_back(struct gpu_queue *q, float *dq, float *dk, float *dv, const float *dout,
                           const struct gpu_attention *at)
{
    struct head h;
    float *scratch = scratch_for(q, at, true);
    if (!scratch)
        return;
    size_t d = at->heads * at->size;
    for (size_t s = 0; s < at->sequences; s++) {
        size_t first = at->first[s], row = first * at->q_ld, key = at->key_first[s] * at->kv_ld;
        carve(&h, scratch, at->end[s] - first, at->key_end[s] - at->key_first[s], at->size, true);
        for (size_t j = 0, c = 0; j < at->heads; j++, c += at->size)
            head_backward(&h, (struct head_at){dq + row + c, dk + key + c, dv + key + c},
                          (struct head_at){(float *)at->q + row + c, (float *)at->k + key + c,
                                           (float *)at->v + key + c},
                          dout + first * d + c, at->lse + first * at->heads + j, at);
    }
}

void CPU(fill_attention)(struct gpu_ops *t)
{
    t->attention = attention;
    t->attention_back = attention_back;
}
