/* Pairs, negatives and sequences as functions of (seed, k): each is as likely as any other, and
 * what is added to a dataset, or moved in it, changes few of them. */
#include "ops/learn/data/example_sampler.h"
#include "tests/ops/learn/toy.h"
#include "tests/unit.h"

#include <math.h>
#include <stdbool.h>

static void make(struct dataset *d, size_t clusters, size_t members)
{
    struct arena a = {0};
    for (size_t i = 0; i < clusters; i++)
        assert_int_equal(
            dataset_add(d, toy_batch(&a, 5, i, members, 3, 9), TOY_VOCABULARY, 11, NULL), OK);
    arena_free(&a);
}

/* A sampler with its dataset. */
static void close_all(struct example_sampler *x, struct dataset *d)
{
    example_sampler_free(x);
    dataset_free(d);
}

TEST(pairs)
{
    enum { CLUSTERS = 37, MEMBERS = 5, BATCH = 12, EPOCH = CLUSTERS / BATCH * BATCH };
    struct dataset d = {0};
    struct example_sampler x, y;
    make(&d, CLUSTERS, MEMBERS);
    example_sampler_init(&x, &d, 1, BATCH);
    example_sampler_init(&y, &d, 2, BATCH);
    size_t by_cluster[CLUSTERS] = {0}, by_pair[MEMBERS][MEMBERS] = {0}, n = 200 * EPOCH;
    for (uint64_t k = 0; k < n; k++) {
        struct pair p = example_sampler_pair(&x, k);
        assert_true(p.cluster < CLUSTERS && p.a != p.b);
        assert_true(p.a / MEMBERS == p.cluster && p.b / MEMBERS == p.cluster);
        for (uint64_t j = k / EPOCH * EPOCH; j < k && k < 10 * EPOCH; j++) /* none twice an epoch */
            assert_true(example_sampler_pair(&x, j).cluster != p.cluster);
        by_cluster[p.cluster]++;
        by_pair[p.a % MEMBERS][p.b % MEMBERS]++;
    }
    for (size_t i = 0; i < CLUSTERS; i++) /* 194.6 expected; deviation under 3 */
        assert_in_range(by_cluster[i], 180, 200);
    for (size_t i = 0; i < MEMBERS; i++)
        for (size_t j = 0; j < MEMBERS; j++) /* 360 expected; deviation 19 */
            assert_in_range(by_pair[i][j], i == j ? 0 : 280, i == j ? 0 : 440);
    size_t same = 0;
    for (uint64_t k = 0; k < 1000; k++)
        same += example_sampler_pair(&y, k).cluster == example_sampler_pair(&x, k).cluster;
    assert_in_range(same, 5, 70); /* another seed, another order: 1 in 37 agree by chance */
    example_sampler_free(&y);
    close_all(&x, &d);
}

/* By pairs a cluster comes as often as it has some, at most so many. */
TEST_IN_ARENA(clusters_by_pairs)
{
    static const size_t members[] = {2, 4, 3, 9}; /* 2, 12, 6 and 72 pairs */
    static const double share[][4] = {{2 / 92., 12 / 92., 6 / 92., 72 / 92.},
                                      {2 / 28., 10 / 28., 6 / 28., 10 / 28.}};
    enum { N = 40000 };
    struct dataset d = {0};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(
            dataset_add(&d, toy_batch(a, 5, i, members[i], 3, 9), TOY_VOCABULARY, 11, NULL), OK);
    for (int capped = 0; capped < 2; capped++) {
        struct example_sampler x;
        size_t n[4] = {0};
        example_sampler_init(&x, &d, 3, 8);
        example_sampler_by_pairs(&x, capped ? 10 : 1000);
        for (uint64_t k = 0; k < N; k++) {
            struct pair p = example_sampler_pair(&x, k);
            assert_true(p.a != p.b && p.a >= d.first[p.cluster] && p.a < d.first[p.cluster + 1]);
            n[p.cluster]++;
        }
        for (size_t i = 0; i < 4; i++) /* the deviation is at most 0.0025 */
            assert_true(fabs((double)n[i] / N - share[capped][i]) < 0.012);
        example_sampler_free(&x);
    }
    dataset_free(&d);
}

/* Twelve clusters of three kinds, mixed: each kind uses a token that the others lack. */
TEST(related_clusters)
{
    enum { CLUSTERS = 12, KINDS = 3, RELATED = 2, BATCH = 6 };
    struct dataset d = {0};
    struct example_sampler x;
    for (uint32_t i = 0; i < CLUSTERS; i++) {
        uint32_t kind = 5 + i % KINDS, tokens[] = {3, kind, 4, 4, kind, 3, 8 + i % 2};
        uint32_t offset[] = {0, 3, 7}, cluster[] = {0, 0};
        Eqloom__TokenBatch b;
        toy_view(&b, tokens, offset, cluster, 2);
        assert_int_equal(dataset_add(&d, &b, TOY_VOCABULARY, 11, NULL), OK);
    }
    dataset_relate(&d, RELATED, TOY_VOCABULARY);
    example_sampler_init(&x, &d, 1, BATCH);
    size_t place[CLUSTERS], changes = 0;
    for (size_t i = 0; i < CLUSTERS; i++) {
        place[d.path[i]] = i;
        changes += i && d.path[i] % KINDS != d.path[i - 1] % KINDS;
    }
    assert_int_equal(changes, KINDS - 1);
    for (uint64_t epoch = 0; epoch < 50; epoch++) {
        unsigned seen = 0;
        for (uint64_t k = 0; k < CLUSTERS; k += RELATED) {
            uint32_t a = example_sampler_pair(&x, epoch * CLUSTERS + k).cluster;
            uint32_t b = example_sampler_pair(&x, epoch * CLUSTERS + k + 1).cluster;
            assert_int_equal(place[b], (place[a] + 1) % CLUSTERS);
            seen |= 1u << a | 1u << b;
        }
        assert_int_equal(seen, (1u << CLUSTERS) - 1); /* each once an epoch */
    }
    close_all(&x, &d);
}

/* With fewer clusters than a batch has pairs, all take their turn. */
TEST(few_clusters)
{
    struct dataset d = {0};
    struct example_sampler x;
    make(&d, 3, 2);
    example_sampler_init(&x, &d, 9, 8);
    for (uint64_t k = 0; k < 30; k += 3) {
        unsigned seen = 0;
        for (uint64_t j = k; j < k + 3; j++)
            seen |= 1u << example_sampler_pair(&x, j).cluster;
        assert_int_equal(seen, 7);
    }
    close_all(&x, &d);
}

/* Negatives are of other clusters; sequences come each once an epoch; both are functions of their
 * number alone. */
TEST(negatives_and_sequences)
{
    enum { CLUSTERS = 7, MEMBERS = 4, ALL = CLUSTERS * MEMBERS };
    struct dataset d = {0};
    make(&d, CLUSTERS, MEMBERS);
    bool drawn[ALL] = {0};
    struct example_sampler x, y;
    example_sampler_init(&x, &d, 5, MEMBERS);
    example_sampler_init(&y, &d, 5, MEMBERS);
    for (uint64_t k = 0; k < 200; k++)
        for (uint64_t j = 0; j < 3; j++) {
            uint32_t cluster = (uint32_t)(k % CLUSTERS);
            uint32_t s = example_sampler_negative(&x, cluster, k, j, 3);
            assert_true(s < ALL && s / MEMBERS != cluster);
            example_sampler_negative(&y, cluster, 1000 - k, j, 3);
            assert_int_equal(s, example_sampler_negative(&y, cluster, k, j, 3));
            drawn[s] = true;
        }
    for (size_t i = 0; i < ALL; i++)
        assert_true(drawn[i]);
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        bool seen[ALL] = {0};
        for (uint64_t k = 0; k < ALL; k++) {
            uint32_t s = example_sampler_sequence(&x, epoch * ALL + k);
            assert_true(s < ALL && !seen[s]);
            seen[s] = true;
        }
    }
    example_sampler_free(&y);
    close_all(&x, &d);
}

/* The draws of a dataset and of another one, to which clusters were added in the middle, or whose
 * clusters come in another order, agree until the first turn of what was added. */
TEST(stable_draws)
{
    enum { CLUSTERS = 60, ADDED = 3, MEMBERS = 4, BATCH = 6 };
    uint64_t agreed = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct dataset d = {0}, more = {0};
        struct example_sampler x, y;
        struct arena a = {0};
        Eqloom__TokenBatch *b[CLUSTERS + ADDED];
        for (uint64_t i = 0; i < CLUSTERS + ADDED; i++)
            b[i] = toy_batch(&a, 3, i, MEMBERS, 3, 9);
        for (size_t i = 0; i < CLUSTERS; i++)
            assert_int_equal(dataset_add(&d, b[i], TOY_VOCABULARY, 11, NULL), OK);
        for (size_t i = CLUSTERS + ADDED; i-- > 0;)
            assert_int_equal(dataset_add(&more, b[i], TOY_VOCABULARY, 11, NULL), OK);
        example_sampler_init(&x, &d, seed, BATCH);
        example_sampler_init(&y, &more, seed, BATCH);
        uint64_t k = 0;
        for (; k < CLUSTERS; k++) {
            struct pair p = example_sampler_pair(&x, k), q = example_sampler_pair(&y, k);
            size_t n = d.offset[p.a + 1] - d.offset[p.a];
            if (q.cluster < ADDED)
                break;
            assert_int_equal(q.cluster, CLUSTERS + ADDED - 1 - p.cluster);
            assert_int_equal(more.offset[q.a + 1] - more.offset[q.a], n);
            assert_memory_equal(more.tokens + more.offset[q.a], d.tokens + d.offset[p.a],
                                n * sizeof *d.tokens);
            assert_int_equal(q.b % MEMBERS, p.b % MEMBERS);
        }
        agreed += k;
        close_all(&x, &d);
        close_all(&y, &more);
        arena_free(&a);
    }
    assert_in_range(agreed, 500, 1000); /* 50 * 60 / 4 = 750 expected; deviation about 82 */
}

/* One member more takes the place of others in as few draws as it must. */
TEST_IN_ARENA(stable_members)
{
    enum { MEMBERS = 20, DRAWS = 2000 };
    struct dataset d = {0}, more = {0};
    struct example_sampler x, y;
    size_t same = 0, equal = 0;
    for (uint64_t i = 0; i < 2; i++) {
        Eqloom__TokenBatch *b = toy_batch(a, 3, i, MEMBERS + 1, 3, 9);
        assert_int_equal(dataset_add(&more, b, TOY_VOCABULARY, 11, NULL), OK);
        b->n_cluster = MEMBERS;
        b->n_offset = MEMBERS + 1;
        b->n_tokens = b->offset[MEMBERS];
        assert_int_equal(dataset_add(&d, b, TOY_VOCABULARY, 11, NULL), OK);
    }
    example_sampler_init(&x, &d, 1, 2);
    example_sampler_init(&y, &more, 1, 2);
    for (uint64_t k = 0; k < DRAWS; k++) {
        struct pair p = example_sampler_pair(&x, k), q = example_sampler_pair(&y, k);
        assert_int_equal(p.cluster, q.cluster);
        same += p.a - d.member[d.first[p.cluster]] == q.a - more.member[more.first[q.cluster]] &&
                p.b - d.member[d.first[p.cluster]] == q.b - more.member[more.first[q.cluster]];
        equal += q.a % (MEMBERS + 1) == MEMBERS || q.b % (MEMBERS + 1) == MEMBERS;
    }
    assert_int_equal(same + equal, DRAWS);
    assert_in_range(equal, 130, 250); /* 2 of 21: 190 expected; deviation 13 */
    close_all(&x, &d);
    close_all(&y, &more);
}

/* Equal members are as likely as others: pairs of two equal ones do not stick together. */
TEST(equal_members)
{
    enum { MEMBERS = 4, DRAWS = 6000 };
    uint32_t tokens[] = {5, 5, 6, 7}, offset[] = {0, 1, 2, 3, 4}, cluster[] = {0, 0, 0, 0};
    Eqloom__TokenBatch b;
    struct dataset d = {0};
    struct example_sampler x;
    size_t by_pair[MEMBERS][MEMBERS] = {0};
    toy_view(&b, tokens, offset, cluster, MEMBERS);
    assert_int_equal(dataset_add(&d, &b, 9, 2, NULL), OK);
    example_sampler_init(&x, &d, 4, 1);
    for (uint64_t k = 0; k < DRAWS; k++) {
        struct pair p = example_sampler_pair(&x, k);
        by_pair[p.a][p.b]++;
    }
    for (size_t i = 0; i < MEMBERS; i++)
        for (size_t j = 0; j < MEMBERS; j++) /* 500 expected; deviation 21 */
            assert_in_range(by_pair[i][j], i == j ? 0 : 400, i == j ? 0 : 600);
    close_all(&x, &d);
}

/* Near misses: a share of the time, of the sequence itself, each in its turn, wherever they stand.
 */
TEST(near_misses)
{
    enum { DRAWS = 6000 };
    uint32_t members[] = {5, 6, 7}, at[] = {0, 1, 2, 3}, cluster[] = {0, 0, 0};
    uint32_t pairs[] = {5, 9, 6, 8, 5, 10, 5, 11}, of[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    uint32_t turned[] = {5, 11, 5, 10, 6, 8, 5, 9}, every[8] = {0};
    Eqloom__TokenBatch b, near, other;
    struct dataset d = {0}, e = {0};
    struct example_sampler x, y;
    toy_view(&b, members, at, cluster, 3);
    toy_view(&near, pairs, of, every, 8);
    toy_view(&other, turned, of, every, 8);
    assert_int_equal(dataset_add(&d, &b, 12, 2, NULL), OK);
    assert_int_equal(dataset_add_near_misses(&d, &near, 12, 2, NULL), OK);
    assert_int_equal(dataset_add_near_misses(&e, &other, 12, 2, NULL), OK);
    assert_int_equal(dataset_add(&e, &b, 12, 2, NULL), OK);
    dataset_order_near_misses(&d);
    dataset_order_near_misses(&e);
    assert_int_equal(d.clusters, 1);
    example_sampler_init(&x, &d, 4, 1);
    example_sampler_init(&y, &e, 4, 1);
    size_t drawn[12] = {0};
    for (uint64_t k = 0; k < DRAWS; k++) {
        uint32_t s, t;
        bool there = example_sampler_near_miss(&s, &x, 0, k, 0.5);
        assert_int_equal(there, example_sampler_near_miss(&t, &y, 8, k, 0.5));
        assert_false(example_sampler_near_miss(&t, &x, 2, k, 1));
        assert_false(example_sampler_near_miss(&t, &x, 0, k, 0));
        assert_true(example_sampler_near_miss(&t, &x, 1, k, 1));
        assert_int_equal(d.tokens[d.offset[t]], 8);
        if (!there)
            continue;
        assert_true(example_sampler_near_miss(&t, &y, 8, k, 0.5));
        assert_int_equal(d.tokens[d.offset[s]], e.tokens[e.offset[t]]);
        drawn[d.tokens[d.offset[s]]]++;
    }
    for (size_t i = 9; i < 12; i++) /* 1000 expected; deviation 29 */
        assert_in_range(drawn[i], 880, 1120);
    assert_int_equal(drawn[8], 0);
    near.n_cluster = 7;
    near.n_offset = 8;
    near.n_tokens = 7;
    assert_int_equal(dataset_add_near_misses(&d, &near, 12, 2, NULL), ERR_INPUT);
    close_all(&x, &d);
    close_all(&y, &e);
}

/* Sequences that say the same, and clusters that begin with the same one, share a batch as seldom
 * as others: there they would be negatives of each other. */
TEST(equal_things)
{
    enum { CLUSTERS = 40, BATCH = 4, EPOCHS = 200 };
    struct dataset d = {0};
    struct example_sampler x, y;
    for (uint32_t i = 0; i < CLUSTERS; i++) {
        uint32_t tokens[] = {i < 2 ? 5 : 4 + i, 4, i}, offset[] = {0, 1, 3}, cluster[] = {0, 0};
        Eqloom__TokenBatch b;
        toy_view(&b, tokens, offset, cluster, 2);
        assert_int_equal(dataset_add(&d, &b, TOY_VOCABULARY, 11, NULL), OK);
    }
    size_t together = 0, apart = 0;
    uint64_t clusters_at[2] = {0}, sequences_at[2] = {0};
    example_sampler_init(&x, &d, 3, BATCH);
    example_sampler_init(&y, &d, 3, BATCH);
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        for (uint64_t k = 0; k < CLUSTERS; k++) {
            struct pair p = example_sampler_pair(&x, epoch * CLUSTERS + k);
            if (p.cluster < 2)
                clusters_at[p.cluster] = k / BATCH;
        }
        for (uint64_t k = 0; k < 2 * CLUSTERS; k++) {
            uint32_t s = example_sampler_sequence(&y, epoch * 2 * CLUSTERS + k);
            if (s == 0 || s == 2) /* the first of clusters 0 and 1 */
                sequences_at[s / 2] = k / BATCH;
        }
        together += clusters_at[0] == clusters_at[1];
        apart += sequences_at[0] != sequences_at[1];
    }
    assert_in_range(together, 3, 35);    /* 200 * 3 / 39 = 15 expected; deviation 4 */
    assert_in_range(apart, 178, EPOCHS); /* 200 * 76 / 79 = 192 expected; deviation 3 */
    example_sampler_free(&y);
    close_all(&x, &d);
}
