/* Learning on the CPU: training steps and bulk embedding of one size of model, as tokens a second
 * and as a share of what one large matrix product reaches on as many threads. One measurement a
 * process, so that its peak of memory is its own; the result is one JSON object. learn.py runs
 * this beside torch_peer.py, which takes the same arguments.
 *
 *     bench_learn train|seq2seq|embed D/FF/LAYERS f32|bf16 THREADS LENGTHS
 *
 * Each line that it reads is for how many seconds to measure once more. LENGTHS is a file of lines
 * `length count` from which the lengths of sequences are drawn. The rate is the median over single
 * steps (passes over 4,180 or 1,100 sequences for embedding), so that a busy machine disturbs less;
 * the ninth decile stands beside it. With one thread on the CPU its processor time counts, else the
 * clock. $EQLOOM_DEVICE is the device, cpu if it is not set.
 * seq2seq has as many layers of decoder as of encoder. */
#include "base/os.h"
#include "base/rng.h"
#include "ops/learn/transformer/loaded.h"
#include "ops/learn/transformer/transformer_training.h"
#include "tests/bench/bench.h"

#include <malloc.h>

enum {
    VOCABULARY = 59,
    MAX_LENGTH = 64,
    CLUSTERS = 300,
    MEMBERS = 110,      /* as in the paper's corpus */
    EMBEDDED = 38,      /* clusters: about as many sequences as the peer's 4,096, */
    EMBEDDED_WIDE = 10, /* or its 1,024 by models as wide as this: */
    WIDE = 512,
    SIDE = 1024, /* of the large product */
    PRODUCTS = 4,
    PAIRS = 256,
    MOST = 4096, /* steps */
};

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
    struct loaded *embedder;
    struct trainer *trainer;
    struct transformer_batches b;
};

static void fail(const char *message)
{
    fprintf(stderr, "bench_learn: %s\n", message);
    exit(2);
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

/* Of sorted rates: what the machine gives while nobody disturbs it. */
static double ninth_decile(const double *x, size_t n)
{
    return x[n * 9 / 10];
}

static const char *device_name(void)
{
    const char *name = getenv("EQLOOM_DEVICE");
    return name ? name : "cpu";
}

/* What else the machine does disturbs processor time less. */
static uint64_t now_ns(const struct bench *b)
{
    return pool_threads(b->pool) > 1 || strcmp(device_name(), "cpu") != 0
               ? os_monotonic_ns()
               : (uint64_t)(cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) * 1e9);
}

static double seconds_since(const struct bench *b, uint64_t start_ns)
{
    return (double)(now_ns(b) - start_ns) * 1e-9;
}

/* ---- sequences ---- */

/* A length for each number below the sum of counts. */
struct lengths {
    uint32_t length[MAX_LENGTH];
    uint64_t below[MAX_LENGTH];
    size_t n;
};

static struct lengths read_lengths(const char *path)
{
    struct lengths l = {.n = 0};
    char line[256];
    FILE *f = fopen(path, "r");
    if (!f)
        fail("the file of lengths cannot be read");
    while (fgets(line, sizeof line, f)) {
        unsigned length;
        unsigned long count;
        if (*line == '#' || sscanf(line, "%u %lu", &length, &count) != 2)
            continue;
        if (l.n == MAX_LENGTH || length == 0 || length > MAX_LENGTH)
            fail("the file of lengths has too many lines or too great lengths");
        l.length[l.n] = length;
        l.below[l.n] = (l.n ? l.below[l.n - 1] : 0) + count;
        l.n++;
    }
    fclose(f);
    if (l.n == 0)
        fail("the file of lengths is empty");
    return l;
}

static uint32_t draw(struct rng *r, const struct lengths *l)
{
    uint64_t x = rng_below(r, l->below[l->n - 1]);
    size_t i = 0;
    while (l->below[i] <= x)
        i++;
    return l->length[i];
}

static void make_batch(struct bench *b, size_t cluster, const struct lengths *l)
{
    struct rng r = rng_new(7, cluster);
    Eqloom__TokenBatch *t = b->batches[cluster] = arena_new(&b->arena, Eqloom__TokenBatch);
    eqloom__token_batch__init(t);
    t->tokens = arena_array(&b->arena, uint32_t, (size_t)MEMBERS * MAX_LENGTH);
    t->offset = arena_array(&b->arena, uint32_t, MEMBERS + 1);
    t->cluster = arena_array(&b->arena, uint32_t, MEMBERS);
    t->n_cluster = MEMBERS;
    t->n_offset = MEMBERS + 1;
    for (size_t i = 0; i < MEMBERS; i++) {
        for (uint32_t left = draw(&r, l); left > 0; left--)
            t->tokens[t->n_tokens++] = 3 + (uint32_t)rng_below(&r, VOCABULARY - 3);
        t->offset[i + 1] = (uint32_t)t->n_tokens;
    }
}

/* ---- the yardstick ---- */

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

/* GFLOP/s of all threads. Its memory goes back to the system, see restart_peak. */
static double measure_peak(struct bench *b)
{
    enum { ROUNDS = 5 };
    struct err e;
    struct gpu_device *d;
    struct gpu_queue *q;
    double rates[ROUNDS];
    size_t threads = pool_threads(b->pool);
    must(gpu_open_cpu(&d, b->pool, NULL, &e), &e);
    must(gpu_queue_new(&q, d, &e), &e);
    b->peak_data = calloc((2 + threads) * SIDE * SIDE, sizeof *b->peak_data);
    if (!b->peak_data)
        fail("no memory");
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t start = now_ns(b);
        must(gpu_each(q, threads, peak_product, b, &e), &e);
        rates[i] = (double)threads * PRODUCTS * 2e-9 * SIDE * SIDE * SIDE / seconds_since(b, start);
    }
    free(b->peak_data);
    gpu_queue_free(q);
    gpu_close(d);
    malloc_trim(0);
    return median(rates, ROUNDS);
}

/* ---- training ---- */

/* Multiply-adds of a layer's products for one token, forward. */
static double layer_weights(const struct nn_config *c)
{
    return (4.0 * c->d_model + 2.0 * c->d_ff) * c->d_model;
}

static void begin_training(struct bench *b, enum objective_kind objective)
{
    struct transformer_config how = {.examples = {.batch = PAIRS, .objective = objective},
                                     .temperature = 0.1,
                                     .optimizer.weight_decay = 0.01,
                                     .optimizer.clip = 1,
                                     .optimizer.beta1 = 0.9,
                                     .optimizer.beta2 = 0.999,
                                     .optimizer.eps = 1e-8,
                                     .optimizer.schedule = {.lr = 1e-3},
                                     .precision = b->precision,
                                     .seed = 1};
    struct err e;
    b->b = transformer_batches(&how, &b->model->config, &b->data, NULL);
    must(transformer_new(&b->trainer, b->device, b->model, &how, &e), &e);
    must(trainer_begin(b->trainer, &b->b.base, &e), &e);
}

/* As the op `train` does: a step begins before the last one's result is read. */
static double train_once(struct bench *b)
{
    struct err e;
    struct step_result r;
    must(trainer_begin(b->trainer, &b->b.base, &e), &e);
    must(trainer_result(&r, b->trainer, &e), &e);
    return (double)r.tokens;
}

/* Forward and two products backward, two operations for each weight and token. Of seq2seq half
 * the tokens pass each side; the decoder's attention to the input has one more product of (d, d)
 * for its own tokens, and of (d, 2d) for the input's. Contrastive: the scores of all pairs. */
static double training_work(const struct nn_config *c, double tokens)
{
    double per_token = layer_weights(c) * c->layers, d = c->d_model, rows = 2.0 * PAIRS;
    if (c->decoder_layers)
        return 6 * (per_token + 2.0 * d * d * c->decoder_layers + 0.5 * d * VOCABULARY);
    return 6 * per_token + 6 * rows * rows * d / tokens;
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
    must(embedder_run(out, b->embedder, b->batches[item], true, &a, &e), &e);
    arena_free(&a);
}

static void begin_embedding(struct bench *b)
{
    struct err e;
    struct chunks chunks = {.arena = &b->arena};
    struct chunk_io io = {&chunks, put, get};
    struct trainer_state state = {.weights = malloc(b->model->table.total * sizeof(float))};
    Eqloom__Checkpoint c;
    eqloom__checkpoint__init(&c);
    if (!state.weights)
        fail("no memory");
    nn_table_init(state.weights, &b->model->table, 1);
    must(checkpoint_write(&c, nn_config_text(&b->arena, &b->model->config), &b->model->table,
                          &state, &io, &b->arena, &e),
         &e);
    free(state.weights);
    must(trained_new(&b->embedder, &loaded_kind, device_name(), b->precision, &c, &io, &e), &e);
}

static double embed_once(struct bench *b)
{
    double tokens = 0;
    size_t n = b->model->config.d_model >= WIDE ? EMBEDDED_WIDE : EMBEDDED;
    for (size_t i = 0; i < n; i++)
        tokens += (double)b->batches[i]->n_tokens;
    pool_for(b->pool, n, embed_one, b);
    return tokens;
}

/* ---- the whole ---- */

/* Steps for so many seconds. */
static void measure(struct bench *b, char **argv, double seconds, double peak)
{
    static double rates[MOST];
    const struct nn_config *c = &b->model->config;
    double tokens = 0;
    size_t n = 0;
    restart_peak(); /* the yardstick's memory is not the work's */
    for (uint64_t begin = now_ns(b); n == 0 || (n < MOST && seconds_since(b, begin) < seconds);
         n++) {
        uint64_t start = now_ns(b);
        tokens = b->embedder ? embed_once(b) : train_once(b);
        rates[n] = tokens / seconds_since(b, start);
    }
    double rate = median(rates, n);
    double work = b->embedder ? 2 * layer_weights(c) * c->layers : training_work(c, tokens);
    printf("{\"what\": \"%s\", \"size\": \"%s\", \"precision\": \"%s\", \"threads\": %u, "
           "\"tokens_per_s\": %.0f, \"fast_tokens_per_s\": %.0f, \"gflops\": %.1f, "
           "\"peak_gflops\": %.1f, \"peak_mib\": %.0f, "
           "\"kernels\": \"%s\", \"bf16\": \"%s\"}\n",
           argv[1], argv[2], argv[3], pool_threads(b->pool), rate, ninth_decile(rates, n),
           work * rate * 1e-9, peak, (double)status_bytes("VmHWM") / 0x1p20, b->device->ops.name,
           gpu_cpu_bf16() ? gpu_cpu_bf16() : "f32");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc != 6)
        fail("usage: bench_learn train|seq2seq|embed D/FF/LAYERS f32|bf16 THREADS LENGTHS");
    const char *what = argv[1];
    bool generates = strcmp(what, "seq2seq") == 0;
    struct nn_config config = {
        .vocabulary = VOCABULARY, .max_length = MAX_LENGTH, .attention_bias = true};
    if (sscanf(argv[2], "%u/%u/%u", &config.d_model, &config.d_ff, &config.layers) != 3)
        fail("the size is D/FF/LAYERS");
    config.heads = config.d_model >= 512 ? 8 : 4;
    config.decoder_layers = generates ? config.layers : 0;
    struct err e;
    struct bench *b = calloc(1, sizeof *b);
    if (!b)
        fail("no memory");
    b->precision = strcmp(argv[3], "bf16") == 0   ? GPU_BF16
                   : strcmp(argv[3], "tf32") == 0 ? GPU_TF32
                                                  : GPU_F32;
    b->pool = pool_new((unsigned)strtoul(argv[4], NULL, 10));
    struct lengths lengths = read_lengths(argv[5]);
    must(gpu_open(&b->device, device_name(), b->pool, &e), &e);
    for (size_t i = 0; i < CLUSTERS; i++) {
        make_batch(b, i, &lengths);
        must(dataset_add(&b->data, b->batches[i], VOCABULARY, MAX_LENGTH - 1, &e), &e);
    }
    must(nn_model_new(&b->model, &b->arena, &config, &e), &e);
    if (strcmp(what, "embed") == 0)
        begin_embedding(b);
    else
        begin_training(b, generates ? OBJECTIVE_SEQ2SEQ : OBJECTIVE_CONTRASTIVE);
    char line[64];
    while (fgets(line, sizeof line, stdin))
        measure(b, argv, strtod(line, NULL), measure_peak(b));
    if (b->embedder)
        trained_free(b->embedder);
    if (b->trainer)
        trainer_free(b->trainer);
    gpu_close(b->device);
    pool_free(b->pool);
    dataset_free(&b->data);
    arena_free(&b->arena);
    free(b);
    return 0;
}
