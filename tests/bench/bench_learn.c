/* Learning on the CPU: training steps and bulk embedding for several sizes of model, as tokens a
 * second and as a share of what one large matrix product reaches on as many threads. Medians, so
 * that a busy machine disturbs less; the share is of the model's products over the whole time.
 *
 *     bench_learn [THREADS [STEPS]]
 */
#include "base/os.h"
#include "ops/learn/embedder.h"
#include "ops/learn/trainer.h"
#include "tests/ops/learn/toy.h"

#include <stdio.h>
#include <stdlib.h>

enum { CLUSTERS = 300, MEMBERS = 60, SIDE = 1024, PRODUCTS = 8, ROUNDS = 5, MOST_STEPS = 1000 };

static const struct {
    uint32_t d_model, d_ff, layers;
} sizes[] = {{64, 256, 2}, {128, 512, 2}};
static const char *const precisions[] = {[GPU_F32] = "f32", [GPU_BF16] = "bf16"};

/* All that a measurement needs; failures end the program, as nothing is left to measure. */
struct bench {
    struct arena arena;
    struct pool *pool;
    struct gpu_device *device;
    struct dataset data;
    Eqloom__TokenBatch *batches[CLUSTERS];
    struct nn_model *model;
    float *peak_data;
    enum gpu_precision precision;
    struct embedder *embedder;
};

static void need(enum err_code code, const struct err *e)
{
    if (!code)
        return;
    fprintf(stderr, "bench_learn: %s\n", e->message);
    exit(1);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, compare);
    return x[n / 2];
}

static double seconds_since(uint64_t start_ns)
{
    return (double)(os_monotonic_ns() - start_ns) * 1e-9;
}

static void peak_product(void *arg, size_t item, struct gpu_queue *q)
{
    struct bench *b = arg;
    struct gpu_matmul mm = {.precision = b->precision,
                            .m = SIDE,
                            .n = SIDE,
                            .k = SIDE,
                            .alpha = 1,
                            .a = b->peak_data,
                            .lda = SIDE,
                            .b = b->peak_data + SIDE * SIDE,
                            .ldb = SIDE,
                            .c = b->peak_data + (2 + item) * SIDE * SIDE,
                            .ldc = SIDE};
    for (int i = 0; i < PRODUCTS; i++)
        q->op->matmul(q, &mm);
}

/* GFLOP/s of all threads. */
static double measure_peak(struct bench *b, enum gpu_precision precision)
{
    struct err e;
    double rates[ROUNDS];
    size_t threads = gpu_queues(b->device);
    b->precision = precision;
    b->peak_data = calloc((2 + threads) * SIDE * SIDE, sizeof *b->peak_data);
    if (!b->peak_data)
        abort();
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t start = os_monotonic_ns();
        need(gpu_each(b->device, threads, peak_product, b, &e), &e);
        rates[i] = (double)threads * PRODUCTS * 2e-9 * SIDE * SIDE * SIDE / seconds_since(start);
    }
    free(b->peak_data);
    return median(rates, ROUNDS);
}

/* Multiply-adds of the layers' products for one token, forward. */
static double weights_of(const struct nn_config *c)
{
    return (double)c->layers * (4.0 * c->d_model + 2.0 * c->d_ff) * c->d_model;
}

static void print(const char *what, const struct bench *b, double tokens, double s, double flop,
                  double peak)
{
    const struct nn_config *c = &b->model->config;
    printf("%-8s %4u/%u/%-3u %-5s %9.1f %12.1f %10.1f %8.0f%%\n", what, c->d_model, c->d_ff,
           c->layers, precisions[b->precision], 1000 * s, tokens / s / 1000, flop / s * 1e-9,
           100 * flop / s * 1e-9 / peak);
}

static void measure_training(struct bench *b, double peak, size_t steps)
{
    struct trainer_config how = {.examples = {.batch = 256},
                                 .temperature = 0.1,
                                 .weight_decay = 0.01,
                                 .clip = 1,
                                 .beta1 = 0.9,
                                 .beta2 = 0.999,
                                 .eps = 1e-8,
                                 .schedule = {.lr = 1e-3},
                                 .precision = b->precision,
                                 .seed = 1};
    struct err e;
    struct trainer *t;
    struct step_result r;
    static double s[MOST_STEPS];
    double tokens = 0, rows = 2.0 * (double)how.examples.batch;
    need(trainer_new(&t, b->device, b->model, &how, &e), &e);
    need(trainer_step(&r, t, &b->data, &e), &e); /* memory, compiled products */
    for (size_t i = 0; i < steps; i++) {
        uint64_t start = os_monotonic_ns();
        need(trainer_step(&r, t, &b->data, &e), &e);
        s[i] = seconds_since(start);
        tokens += (double)r.tokens / (double)steps;
    }
    trainer_free(t);
    /* Forward and two products backward, two operations for each weight and token; the scores. */
    print("train", b, tokens, median(s, steps),
          6 * weights_of(&b->model->config) * tokens + 6 * rows * rows * b->model->config.d_model,
          peak);
}

/* ---- embedding ---- */

/* One tensor after another, as checkpoint_write asks for them; each is one chunk at these sizes. */
struct chunks {
    struct arena *arena;
    struct span list[256];
    size_t n;
};

static enum err_code put(struct digest *id, void *arg, struct span data, struct err *e)
{
    struct chunks *c = arg;
    *id = (struct digest){.bytes = {(uint8_t)c->n}};
    if (c->n == sizeof c->list / sizeof *c->list)
        return err_fail(e, ERR_LIMIT, "too many tensors");
    c->list[c->n++] = span_of(arena_memdup(c->arena, data.data, data.len), data.len);
    return OK;
}

static enum err_code get(struct span *out, void *arg, const uint8_t id[32], struct arena *a,
                         struct err *e)
{
    *out = ((struct chunks *)arg)->list[id[0]];
    return OK;
}

static void embed_one(void *arg, size_t item, unsigned worker)
{
    struct bench *b = arg;
    struct arena a = {0};
    struct err e;
    float *out = arena_array(&a, float, (size_t)MEMBERS * b->model->config.d_model);
    need(embedder_run(out, b->embedder, b->batches[item], true, &a, &e), &e);
    arena_free(&a);
}

static void measure_embedding(struct bench *b, double peak)
{
    struct err e;
    struct chunks chunks = {.arena = &b->arena};
    struct chunk_io io = {&chunks, put, get};
    struct trainer_state state = {.weights = arena_array(&b->arena, float, b->model->total)};
    Eqloom__Checkpoint c;
    eqloom__checkpoint__init(&c);
    nn_model_init(state.weights, b->model, 1);
    need(checkpoint_write(&c, b->model, &state, &io, &b->arena, &e), &e);
    need(embedder_new(&b->embedder, &c, &io, &e), &e);
    double s[ROUNDS], tokens = (double)b->data.n_tokens;
    pool_for(b->pool, CLUSTERS, embed_one, b);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t start = os_monotonic_ns();
        pool_for(b->pool, CLUSTERS, embed_one, b);
        s[i] = seconds_since(start);
    }
    print("embed", b, tokens, median(s, ROUNDS), 2 * weights_of(&b->model->config) * tokens, peak);
    embedder_free(b->embedder);
}

int main(int argc, char **argv)
{
    unsigned threads = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : os_cpus();
    size_t steps = argc > 2 ? strtoul(argv[2], NULL, 10) : 30;
    steps = steps < 1 ? 1 : steps > MOST_STEPS ? MOST_STEPS : steps;
    struct err e;
    struct bench *b = calloc(1, sizeof *b);
    if (!b)
        abort();
    b->pool = pool_new(threads);
    need(gpu_open_cpu(&b->device, b->pool, NULL, &e), &e);
    for (uint64_t i = 0; i < CLUSTERS; i++) {
        b->batches[i] = toy_batch(&b->arena, 7, i, MEMBERS, 5, 17);
        need(dataset_add(&b->data, b->batches[i], TOY_VOCABULARY, 64, &e), &e);
    }
    double peak[] = {measure_peak(b, GPU_F32), measure_peak(b, GPU_BF16)};
    printf("%s, %u threads; one product of %d^3: %.0f GFLOP/s in f32, %.0f in bf16 (%s)\n",
           gpu_device_ops(b->device)->name, threads, SIDE, peak[0], peak[1], gpu_cpu_bf16());
    printf("what     size             ms or pass    k tokens/s    GFLOP/s  of peak\n");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct nn_config config = {.vocabulary = TOY_VOCABULARY,
                                   .d_model = sizes[i].d_model,
                                   .layers = sizes[i].layers,
                                   .d_ff = sizes[i].d_ff,
                                   .heads = 4,
                                   .max_length = 64};
        need(nn_model_new(&b->model, &b->arena, &config, &e), &e);
        for (b->precision = GPU_F32; b->precision <= GPU_BF16; b->precision++)
            measure_training(b, peak[b->precision], steps);
        b->precision = GPU_F32;
        measure_embedding(b, peak[GPU_F32]);
    }
    gpu_close(b->device);
    pool_free(b->pool);
    dataset_free(&b->data);
    arena_free(&b->arena);
    free(b);
    return 0;
}
