/* Training speed on the CPU: steps and tokens a second, and how the floating-point rate of the
 * step's matrix products, over the whole step's time, compares with that of one large product on
 * every thread.
 *
 *     bench_train [THREADS [STEPS [D_MODEL LAYERS D_FF [BATCH [bf16]]]]]
 */
#include "base/os.h"
#include "ops/learn/trainer.h"
#include "tests/ops/learn/toy.h"

#include <stdio.h>
#include <stdlib.h>

enum { CLUSTERS = 300, MEMBERS = 60, SIDE = 1024, PRODUCTS = 12 };

static float *peak_data;

static void peak_product(void *arg, size_t item, struct gpu_queue *q)
{
    float *c = peak_data + (2 + item) * SIDE * SIDE;
    for (int i = 0; i < PRODUCTS; i++)
        q->op->matmul(q, &(struct gpu_matmul){.m = SIDE,
                                              .n = SIDE,
                                              .k = SIDE,
                                              .alpha = 1,
                                              .a = peak_data,
                                              .lda = SIDE,
                                              .b = peak_data + SIDE * SIDE,
                                              .ldb = SIDE,
                                              .c = c,
                                              .ldc = SIDE});
}

/* GFLOP/s of all threads; the best of a few. */
static double measure_peak(struct gpu_device *d)
{
    double best = 0;
    size_t threads = gpu_queues(d);
    peak_data = calloc((2 + threads) * SIDE * SIDE, sizeof *peak_data);
    if (!peak_data)
        abort();
    for (int i = 0; i < 4; i++) {
        uint64_t start = os_monotonic_ns();
        if (gpu_each(d, threads, peak_product, NULL, NULL))
            abort();
        double rate = (double)threads * PRODUCTS * 2.0 * SIDE * SIDE * SIDE /
                      (double)(os_monotonic_ns() - start);
        best = rate > best ? rate : best;
    }
    free(peak_data);
    return best;
}

static double argument(int argc, char **argv, int i, double initial)
{
    return i < argc ? strtod(argv[i], NULL) : initial;
}

int main(int argc, char **argv)
{
    unsigned threads = (unsigned)argument(argc, argv, 1, os_cpus());
    uint64_t steps = (uint64_t)argument(argc, argv, 2, 40);
    struct nn_config config = {.vocabulary = TOY_VOCABULARY,
                               .d_model = (uint32_t)argument(argc, argv, 3, 128),
                               .layers = (uint32_t)argument(argc, argv, 4, 2),
                               .d_ff = (uint32_t)argument(argc, argv, 5, 512),
                               .heads = 4,
                               .max_length = 64};
    struct trainer_config how = {.batch = (size_t)argument(argc, argv, 6, 256),
                                 .temperature = 0.1,
                                 .weight_decay = 0.01,
                                 .clip = 1,
                                 .beta1 = 0.9,
                                 .beta2 = 0.999,
                                 .eps = 1e-8,
                                 .schedule = {.lr = 1e-3},
                                 .precision = argc > 7 ? GPU_BF16 : GPU_F32,
                                 .seed = 1};
    struct err e;
    err_clear(&e);
    struct arena a = {0};
    struct dataset data = {0};
    struct nn_model *m;
    struct gpu_device *d;
    struct trainer *t;
    struct pool *pool = pool_new(threads);
    for (uint64_t i = 0; i < CLUSTERS; i++)
        if (dataset_add(&data, toy_batch(&a, 7, i, MEMBERS, 5, 17), TOY_VOCABULARY, 64, &e))
            goto fail;
    if (nn_model_new(&m, &a, &config, &e) || gpu_open_cpu(&d, pool, NULL, &e) ||
        trainer_new(&t, d, m, &how, &e))
        goto fail;
    double peak = measure_peak(d), tokens = 0;
    struct step_result r = {0};
    if (trainer_step(&r, t, &data, &e))
        goto fail;
    printf("%s, %u threads, %zu parameters, step 1: loss %.3f\n", gpu_device_ops(d)->name, threads,
           m->count, r.loss);
    double s = 0, best = 1e9;
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t start = os_monotonic_ns();
        if (trainer_step(&r, t, &data, &e))
            goto fail;
        double one = (double)(os_monotonic_ns() - start) * 1e-9;
        best = one < best ? one : best;
        s += one;
        tokens += (double)r.tokens;
    }
    /* Forward and two products backward, two operations per weight and token; embeddings do none.
     */
    double weights = (double)m->config.layers * (4.0 * m->config.d_model + 2.0 * m->config.d_ff) *
                     m->config.d_model;
    double rows = 2.0 * (double)how.batch;
    double flop = 6 * weights * tokens + (double)steps * 6 * rows * rows * m->config.d_model;
    printf("loss %.3f, accuracy %.1f%%\n", r.loss, 100 * r.accuracy);
    printf("%.2f steps/s, %.1f ms a step, %.1fk tokens/s, %.1f GFLOP/s = %.0f%% of %.1f\n",
           (double)steps / s, 1000 * s / (double)steps, tokens / s / 1000, flop / s * 1e-9,
           100 * flop / s * 1e-9 / peak, peak);
    /* On a machine that others use, too, the best step tells more. */
    printf("best step: %.1f ms, %.1f GFLOP/s = %.0f%%\n", 1000 * best,
           flop / (double)steps / best * 1e-9, 100 * flop / (double)steps / best * 1e-9 / peak);
    trainer_free(t);
    gpu_close(d);
    pool_free(pool);
    dataset_free(&data);
    arena_free(&a);
    return 0;
fail:
    fprintf(stderr, "bench_train: %s\n", e.message);
    return 1;
}
