/* The search study: keywords against all substrings, precision by its definition, the approximate
 * index against the exact pass, and what may stand in a page. Prints its seed. */
#include "base/rng.h"
#include "ops/latex/study/nearest.h"
#include "ops/latex/study/search/keywords.h"
#include "ops/latex/study/search/precision.h"
#include "ops/latex/study/search/study_page.h"
#include "tests/unit.h"

#include <math.h>

/* ---- keywords ---- */

/* The least edit distance between the keyword and any substring, in bytes (Sellers). */
static unsigned least_distance(const char *text, const char *keyword)
{
    unsigned row[80], least = (unsigned)strlen(keyword), n = least;
    for (unsigned j = 0; j <= n; j++)
        row[j] = j;
    for (; *text; text++) {
        unsigned before = row[0];
        for (unsigned j = 1; j <= n; j++) {
            unsigned change = before + (*text != keyword[j - 1]);
            before = row[j];
            unsigned gap = (before < row[j - 1] ? before : row[j - 1]) + 1;
            row[j] = change < gap ? change : gap;
        }
        least = row[n] < least ? row[n] : least;
    }
    return least;
}

TEST(distance)
{
    struct rng rng = rng_new(test_seed(1), 1);
    size_t found = 0;
    for (int i = 0; i < 20000; i++) {
        char text[40] = {0}, keyword[40] = {0};
        size_t n = rng_below(&rng, 30), m = 1 + rng_below(&rng, 16);
        for (size_t k = 0; k < n; k++)
            text[k] = (char)('a' + rng_below(&rng, 2));
        for (size_t k = 0; k < m; k++)
            keyword[k] = (char)('a' + rng_below(&rng, 2));
        bool want = least_distance(text, keyword) < (m > KEYWORD_EXACT ? 2 : 1);
        if (keyword_in(text, keyword) != want)
            fail_msg("'%s' in '%s': not %d", keyword, text, !want);
        found += want;
    }
    assert_in_range(found, 2000, 18000);
}

TEST_IN_ARENA(fold)
{
    static const struct {
        const char *text, *keyword;
        bool in;
    } cases[] = {
        {"An  Eigen\tVALUE\n", "eigen value", true},
        {"SCHRÖDINGER", "Schrödinger", true},
        {"die Schrodinger-Gleichung", "schrödinger", true}, /* eleven characters, one changed */
        {"Schrodinger", "schröding", false},
        {"ЭНТРОПИЯ", "энтропия", true},
        {"ΣΥΝΑΡΤΗΣΗ", "συναρτησ", true},
        {"kullback leibler", "kullback-leibler", true},
        {"kulback leibler", "kullback-leibler", false},
        {"最適化問題", "最適化", true},
        {"erm", "term", false},
        {"", "x", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool in = keyword_in(keywords_fold(a, cases[i].text), keywords_fold(a, cases[i].keyword));
        if (in != cases[i].in)
            fail_msg("'%s' in '%s'", cases[i].keyword, cases[i].text);
    }
}

/* ---- precision ---- */

TEST(precision)
{
    static bool relevant[PRECISION_DEPTH + 500];
    struct rng rng = rng_new(test_seed(1), 2);
    for (size_t n = 0; n < sizeof relevant; n = n * 3 + 1) {
        double umap = 0, first[PRECISION_CUTS] = {0};
        for (size_t i = 0; i < n; i++)
            relevant[i] = rng_below(&rng, 3) == 0;
        for (size_t k = 1; k <= n && k <= PRECISION_DEPTH; k++) {
            double p = 0;
            for (size_t i = 0; i < k; i++)
                p += relevant[i] / (double)k;
            umap += relevant[k - 1] ? p : 0;
            for (int c = 0; c < PRECISION_CUTS; c++)
                first[c] = k <= precision_cuts[c] ? p : first[c];
        }
        struct precision got = precision_of(relevant, n);
        assert_true(fabs(got.umap - umap) < 1e-9);
        for (int c = 0; c < PRECISION_CUTS; c++)
            assert_true(fabs(got.at[c] - first[c]) < 1e-9);
    }
}

/* ---- the index ---- */

static struct vectors scatter(struct arena *a, uint32_t n, struct rng *rng)
{
    struct vectors v = {.n = n, .dim = 20, .stride = 32};
    v.x = arena_array(a, float, (size_t)n *v.stride);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t d = 0; d < v.dim; d++)
            vectors_at(&v, i)[d] = (float)(rng_normal(rng) + 2 * sin((i % 50) * (d + 1.0)));
    vectors_normalize(&v);
    return v;
}

TEST_IN_ARENA(index)
{
    enum { N = 3000, QUERIES = 50, K = 100 };
    struct rng rng = rng_new(test_seed(1), 3);
    struct vectors v = scatter(a, N, &rng), q = scatter(a, QUERIES, &rng);
    struct hnsw *x = hnsw_new(v.x, N, v.stride, vector_dot, NULL, NULL);
    struct hnsw *again = hnsw_new(v.x, N, v.stride, vector_dot, NULL, NULL);
    struct neighbour exact[K], found[K], same[K];
    size_t shared = 0;
    assert_true(x && again);
    for (uint32_t i = 0; i < QUERIES; i++) {
        const float *query = vectors_at(&q, i);
        assert_int_equal(nearest_find(exact, K, &v, NULL, NULL, query, a), K);
        for (uint32_t row = 0, before = 0; row < N; row++) { /* the exact ones are the nearest */
            struct neighbour y = {vector_dot(query, vectors_at(&v, row), v.stride), row};
            before += neighbour_is_before(&y, &exact[K - 1]);
            assert_true(row + 1 < N || before == K - 1);
        }
        size_t n = nearest_find(found, K, &v, x, NULL, query, a);
        assert_int_equal(n, K);
        for (size_t k = 1; k < n; k++)
            assert_true(neighbour_is_before(&found[k - 1], &found[k]));
        assert_int_equal(nearest_find(same, K, &v, again, NULL, query, a), n);
        assert_memory_equal(found, same, sizeof found);
        shared += nearest_shared(exact, K, found, n);
    }
    assert_int_equal(nearest_shared(exact, K, exact, K), K);
    assert_true(shared >= 0.95 * QUERIES * K);
    hnsw_free(x);
    hnsw_free(again);
}

/* Rows of the group are left out, and the others keep their order. */
TEST_IN_ARENA(left_out)
{
    enum { N = 203, K = 20 };
    struct rng rng = rng_new(test_seed(1), 3);
    struct vectors v = scatter(a, N, &rng);
    struct neighbour all[N], some[K];
    uint32_t group[N];
    for (uint32_t i = 0; i < N; i++)
        group[i] = (uint32_t)rng_below(&rng, 3);
    const struct nearest_exclude exclude = {group, 1};
    const float *query = vectors_at(&v, 7);
    assert_int_equal(nearest_find(all, N, &v, NULL, NULL, query, a), N);
    assert_int_equal(nearest_find(some, K, &v, NULL, &exclude, query, a), K);
    for (size_t i = 0, k = 0; k < K; i++)
        if (group[all[i].row] != 1)
            assert_int_equal(some[k++].row, all[i].row);
}

/* ---- standard errors ---- */

/* Of means of clusters of 8 values that share their half, over 2,000 draws. */
TEST_IN_ARENA(standard_error)
{
    enum { CLUSTERS = 40, OF_ONE = 8, N = CLUSTERS * OF_ONE, DRAWS = 2000 };
    struct rng rng = rng_new(test_seed(1), 4);
    double squares = 0, errors = 0, x[N], error;
    uint32_t cluster[N];
    for (int draw = 0; draw < DRAWS; draw++) {
        for (size_t c = 0; c < CLUSTERS; c++) {
            double shared = rng_normal(&rng);
            for (size_t i = 0; i < OF_ONE; i++) {
                cluster[i * CLUSTERS + c] = (uint32_t)(c * 1000);
                x[i * CLUSTERS + c] = shared + rng_normal(&rng);
            }
        }
        arena_reset(a);
        double mean = clustered_mean(&error, x, cluster, N, a);
        squares += mean * mean / DRAWS;
        errors += error * error / DRAWS;
    }
    assert_true(fabs(errors / squares - 1) < 0.15);
    assert_true(fabs(squares - (1 + 1.0 / OF_ONE) / CLUSTERS) < 0.15 / CLUSTERS);
    for (uint32_t i = 0; i < N; i++) /* of clusters of one: the root of s^2 / n */
        cluster[i] = i;
    double mean = clustered_mean(&error, x, cluster, N, a), sum = 0;
    for (size_t i = 0; i < N; i++)
        sum += (x[i] - mean) * (x[i] - mean) / (N - 1);
    assert_true(fabs(error - sqrt(sum / N)) < 1e-12);
    clustered_mean(&error, x, (const uint32_t[3]){5, 5, 5}, 3, a);
    assert_true(error == 0);
    clustered_mean(&error, x, cluster, 0, a);
    assert_true(error == 0);
}

/* ---- formulas ---- */

TEST_IN_ARENA(formulas)
{
    static const struct {
        const char *mathml;
        bool shown;
    } cases[] = {
        {"<math><mfrac linethickness=\"0px\"><mi>&lt;</mi><mn>2</mn></mfrac></math>", true},
        {"<math><mo stretchy=\"true\" fence=\"true\">(</mo></math>", true},
        {"<math><script>alert(1)</script></math>", false},
        {"<math><mi onclick=\"alert(1)\">x</mi></math>", false},
        {"<math><maction actiontype=\"statusline\"><mi>x</mi></maction></math>", false},
        {"<math><mglyph src=\"http://example.org\"/></math>", false},
        {"<math><mi mathvariant=\"&quot; onclick=&quot;x\">x</mi></math>",
         true}, /* still a value */
        {"<math><mi>", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b = {0};
        struct formula f = {cases[i].mathml, "a<b"};
        study_page_formula(&b, a, &f);
        if (strncmp(b.data, cases[i].shown ? "<math>" : "<code>a&lt;b</code>", 6))
            fail_msg("%s: %s", cases[i].mathml, b.data);
        assert_null(strstr(b.data, "\" onclick"));
        buf_free(&b);
    }
}
