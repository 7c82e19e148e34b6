/* Attention over packed sequences, forward and backward, one (sequence, head) at a time.
 *
 * Sequences are short (13 tokens on average for expressions), too short for a matrix library: all
 * five products go through one small kernel of some rows by up to two vectors of columns. Scores
 * stand with a row for each key and a lane for each query, so that the softmax over keys is plain
 * arithmetic of whole vectors; hence queries (and dout, backward) are transposed, n padded to whole
 * vectors, whose lanes beyond n nobody reads. k and v and the results are read and written where
 * they lie when a head is whole vectors wide; other heads are copied to rows padded with zeros. The
 * backward recomputes the softmax from the scores and the stored log-denominator, so nothing
 * quadratic is kept. */
#include "gpu/cpu/cpu.h"
#include "gpu/cpu/vec.h"

#include <math.h>

/* Rows of a block: as many sums as registers hold. */
#ifdef __AVX512F__
enum { ROWS = 8 };
#else
enum { ROWS = 4 };
#endif

/* Rows of a matrix, `ld` apart. */
struct rows {
    float *at;
    size_t ld;
};

/* One head's scratch. n: queries; np: in whole vectors; m: keys; size, hp: of the head, in whole
 * vectors. */
struct head {
    size_t n, np, m, size, hp;
    float *copy[4]; /* (max(n, m), hp): padded q, k, v or dout, result */
    float *qt, *gt; /* (size, np): q and dout, transposed */
    float *p, *ds;  /* (m, np) */
};

static size_t carve(struct head *h, float *base, size_t n, size_t m, size_t size, bool backward)
{
    size_t np = round_up(n, LANES), hp = round_up(size, LANES), used = 0;
    size_t copy = hp == size ? 0 : (n > m ? n : m) * hp;
    *h = (struct head){.n = n, .np = np, .m = m, .size = size, .hp = hp};
    float **parts[] = {&h->copy[0], &h->copy[1], &h->copy[2], &h->copy[3],
                       &h->qt,      &h->gt,      &h->p,       &h->ds};
    size_t sizes[] = {
        copy, copy, copy, copy, size * np, backward ? size * np : 0, m * np, backward ? m * np : 0};
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
    for (size_t i = 0; i < h->np; i += LANES)
        for (size_t d = 0; d < h->size; d += LANES) {
            size_t columns = h->size - d < LANES ? h->size - d : LANES;
            vf square[LANES];
            for (size_t j = 0; j < LANES; j++)
                square[j] =
                    i + j < h->n ? vf_load_part(from + (i + j) * ld + d, columns, 0) : vf_set(0);
            vf_transpose(square);
            for (size_t j = 0; j < columns; j++)
                vf_store(to + (d + j) * h->np + i, square[j]);
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
#ifdef __AVX512F__
    case 7: row_block(c, a, row, col, b, cols, k, 7); break;
    case 6: row_block(c, a, row, col, b, cols, k, 6); break;
    case 5: row_block(c, a, row, col, b, cols, k, 5); break;
    case 4: row_block(c, a, row, col, b, cols, k, 4); break;
#endif
    case 3: row_block(c, a, row, col, b, cols, k, 3); break;
    case 2: row_block(c, a, row, col, b, cols, k, 2); break;
    case 1: row_block(c, a, row, col, b, cols, k, 1); break;
    }
}

/* ---- softmax, for queries i .. i + 15 ---- */

/* Which of the lanes see key j: all but where causal. */
static inline vi seeing(const struct head *h, const struct gpu_attention *at, size_t i, size_t j)
{
    const vi lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    int32_t first = at->causal ? (int32_t)(j + h->n) - (int32_t)(h->m + i) : 0;
    return lane >= first;
}

/* Scores to probabilities; what a query does not see to 0. */
static vf softmax(const struct head *h, const struct gpu_attention *at, size_t i)
{
    float *s = h->p + i;
    vf top = vf_set(-INFINITY), sum = {0};
    for (size_t j = 0; j < h->m; j++)
        top = vf_max(top, vf_select(seeing(h, at, i, j), vf_load(s + j * h->np), top));
    top *= at->scale;
    for (size_t j = 0; j < h->m; j++) {
        vf p = vf_exp(vf_load(s + j * h->np) * at->scale - top);
        p = (vf)((vi)p & seeing(h, at, i, j));
        vf_store(s + j * h->np, p);
        sum += p;
    }
    vf by = 1.0f / sum;
    for (size_t j = 0; j < h->m; j++)
        vf_store(s + j * h->np, vf_load(s + j * h->np) * by);
    return top + vf_log(sum);
}

/* From scores in p and dp in ds to the probabilities and ds = p * (dp - sum(p * dp)) * scale. */
static void softmax_back(const struct head *h, const struct gpu_attention *at, size_t i, vf lse)
{
    float *s = h->p + i, *ds = h->ds + i;
    vf dot = {0};
    for (size_t j = 0; j < h->m; j++) {
        vf p = vf_exp(vf_load(s + j * h->np) * at->scale - lse);
        p = (vf)((vi)p & seeing(h, at, i, j));
        vf_store(s + j * h->np, p);
        dot += p * vf_load(ds + j * h->np);
    }
    for (size_t j = 0; j < h->m; j++)
        vf_store(ds + j * h->np,
                 vf_load(s + j * h->np) * (vf_load(ds + j * h->np) - dot) * at->scale);
}

/* ---- heads ---- */

static void head_forward(const struct head *h, float *out, float *lse, const float *q,
                         const float *k, const float *v, const struct gpu_attention *at)
{
    size_t d = at->heads * at->size;
    struct rows vs = padded(h, 2, v, at->kv_ld, h->m), scores = {h->p, h->np};
    load_transposed(h->qt, q, at->q_ld, h);
    product(scores, k, at->kv_ld, 1, (struct rows){h->qt, h->np}, h->m, h->np, h->size);
    for (size_t i = 0; i < h->n; i += LANES) {
        vf lanes = softmax(h, at, i);
        for (size_t j = 0; j < LANES && i + j < h->n; j++)
            lse[(i + j) * at->heads] = lanes[j];
    }
    product(result(h, out, d), h->p, 1, h->np, vs, h->n, h->hp, h->m);
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

/* One head's gradients, or its values: they lie alike. */
struct head_at {
    float *q, *k, *v;
};

static void head_backward(const struct head *h, struct head_at to, struct head_at from,
                          const float *dout, const float *lse, const struct gpu_attention *at)
{
    size_t n = h->n, m = h->m, np = h->np, d = at->heads * at->size, ld = at->kv_ld;
    struct rows q = padded(h, 0, from.q, at->q_ld, n), k = padded(h, 1, from.k, ld, m);
    struct rows g = padded(h, 2, dout, d, n), p = {h->p, np}, ds = {h->ds, np};
    load_transposed(h->qt, from.q, at->q_ld, h);
    load_transposed(h->gt, dout, d, h);
    product(p, from.k, ld, 1, (struct rows){h->qt, np}, m, np, h->size);
    product(ds, from.v, ld, 1, (struct rows){h->gt, np}, m, np, h->size);
    for (size_t i = 0; i < n; i += LANES) {
        vf lanes = {0};
        for (size_t j = 0; j < LANES && i + j < n; j++)
            lanes[j] = lse[(i + j) * at->heads];
        softmax_back(h, at, i, lanes);
    }
    product(result(h, to.q, at->q_ld), h->ds, 1, np, k, n, h->hp, m); /* dq = ds^T k */
    finish(h, to.q, at->q_ld, n);
    product(result(h, to.k, ld), h->ds, np, 1, q, m, h->hp, n); /* dk = ds q */
    finish(h, to.k, ld, m);
    product(result(h, to.v, ld), h->p, np, 1, g, m, h->hp, n); /* dv = p dout */
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
