/* Bounds of the ranking error: against a walk through all triples, and by drawing papers
 * many times. Prints its seed; EQLOOM_TEST_SEED sets it. */
#include "ops/eval/measure/retrieval.h"
#include "ops/latex/study/ranking/ranking_bound.h"
#include "tests/unit.h"

enum { DRAWS = CASES(1000, 200), ALLOWED = DRAWS / 20, DIM = 3 };
static const double delta = 0.05, loose = 0.75;
/* Papers of these sizes; 0 ends. The equations of a paper lie together, or by turns at two opposite
 * ends (`loose` of the papers): how near they are is a matter of the paper, not of the equation. */
struct drawn {
    struct vectors v;
    uint32_t n_papers;
};

static struct drawn draw(struct arena *a, const uint32_t *sizes, struct rng *rng)
{
    struct drawn d = {.v = {.dim = DIM, .stride = VECTOR_LANES}};
    for (; sizes[d.n_papers]; d.n_papers++)
        d.v.n += sizes[d.n_papers];
    d.v.n_clusters = d.n_papers;
    d.v.x = arena_array(a, float, (size_t)d.v.n *VECTOR_LANES);
    d.v.cluster = arena_array(a, uint32_t, d.v.n);
    for (uint32_t p = 0, i = 0; p < d.n_papers; p++) {
        double center[DIM];
        bool is_loose = rng_double(rng) < loose;
        for (int k = 0; k < DIM; k++)
            center[k] = rng_normal(rng);
        for (uint32_t m = 0; m < sizes[p]; m++, i++) {
            d.v.cluster[i] = p;
            for (int k = 0; k < DIM; k++)
                vectors_at(&d.v, i)[k] =
                    (float)(0.05 * rng_normal(rng) + (is_loose && m % 2 ? -center[k] : center[k]));
        }
    }
    vectors_normalize(&d.v);
    return d;
}

static double error_of(struct arena *a, const struct vectors *v)
{
    struct retrieval r;
    assert_int_equal(retrieval_measure(&r, a, v, NULL, NULL, NULL, NULL, NULL), OK);
    return r.ranking_error;
}

/* ---- against a walk ---- */

/* `cites`, unless it is NULL: positives are equations of papers that are cited, not of the class.
 */
static void check_walk(const uint32_t *sizes, const uint32_t *classes, const uint32_t (*cites)[2],
                       const uint32_t *first)
{
    struct arena a = {0};
    struct rng rng = rng_new(test_seed(1), 1);
    struct drawn d = draw(&a, sizes, &rng);
    const struct vectors *v = &d.v;
    uint32_t *paper = arena_memdup(&a, v->cluster, v->n * sizeof *paper);
    double touched[8] = {0}, triples = 0, chi = 0, largest = 0, wrong = 0;
    struct ranking_blocks blocks = {v, paper, d.n_papers, cites, first};
    struct ranking_bound got;
    bool cited[8][8] = {{false}};
    memcpy(v->cluster, classes, v->n * sizeof *classes);
    d.v.n_clusters = classes[v->n - 1] + 1;
    for (size_t i = 0; cites && i < first[d.n_papers]; i++)
        cited[cites[i][0]][cites[i][1]] = true;
    for (uint32_t x = 0; x < v->n; x++)
        for (uint32_t y = 0; y < v->n; y++)
            for (uint32_t z = 0; z < v->n; z++) {
                uint32_t p = paper[x], q = paper[y], r = paper[z];
                bool positive = cites ? cited[p][q] : x != y && classes[x] == classes[y];
                bool negative = cites ? r != p && !cited[p][r] : classes[x] != classes[z];
                if (!positive || !negative)
                    continue;
                triples++;
                touched[p]++;
                touched[q] += q != p;
                touched[r] += r != p && r != q;
                wrong += vector_dot(vectors_at(v, x), vectors_at(v, z), v->stride) >
                         vector_dot(vectors_at(v, x), vectors_at(v, y), v->stride);
            }
    for (uint32_t p = 0; p < d.n_papers; p++)
        largest = fmax(largest, sizes[p]);
    for (int of = cites ? 3 : 2; of > 0; of--) { /* that touch one of so many papers */
        uint32_t most = 0;
        for (uint32_t p = 0; p < d.n_papers; p++)
            most = touched[p] > touched[most] ? p : most;
        chi += touched[most];
        touched[most] = 0;
    }
    chi = fmin(chi, triples);
    ranking_bound_find(&got, &a, &blocks, delta);
    assert_true(got.triples == triples && got.largest == largest);
    assert_true(fabs(got.by_size - 3 * sqrt(largest * log(1 / delta) / (2 * v->n))) < 1e-12);
    assert_true(fabs(got.by_triples - sqrt(chi * log(1 / delta) / (2 * triples))) < 1e-12);
    struct ranking_sample drawn;
    ranking_sample_draw(&drawn, &a, &blocks, 50000, delta, &rng);
    assert_true(fabs(drawn.error - wrong / triples) < 0.02);
    assert_true(drawn.colours <= 50000 && drawn.colours >= 50000.0 / d.n_papers);
    arena_free(&a);
}

TEST(walk)
{
    static const uint32_t sizes[] = {3, 1, 4, 2, 1, 0},
                          papers[] = {0, 0, 0, 1, 2, 2, 2, 2, 3, 3, 4};
    static const uint32_t sections[] = {0, 0, 1, 2, 3, 3, 4, 4, 5, 5, 6};
    static const uint32_t cites[][2] = {{0, 1}, {0, 3}, {2, 0}, {4, 0}, {4, 2}};
    check_walk(sizes, papers, NULL, NULL);
    check_walk(sizes, sections, NULL, NULL);
    check_walk(sizes, papers, cites, (const uint32_t[]){0, 2, 2, 3, 3, 5});
}

/* Colours: as many as triples where each pair of triples shares a paper; else no fewer than triples
 * at one paper, and the error comes near that of all triples. */
TEST_IN_ARENA(sample)
{
    static const uint32_t two[] = {3, 5, 0};
    uint32_t many[101] = {0};
    struct rng rng = rng_new(test_seed(1), 2);
    struct ranking_sample s;
    struct drawn d = draw(a, two, &rng);
    struct ranking_blocks blocks = {&d.v, d.v.cluster, d.n_papers};
    ranking_sample_draw(&s, a, &blocks, 200, delta, &rng);
    assert_true(s.colours == 200);
    assert_true(fabs(s.bound - sqrt(log(1 / delta) / 2)) < 1e-12);
    for (int i = 0; i < 100; i++)
        many[i] = 3;
    d = draw(a, many, &rng);
    blocks = (struct ranking_blocks){&d.v, d.v.cluster, d.n_papers};
    ranking_sample_draw(&s, a, &blocks, 100000, delta, &rng);
    assert_true(s.colours >= 2 * 100000 / 100.0 && s.colours < 4 * 100000 / 100.0);
    assert_true(fabs(s.error - error_of(a, &d.v)) < 0.01);
}

/* ---- draws ---- */

enum bound { BY_PAPERS, BY_SIZE, BY_TRIPLES, SAMPLED, BOUNDS };
static const char *const bound_names[BOUNDS] = {"by papers", "by size", "by triples", "sampled"};

/* How often the true error, the mean of all draws, is above each bound. */
static void count_violations(size_t *out, const char *name, const uint32_t *sizes)
{
    static double estimate[DRAWS][BOUNDS], margin[DRAWS][BOUNDS];
    double truth = 0;
    uint64_t seed = test_seed(1);
    struct arena a = {0};
    for (size_t i = 0; i < DRAWS; i++) {
        struct rng rng = rng_new(seed, 1000 + i);
        struct drawn d = draw(&a, sizes, &rng);
        struct ranking_blocks blocks = {&d.v, d.v.cluster, d.n_papers};
        struct ranking_bound b;
        struct ranking_sample s;
        double error = error_of(&a, &d.v);
        ranking_bound_find(&b, &a, &blocks, delta);
        ranking_sample_draw(&s, &a, &blocks, 1000, delta, &rng);
        for (int k = 0; k < BOUNDS; k++)
            estimate[i][k] = k == SAMPLED ? s.error : error;
        margin[i][BY_PAPERS] = 3 * sqrt(log(1 / delta) / (2.0 * d.n_papers)); /* as printed */
        margin[i][BY_SIZE] = b.by_size;
        margin[i][BY_TRIPLES] = b.by_triples;
        margin[i][SAMPLED] = s.bound;
        truth += error / DRAWS;
        arena_reset(&a);
    }
    arena_free(&a);
    printf("%s: the error is %.3f;", name, truth);
    for (int k = 0; k < BOUNDS; k++) {
        out[k] = 0;
        for (size_t i = 0; i < DRAWS; i++)
            out[k] += truth > estimate[i][k] + margin[i][k];
        printf(" %s %zu,", bound_names[k], out[k]);
    }
    printf(" of %d\n", DRAWS);
    assert_true(out[BY_TRIPLES] <= ALLOWED);
    assert_true(out[SAMPLED] <= ALLOWED);
}

TEST(draws)
{
    uint32_t equal[41] = {0}, uneven[61] = {0}, large[152] = {60}, single[502] = {2};
    size_t n[BOUNDS];
    for (uint32_t i = 0; i < 40; i++)
        equal[i] = 5;
    for (uint32_t i = 0; i < 60; i++)
        uneven[i] = 1 + 40 / (i + 1);
    for (uint32_t i = 1; i < 151; i++)
        large[i] = 2;
    for (uint32_t i = 1; i < 501; i++)
        single[i] = 1;
    count_violations(n, "equal papers", equal);
    assert_true(n[BY_SIZE] <= ALLOWED && n[BY_PAPERS] <= ALLOWED);
    count_violations(n, "uneven papers", uneven);
    assert_true(n[BY_SIZE] <= ALLOWED);
    count_violations(n, "one large paper", large);
    assert_true(n[BY_SIZE] <= ALLOWED);
    assert_true(n[BY_PAPERS] > ALLOWED); /* the formula as printed does not hold */
    count_violations(n, "papers of one equation", single);
    assert_true(n[BY_SIZE] > ALLOWED); /* it is for means over all triples of any equations */
}
