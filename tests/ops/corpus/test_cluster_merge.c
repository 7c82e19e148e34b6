/* Clusters with equal seeds are joined whatever their form; others are left alone. */
#include "ops/corpus/cluster_merge.h"
#include "tests/ops/corpus/cluster_of.h"
#include "tests/unit.h"

static const char *const texts[][5] = {
    {"+ pow sin x 2 x", "+ x pow sin x 2"},
    {"sqrt - x 20", "pow - x 20 1/2"}, /* not real on most of the domain */
    {"- + x 1 pow cos x 2", "+ x pow sin x 2", "- x - pow cos x 2 1"},
    {"sin x"},
    {"* sqrt -1 sqrt - 20 x"},       /* equal to the second where x < 20 */
    {"+ x * 1/1000000000000 sin x"}, /* nearly x */
    {"x"},
    {"+ y pow sin y 2"}, /* another variable */
    {"+ x pow sin x 2", "- x * -1 pow sin x 2"},
};
enum { N = 9 };

static void fill(Eqloom__Cluster *in[N], struct arena *a)
{
    for (int i = 0; i < N; i++) {
        size_t n = 0;
        while (n < 5 && texts[i][n])
            n++;
        in[i] = cluster_of(a, "", texts[i], n);
    }
}

static struct merged merge(struct arena *a, Eqloom__Cluster **in, size_t n, size_t n_except,
                           uint32_t max_members)
{
    struct merged out;
    double *fingerprints = arena_array(a, double, n);
    struct merge_options options = {
        .max_members = max_members, .points = 8, .fingerprints = fingerprints};
    for (size_t i = 0; i < n; i++)
        assert_int_equal(cluster_fingerprint(&fingerprints[i], a, in[i]->seed, NULL), OK);
    assert_int_equal(clusters_merge(&out, a, in, n, n_except, &options, NULL), OK);
    return out;
}

TEST_IN_ARENA(equal_seeds_are_joined)
{
    Eqloom__Cluster *in[N];
    fill(in, a);
    struct merged out = merge(a, in, N, 0, 4);
    assert_int_equal(out.n, 6);
    /* The three forms of x + sin(x)^2: in the first one's place, with the least seed. */
    assert_string_equal(out.clusters[0]->seed->prefix, "+ x pow sin x 2");
    assert_int_equal(out.clusters[0]->n_members, 4);
    static const char *const members[] = {"+ x pow sin x 2", "+ pow sin x 2 x",
                                          "- + x 1 pow cos x 2"};
    for (int i = 0; i < 3; i++)
        assert_string_equal(out.clusters[0]->members[i]->prefix, members[i]);
    assert_int_equal(out.clusters[1]->n_members, 3);
    static const uint32_t alone[] = {3, 5, 6, 7};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(out.only[2 + i], alone[i]);
        assert_ptr_equal(out.clusters[2 + i], in[alone[i]]);
    }
}

TEST_IN_ARENA(exact_languages)
{
    static const struct {
        const char *language, *seeds[5];
        size_t n;
    } cases[] = {
        {"boolean", {"implies a b", "and a not a", "or b not a", "implies b a", "false"}, 3},
        {"polynomial", {"* e e", "- * + a b - a b * a a", "* a a", "- 0 * b b", "e"}, 4},
    };
    for (size_t k = 0; k < 2; k++) {
        Eqloom__Cluster *in[5];
        for (size_t i = 0; i < 5; i++)
            in[i] = cluster_of(a, cases[k].language, &cases[k].seeds[i], 1);
        assert_int_equal(merge(a, in, 5, 0, 100).n, cases[k].n);
    }
}

TEST_IN_ARENA(merging_twice_changes_nothing)
{
    Eqloom__Cluster *in[N];
    fill(in, a);
    struct merged out = merge(a, in, N, 0, 100), again = merge(a, out.clusters, out.n, 0, 100);
    assert_int_equal(again.n, out.n);
    for (size_t i = 0; i < out.n; i++)
        assert_ptr_equal(again.clusters[i], out.clusters[i]);
}

TEST_IN_ARENA(what_is_held_out_is_dropped)
{
    static const char *const held_out[] = {"sqrt - x 20", "* x / 2 2", "cos x"};
    Eqloom__Cluster *in[N + 3];
    fill(in, a);
    for (int i = 0; i < 3; i++)
        in[N + i] = cluster_of(a, "", &held_out[i], 1);
    struct merged out = merge(a, in, N + 3, 3, 100);
    /* Without the two of sqrt(x - 20) and x; cos x is no cluster of ours. */
    static const uint32_t left[] = {UINT32_MAX, 3, 5, 7};
    assert_int_equal(out.n, 4);
    assert_string_equal(out.clusters[0]->seed->prefix, "+ x pow sin x 2");
    assert_memory_equal(out.only, left, sizeof left);
    assert_int_equal(merge(a, in + N, 3, 3, 100).n, 0);
}
