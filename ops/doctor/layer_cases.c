/* What is checked of the ops of layers, in f32 and as activations are stored; see tensor_cases.h.
 */
#include "ops/doctor/tensor_cases.h"

/* What STORED and EMPTY buffers hold. */
static enum gpu_type stored(const struct gpu_queue *q)
{
    return gpu_stored(q->device, GPU_BF16);
}

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

static void matmul_f32(struct gpu_queue *q, void *const *p)
{
    struct gpu_matmul mm = product(p, GPU_F32);
    mm.bias = p[3];
    mm.relu = true;
    q->op->matmul(q, &mm);
}

static void matmul_tf32(struct gpu_queue *q, void *const *p)
{
    struct gpu_matmul mm = product(p, GPU_TF32);
    mm.base = p[4];
    mm.beta = -2;
    mm.bias = p[3];
    q->op->matmul(q, &mm);
}

static void matmul_bf16(struct gpu_queue *q, void *const *p)
{
    struct gpu_matmul mm = product(p, GPU_BF16);
    mm.mask = p[4];
    q->op->matmul(q, &mm);
}

/* To c of both types. */
static void matmul_stored(struct gpu_queue *q, void *const *p)
{
    struct gpu_matmul mm = product(p, GPU_BF16);
    mm.read = mm.write = stored(q);
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
static void matmul_transposed(struct gpu_queue *q, void *const *p)
{
    q->op->matmul(q, &(struct gpu_matmul){.ta = true,
                                          .beta = 1,
                                          .m = COLS,
                                          .n = WIDE,
                                          .k = ROWS,
                                          .alpha = 1,
                                          .a = p[0],
                                          .lda = COLS,
                                          .b = p[4],
                                          .ldb = WIDE,
                                          .c = p[5],
                                          .ldc = WIDE});
}

static const struct gpu_dropout drop = {0.3F, 99, UINT32_MAX - 1000};

static void activate(struct gpu_queue *q, void *const *p, enum gpu_type type)
{
    q->op->activate(q, type, p[1], p[0], p[4], ROWS, COLS, GPU_GELU);
    q->op->activate_back(q, type, p[2], p[3], p[0], p[4], ROWS, COLS, GPU_GELU);
    q->op->activate(q, type, p[5], p[0], NULL, ROWS, COLS, GPU_RELU);
    q->op->activate_back(q, type, p[6], p[3], p[5], NULL, ROWS, COLS, GPU_RELU);
    q->op->dropout(q, type, p[7], p[0], p[3], (size_t)ROWS * COLS, &drop);
    q->op->add_columns(q, p[8], type, p[0], ROWS, COLS);
}

static void activations(struct gpu_queue *q, void *const *p)
{
    activate(q, p, GPU_TYPE_F32);
}

static void activations_stored(struct gpu_queue *q, void *const *p)
{
    activate(q, p, stored(q));
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

/* The backward twice: with a branch behind dropout, and with one as it is. */
static void normed(struct gpu_queue *q, void *const *p, enum gpu_type type)
{
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

static void norm(struct gpu_queue *q, void *const *p)
{
    normed(q, p, GPU_TYPE_F32);
}

static void norm_stored(struct gpu_queue *q, void *const *p)
{
    normed(q, p, stored(q));
}

static void residual(struct gpu_queue *q, void *const *p, enum gpu_type type)
{
    struct gpu_norm how = norm_of(p, p[6], type);
    q->op->residual_norm(q, p[1], type, p[0], p[7], &drop, &how);
    how.type = GPU_TYPE_F32;
    q->op->residual_norm(q, p[8], type, p[0], p[7], &drop, &how);
}

static void residual_norm(struct gpu_queue *q, void *const *p)
{
    residual(q, p, GPU_TYPE_F32);
}

static void residual_norm_stored(struct gpu_queue *q, void *const *p)
{
    residual(q, p, stored(q));
}

/* q, k and v beside each other; all are copied by their bytes. */
static void attend(struct gpu_queue *q, void *const *p, enum gpu_type type)
{
    const uint32_t *offset = p[5];
    struct gpu_attention at = {.sequences = SEQUENCES,
                               .heads = HEADS,
                               .size = SIZE,
                               .rows = ROWS,
                               .first = offset,
                               .end = offset + 1,
                               .key_first = offset,
                               .key_end = offset + 1,
                               .type = type,
                               .q = p[0],
                               .k = gpu_at(type, p[0], COLS),
                               .v = gpu_at(type, p[0], 2 * COLS),
                               .q_ld = 3 * COLS,
                               .kv_ld = 3 * COLS,
                               .lse = p[1],
                               .scale = 0.2F};
    for (int causal = 0; causal < 2; causal++) {
        at.causal = causal;
        q->op->attention(q, p[2], &at);
        q->op->attention_back(q, p[4], gpu_at(type, p[4], COLS), gpu_at(type, p[4], 2 * COLS), p[3],
                              &at);
        if (!causal)
            q->op->copy(q, p[6], p[4], gpu_bytes(type, (size_t)3 * ROWS * COLS) / sizeof(float));
    }
}

static void attention(struct gpu_queue *q, void *const *p)
{
    attend(q, p, GPU_TYPE_F32);
}

static void attention_stored(struct gpu_queue *q, void *const *p)
{
    attend(q, p, stored(q));
}

/* Said to be long: a card may ask cuDNN. */
static void attention_long(struct gpu_queue *q, void *const *p)
{
    const uint32_t *offset = p[3];
    enum gpu_type type = stored(q);
    q->op->attention(q, p[2],
                     &(struct gpu_attention){.sequences = SEQUENCES,
                                             .heads = HEADS,
                                             .size = LONG / HEADS,
                                             .rows = ROWS,
                                             .first = offset,
                                             .end = offset + 1,
                                             .key_first = offset,
                                             .key_end = offset + 1,
                                             .type = type,
                                             .q = p[0],
                                             .k = gpu_at(type, p[0], LONG),
                                             .v = gpu_at(type, p[0], 2 * LONG),
                                             .q_ld = 3 * LONG,
                                             .kv_ld = 3 * LONG,
                                             .lse = p[1],
                                             .scale = 0.2F,
                                             .longest = 128});
}

#define MATRIX                                                                                     \
    {                                                                                              \
        NORMAL, ROWS *COLS                                                                         \
    }
#define RESULT                                                                                     \
    {                                                                                              \
        ZERO, ROWS *COLS                                                                           \
    }
#define PRODUCT                                                                                    \
    {                                                                                              \
        MATRIX, {NORMAL, WIDE * COLS}, {NORMAL, ROWS * WIDE}, {NORMAL, WIDE},                      \
            {NORMAL, ROWS * WIDE},                                                                 \
        {                                                                                          \
            NORMAL, COLS *WIDE                                                                     \
        }                                                                                          \
    }
#define ACTIVATIONS(stored, empty)                                                                 \
    {                                                                                              \
        {stored, ROWS * COLS}, {empty, ROWS * COLS}, {empty, ROWS * COLS}, {stored, ROWS * COLS},  \
            {NORMAL, COLS}, {empty, ROWS * COLS}, {empty, ROWS * COLS}, {empty, ROWS * COLS},      \
        {                                                                                          \
            NORMAL, COLS                                                                           \
        }                                                                                          \
    }
#define NORM(stored, empty)                                                                        \
    {                                                                                              \
        MATRIX, {empty, ROWS * COLS}, {ZERO, ROWS}, {ZERO, ROWS}, {POSITIVE, COLS},                \
            {NORMAL, COLS}, MATRIX, {NORMAL, COLS}, {NORMAL, COLS}, {empty, ROWS * COLS},          \
            {stored, ROWS * COLS}, {empty, ROWS * COLS},                                           \
        {                                                                                          \
            empty, ROWS *COLS                                                                      \
        }                                                                                          \
    }
#define RESIDUAL(stored, empty)                                                                    \
    {                                                                                              \
        {stored, ROWS * COLS}, {empty, ROWS * COLS}, {ZERO, ROWS}, {ZERO, ROWS}, {POSITIVE, COLS}, \
            {NORMAL, COLS}, RESULT, MATRIX, RESULT                                                 \
    }
#define ATTENTION(stored, empty)                                                                   \
    {                                                                                              \
        {stored, 3 * ROWS * COLS}, {ZERO, ROWS * HEADS}, {empty, ROWS * COLS},                     \
            {stored, ROWS * COLS}, {empty, 3 * ROWS * COLS}, {OFFSETS, SEQUENCES + 1},             \
        {                                                                                          \
            empty, 3 * ROWS *COLS                                                                  \
        }                                                                                          \
    }
/* TF32 and bf16 are rounded as the device likes: the CPU may compute in f32. */
const struct check_case layer_cases[] = {
    {"matmul f32", 1e-5, matmul_f32, PRODUCT},
    {"matmul tf32", 2e-2, matmul_tf32, PRODUCT},
    {"matmul bf16", 1e-1, matmul_bf16, PRODUCT},
    {"matmul stored bf16",
     2e-2,
     matmul_stored,
     {{STORED, ROWS *COLS},
      {STORED, WIDE *COLS},
      {EMPTY, ROWS *WIDE},
      {STORED, WIDE},
      {EMPTY, ROWS *WIDE},
      {ZERO, ROWS *WIDE},
      {NORMAL, ROWS *WIDE},
      {NORMAL, WIDE}}},
    {"matmul transposed", 1e-5, matmul_transposed, PRODUCT},
    {"activations", 1e-5, activations, ACTIVATIONS(NORMAL, ZERO)},
    {"activations bf16", 1e-2, activations_stored, ACTIVATIONS(STORED, EMPTY)},
    {"norm", 1e-4, norm, NORM(NORMAL, ZERO)},
    {"norm bf16", 1e-2, norm_stored, NORM(STORED, EMPTY)},
    {"residual_norm", 1e-4, residual_norm, RESIDUAL(NORMAL, ZERO)},
    {"residual_norm bf16", 1e-2, residual_norm_stored, RESIDUAL(STORED, EMPTY)},
    {"attention", 1e-4, attention, ATTENTION(NORMAL, ZERO)},
    {"attention bf16", 3e-2, attention_stored, ATTENTION(STORED, EMPTY)},
    {"attention long",
     3e-2,
     attention_long,
     {{STORED, 3 * ROWS *LONG},
      {ZERO, ROWS *HEADS},
      {EMPTY, ROWS *LONG},
      {OFFSETS, SEQUENCES + 1}}},
};
const size_t layer_cases_number = sizeof layer_cases / sizeof *layer_cases;
