/* What is checked of each tensor op; see tensor_cases.h. */
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

static void elementwise(struct gpu_queue *q, void *const *p)
{
    enum { N = ROWS * COLS };
    const float *three[] = {p[0], p[1], p[2]};
    q->op->add(q, p[1], p[0], N);
    q->op->scale(q, p[1], N, 0.7F);
    q->op->sum_many(q, p[3], three, 3, N);
    q->op->copy(q, p[2], p[3], N - 1);
    q->op->copy_rows(q, p[4], COLS + 1, p[0], COLS, p[6], ROWS, COLS - 3);
    q->op->add_bias(q, p[2], p[2], p[5], ROWS, COLS);
    q->op->add_columns(q, p[5], p[2], ROWS, COLS);
    q->op->fill(q, p[7], COLS, 3);
}

static void sum_squares(struct gpu_queue *q, void *const *p)
{
    q->op->sum_squares(q, p[0], p[1], (size_t)ROWS * COLS);
}

static void activations(struct gpu_queue *q, void *const *p)
{
    q->op->activate(q, p[1], p[0], p[4], ROWS, COLS, GPU_GELU);
    q->op->activate_back(q, p[2], p[3], p[0], p[4], ROWS, COLS, GPU_GELU);
    q->op->activate(q, p[5], p[0], NULL, ROWS, COLS, GPU_RELU);
    q->op->activate_back(q, p[6], p[3], p[5], NULL, ROWS, COLS, GPU_RELU);
}

static void dropout(struct gpu_queue *q, void *const *p)
{
    q->op->dropout(q, p[1], p[0], p[2], (size_t)ROWS * COLS, 0.3F, 99, UINT32_MAX - 1000);
}

static void norm(struct gpu_queue *q, void *const *p)
{
    q->op->norm(q, p[1], p[2], p[3], p[0], p[4], p[5], ROWS, COLS);
    q->op->norm_back(q, p[6], p[7], p[8], p[9], p[10], p[0], p[2], p[3], p[4], p[5], ROWS, COLS,
                     true);
}

static void residual_norm(struct gpu_queue *q, void *const *p)
{
    struct gpu_dropout drop = {0.3F, 99, UINT32_MAX - 1000};
    q->op->residual_norm(q, p[1], p[2], p[3], p[6], p[0], p[7], &drop, p[4], p[5], ROWS, COLS);
}

static void normalize(struct gpu_queue *q, void *const *p)
{
    q->op->normalize(q, p[1], p[2], p[0], ROWS, COLS);
    q->op->normalize_back(q, p[3], p[4], p[1], p[2], ROWS, COLS);
    q->op->normalize(q, p[5], p[6], p[5], 1, 20000);
}

/* q, k and v beside each other. */
static void attention(struct gpu_queue *q, void *const *p)
{
    const uint32_t *offset = p[5];
    float *x = p[0], *dx = p[4];
    struct gpu_attention at = {.sequences = SEQUENCES,
                               .heads = HEADS,
                               .size = SIZE,
                               .rows = ROWS,
                               .first = offset,
                               .end = offset + 1,
                               .key_first = offset,
                               .key_end = offset + 1,
                               .q = x,
                               .k = x + COLS,
                               .v = x + 2 * COLS,
                               .q_ld = 3 * COLS,
                               .kv_ld = 3 * COLS,
                               .lse = p[1],
                               .scale = 0.2F};
    for (int causal = 0; causal < 2; causal++) {
        at.causal = causal;
        q->op->attention(q, p[2], &at);
        q->op->attention_back(q, dx, dx + COLS, dx + 2 * COLS, p[3], &at);
        if (!causal)
            q->op->copy(q, p[6], dx, (size_t)3 * ROWS * COLS);
    }
}

/* In bf16, said to be long: a card may ask cuDNN. */
static void attention_long(struct gpu_queue *q, void *const *p)
{
    const uint32_t *offset = p[3];
    const float *x = p[0];
    q->op->attention(q, p[2],
                     &(struct gpu_attention){.sequences = SEQUENCES,
                                             .heads = HEADS,
                                             .size = 32,
                                             .rows = ROWS,
                                             .first = offset,
                                             .end = offset + 1,
                                             .key_first = offset,
                                             .key_end = offset + 1,
                                             .q = x,
                                             .k = x + COLS,
                                             .v = x + 2 * COLS,
                                             .q_ld = 3 * COLS,
                                             .kv_ld = 3 * COLS,
                                             .lse = p[1],
                                             .scale = 0.2F,
                                             .precision = GPU_BF16,
                                             .longest = 128});
}

static void convolve(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    struct gpu_convolution how = {3, 6, 7, 4, 8, 3, 2, true, precision};
    q->op->convolve(q, p[2], p[0], p[1], p[3], &how);
    q->op->convolve_back_input(q, p[4], p[5], p[1], &how);
    q->op->convolve_back_filters(q, p[6], p[7], p[5], p[0], &how);
}

static void convolution_f32(struct gpu_queue *q, void *const *p)
{
    convolve(q, p, GPU_F32);
}

static void convolution_tf32(struct gpu_queue *q, void *const *p)
{
    convolve(q, p, GPU_TF32);
}

static void convolution_bf16(struct gpu_queue *q, void *const *p)
{
    convolve(q, p, GPU_BF16);
}

/* The places are bytes in memory of floats. */
static void max_pool(struct gpu_queue *q, void *const *p)
{
    struct gpu_max_pool how = {2, 7, 13, 5, 2, 3};
    q->op->max_pool(q, p[1], p[2], p[0], &how);
    q->op->max_pool_back(q, p[3], p[1], p[2], &how);
}

static void embed(struct gpu_queue *q, void *const *p)
{
    struct gpu_embedding how = {.token = p[5],
                                .offset = p[6],
                                .sequences = SEQUENCES,
                                .tokens = ROWS,
                                .cols = COLS,
                                .vocabulary = WORDS,
                                .places = ROWS,
                                .scale = 3};
    q->op->embed(q, p[0], p[1], p[2], &how);
    q->op->embed_back(q, p[3], p[4], p[0], &how);
}

static void pool(struct gpu_queue *q, void *const *p)
{
    for (int kind = GPU_MEAN; kind <= GPU_MAX; kind++) {
        q->op->pool(q, p[1 + kind], p[3], p[0], p[4], p[5], SEQUENCES, COLS,
                    (enum gpu_pooling)kind);
        q->op->pool_back(q, p[6], p[1], p[3], p[4], p[5], SEQUENCES, COLS, (enum gpu_pooling)kind);
    }
}

static void columns(struct gpu_queue *q, void *const *p)
{
    q->op->pool(q, p[7], NULL, p[0], p[8], p[9], SEQUENCES, COLS, GPU_SUM);
    q->op->column_sums(q, p[1], p[0], p[2], ROWS, COLS);
    q->op->affine_columns(q, p[3], p[0], p[4], NULL, NULL, p[5], ROWS, COLS);
    q->op->affine_columns(q, p[3], p[3], p[4], p[2], p[6], p[5], ROWS, COLS);
}

/* A square matrix of scores. */
static struct gpu_loss loss_of(void *const *p)
{
    return (struct gpu_loss){.rows = ROWS,
                             .cols = ROWS,
                             .target = p[1],
                             .group = p[2],
                             .self = true,
                             .margin = 0.4F,
                             .scale = 0.5F,
                             .loss = p[3],
                             .correct = p[4]};
}

static void cross_entropy(struct gpu_queue *q, void *const *p)
{
    struct gpu_loss how = loss_of(p);
    q->op->cross_entropy(q, p[0], &how);
    how.group = NULL;
    how.self = false;
    how.smoothing = 0.1F;
    q->op->cross_entropy(q, p[5], &how);
}

static void triplet_loss(struct gpu_queue *q, void *const *p)
{
    struct gpu_loss how = loss_of(p);
    how.squared = true;
    how.swapped = p[5];
    q->op->triplet_loss(q, p[0], &how);
}

static void siamese_loss(struct gpu_queue *q, void *const *p)
{
    struct gpu_loss how = loss_of(p);
    q->op->siamese_loss(q, p[0], &how);
}

static void histogram(struct gpu_queue *q, void *const *p)
{
    struct gpu_loss how = loss_of(p);
    q->op->histogram(q, p[5], p[0], &how);
    q->op->histogram_back(q, p[0], p[5], &how);
}

static void losses(struct gpu_queue *q, void *const *p)
{
    double *sums = p[0], *bins = p[1];
    q->op->sum_losses(q, sums, p[2], p[3], (size_t)ROWS * COLS, ROWS);
    q->op->histogram_loss(q, bins, sums + 2, 3);
}

static void updates(struct gpu_queue *q, void *const *p)
{
    struct gpu_outcome *o = p[4];
    struct gpu_adamw how = {.lr = 0.01F,
                            .beta1 = 0.9F,
                            .beta2 = 0.999F,
                            .eps = 1e-8F,
                            .weight_decay = 0.1F,
                            .correction1 = 0.1F,
                            .correction2 = 0.001F,
                            .outcome = o};
    q->op->conclude(q, o, p[5], 2, 3, p[5], 4, 0.5);
    q->op->combine(q, p[6], 0.9F, p[0], 0.3F, p[3], (size_t)ROWS * COLS, o, true);
    for (int i = 0; i < 2; i++, how.coupled = true)
        q->op->adamw(q, p[0], p[1], p[2], p[3], (size_t)ROWS * COLS, &how);
}

enum { OUTCOME_FLOATS = sizeof(struct gpu_outcome) / sizeof(float) };
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
#define CONVOLUTION                                                                                \
    {                                                                                              \
        MATRIX, MATRIX, RESULT, {NORMAL, 8}, RESULT, MATRIX, MATRIX,                               \
        {                                                                                          \
            NORMAL, 8                                                                              \
        }                                                                                          \
    }
#define SCORES                                                                                     \
    {                                                                                              \
        COSINE, ROWS *ROWS                                                                         \
    }
#define LOSS                                                                                       \
    SCORES, {TARGETS, ROWS}, {NAMES, ROWS}, {ZERO, ROWS},                                          \
    {                                                                                              \
        ZERO, ROWS                                                                                 \
    }

/* TF32 and bf16 are rounded as the device likes: the CPU may compute these products in f32. */
const struct check_case tensor_cases[] = {
    {"matmul f32", 1e-5, matmul_f32, PRODUCT},
    {"matmul tf32", 2e-2, matmul_tf32, PRODUCT},
    {"matmul bf16", 1e-1, matmul_bf16, PRODUCT},
    {"matmul transposed", 1e-5, matmul_transposed, PRODUCT},
    {"elementwise",
     1e-5,
     elementwise,
     {MATRIX,
      MATRIX,
      MATRIX,
      RESULT,
      {ZERO, ROWS *(COLS + 1)},
      {NORMAL, COLS},
      {ORDER, ROWS},
      {NORMAL, COLS}}},
    {"sum_squares", 1e-12, sum_squares, {{DOUBLES, 1}, MATRIX}},
    {"activations",
     1e-5,
     activations,
     {MATRIX, RESULT, RESULT, MATRIX, {NORMAL, COLS}, RESULT, RESULT}},
    {"dropout", 1e-6, dropout, {MATRIX, RESULT, MATRIX}},
    {"norm",
     1e-4,
     norm,
     {MATRIX,
      RESULT,
      {ZERO, ROWS},
      {ZERO, ROWS},
      {POSITIVE, COLS},
      {NORMAL, COLS},
      MATRIX,
      {NORMAL, COLS},
      {NORMAL, COLS},
      RESULT,
      MATRIX}},
    {"residual_norm",
     1e-4,
     residual_norm,
     {MATRIX,
      RESULT,
      {ZERO, ROWS},
      {ZERO, ROWS},
      {POSITIVE, COLS},
      {NORMAL, COLS},
      RESULT,
      MATRIX}},
    {"normalize",
     1e-5,
     normalize,
     {MATRIX, RESULT, {ZERO, ROWS}, RESULT, MATRIX, {NORMAL, 20000}, {ZERO, 1}}},
    {"attention",
     1e-4,
     attention,
     {{NORMAL, 3 * ROWS *COLS},
      {ZERO, ROWS *HEADS},
      RESULT,
      MATRIX,
      {ZERO, 3 * ROWS *COLS},
      {OFFSETS, SEQUENCES + 1},
      {ZERO, 3 * ROWS *COLS}}},
    {"attention bf16",
     3e-2,
     attention_long,
     {{NORMAL, 3 * ROWS *COLS}, {ZERO, ROWS *HEADS}, RESULT, {OFFSETS, SEQUENCES + 1}}},
    {"convolution f32", 1e-5, convolution_f32, CONVOLUTION},
    {"convolution tf32", 3e-2, convolution_tf32, CONVOLUTION},
    {"convolution bf16", 1e-1, convolution_bf16, CONVOLUTION},
    {"max_pool", 0, max_pool, {MATRIX, RESULT, RESULT, RESULT}},
    {"embed",
     1e-5,
     embed,
     {RESULT,
      {NORMAL, WORDS *COLS},
      MATRIX,
      {NORMAL, WORDS *COLS},
      MATRIX,
      {NAMES, ROWS},
      {OFFSETS, SEQUENCES + 1}}},
    {"pool",
     1e-5,
     pool,
     {MATRIX,
      {ZERO, SEQUENCES *COLS},
      {ZERO, SEQUENCES *COLS},
      {NAMES, SEQUENCES *COLS},
      {ORDER, ROWS},
      {OFFSETS, SEQUENCES + 1},
      MATRIX}},
    {"columns",
     1e-5,
     columns,
     {MATRIX,
      {DOUBLES, 2 * COLS},
      MATRIX,
      RESULT,
      {NORMAL, COLS},
      {NORMAL, COLS},
      {NORMAL, COLS},
      {ZERO, SEQUENCES *COLS},
      {ORDER, ROWS},
      {OFFSETS, SEQUENCES + 1}}},
    {"cross_entropy", 1e-5, cross_entropy, {LOSS, SCORES}},
    {"triplet_loss", 1e-5, triplet_loss, {LOSS, SCORES}},
    {"siamese_loss", 1e-5, siamese_loss, {LOSS}},
    {"histogram", 1e-4, histogram, {LOSS, {DOUBLES, 2 * GPU_BINS}}},
    {"losses", 1e-12, losses, {{DOUBLES, 3}, {DOUBLES, 3 * 2 * GPU_BINS}, MATRIX, MATRIX}},
    {"updates",
     1e-5,
     updates,
     {MATRIX, RESULT, RESULT, MATRIX, {ZERO, OUTCOME_FLOATS}, {DOUBLES, 4}, RESULT}},
};
const size_t tensor_cases_number = sizeof tensor_cases / sizeof *tensor_cases;
