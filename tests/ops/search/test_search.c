/* The index in memory against brute force, the op that makes it, and verdicts on what was found. */
#include "engine/op.h"
#include "index.pb-c.h"
#include "ops/expr/ball/ball.h"
#include "ops/search/corpus_index.h"
#include "ops/search/verdict.h"
#include "tests/unit.h"

extern const struct op op_index;

/* ---- a store and an engine of embedding batches ---- */

enum { BATCHES = 12, DIM = 20, MOST = 40 };
static Eqloom__EmbeddingBatch batches[BATCHES];
static float values[BATCHES][MOST * DIM];
static uint8_t sources[BATCHES][DIGEST_SIZE];
static char *texts[BATCHES][MOST];
static struct arena arena;
static Eqloom__Index *emitted;

static struct digest id_of(size_t i)
{
    struct digest d = {{(uint8_t)(i + 1)}};
    return d;
}

enum err_code tool_get(void *out, const struct tool_args *args, const struct digest *id,
                       enum record_kind kind, struct arena *a, struct err *e)
{
    assert_int_equal(kind, KIND_EMBEDDING_BATCH);
    *(ProtobufCMessage **)out = &batches[id->bytes[0] - 1].base;
    return OK;
}

uint64_t op_count(struct op_ctx *ctx, const char *role)
{
    return strcmp(role, "embeddings") == 0 ? BATCHES : 0; /* no equations: test_train_graphs.py */
}

enum err_code op_summary(struct span *out, struct op_ctx *ctx, const char *role, uint64_t i,
                         struct err *e)
{
    fail();
    return OK;
}

struct digest op_input_id(struct op_ctx *ctx, const char *role, uint64_t i)
{
    return strcmp(role, "embeddings") == 0 ? id_of(i) : (struct digest){{99}};
}

enum err_code op_get_in(void *out, struct op_ctx *ctx, const char *role, uint64_t i,
                        struct arena *a, struct err *e)
{
    *(ProtobufCMessage **)out = &batches[i].base;
    return OK;
}

struct arena *op_arena(struct op_ctx *ctx)
{
    return &arena;
}

bool op_cancelled(const struct op_ctx *ctx)
{
    return false;
}

enum err_code op_emit(struct digest *id, struct op_ctx *ctx, const char *role,
                      const ProtobufCMessage *message, struct err *e)
{
    emitted = arena_memdup(&arena, message, sizeof *emitted);
    emitted->checkpoint_id.data =
        arena_memdup(&arena, emitted->checkpoint_id.data, emitted->checkpoint_id.len);
    return OK;
}

/* Batch sizes from 0 to MOST; the last two batches have the source of the first. */
static void fill(struct rng *rng)
{
    for (size_t i = 0; i < BATCHES; i++) {
        Eqloom__EmbeddingBatch *b = &batches[i];
        eqloom__embedding_batch__init(b);
        b->dim = DIM;
        b->count = i == 3 ? 0 : (uint32_t)rng_below(rng, MOST + 1);
        b->values = (ProtobufCBinaryData){b->count * DIM * sizeof(float), (uint8_t *)values[i]};
        sources[i][5] = (uint8_t)(i < BATCHES - 2 ? i + 1 : 1);
        b->source_id = (ProtobufCBinaryData){DIGEST_SIZE, sources[i]};
        b->text = texts[i];
        b->n_text = b->count;
        for (uint32_t k = 0; k < b->count; k++) {
            float *x = values[i] + k * DIM, norm = 0;
            for (int d = 0; d < DIM; d++) {
                x[d] = (float)rng_double(rng) - 0.5f;
                norm += x[d] * x[d];
            }
            for (int d = 0; d < DIM; d++)
                x[d] /= sqrtf(norm);
            if (k % 5 == 4) /* some are equal */
                memcpy(x, x - DIM, DIM * sizeof *x);
            texts[i][k] = arena_printf(&arena, "%zu.%u", i, k);
        }
    }
}

static void set_up(uint64_t seed)
{
    struct rng rng = rng_new(seed, 1);
    struct err e = {0};
    arena_reset(&arena);
    fill(&rng);
    assert_int_equal(op_index.run(NULL, NULL, &e), OK);
    assert_int_equal(emitted->n_batch_count, BATCHES);
    assert_int_equal(emitted->dim, DIM);
    assert_int_equal(emitted->checkpoint_id.data[0], 99);
}

/* ---- the nearest ---- */

struct row {
    double similarity;
    uint32_t row, source;
};

static int compare_rows(const void *x, const void *y)
{
    const struct row *a = x, *b = y;
    if (a->similarity != b->similarity)
        return a->similarity > b->similarity ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* By the same sums, so that ties are the same ties. */
static size_t brute_force(struct row *out, size_t k, uint32_t per_cluster, const float *question)
{
    struct row *all = arena_array(&arena, struct row, BATCHES * MOST);
    float padded[32] = {0};
    uint32_t n = 0, taken[BATCHES + 1] = {0};
    size_t found = 0;
    for (size_t i = 0; i < BATCHES; i++)
        for (uint32_t j = 0; j < batches[i].count; j++) {
            float x[32] = {0};
            memcpy(x, values[i] + j * DIM, DIM * sizeof *x);
            memcpy(padded, question, DIM * sizeof *padded);
            all[n] = (struct row){(double)vector_dot(padded, x, 32), n, sources[i][5]};
            n++;
        }
    qsort(all, n, sizeof *all, compare_rows);
    for (uint32_t i = 0; i < n && found < k; i++)
        if (!per_cluster || taken[all[i].source]++ < per_cluster)
            out[found++] = all[i];
    return found;
}

TEST(nearest_is_nearest)
{
    static const struct {
        size_t k;
        uint32_t per_cluster;
    } cases[] = {{1, 0}, {10, 0}, {7, 1}, {1000, 0}, {1000, 3}, {12, 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct err e = {0};
        struct corpus_index x;
        struct row want[1000];
        struct neighbour got[1000];
        set_up(20 + c);
        assert_int_equal(corpus_index_load(&x, NULL, emitted, &e), OK);
        assert_int_equal(x.v.n_clusters, BATCHES - 2);
        for (int q = 0; q < 5; q++) {
            const float *question = values[q == 4 ? 0 : q % 3];
            size_t n = brute_force(want, cases[c].k, cases[c].per_cluster, question);
            assert_int_equal(
                corpus_index_nearest(got, cases[c].k, cases[c].per_cluster, &x, question, &arena),
                n);
            for (size_t i = 0; i < n; i++) {
                assert_int_equal(got[i].row, want[i].row);
                assert_true((double)got[i].similarity == want[i].similarity);
                size_t batch = strtoul(x.v.text[got[i].row], NULL, 10);
                assert_int_equal(sources[batch][5], want[i].source);
            }
        }
        corpus_index_free(&x);
    }
}

TEST(an_index_that_does_not_fit)
{
    struct err e = {0};
    struct corpus_index x;
    set_up(30);
    emitted->batch_count[2]++;
    assert_int_equal(corpus_index_load(&x, NULL, emitted, &e), ERR_CORRUPT);
    emitted->batch_count[2]--;
    emitted->batch_ids.len -= DIGEST_SIZE;
    assert_int_equal(corpus_index_load(&x, NULL, emitted, &e), ERR_CORRUPT);
    emitted->batch_ids.len += DIGEST_SIZE;
    assert_int_equal(corpus_index_load(&x, NULL, emitted, &e), OK);
    corpus_index_free(&x);
    emitted->n_batch_count = 0;
    emitted->batch_ids.len = 0;
    assert_int_equal(corpus_index_load(&x, NULL, emitted, &e), ERR_INPUT);
}

TEST(index_refuses_other_lengths)
{
    struct err e = {0};
    set_up(31);
    batches[0].count = 1;
    batches[0].values.len = DIM * sizeof(float);
    batches[0].n_text = 1;
    values[0][0] += 2;
    assert_int_equal(op_index.run(NULL, NULL, &e), ERR_INPUT);
    assert_non_null(strstr(e.message, "length"));
    values[0][0] = NAN;
    assert_int_equal(op_index.run(NULL, NULL, &e), ERR_INPUT);
}

/* ---- verdicts ---- */

struct found {
    const char *text;
    uint32_t cluster;
    bool by_rules;
    enum verdict want;
};

static Eqloom__Cluster *source_of(const char *domain)
{
    Eqloom__Cluster *c = arena_new(&arena, Eqloom__Cluster);
    eqloom__cluster__init(c);
    c->seed = arena_new(&arena, Eqloom__Expr);
    eqloom__expr__init(c->seed);
    if (domain) {
        c->seed->variables = arena_array(&arena, Eqloom__VariableDomain *, 1);
        c->seed->variables[0] = arena_new(&arena, Eqloom__VariableDomain);
        eqloom__variable_domain__init(c->seed->variables[0]);
        c->seed->variables[0]->name = "x";
        c->seed->variables[0]->domain = (char *)domain;
        c->seed->n_variables = 1;
    }
    return c;
}

static void judge(const struct language *lang, const char *question, const char *domain,
                  uint32_t max_nodes, const struct found *found, size_t n)
{
    struct err e = {0};
    struct expr q;
    struct finding f[8] = {0};
    struct judge j = {.max_nodes = max_nodes};
    assert_int_equal(expr_from_prefix(&q, &arena, lang, question, &e), OK);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(expr_from_prefix(&f[i].x, &arena, lang, found[i].text, &e), OK);
        f[i].cluster = found[i].cluster;
        f[i].by_rules = found[i].by_rules;
        f[i].source = source_of(domain);
    }
    assert_int_equal(judge_all(&j, f, n, &q, &arena, &e), OK);
    for (size_t i = 0; i < n; i++) {
        if (f[i].verdict != found[i].want)
            fail_msg("%s: %s (%s)", found[i].text, verdict_names[f[i].verdict].word, f[i].why);
        assert_true(f[i].why && *f[i].why);
    }
    judge_free(&j);
}

TEST(verdicts)
{
    /* The third is out of the rules' reach, but has the same normal form. */
    static const char far[] = "* pow sin x 2 / + * pow + x 1 9 3 * 3 1 + 3 * 3 pow + x 1 9";
    const struct found mixed[] = {
        {"- 1 pow cos x 2", 1, true, VERDICT_PROVED},
        {"pow sin x 3", 2, true, VERDICT_REFUTED},
        {far, 1, true, VERDICT_PROVED},
        {"pow sin x 2", 3, false, VERDICT_PROVED},
    };
    judge(&lang_calculus, "pow sin x 2", NULL, 3000, mixed, 4);
    const struct found imported[] = {
        {"pow sin x 2", 1, false, VERDICT_PROVED},
        {"* pow + x 1 5 / pow sin x 2 pow + x 1 5", 1, false, VERDICT_PROVED},
        {"+ pow sin x 2 pow e -1000000", 1, false, VERDICT_UNDECIDED}, /* false, by very little */
        {"+ pow sin x 2 / - x x 0", 2, false, VERDICT_NO_VALUE},
    };
    judge(&lang_calculus, "pow sin x 2", NULL, 2, imported, 4);
    /* What is true of positive numbers only. */
    const struct found root[] = {{"sqrt pow x 2", 1, true, VERDICT_PROVED}};
    judge(&lang_calculus, "x", NULL, 3000, root, 1);
    const struct found negative[] = {{"sqrt pow x 2", 1, true, VERDICT_REFUTED}};
    judge(&lang_calculus, "x", "real", 3000, negative, 1);
    /* The question is 1 where x > 0, and has no value elsewhere. */
    const struct found part[] = {{"1", 1, true, VERDICT_UNDECIDED},
                                 {"/ x x", 1, true, VERDICT_UNDECIDED}};
    judge(&lang_calculus, "/ + / abs x x 1 + / abs x x 1", "real", 20000, part, 2);
    const struct found truth[] = {
        {"or b not a", 1, false, VERDICT_PROVED},
        {"implies b a", 2, true, VERDICT_REFUTED},
    };
    judge(&lang_boolean, "implies a b", NULL, 3000, truth, 2);
}

static int clean_up(void **state)
{
    arena_free(&arena);
    ball_thread_cleanup();
    return 0;
}

TESTS_AROUND(NULL, clean_up)
