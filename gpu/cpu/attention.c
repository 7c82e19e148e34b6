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
#include "gpu/cpu/cpu_queue.h"
#include "gpu/cpu/vec.h"

#include <assert.h>
#include <math.h>

/* Rows of a block, of two vectors each: as many sums as fit the registers. */
#ifdef __AVX512F__
enum { ROWS = 8 };
#else
enum { ROWS = 6 };
#endif

static const float LOG2_E = 1.4426950408889634f;

/* Rows of a matrix, `ld` apart. */
struct rows {
    float *at;
    size_t ld;
};

/* One head's scratch. n: queries; np: n rounded up to whole vectors; m: keys; size, hp: of the
 * head, hp rounded up. */
struct head {
    size_t n, np, m, size, hp;
    float *copy[4]; /* (max(n, m), hp): padded q, k, v or dout, result */
    float *qt, *gt; /* (size, np): q and dout, transposed */
    float *p, *ds;  /* (m, np) */
    float *by;      /* (np): pending factor of each query's probabilities */
};

static size_t carve(struct head *h, float *base, size_t n, size_t m, size_t size, bool backward)
{
    size_t np = round_up(n, LANES), hp = round_up(size, LANES), used = 0;
    size_t copy = hp == size ? 0 : (n > m ? n : m) * hp;
    *h = (struct head){.n = n, .np = np, .m = m, .size = size, .hp = hp};
    float **parts[] = {&h->copy[0], &h->copy[1], &h->copy[2], &h->copy[3], &h->qt,
                       &h->gt,      &h->p,       &h->ds,      &h->by};
    size_t sizes[] = {
        copy, copy, copy, copy, size * np, backward ? size * np : 0, m * np, backward ? m * np : 0,
        np};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        *parts[i] = base ? base + used : NULL;
        used += sizes[i];
    }
    return used * sizeof(float);
}

/* Returns the head's columns of `rows` rows of `from`, in whole vectors. */
static struct rows padded(const struct head *h, int copy, const float *from, size_t ld, size_t rows)
{
    if (h->hp == h->size)
        return (struct rows){(float *)from, ld};
    for (size_t i = 0; i < rows; i++)
        for (size_t d = 0; d < h->size; d += LANES)
            vf_store(h->copy[copy] + i * h->hp + d, vf_load_some(from + i * ld + d, h->size - d));
    return (struct rows){h->copy[copy], h->hp};
}

/* Returns where to write a result whose destination is `to`; copy_result() copies it there. */
static struct rows result(const struct head *h, float *to, size_t ld)
{
    return h->hp == h->size ? (struct rows){to, ld} : (struct rows){h->copy[3], h->hp};
}

static void copy_result(const struct head *h, float *to, size_t ld, size_t rows)
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
            for (size_t j = 0; j < LANES; j++) {
                size_t row = i + j < h->n ? i + j : h->n - 1; /* any value will do beyond n */
                square[j] = vf_load_some(from + row * ld + d, columns);
            }
            vf_transpose(square);
            for (size_t j = 0; j < columns; j++)
                vf_store(to + (d + j) * h->np + i, square[j]);
        }
}

/* The left factor of a product: element (i, l) at i * row + l * col, one of which is 1. */
struct left {
    const float *at;
    size_t row, col;
};

/* c (rows, vectors) = a (rows, k) b (k, vectors), rows times by[i] unless that is NULL. */
static inline __attribute__((always_inline)) void
block(struct rows c, struct left a, struct rows b, size_t k, const float *by, int rows, int vectors)
{
    vf sum[ROWS][2] = {0};
    for (size_t l = 0; l < k; l++)
        for (int i = 0; i < rows; i++) {
            vf x = vf_set(a.at[(size_t)i * a.row + l * a.col]);
            for (int j = 0; j < vectors; j++)
                sum[i][j] += x * vf_load(b.at + l * b.ld + j * LANES);
        }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++)
            vf_store(c.at + (size_t)i * c.ld + j * LANES, by ? sum[i][j] * by[i] : sum[i][j]);
}

static inline __attribute__((always_inline)) void row_block(struct rows c, struct left a,
                                                            struct rows b, size_t cols, size_t k,
                                                            const float *by, int rows)
{
    for (; cols >= 2 * LANES; cols -= 2 * LANES, c.at += 2 * LANES, b.at += 2 * LANES)
        block(c, a, b, k, by, rows, 2);
    if (cols)
        block(c, a, b, k, by, rows, 1);
}

static inline __attribute__((always_inline)) void product(struct rows c, struct left a,
                                                          struct rows b, size_t n, size_t cols,
                                                          size_t k, const float *by)
{
    for (; n >= ROWS; n -= ROWS) {
        row_block(c, a, b, cols, k, by, ROWS);
        c.at += ROWS * c.ld;
        a.at += ROWS * a.row;
        by = by ? by + ROWS : NULL;
    }
    switch (n) {
#ifdef __AVX512F__
    case 7: row_block(c, a, b, cols, k, by, 7); break;
    case 6: row_block(c, a, b, cols, k, by, 6); break;
#endif
    case 5: row_block(c, a, b, cols, k, by, 5); break;
    case 4: row_block(c, a, b, cols, k, by, 4); break;
    case 3: row_block(c, a, b, cols, k, by, 3); break;
    case 2: row_block(c, a, b, cols, k, by, 2); break;
    case 1: row_block(c, a, b, cols, k, by, 1); break;
    }
}

/* c (n, cols) = a (n, k) b (k, cols); cols is a multiple of LANES. */
static __attribute__((noinline)) void product_of_rows(struct rows c, struct rows a, struct rows b,
                                                      size_t n, size_t cols, size_t k)
{
    product(c, (struct left){a.at, a.ld, 1}, b, n, cols, k, NULL);
}

/* Like product_of_rows, with a (k, n) transposed. */
static __attribute__((noinline)) void
product_of_columns(struct rows c, struct rows a, struct rows b, size_t n, size_t cols, size_t k)
{
    product(c, (struct left){a.at, 1, a.ld}, b, n, cols, k, NULL);
}

/* Rows of that are multiplied by by[i]. */
static __attribute__((noinline)) void weighted_product(struct rows c, struct rows a, struct rows b,
                                                       size_t n, size_t cols, size_t k,
                                                       const float *by)
{
    product(c, (struct left){a.at, 1, a.ld}, b, n, cols, k, by);
}

/* ---- softmax, for a vector of queries from i on ---- */

/* Returns which lanes attend to key j if attention is causal. */
static inline vi seeing(const struct head *h, size_t i, size_t j)
{
    return vi_lane() >= (int32_t)(j + h->n) - (int32_t)(h->m + i);
}

/* Scores to probabilities except for their common factor, which is stored in h->by; masked keys
 * become 0. In powers of 2, which are cheaper. */
static inline __attribute__((always_inline)) vf
softmax(const struct head *h, const struct gpu_attention *at, size_t i, bool causal)
{
    float *s = h->p + i, scale = at->scale * LOG2_E;
    vf top = vf_set(-INFINITY), sum = {0};
    for (size_t j = 0; j < h->m; j++) {
        vf x = vf_load(s + j * h->np);
        top = vf_max(top, causal ? vf_select(seeing(h, i, j), x, top) : x);
    }
    for (size_t j = 0; j < h->m; j++) { /* subtract first: never above 0, however large */
        vf p = vf_exp2((vf_load(s + j * h->np) - top) * scale);
        if (causal)
            p = (vf)((vi)p & seeing(h, i, j));
        vf_store(s + j * h->np, p);
        sum += p;
    }
    vf_store(h->by + i, 1.0f / sum);
    return top * at->scale + vf_log(sum);
}

/* From scores in p and dp in ds to the probabilities and ds = p * (dp - sum(p * dp)) * scale. */
static inline __attribute__((always_inline)) void
softmax_back(const struct head *h, const struct gpu_attention *at, size_t i, vf lse, bool causal)
{
    float *s = h->p + i, *ds = h->ds + i, scale = at->scale * LOG2_E;
    vf dot = {0};
    lse *= LOG2_E;
    for (size_t j = 0; j < h->m; j++) {
        vf p = vf_exp2(vf_load(s + j * h->np) * scale - lse);
        if (causal)
            p = (vf)((vi)p & seeing(h, i, j));
        vf_store(s + j * h->np, p);
        dot += p * vf_load(ds + j * h->np);
    }
    dot *= at->scale;
    for (size_t j = 0; j < h->m; j++)
        vf_store(ds + j * h->np,
                 vf_load(s + j * h->np) * (vf_load(ds + j * h->np) * at->scale - dot));
}

/* ---- heads ---- */

/* x (m, n): probabilities, or their gradient. `first` is the head's first counter. */
static void drop_out(struct gpu_queue *q, const struct head *h, float *x,
                     const struct gpu_dropout *how, uint64_t first)
{
    for (size_t j = 0; j < h->m && how->rate > 0; j++) {
        float *row = x + j * h->np;
        struct gpu_dropout drop = {how->rate, how->key, first + ((uint64_t)j << 20)};
        q->op->dropout(q, GPU_TYPE_F32, row, row, NULL, h->n, &drop);
    }
}

static uint64_t first_number(const struct gpu_attention *at, size_t sequence, size_t head)
{
    return ((at->drop.first + at->first[sequence]) * at->heads + head) << 40;
}

static void head_forward(struct gpu_queue *queue, const struct head *h, float *out, float *lse,
                         const float *q, const float *k, const float *v,
                         const struct gpu_attention *at, uint64_t number)
{
    size_t d = at->heads * at->size;
    struct rows vs = padded(h, 2, v, at->kv_ld, h->m), scores = {h->p, h->np};
    load_transposed(h->qt, q, at->q_ld, h);
    product_of_rows(scores, (struct rows){(float *)k, at->kv_ld}, (struct rows){h->qt, h->np}, h->m,
                    h->np, h->size);
    for (size_t i = 0; i < h->n; i += LANES) {
        vf lanes = at->causal ? softmax(h, at, i, true) : softmax(h, at, i, false);
        for (size_t j = 0; j < LANES && i + j < h->n; j++)
            lse[(i + j) * at->heads] = lanes[j];
    }
    drop_out(queue, h, h->p, &at->drop, number);
    weighted_product(result(h, out, d), scores, vs, h->n, h->hp, h->m, h->by);
    copy_result(h, out, d, h->n);
}

/* Returns scratch large enough for any of the sequences. */
static float *scratch_for(struct gpu_queue *q, const struct gpu_attention *at, bool backward)
{
    struct head h;
    size_t n = 0, m = 0;
    assert(at->type == GPU_TYPE_F32);
    for (size_t s = 0; s < at->sequences; s++) {
        size_t queries = at->end[s] - at->first[s], keys = at->key_end[s] - at->key_first[s];
        n = queries > n ? queries : n;
        m = keys > m ? keys : m;
    }
    return cpu_scratch(q, carve(&h, NULL, n, m, at->size, backward));
}

static void attention(struct gpu_queue *q, void *to, const struct gpu_attention *at)
{
    struct head h;
    float *out = to, *scratch = scratch_for(q, at, false);
    const float *queries = at->q, *keys = at->k, *values = at->v;
    if (!scratch)
        return;
    size_t d = at->heads * at->size;
    for (size_t s = 0; s < at->sequences; s++) {
        size_t first = at->first[s], key = at->key_first[s] * at->kv_ld;
        carve(&h, scratch, at->end[s] - first, at->key_end[s] - at->key_first[s], at->size, false);
        for (size_t j = 0, c = 0; j < at->heads; j++, c += at->size)
            head_forward(q, &h, out + first * d + c, at->lse + first * at->heads + j,
                         queries + first * at->q_ld + c, keys + key + c, values + key + c, at,
                         first_number(at, s, j));
    }
}

/* One head's values or gradients, which have the same layout. */
struct head_at {
    float *q, *k, *v;
};

static void head_backward(struct gpu_queue *queue, const struct head *h, struct head_at to,
                          struct head_at from, const float *dout, const float *lse,
                          const struct gpu_attention *at, uint64_t number)
{
    size_t n = h->n, m = h->m, np = h->np, d = at->heads * at->size, ld = at->kv_ld;
    struct rows q = padded(h, 0, from.q, at->q_ld, n), k = padded(h, 1, from.k, ld, m);
    struct rows g = padded(h, 2, dout, d, n), p = {h->p, np}, ds = {h->ds, np};
    load_transposed(h->qt, from.q, at->q_ld, h);
    load_transposed(h->gt, dout, d, h);
    product_of_rows(p, (struct rows){from.k, ld}, (struct rows){h->qt, np}, m, np, h->size);
    product_of_rows(ds, (struct rows){from.v, ld}, (struct rows){h->gt, np}, m, np, h->size);
    drop_out(queue, h, h->ds, &at->drop, number);
    for (size_t i = 0; i < n; i += LANES) {
        vf lanes = {0};
        for (size_t j = 0; j < LANES && i + j < n; j++)
            lanes[j] = lse[(i + j) * at->heads];
        if (at->causal)
            softmax_back(h, at, i, lanes, true);
        else
            softmax_back(h, at, i, lanes, false);
    }
    product_of_columns(result(h, to.q, at->q_ld), ds, k, n, h->hp, m); /* dq = ds^T k */
    copy_result(h, to.q, at->q_ld, n);
    product_of_rows(result(h, to.k, ld), ds, q, m, h->hp, n); /* dk = ds q */
    copy_result(h, to.k, ld, m);
    drop_out(queue, h, h->p, &at->drop, number);
    product_of_rows(result(h, to.v, ld), p, g, m, h->hp, n); /* dv = p dout */
    copy_result(h, to.v, ld, m);
}

static void attention_back(struct gpu_queue *q, void *to_q, void *to_k, void *to_v,
                           const void *from, const struct gpu_attention *at)
{
    struct head h;
    float *dq = to_q, *dk = to_k, *dv = to_v;
    const float *dout = from;
    float *scratch = scratch_for(q, at, true);
    if (!scratch)
        return;
    size_t d = at->heads * at->size;
    for (size_t s = 0; s < at->sequences; s++) {
        size_t first = at->first[s], row = first * at->q_ld, key = at->key_first[s] * at->kv_ld;
        carve(&h, scratch, at->end[s] - first, at->key_end[s] - at->key_first[s], at->size, true);
        for (size_t j = 0, c = 0; j < at->heads; j++, c += at->size)
            head_backward(q, &h, (struct head_at){dq + row + c, dk + key + c, dv + key + c},
                          (struct head_at){(float *)at->q + row + c, (float *)at->k + key + c,
                                           (float *)at->v + key + c},
                          dout + first * d + c, at->lse + first * at->heads + j, at,
                          first_number(at, s, j));
    }
}

void CPU(fill_attention)(struct gpu_ops *t)
{
    t->attention = attention;
    t->attention_back = attention_back;
}
