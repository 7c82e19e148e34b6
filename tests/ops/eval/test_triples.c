/* Losses over triples against a walk through all of them; the same for any number of threads. */
#include "base/rng.h"
#include "ops/eval/measure/triples.h"
#include "tests/unit.h"

/* So many vectors in clusters that lie among each other, some of them alone. `flat`: of few values,
 * so that cosines are equal. */
static struct vectors scatter(struct arena *a, uint32_t n, uint32_t clusters, uint32_t dim,
                              bool flat)
{
    struct rng rng = rng_new(n, dim);
    struct vectors v = {.n = n, .dim = dim, .n_clusters = clusters};
    v.stride = (dim + VECTOR_LANES - 1) & ~(VECTOR_LANES - 1u);
    v.x = arena_array(a, float, (size_t)n *v.stride);
    v.cluster = arena_array(a, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t c = i < clusters ? i : (uint32_t)rng_below(&rng, clusters);
        v.cluster[i] = c < clusters / 4 ? c + clusters / 2 : c; /* and some have none */
        for (uint32_t d = 0; d < dim; d++)
            vectors_at(&v, i)[d] =
                flat ? (float)rng_below(&rng, 2) * 2 - 1
                     : (float)(rng_normal(&rng) + 0.7 * sin(v.cluster[i] * (d + 1.0)));
    }
    vectors_normalize(&v);
    return v;
}

static double cosine(const struct vectors *v, uint32_t i, uint32_t j)
{
    return (double)vector_dot(vectors_at(v, i), vectors_at(v, j), v->stride);
}

static struct triples by_walk(const struct vectors *v)
{
    struct triples t = {0};
    for (uint32_t x = 0; x < v->n; x++)
        for (uint32_t p = 0; p < v->n; p++)
            for (uint32_t n = 0; n < v->n && p != x && v->cluster[p] == v->cluster[x]; n++) {
                if (v->cluster[n] == v->cluster[x])
                    continue;
                double near = cosine(v, x, p), far = cosine(v, x, n), swapped = cosine(v, p, n);
                t.count++;
                t.hinge += fmax(0, 1 - near + fmax(far, swapped));
                t.siamese += (fmax(0, 1 - near) + fmax(0, 1 + far)) / 2;
            }
    double n = t.count > 0 ? t.count : 1;
    return (struct triples){t.count, t.hinge / n, t.siamese / n};
}

static void check(const struct triples *got, const struct triples *want)
{
    assert_true(got->count == want->count);
    assert_true(fabs(got->hinge - want->hinge) < 1e-5);
    assert_true(fabs(got->siamese - want->siamese) < 1e-5);
}

TEST(walk)
{
    static const uint32_t sizes[][2] = {{1, 1}, {7, 7}, {8, 1}, {9, 2}, {40, 5}, {131, 12}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int flat = 0; flat < 2; flat++) {
            struct arena a = {0};
            struct triples got, want;
            struct vectors v = scatter(&a, sizes[i][0], sizes[i][1], 11, flat);
            triples_measure(&got, &a, &v, TRIPLES_ROOM, NULL, NULL, NULL);
            want = by_walk(&v);
            check(&got, &want);
            assert_true(i < 4 || (got.hinge > 0.01 && got.siamese > 0.01));
            arena_free(&a);
        }
}

/* More vectors than a block; with little room, more items than are worked on at a time. */
TEST_IN_ARENA(blocks_and_threads)
{
    static const size_t rooms[] = {TRIPLES_ROOM, 1};
    struct vectors v = scatter(a, 2300, 700, 5, false);
    struct triples one, more, want = by_walk(&v);
    struct pool *pool = pool_new(3);
    for (int i = 0; i < 2; i++) {
        triples_measure(&one, a, &v, rooms[i], NULL, NULL, NULL);
        check(&one, &want);
        triples_measure(&more, a, &v, rooms[i], pool, NULL, NULL);
        assert_memory_equal(&one, &more, sizeof one);
    }
    pool_free(pool);
}

static bool at_once(void *arg)
{
    ++*(size_t *)arg;
    return true;
}

/* Cancelling is asked for once per item of work, and no loss is computed. */
TEST_IN_ARENA(cancelled)
{
    static uint32_t cluster[] = {0, 0};
    static float x[2 * VECTOR_LANES] = {1};
    struct triples t;
    struct vectors v = {
        .x = x, .cluster = cluster, .n = 2, .n_clusters = 1, .dim = 1, .stride = VECTOR_LANES};
    size_t asked = 0;
    triples_measure(&t, a, &v, TRIPLES_ROOM, NULL, at_once, &asked);
    assert_int_equal(asked, 1);
    assert_true(t.count == 0 && t.siamese == 0);
}
