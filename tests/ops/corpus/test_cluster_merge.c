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

TEST_IN_ARENA(equal_seeds_are_joined)
{
    struct err e;
    Eqloom__Cluster *in[N], **out;
    size_t n;
    fill(in, a);
    struct merge_options options = {.max_members = 4, .points = 8};
    assert_int_equal(clusters_merge(&out, NULL, &n, a, in, N, &options, &e), OK);
    assert_int_equal(n, 6);
    /* The three forms of x + sin(x)^2: in the first one's place, with the least seed. */
    assert_string_equal(out[0]->seed->prefix, "+ x pow sin x 2");
    assert_int_equal(out[0]->n_members, 4);
    assert_string_equal(out[0]->members[0]->prefix, out[0]->seed->prefix);
    assert_string_equal(out[0]->members[1]->prefix, "+ pow sin x 2 x");
    assert_string_equal(out[0]->members[2]->prefix, "- + x 1 pow cos x 2");
    assert_int_equal(out[1]->n_members, 3);
    assert_ptr_equal(out[2], in[3]);
    assert_ptr_equal(out[3], in[5]);
    assert_ptr_equal(out[4], in[6]);
    assert_ptr_equal(out[5], in[7]);
}

TEST(exact_languages)
{
    static const struct {
        const char *language, *seeds[5];
        size_t n;
    } cases[] = {
        {"boolean", {"implies a b", "and a not a", "or b not a", "implies b a", "false"}, 3},
        {"polynomial", {"* e e", "- * + a b - a b * a a", "* a a", "- 0 * b b", "e"}, 4},
    };
    struct merge_options options = {.points = 4, .max_members = 100};
    for (size_t k = 0; k < 2; k++) {
        struct arena a = {0};
        struct err e;
        Eqloom__Cluster *in[5], **out;
        size_t n;
        for (size_t i = 0; i < 5; i++)
            in[i] = cluster_of(&a, cases[k].language, &cases[k].seeds[i], 1);
        assert_int_equal(clusters_merge(&out, NULL, &n, &a, in, 5, &options, &e), OK);
        assert_int_equal(n, cases[k].n);
        arena_free(&a);
    }
}

TEST_IN_ARENA(merging_twice_changes_nothing)
{
    struct err e;
    Eqloom__Cluster *in[N], **out, **again;
    size_t n, m;
    fill(in, a);
    struct merge_options options = {.max_members = 100, .points = 8};
    assert_int_equal(clusters_merge(&out, NULL, &n, a, in, N, &options, &e), OK);
    assert_int_equal(clusters_merge(&again, NULL, &m, a, out, n, &options, &e), OK);
    assert_int_equal(m, n);
    for (size_t i = 0; i < n; i++)
        assert_ptr_equal(again[i], out[i]);
}

TEST_IN_ARENA(what_is_held_out_is_dropped)
{
    struct err e;
    Eqloom__Cluster *in[N], *except[3], **out;
    size_t n;
    fill(in, a);
    const char *held_out[3] = {"sqrt - x 20", "* x / 2 2", "cos x"};
    for (int i = 0; i < 3; i++)
        except[i] = cluster_of(a, "", &held_out[i], 1);
    struct merge_options options = {
        .max_members = 100, .points = 8, .except = except, .n_except = 3};
    assert_int_equal(clusters_merge(&out, NULL, &n, a, in, N, &options, &e), OK);
    assert_int_equal(n, 4); /* without the two of sqrt(x - 20) and x; cos x is no cluster of ours */
    assert_string_equal(out[0]->seed->prefix, "+ x pow sin x 2");
    assert_ptr_equal(out[1], in[3]);
    assert_ptr_equal(out[2], in[5]);
    assert_ptr_equal(out[3], in[7]);
    assert_int_equal(clusters_merge(&out, NULL, &n, a, in, 0, &options, &e), OK);
    assert_int_equal(n, 0);
}
