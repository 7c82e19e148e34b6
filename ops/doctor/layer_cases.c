/* The checks of the ops of layers; see tensor_cases.h. */
#include "ops/doctor/tensor_cases.h"

static struct gpu_matmul product(void *const *p, enum gpu_precision precision)
{
    return (struct gpu_matmul){.precision = precision,
                               .tb = true,
                               .m = ROWS,
                               .n = WIDE,
                               .k = COLS,
                               .alpha = 0.5F,
                               .a = p[0],
                               .lda = COLS,
                               .b = p[1],
                               .ldb = COLS,
                               .c = p[2],
                               .ldc = WIDE};
}

static void matmul_f32(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    struct gpu_matmul mm = product(p, precision);
    mm.bias = p[3];
    mm.relu = true;
    q->op->matmul(q, &mm);
}

static void matmul_tf32(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    struct gpu_matmul mm = product(p, precision);
    mm.base = p[4];
    mm.beta = -2;
    mm.bias = p[3];
    q->op->matmul(q, &mm);
}

static void matmul_bf16(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    struct gpu_matmul mm = product(p, precision);
    mm.mask = p[4];
    q->op->matmul(q, &mm);
}

/* Writes c in both types. */
static void matmul_stored(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    struct gpu_matmul mm = product(p, precision);
    mm.read = mm.write = gpu_stored(q->device, precision);
    mm.bias = p[3];
    mm.relu = true;
    q->op->matmul(q, &mm);
    mm.bias = NULL;
    mm.relu = false;
    mm.mask = p[2];
    mm.c = p[4];
    q->op->matmul(q, &mm);
    mm.write = GPU_TYPE_F32;
    mm.mask = NULL;
    mm.base = p[6];
    mm.beta = 1;
    mm.bias = p[7];
    mm.c = p[5];
    q->op->matmul(q, &mm);
}

/* c (COLS, WIDE) += a^T b */
static void matmul_transposed(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    struct gpu_matmul mm = product(p, precision);
    mm.ta = true;
    mm.tb = false;
    mm.m = COLS;
    mm.k = ROWS;
    mm.alpha = mm.beta = 1;
    mm.b = p[4];
    mm.ldb = WIDE;
    mm.c = p[5];
    q->op->matmul(q, &mm);
}

/* The products of a step with some 11,556 tokens: forward with bias and ReLU, backward through a
 * ReLU, and gradients of weights at 512 and 128. Rows and sizes suit a card's widest loads. */
static void matmul_aligned(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    enum gpu_type type = gpu_stored(q->device, precision);
    struct gpu_matmul mm = {.precision = precision,
                            .relu = true,
                            .bias = p[3],
                            .read = type,
                            .write = type,
                            .m = SOME,
                            .n = BROAD,
                            .k = BROAD,
                            .alpha = 1,
                            .a = p[0],
                            .b = p[1],
                            .c = p[2],
                            .lda = BROAD,
                            .ldb = BROAD,
                            .ldc = BROAD};
    q->op->matmul(q, &mm);
    mm.relu = false;
    mm.bias = NULL;
    mm.mask = p[1];
    mm.tb = true;
    mm.n = mm.ldc = SOME;
    mm.c = p[4];
    q->op->matmul(q, &mm);
    mm.mask = NULL;
    mm.tb = false;
    mm.ta = true;
    mm.beta = 1;
    mm.write = GPU_TYPE_F32;
    mm.b = p[0];
    mm.k = TOKENS;
    mm.m = mm.n = mm.ldc = BROAD;
    mm.c = p[5];
    q->op->matmul(q, &mm);
    mm.m = BROAD / 4;
    mm.c = p[6];
    q->op->matmul(q, &mm);
}

static const struct gpu_dropout drop = {0.3F, 99, UINT32_MAX - 1000};

static void activations(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    enum gpu_type type = gpu_stored(q->device, precision);
    q->op->activate(q, type, p[1], p[0], p[4], ROWS, COLS, GPU_GELU);
    q->op->activate_back(q, type, p[2], p[3], p[0], p[4], ROWS, COLS, GPU_GELU);
    q->op->activate(q, type, p[5], p[0], NULL, ROWS, COLS, GPU_RELU);
    q->op->activate_back(q, type, p[6], p[3], p[5], NULL, ROWS, COLS, GPU_RELU);
    q->op->dropout(q, type, p[7], p[0], p[3], (size_t)ROWS * COLS, &drop);
    q->op->add_columns(q, p[8], type, p[0], ROWS, COLS);
}

static struct gpu_norm norm_of(void *const *p, float *x, enum gpu_type type)
{
    return (struct gpu_norm){.rows = ROWS,
                             .cols = COLS,
                             .x = x,
                             .mean = p[2],
                             .rstd = p[3],
                             .gamma = p[4],
                             .beta = p[5],
                             .type = type};
}

/* Runs the backward pass twice: with a branch that has dropout, and with one that has none. */
static void norm(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    enum gpu_type type = gpu_stored(q->device, precision);
    struct gpu_norm how = norm_of(p, p[0], type);
    struct gpu_norm_back to = {.dx = p[6],
                               .dgamma = p[7],
                               .dbeta = p[8],
                               .accumulate = true,
                               .dy_type = type,
                               .dy = p[10],
                               .y = p[9],
                               .branch = p[11],
                               .drop = &drop};
    q->op->norm(q, p[1], &how);
    q->op->norm_back(q, &to, &how);
    to.dy_type = GPU_TYPE_F32;
    to.dy = p[0];
    to.y = NULL;
    to.branch = p[12];
    to.drop = NULL;
    q->op->norm_back(q, &to, &how);
}

static void residual_norm(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    enum gpu_type type = gpu_stored(q->device, precision);
    struct gpu_norm how = norm_of(p, p[6], type);
    q->op->residual_norm(q, p[1], type, p[0], p[7], &drop, &how);
    how.type = GPU_TYPE_F32;
    q->op->residual_norm(q, p[8], type, p[0], p[7], &drop, &how);
}

/* q, k and v are columns of one matrix. */
static struct gpu_attention attention_of(void *const *p, const uint32_t *offset, uint32_t size,
                                         enum gpu_type type)
{
    const uint32_t cols = HEADS * size;
    return (struct gpu_attention){.sequences = SEQUENCES,
                                  .heads = HEADS,
                                  .size = size,
                                  .rows = ROWS,
                                  .first = offset,
                                  .end = offset + 1,
                                  .key_first = offset,
                                  .key_end = offset + 1,
                                  .type = type,
                                  .q = p[0],
                                  .k = gpu_at(type, p[0], cols),
                                  .v = gpu_at(type, p[0], 2 * cols),
                                  .q_ld = 3 * cols,
                                  .kv_ld = 3 * cols,
                                  .lse = p[1],
                                  .scale = 0.2F};
}

/* The gradients of q, k and v are copied as bytes. */
static void attention(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    enum gpu_type type = gpu_stored(q->device, precision);
    struct gpu_attention at = attention_of(p, p[5], SIZE, type);
    for (int causal = 0; causal < 2; causal++) {
        at.causal = causal;
        q->op->attention(q, p[2], &at);
        q->op->attention_back(q, p[4], gpu_at(type, p[4], COLS), gpu_at(type, p[4], 2 * COLS), p[3],
                              &at);
        if (!causal)
            q->op->copy(q, p[6], p[4], gpu_bytes(type, (size_t)3 * ROWS * COLS) / sizeof(float));
    }
}

/* Marked as long, so that a card may use cuDNN; so many that it gets more, empty ones. */
static void attention_long(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    struct gpu_attention at = attention_of(p, p[3], LONG / HEADS, gpu_stored(q->device, precision));
    at.longest = 128;
    at.sequences = MANY;
    q->op->attention(q, p[2], &at);
}

/* clang-format off */
#define PRODUCT                                                                                    \
    {MATRIX, {NORMAL, WIDE * COLS}, {NORMAL, ROWS * WIDE}, {NORMAL, WIDE}, {NORMAL, ROWS * WIDE},  \
     {NORMAL, COLS * WIDE}}
#define ALIGNED                                                                                    \
    {{STORED, TOKENS * BROAD}, {STORED, SOME * SOME}, {EMPTY, SOME * BROAD}, {STORED, BROAD},      \
     {EMPTY, SOME * SOME}, {ZERO, BROAD * BROAD}, {ZERO, BROAD / 4 * BROAD}}
#define ACTIVATIONS                                                                                \
    {ACTIVE, EMPTY_ACTIVE, EMPTY_ACTIVE, ACTIVE, {NORMAL, COLS}, EMPTY_ACTIVE, EMPTY_ACTIVE,       \
     EMPTY_ACTIVE, {NORMAL, COLS}}
#define NORM                                                                                       \
    {MATRIX, EMPTY_ACTIVE, {ZERO, ROWS}, {ZERO, ROWS}, {POSITIVE, COLS}, {NORMAL, COLS}, MATRIX,   \
     {NORMAL, COLS}, {NORMAL, COLS}, EMPTY_ACTIVE, ACTIVE, EMPTY_ACTIVE, EMPTY_ACTIVE}
#define RESIDUAL                                                                                   \
    {ACTIVE, EMPTY_ACTIVE, {ZERO, ROWS}, {ZERO, ROWS}, {POSITIVE, COLS}, {NORMAL, COLS}, RESULT,   \
     MATRIX, RESULT}
#define ATTENTION                                                                                  \
    {{STORED, 3 * ROWS * COLS}, {ZERO, ROWS * HEADS}, EMPTY_ACTIVE, ACTIVE,                        \
     {EMPTY, 3 * ROWS * COLS}, {OFFSETS, SEQUENCES + 1}, {EMPTY, 3 * ROWS * COLS}}

/* Devices round TF32 and bf16 differently: the CPU may compute in f32. */
const struct check_case layer_cases[] = {
    {"matmul f32", GPU_F32, 1e-5, matmul_f32, PRODUCT},
    {"matmul tf32", GPU_TF32, 2e-2, matmul_tf32, PRODUCT},
    {"matmul bf16", GPU_BF16, 1e-1, matmul_bf16, PRODUCT},
    {"matmul stored bf16", GPU_BF16, 2e-2, matmul_stored,
     {ACTIVE, {STORED, WIDE * COLS}, {EMPTY, ROWS * WIDE}, {STORED, WIDE}, {EMPTY, ROWS * WIDE},
      {ZERO, ROWS * WIDE}, {NORMAL, ROWS * WIDE}, {NORMAL, WIDE}}},
    {"matmul aligned bf16", GPU_BF16, 2e-2, matmul_aligned, ALIGNED},
    {"matmul transposed", GPU_F32, 1e-5, matmul_transposed, PRODUCT},
    {"activations", GPU_F32, 1e-5, activations, ACTIVATIONS},
    {"activations bf16", GPU_BF16, 1e-2, activations, ACTIVATIONS},
    {"norm", GPU_F32, 1e-4, norm, NORM},
    {"norm bf16", GPU_BF16, 1e-2, norm, NORM},
    {"residual_norm", GPU_F32, 1e-4, residual_norm, RESIDUAL},
    {"residual_norm bf16", GPU_BF16, 1e-2, residual_norm, RESIDUAL},
    {"attention", GPU_F32, 1e-4, attention, ATTENTION},
    {"attention bf16", GPU_BF16, 3e-2, attention, ATTENTION},
    {"attention long", GPU_BF16, 3e-2, attention_long,
     {{STORED, 3 * ROWS * LONG}, {ZERO, ROWS * HEADS}, {EMPTY, ROWS * LONG},
      {EVEN, MANY + 1}}},
};
/* clang-format on */
const size_t layer_cases_number = sizeof layer_cases / sizeof *layer_cases;
