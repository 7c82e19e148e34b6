/* Figures against oracles: assignments against all permutations, precision against sorting, K-means
 * on separated clouds, tf-idf by hand; and the same results for any number of threads. */
#include "ops/eval/measure/assignment.h"
#include "ops/eval/measure/kmeans.h"
#include "ops/eval/measure/retrieval.h"
#include "tests/ops/eval/given.h"
#include "tests/ops/in_memory.h"
#include "tests/scarce.h"
#include "token.pb-c.h"

extern const struct op op_tfidf;

static double gain_of(const double *gain, const uint32_t *column, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += gain[i * n + column[i]];
    return sum;
}

static double best_by_permutations(const double *gain, uint32_t *column, uint32_t at, uint32_t n)
{
    if (at == n)
        return gain_of(gain, column, n);
    double best = -INFINITY;
    for (uint32_t i = at; i < n; i++) {
        uint32_t t = column[at];
        column[at] = column[i];
        column[i] = t;
        double value = best_by_permutations(gain, column, at + 1, n);
        best = value > best ? value : best;
        column[i] = column[at];
        column[at] = t;
    }
    return best;
}

static void assert_permutation(const uint32_t *column, uint32_t n)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < n; i++)
        used |= 1u << column[i];
    assert_int_equal(used, (1u << n) - 1);
}

TEST_IN_ARENA(assignments_equal_brute_force)
{
    struct rng rng = rng_new(5, 0);
    for (int round = 0; round < 400; round++) {
        uint32_t n = 1 + (uint32_t)rng_below(&rng, 7), column[7], all[7];
        double gain[49];
        /* Small integers make ties. */
        for (uint32_t i = 0; i < n * n; i++)
            gain[i] = round % 2 ? (double)rng_below(&rng, 4) - 1 : rng_normal(&rng);
        for (uint32_t i = 0; i < n; i++)
            all[i] = i;
        assignment_best(column, a, gain, n);
        double best = best_by_permutations(gain, all, 0, n);
        assert_true(fabs(gain_of(gain, column, n) - best) < 1e-9);
        assert_permutation(column, n);
        assignment_greedy(column, a, gain, n);
        assert_true(gain_of(gain, column, n) <= best + 1e-9);
        assert_permutation(column, n);
    }
}

TEST_IN_ARENA(separated_clouds_are_found)
{
    struct vectors v = clouds(a, 23, 12, true, 19, 0.05);
    for (int unit = 0; unit < 2; unit++) {
        struct kmeans_options options = {.k = 23, .restarts = 8, .max_iterations = 50, .seed = 3};
        struct kmeans found;
        struct clustering_accuracy accuracy;
        if (unit)
            vectors_normalize(&v);
        assert_int_equal(kmeans(&found, a, &v, &options, NULL, NULL), OK);
        clustering_measure(&accuracy, a, &v, found.label);
        assert_true(fabs(accuracy.best - 1) < 1e-12);
        assert_true(fabs(accuracy.greedy - 1) < 1e-12);
    }
    struct retrieval r;
    assert_int_equal(retrieval_measure(&r, a, &v, NULL, NULL, NULL, NULL, NULL), OK);
    assert_int_equal(r.queries, v.n);
    for (int k = 0; k < RETRIEVAL_CUTS; k++)
        assert_true(fabs(r.precision[k] - 1) < 1e-12);
    assert_true(fabs(r.mrr - 1) < 1e-12);
}

/* One start of K-means as its header describes it, in double and with distances computed directly;
 * random numbers are drawn in the same order. */
struct slow {
    uint32_t n, k, dim, *label;
    double *x, *centre, *distance; /* (n, dim), (k, dim), (n) */
};

static double slow_distance(const struct slow *s, uint32_t i, const double *y)
{
    double sum = 0;
    for (uint32_t d = 0; d < s->dim; d++)
        sum += (s->x[i * s->dim + d] - y[d]) * (s->x[i * s->dim + d] - y[d]);
    return sum;
}

static double slow_seed(struct slow *s, uint32_t c, const uint32_t *trial, uint32_t trials)
{
    uint32_t best = 0;
    double least = INFINITY;
    for (uint32_t t = 0; t < trials; t++) {
        double cost = 0;
        for (uint32_t i = 0; i < s->n; i++)
            cost += fmin(s->distance[i], slow_distance(s, i, s->x + trial[t] * s->dim));
        best = cost < least ? t : best;
        least = fmin(cost, least);
    }
    memcpy(s->centre + c * s->dim, s->x + trial[best] * s->dim, s->dim * sizeof *s->x);
    for (uint32_t i = 0; i < s->n; i++)
        s->distance[i] = fmin(s->distance[i], slow_distance(s, i, s->centre + c * s->dim));
    return least;
}

static uint32_t slow_draw(const struct slow *s, double at)
{
    uint32_t i = 0;
    for (; i + 1 < s->n && (at -= s->distance[i]) >= 0; i++)
        ;
    return i;
}

static double slow_assign(struct slow *s)
{
    double cost = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        double best = INFINITY;
        for (uint32_t c = 0; c < s->k; c++) {
            double d = slow_distance(s, i, s->centre + c * s->dim);
            s->label[i] = d < best ? c : s->label[i];
            best = fmin(d, best);
        }
        cost += best;
    }
    return cost;
}

static double slow_kmeans(struct slow *s, struct rng rng)
{
    uint32_t trial[8] = {(uint32_t)rng_below(&rng, s->n)}, trials = 2 + (uint32_t)log(s->k);
    for (uint32_t i = 0; i < s->n; i++)
        s->distance[i] = INFINITY;
    double cost = slow_seed(s, 0, trial, 1);
    for (uint32_t c = 1; c < s->k; c++) {
        for (uint32_t t = 0; t < trials; t++)
            trial[t] = slow_draw(s, rng_double(&rng) * cost);
        cost = slow_seed(s, c, trial, trials);
    }
    for (int iteration = 0; iteration < 100; iteration++) {
        slow_assign(s);
        for (uint32_t c = 0; c < s->k; c++)
            for (uint32_t d = 0; d < s->dim; d++) {
                double sum = 0, n = 0;
                for (uint32_t i = 0; i < s->n; i++)
                    if (s->label[i] == c) {
                        sum += s->x[i * s->dim + d];
                        n++;
                    }
                s->centre[c * s->dim + d] = sum / n;
            }
    }
    return slow_assign(s);
}

TEST_IN_ARENA(kmeans_equals_the_slow_one)
{
    for (uint32_t k = 2; k < 40; k += 6) {
        struct vectors v = clouds(a, k, 9, true, 7, 0.7);
        struct kmeans_options options = {.k = k, .restarts = 1, .max_iterations = 100, .seed = k};
        struct kmeans found;
        struct slow s = {.n = v.n,
                         .k = k,
                         .dim = v.dim,
                         .label = arena_array(a, uint32_t, v.n),
                         .x = arena_array(a, double, (size_t)v.n *v.dim),
                         .centre = arena_array(a, double, (size_t)k *v.dim),
                         .distance = arena_array(a, double, v.n)};
        for (uint32_t i = 0; i < v.n * v.dim; i++) /* with zeros, which are skipped */
            if (i % 3 == 0)
                vectors_at(&v, i / v.dim)[i % v.dim] = 0;
        for (uint32_t i = 0; i < v.n * v.dim; i++)
            s.x[i] = (double)vectors_at(&v, i / v.dim)[i % v.dim];
        assert_int_equal(kmeans(&found, a, &v, &options, NULL, NULL), OK);
        double cost = slow_kmeans(&s, rng_new(k, 0));
        assert_true(fabs(found.cost - cost) < 1e-4 * cost);
        assert_memory_equal(found.label, s.label, v.n * sizeof *s.label);
    }
}

static const struct vectors *slow_vectors;
static uint32_t slow_query;
static int slow_compare(const void *x, const void *y)
{
    const struct vectors *v = slow_vectors;
    uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
    double si = 0, sj = 0;
    for (uint32_t d = 0; d < v->dim; d++) {
        si += (double)vectors_at(v, slow_query)[d] * (double)vectors_at(v, i)[d];
        sj += (double)vectors_at(v, slow_query)[d] * (double)vectors_at(v, j)[d];
    }
    return (si < sj) - (si > sj);
}

/* By sorting; the first `queries` vectors are asked. */
static void check_precision(const struct vectors *v, uint32_t queries,
                            enum retrieval_divisor divisor)
{
    struct arena a = {0};
    struct retrieval r, slow = {0};
    struct retrieval_options how = {.queries = queries, .divisor = divisor};
    assert_int_equal(retrieval_measure(&r, &a, v, &how, NULL, NULL, NULL, NULL), OK);
    assert_int_equal(r.queries, queries);
    slow_vectors = v;
    for (uint32_t q = 0; q < queries; q++) {
        uint32_t order[200], n = 0, hits = 0, size = divisor == RETRIEVAL_CLUSTER;
        for (uint32_t i = 0; i < v->n; i++) {
            size += i != q && v->cluster[i] == v->cluster[q];
            if (i != q)
                order[n++] = i;
        }
        slow_query = q;
        qsort(order, n, sizeof *order, slow_compare);
        for (uint32_t k = 0; k < n; k++) {
            bool hit = v->cluster[order[k]] == v->cluster[q];
            uint32_t by = size < k + 1 && divisor != RETRIEVAL_K ? size : k + 1;
            if (hit && !hits)
                slow.mrr += 1.0 / (k + 1) / queries;
            hits += hit;
            for (int c = 0; c < RETRIEVAL_CUTS; c++)
                if (retrieval_cuts[c] == k + 1)
                    slow.precision[c] += (double)hits / by / queries;
        }
    }
    assert_true(slow.precision[1] > 0.2 && slow.precision[1] < 0.95);
    for (int c = 0; c < RETRIEVAL_CUTS; c++)
        assert_true(fabs(r.precision[c] - slow.precision[c]) < 1e-9);
    assert_true(fabs(r.mrr - slow.mrr) < 1e-9);
    arena_free(&a);
}

TEST_IN_ARENA(precision_equals_sorting)
{
    struct vectors v = clouds(a, 11, 6, true, 5, 0.8);
    vectors_normalize(&v);
    for (int divisor = RETRIEVAL_OTHERS; divisor <= RETRIEVAL_K; divisor++) {
        check_precision(&v, v.n, (enum retrieval_divisor)divisor);
        check_precision(&v, v.n / 3, (enum retrieval_divisor)divisor);
    }
}

/* Whichever large allocation fails, it is said. */
TEST_IN_ARENA(memory_runs_out)
{
    struct vectors v = clouds(a, 7, 6, true, 5, 0.8);
    struct kmeans_options options = {.k = 7, .restarts = 2, .max_iterations = 9, .seed = 3};
    struct kmeans found;
    struct retrieval r;
    long failures;
    vectors_normalize(&v);
    SCARCE_UNTIL_OK(&failures, kmeans(&found, a, &v, &options, NULL, NULL));
    assert_in_range(failures, 4, 20);
    SCARCE_UNTIL_OK(&failures, retrieval_measure(&r, a, &v, NULL, NULL, NULL, NULL, NULL));
    assert_in_range(failures, 2, 20);
}

/* Four in a row: three of one class, the last alone; one query. By hand. */
TEST_IN_ARENA(score_of_eqnet)
{
    float x[4][VECTOR_LANES] = {{1, 0}, {0.9F, 0.435889894F}, {0, 1}, {0.8F, 0.6F}};
    uint32_t cluster[] = {0, 0, 0, 1};
    const char *text[] = {"", "", "", ""};
    struct vectors v = {4, 2, VECTOR_LANES, x[0], cluster, 2, text};
    struct retrieval r;
    /* Nearest to the first: its own, the other, its own. */
    const double hits[] = {1, 2}, by[3][2] = {{1, 2}, {1, 3}, {1, 5}};
    for (int divisor = RETRIEVAL_OTHERS; divisor <= RETRIEVAL_K; divisor++) {
        struct retrieval_options how = {.queries = 1, .divisor = (enum retrieval_divisor)divisor};
        assert_int_equal(retrieval_measure(&r, a, &v, &how, NULL, NULL, NULL, NULL), OK);
        for (int k = 0; k < 2; k++) /* score_1, score_5 */
            assert_true(fabs(r.precision[k] - hits[k] / by[divisor][k]) < 1e-12);
    }
}

TEST_IN_ARENA(copies_are_dropped)
{
    float x[5][VECTOR_LANES] = {{1}, {2}, {3}, {4}, {5}};
    uint32_t cluster[] = {0, 1, 1, 0, 1};
    const char *text[] = {"sin x", "cos x", "sin x", "sin x", ""};
    struct vectors v = {5, 1, VECTOR_LANES, x[0], cluster, 2, text};
    vectors_drop_copies(&v,
                        2); /* the last sin x is the first again; that of the other class is not */
    assert_int_equal(v.n, 4);
    assert_true(vectors_at(&v, 2)[0] == 3 && vectors_at(&v, 3)[0] == 5);
    assert_int_equal(v.cluster[3], 1);
}

/* Against every triple; some similarities are equal. */
TEST_IN_ARENA(ranking_error_equals_counting)
{
    struct vectors v = clouds(a, 5, 7, true, 4, 1.5);
    memcpy(vectors_at(&v, 9), vectors_at(&v, 3), v.stride * sizeof(float)); /* of two clusters */
    memcpy(vectors_at(&v, 4), vectors_at(&v, 3), v.stride * sizeof(float));
    vectors_normalize(&v);
    struct retrieval r;
    assert_int_equal(retrieval_measure(&r, a, &v, NULL, NULL, NULL, NULL, NULL), OK);
    double wrong = 0, all = 0;
    for (uint32_t q = 0; q < v.n; q++)
        for (uint32_t p = 0; p < v.n; p++)
            for (uint32_t n = 0; n < v.n; n++) {
                if (p == q || v.cluster[p] != v.cluster[q] || v.cluster[n] == v.cluster[q])
                    continue;
                float near = vector_dot(vectors_at(&v, q), vectors_at(&v, p), v.stride);
                float far = vector_dot(vectors_at(&v, q), vectors_at(&v, n), v.stride);
                wrong += near < far ? 1 : near == far ? 0.5 : 0;
                all++;
            }
    assert_true(wrong / all > 0.01 && wrong / all < 0.4);
    assert_true(fabs(r.ranking_error - wrong / all) < 1e-9);
}

TEST_IN_ARENA(threads_change_nothing)
{
    struct vectors v = clouds(a, 30, 9, true, 33, 1.2);
    vectors_normalize(&v);
    struct kmeans_options options = {.k = 30, .restarts = 3, .max_iterations = 40, .seed = 1};
    struct kmeans one, three;
    struct retrieval r1, r3;
    struct pool *pool = pool_new(3);
    assert_int_equal(kmeans(&one, a, &v, &options, NULL, NULL), OK);
    assert_int_equal(kmeans(&three, a, &v, &options, pool, NULL), OK);
    assert_memory_equal(one.label, three.label, v.n * sizeof *one.label);
    assert_true(one.cost == three.cost);
    assert_int_equal(retrieval_measure(&r1, a, &v, NULL, NULL, NULL, NULL, NULL), OK);
    assert_int_equal(retrieval_measure(&r3, a, &v, NULL, pool, NULL, NULL, NULL), OK);
    assert_memory_equal(&r1, &r3, sizeof r1);
    pool_free(pool);
}

TEST_IN_ARENA(duplicates_leave_no_centre_empty)
{
    struct vectors v = clouds(a, 6, 4, true, 3, 0);
    struct kmeans_options options = {.k = 6, .restarts = 2, .max_iterations = 20, .seed = 1};
    struct kmeans found;
    for (uint32_t i = 0; i < v.n; i++)
        memcpy(vectors_at(&v, i), vectors_at(&v, 0), v.stride * sizeof(float));
    assert_int_equal(kmeans(&found, a, &v, &options, NULL, NULL), OK);
    assert_true(found.cost < 1e-6);
}

TEST_IN_ARENA(bad_vectors_are_refused)
{
    struct vectors v;
    Eqloom__EmbeddingBatch b, *list[1] = {&b};
    float values[4] = {1, 2, NAN, 4};
    eqloom__embedding_batch__init(&b);
    assert_int_equal(vectors_load(&v, a, list, 1, 0, NULL), ERR_INPUT);
    b.dim = 2;
    b.count = 2;
    b.values = (ProtobufCBinaryData){sizeof values, (uint8_t *)values};
    assert_int_equal(vectors_load(&v, a, list, 1, 0, NULL), ERR_FAILED);
    values[2] = 3;
    assert_int_equal(vectors_load(&v, a, list, 1, 0, NULL), OK);
    assert_int_equal(v.n, 2);
    assert_int_equal(v.n_clusters, 1);
    b.count = 3;
    assert_int_equal(vectors_load(&v, a, list, 1, 0, NULL), ERR_CORRUPT);
}

TEST(tfidf_by_hand)
{
    struct err e = {0};
    uint32_t tokens[] = {3, 4, 4, 3}, offset[] = {0, 3, 4};
    Eqloom__TokenBatch b = EQLOOM__TOKEN_BATCH__INIT;
    ProtobufCMessage *list[] = {&b.base};
    struct op_ctx ctx = {.inputs = {{"batches", list, 1}, {"fit", list, 1}}};
    b.tokens = tokens;
    b.n_tokens = 4;
    b.offset = offset;
    b.n_offset = 3;
    assert_int_equal(op_tfidf.run(&ctx, NULL, &e), OK);
    const Eqloom__EmbeddingBatch *out = (const Eqloom__EmbeddingBatch *)ctx.outputs[0];
    const float *x = (const float *)(const void *)out->values.data;
    double three = 1, four = 2 * (log(1.5) + 1), norm = sqrt(three * three + four * four);
    assert_int_equal(out->count, 2);
    assert_int_equal(out->dim, 5);
    assert_true(fabs((double)x[3] - three / norm) < 1e-6);
    assert_true(fabs((double)x[4] - four / norm) < 1e-6);
    assert_true(x[5 + 3] == 1 && x[5 + 4] == 0);
    offset[1] = 5;
    assert_int_equal(op_tfidf.run(&ctx, NULL, &e), ERR_CORRUPT);
    offset[1] = 3;
    tokens[1] = UINT32_MAX;
    assert_int_equal(op_tfidf.run(&ctx, NULL, &e), ERR_LIMIT);
    arena_free(&ctx.a);
}
