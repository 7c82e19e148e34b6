/* The checks of the other tensor ops; see tensor_cases.h. */
#include "ops/doctor/tensor_cases.h"

static void elementwise(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    enum { N = ROWS * COLS };
    const float *three[] = {p[0], p[1], p[2]};
    q->op->add(q, p[1], p[0], N);
    q->op->scale(q, p[1], N, 0.7F);
    q->op->sum_many(q, p[3], three, 3, N);
    q->op->copy(q, p[2], p[3], N - 1);
    q->op->copy_rows(q, p[4], COLS + 1, p[0], COLS, p[6], ROWS, COLS - 3);
    q->op->add_bias(q, p[2], p[2], p[5], ROWS, COLS);
    q->op->add_columns(q, p[5], GPU_TYPE_F32, p[2], ROWS, COLS);
    q->op->fill(q, p[7], COLS, 3);
}

static void sum_squares(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    q->op->sum_squares(q, p[0], p[1], (size_t)ROWS * COLS);
}

static void normalize(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    q->op->normalize(q, p[1], p[2], p[0], ROWS, COLS);
    q->op->normalize_back(q, p[3], p[4], p[1], p[2], ROWS, COLS);
    q->op->normalize(q, p[5], p[6], p[5], 1, 20000);
}

static void convolution(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    struct gpu_convolution how = {3, 6, 7, 4, 8, 3, 2, true, precision};
    q->op->convolve(q, p[2], p[0], p[1], p[3], &how);
    q->op->convolve_back_input(q, p[4], p[5], p[1], &how);
    q->op->convolve_back_filters(q, p[6], p[7], p[5], p[0], &how);
}

/* The positions are bytes in a buffer of floats. */
static void max_pool(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    struct gpu_max_pool how = {2, 7, 13, 5, 2, 3};
    q->op->max_pool(q, p[1], p[2], p[0], &how);
    q->op->max_pool_back(q, p[3], p[1], p[2], &how);
}

static void embed(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
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

static void pool(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    for (int kind = GPU_MEAN; kind <= GPU_MAX; kind++) {
        q->op->pool(q, p[1 + kind], p[3], p[0], p[4], p[5], SEQUENCES, COLS,
                    (enum gpu_pooling)kind);
        q->op->pool_back(q, p[6], p[1], p[3], p[4], p[5], SEQUENCES, COLS, (enum gpu_pooling)kind);
    }
}

static void columns(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    q->op->pool(q, p[7], NULL, p[0], p[8], p[9], SEQUENCES, COLS, GPU_SUM);
    q->op->column_sums(q, p[1], p[0], p[2], ROWS, COLS);
    q->op->affine_columns(q, p[3], p[0], p[4], NULL, NULL, p[5], ROWS, COLS);
    q->op->affine_columns(q, p[3], p[3], p[4], p[2], p[6], p[5], ROWS, COLS);
}

/* Returns a loss on a square matrix of scores. */
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

static void cross_entropy(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    struct gpu_loss how = loss_of(p);
    q->op->cross_entropy(q, p[0], &how);
    how.group = NULL;
    how.self = false;
    how.smoothing = 0.1F;
    q->op->cross_entropy(q, p[5], &how);
}

static void triplet_loss(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    struct gpu_loss how = loss_of(p);
    how.squared = true;
    how.swapped = p[5];
    q->op->triplet_loss(q, p[0], &how);
}

static void siamese_loss(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    struct gpu_loss how = loss_of(p);
    q->op->siamese_loss(q, p[0], &how);
}

static void histogram(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    struct gpu_loss how = loss_of(p);
    q->op->histogram(q, p[5], p[0], &how);
    q->op->histogram_back(q, p[0], p[5], &how);
}

static void losses(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    double *sums = p[0], *bins = p[1];
    q->op->sum_losses(q, sums, p[2], p[3], (size_t)ROWS * COLS, ROWS);
    q->op->histogram_loss(q, bins, sums + 2, 3);
}

/* p[7] and p[8] receive p[0] and p[6] as bf16, or unchanged. */
static void updates(struct gpu_queue *q, void *const *p, enum gpu_precision precision)
{
    bool bf16 = gpu_stored(q->device, precision) == GPU_TYPE_BF16;
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
    q->op->combine(q, p[6], bf16 ? p[8] : NULL, 0.9F, p[0], 0.3F, p[3], (size_t)ROWS * COLS, o,
                   true);
    for (int i = 0; i < 2; i++, how.coupled = true)
        q->op->adamw(q, p[0], bf16 ? p[7] : NULL, p[1], p[2], p[3], (size_t)ROWS * COLS, &how);
    for (int i = 0; i < 2 && !bf16; i++)
        q->op->copy(q, p[7 + i], p[i ? 6 : 0], (size_t)ROWS * COLS);
    q->op->rmsprop(q, p[6], p[1], p[2], p[3], (size_t)ROWS * COLS,
                   &(struct gpu_rmsprop){0.01F, 0.9F, 0.8F, 0.5F, o});
}

enum { OUTCOME_FLOATS = sizeof(struct gpu_outcome) / sizeof(float) };
/* clang-format off */
#define CONVOLUTION                                                                                \
    {MATRIX, MATRIX, RESULT, {NORMAL, 8}, RESULT, MATRIX, MATRIX, {NORMAL, 8}}
#define SCORES {COSINE, ROWS * ROWS}
#define LOSS SCORES, {TARGETS, ROWS}, {NAMES, ROWS}, {ZERO, ROWS}, {ZERO, ROWS}
#define UPDATES                                                                                    \
    {MATRIX, RESULT, RESULT, MATRIX, {ZERO, OUTCOME_FLOATS}, {DOUBLES, 4}, RESULT, EMPTY_ACTIVE,   \
     EMPTY_ACTIVE}

/* Devices round TF32 and bf16 differently: the CPU may compute in f32. */
const struct check_case tensor_cases[] = {
    {"elementwise", GPU_F32, 1e-5, elementwise,
     {MATRIX, MATRIX, MATRIX, RESULT, {ZERO, ROWS * (COLS + 1)}, {NORMAL, COLS}, {ORDER, ROWS},
      {NORMAL, COLS}}},
    {"sum_squares", GPU_F32, 1e-12, sum_squares, {{DOUBLES, 1}, MATRIX}},
    {"normalize", GPU_F32, 1e-5, normalize,
     {MATRIX, RESULT, {ZERO, ROWS}, RESULT, MATRIX, {NORMAL, 20000}, {ZERO, 1}}},
    {"convolution f32", GPU_F32, 1e-5, convolution, CONVOLUTION},
    {"convolution tf32", GPU_TF32, 3e-2, convolution, CONVOLUTION},
    {"convolution bf16", GPU_BF16, 1e-1, convolution, CONVOLUTION},
    {"max_pool", GPU_F32, 0, max_pool, {MATRIX, RESULT, RESULT, RESULT}},
    {"embed", GPU_F32, 1e-5, embed,
     {RESULT, {NORMAL, WORDS * COLS}, MATRIX, {NORMAL, WORDS * COLS}, MATRIX, {NAMES, ROWS},
      {OFFSETS, SEQUENCES + 1}}},
    {"pool", GPU_F32, 1e-5, pool,
     {MATRIX, {ZERO, SEQUENCES * COLS}, {ZERO, SEQUENCES * COLS}, {NAMES, SEQUENCES * COLS},
      {ORDER, ROWS}, {OFFSETS, SEQUENCES + 1}, MATRIX}},
    {"columns", GPU_F32, 1e-5, columns,
     {MATRIX, {DOUBLES, 2 * COLS}, MATRIX, RESULT, {NORMAL, COLS}, {NORMAL, COLS}, {NORMAL, COLS},
      {ZERO, SEQUENCES * COLS}, {ORDER, ROWS}, {OFFSETS, SEQUENCES + 1}}},
    {"cross_entropy", GPU_F32, 1e-5, cross_entropy, {LOSS, SCORES}},
    {"triplet_loss", GPU_F32, 1e-5, triplet_loss, {LOSS, SCORES}},
    {"siamese_loss", GPU_F32, 1e-5, siamese_loss, {LOSS}},
    {"histogram", GPU_F32, 1e-4, histogram, {LOSS, {DOUBLES, 2 * GPU_BINS}}},
    {"losses", GPU_F32, 1e-12, losses,
     {{DOUBLES, 3}, {DOUBLES, 3 * 2 * GPU_BINS}, MATRIX, MATRIX}},
    {"updates", GPU_F32, 1e-5, updates, UPDATES},
    {"updates bf16", GPU_BF16, 1e-2, updates, UPDATES},
};
/* clang-format on */
const size_t tensor_cases_number = sizeof tensor_cases / sizeof *tensor_cases;
