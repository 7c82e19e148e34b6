/* Ops that know of sequences: attention, embedding, pooling; see fixture.h. */
#include "tests/gpu/fixture.h"

enum { EMBED_TOKENS = 9, EMBED_COLS = 6, EMBED_TABLE = 5, EMBED_LONGEST = 5 };
static const uint32_t embed_offset[] = {0, 5, 9};
static const uint32_t embed_token[EMBED_TOKENS] = {0, 3, 3, 1, 4, 4, 0, 2, 3};

struct embed_case {
    const double *table, *positions, *weight; /* what varies is NULL */
};

static double embed_value(void *arg, const double *varied)
{
    struct embed_case *c = arg;
    double y[EMBED_TOKENS * EMBED_COLS];
    ref_embed(y, c->table ? c->table : varied, c->positions ? c->positions : varied, embed_token,
              embed_offset, 2, EMBED_COLS, 1.7);
    return dot(y, c->weight, EMBED_TOKENS * EMBED_COLS);
}

TEST_ON_EACH_ISA(embed)
{
    enum {
        N = EMBED_TOKENS * EMBED_COLS,
        T = EMBED_TABLE * EMBED_COLS,
        P = EMBED_LONGEST * EMBED_COLS
    };
    float table[T], positions[P], x[N], dx[N], dt[T] = {0}, dp[P] = {0};
    double rt[T], rp[P], rx[N], rdx[N];
    fill(&f->r, table, rt, T, 1);
    fill(&f->r, positions, rp, P, 1);
    fill(&f->r, dx, rdx, N, 1);
    ref_embed(rx, rt, rp, embed_token, embed_offset, 2, EMBED_COLS, 1.7);
    struct gpu_embedding how = {.token = embed_token,
                                .offset = embed_offset,
                                .sequences = 2,
                                .tokens = EMBED_TOKENS,
                                .cols = EMBED_COLS,
                                .vocabulary = EMBED_TABLE,
                                .places = EMBED_LONGEST,
                                .scale = 1.7f};
    f->q->op->embed(f->q, x, table, positions, &how);
    assert_near(x, rx, N, 1e-6, "embed");
    f->q->op->embed_back(f->q, dt, dp, dx, &how);
    struct embed_case table_varies = {NULL, rp, rdx}, positions_vary = {rt, NULL, rdx};
    assert_gradient(dt, embed_value, &table_varies, rt, T, 1e-5, "table");
    assert_gradient(dp, embed_value, &positions_vary, rp, P, 1e-5, "positions");
}

enum { POOL_ROWS = 9, POOL_COLS = 21 };
static const uint32_t pool_row[] = {0, 2, 1, 4, 8, 7, 5};
static const uint32_t pool_offset[] = {0, 2, 3, 7};

struct pool_case {
    enum gpu_pooling kind;
    const double *weight;
};

static double pool_value(void *arg, const double *x)
{
    struct pool_case *c = arg;
    double y[3 * POOL_COLS];
    ref_pool(y, x, pool_row, pool_offset, 3, POOL_COLS, c->kind);
    return dot(y, c->weight, 3 * POOL_COLS);
}

TEST_ON_EACH_ISA(pool)
{
    enum { N = POOL_ROWS * POOL_COLS, M = 3 * POOL_COLS };
    for (int kind = GPU_MEAN; kind <= GPU_SUM; kind++) {
        float x[N], y[M], dy[M], dx[N] = {0};
        double rx[N], ry[M], rdy[M];
        uint32_t arg[M];
        fill(&f->r, x, rx, N, 1);
        fill(&f->r, dy, rdy, M, 1);
        ref_pool(ry, rx, pool_row, pool_offset, 3, POOL_COLS, (enum gpu_pooling)kind);
        f->q->op->pool(f->q, y, arg, x, pool_row, pool_offset, 3, POOL_COLS,
                       (enum gpu_pooling)kind);
        assert_near(y, ry, M, 1e-6, "pool");
        f->q->op->pool_back(f->q, dx, dy, arg, pool_row, pool_offset, 3, POOL_COLS,
                            (enum gpu_pooling)kind);
        struct pool_case c = {(enum gpu_pooling)kind, rdy};
        assert_gradient(dx, pool_value, &c, rx, N, 1e-5, "pool");
    }
}

/* Sums of some rows twice, of all columns' widths, of no row; their backward is the sum over the
 * transposed lists. */
TEST_ON_EACH_ISA(sums)
{
    static const uint32_t row[] = {0, 2, 2, 1, 3, 2}, offset[] = {0, 3, 3, 6};
    static const uint32_t back_row[] = {0, 2, 0, 0, 2, 2}, back_offset[] = {0, 1, 2, 5, 6};
    enum { ROWS = 4, SEGMENTS = 3, MOST = 133 };
    for (size_t cols = 1; cols <= MOST; cols += 44) {
        float x[ROWS * MOST], y[SEGMENTS * MOST], dx[ROWS * MOST], dy[SEGMENTS * MOST];
        double rx[ROWS * MOST], ry[SEGMENTS * MOST], rdx[ROWS * MOST] = {0}, rdy[SEGMENTS * MOST];
        fill(&f->r, x, rx, ROWS * cols, 1);
        fill(&f->r, dy, rdy, SEGMENTS * cols, 1);
        ref_pool(ry, rx, row, offset, SEGMENTS, cols, GPU_SUM);
        f->q->op->pool(f->q, y, NULL, x, row, offset, SEGMENTS, cols, GPU_SUM);
        assert_near(y, ry, SEGMENTS * cols, 1e-6, "sums");
        for (size_t s = 0; s < SEGMENTS; s++)
            for (size_t j = offset[s]; j < offset[s + 1]; j++)
                for (size_t c = 0; c < cols; c++)
                    rdx[row[j] * cols + c] += rdy[s * cols + c];
        f->q->op->pool(f->q, dx, NULL, dy, back_row, back_offset, ROWS, cols, GPU_SUM);
        assert_near(dx, rdx, ROWS * cols, 1e-6, "transposed sums");
    }
}

struct attention_case {
    struct gpu_attention at; /* q, k, v: in one block, columns q_ld apart from one to the next */
    const double *weight;
    size_t queries, k, v; /* where k and v begin */
};

static double attention_value(void *arg, const double *qkv)
{
    struct attention_case *c = arg;
    size_t n = c->queries * c->at.heads * c->at.size;
    double *out = malloc(n * sizeof *out), s;
    ref_attention(out, qkv, qkv + c->k, qkv + c->v, &c->at);
    s = dot(out, c->weight, n);
    free(out);
    return s;
}

/* Of the largest case. */
enum { MOST = 230 * 72 };
static float x[3 * MOST], dx[3 * MOST], out[MOST], dout[MOST], lse[230];
static double rx[3 * MOST], rout[MOST], rdout[MOST];
static uint16_t narrow[4][3 * MOST];

/* Of packed sequences to themselves; q, k and v lie beside each other. */
static struct gpu_attention self_attention(const uint32_t *offset, size_t sequences, size_t heads,
                                           size_t size)
{
    return (struct gpu_attention){.sequences = sequences,
                                  .heads = heads,
                                  .size = size,
                                  .rows = offset[sequences],
                                  .first = offset,
                                  .end = offset + 1,
                                  .key_first = offset,
                                  .key_end = offset + 1,
                                  .q_ld = 3 * heads * size,
                                  .kv_ld = 3 * heads * size,
                                  .lse = lse,
                                  .scale = 0.3f};
}

/* Forward, compared with the reference, and backward, which fills dx; of `all` numbers. */
static void attend(struct fixture *f, struct attention_case *c, size_t all, double spread,
                   double tolerance)
{
    enum gpu_type type = c->at.type;
    bool same = type == GPU_TYPE_F32;
    size_t n = c->queries * c->at.heads * c->at.size;
    fill(&f->r, x, rx, all, spread);
    fill(&f->r, dout, rdout, n, 1);
    c->at.q = same ? x : store(f, narrow[0], x, rx, all);
    c->at.k = gpu_at(type, c->at.q, c->k);
    c->at.v = gpu_at(type, c->at.q, c->v);
    void *to = same ? (void *)out : narrow[1], *dqkv = same ? (void *)dx : narrow[2];
    const void *from = same ? dout : store(f, narrow[3], dout, rdout, n);
    ref_attention(rout, rx, rx + c->k, rx + c->v, &c->at);
    f->q->op->attention(f->q, to, &c->at);
    f->q->op->attention_back(f->q, dqkv, gpu_at(type, dqkv, c->k), gpu_at(type, dqkv, c->v), from,
                             &c->at);
    assert_int_equal(gpu_finish(f->q, NULL), OK);
    load(out, to, n);
    load(dx, dqkv, all);
    assert_near(out, rout, n, same ? tolerance : 4e-3, "attention");
}

/* Self-attention over packed rows of q, k, v; and queries of one packing to keys of another, rows
 * of q followed by rows of k, v. Either may be causal, and drop out probabilities. */
TEST_ON_EACH_ISA(attention)
{
    enum { HEADS = 2, TOKENS = 44, KEYS = 49 };
    static const uint32_t offset[] = {0, 1, 14, 30, TOKENS}, other[] = {0, 3, 16, 33, KEYS};
    static const size_t sizes[] = {3, 16, 20};
    for (int run = 0; run < 3 * 12; run++) {
        bool cross = run / 3 & 1;
        enum gpu_type type = run / 12 == 1 ? gpu_stored(f->device, GPU_BF16) : GPU_TYPE_F32;
        size_t size = sizes[run % 3], d = HEADS * size, n = TOKENS * d;
        size_t all = cross ? n + 2 * KEYS * d : 3 * n;
        struct attention_case c = {.at = self_attention(offset, 4, HEADS, size),
                                   .weight = rdout,
                                   .queries = TOKENS,
                                   .k = cross ? n : d,
                                   .v = cross ? n + d : 2 * d};
        if (cross) {
            c.at.key_first = other;
            c.at.key_end = other + 1;
            c.at.q_ld = d;
            c.at.kv_ld = 2 * d;
        }
        c.at.causal = run / 6 & 1;
        c.at.type = type;
        c.at.drop = (struct gpu_dropout){run < 24 ? 0 : 0.3f, 77, 1000};
        attend(f, &c, all, 1.5, 1e-5);
        assert_gradient(dx, attention_value, &c, rx, all, type == GPU_TYPE_F32 ? 1e-4 : 4e-3,
                        "qkv");
    }
}

/* Sequences and heads beyond one tile of a card; without causality, and in bf16, cuDNN's. Some
 * numbers of the gradient, drawn. */
TEST_ON_EACH_ISA(attention_long)
{
    enum { SIZE = 72, TOKENS = 230, N = TOKENS * SIZE };
    static const uint32_t offset[] = {0, 67, 68, TOKENS};
    for (int run = 0; run < 4; run++) {
        struct attention_case c = {.at = self_attention(offset, 3, 1, SIZE),
                                   .weight = rdout,
                                   .queries = TOKENS,
                                   .k = SIZE,
                                   .v = 2 * SIZE};
        c.at.type = run & 2 ? gpu_stored(f->device, GPU_BF16) : GPU_TYPE_F32;
        c.at.scale = 0.1f;
        c.at.causal = run & 1;
        c.at.longest = TOKENS - 68;
        attend(f, &c, 3 * N, 1, 2e-5);
        double tolerance = c.at.type == GPU_TYPE_F32 ? 1e-4 : 4e-3;
        for (int i = 0; i < 20; i++) {
            size_t k = (size_t)rng_below(&f->r, 3 * N);
            double want = ref_derivative(attention_value, &c, rx, k);
            if (!(fabs((double)dx[k] - want) <= tolerance * (1 + fabs(want))))
                fail_msg("dqkv[%zu]: %.9g, finite difference %.9g", k, (double)dx[k], want);
        }
    }
}

/* Scores, sums of integers here, of which a rounding is many powers of two. */
TEST_ON_EACH_ISA(attention_large)
{
    enum { TOKENS = 37, SIZE = 16 };
    static const uint32_t offset[] = {0, 5, TOKENS};
    for (int run = 0; run < 2 * 3; run++) {
        static const float larger[] = {0x1p20f, 0x1p30f, 0x1p40f};
        struct gpu_attention at = self_attention(offset, 2, 1, SIZE);
        at.q = x;
        at.k = x + SIZE;
        at.v = x + 2 * SIZE;
        at.causal = run % 2;
        for (size_t i = 0; i < 3 * TOKENS * SIZE; i++) {
            x[i] = (float)rng_below(&f->r, 9) - 4;
            rx[i] = x[i] *= i % (3 * SIZE) < SIZE ? larger[run / 2] : 1;
        }
        ref_attention(rout, rx, rx + SIZE, rx + 2 * SIZE, &at);
        f->q->op->attention(f->q, out, &at);
        assert_near(out, rout, TOKENS * SIZE, 1e-5, "attention of large scores");
    }
}
