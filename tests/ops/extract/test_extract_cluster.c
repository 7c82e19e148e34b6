/* Clusters: the seed leads, every member is compared with it, and a lie in the e-graph is found. */
#include "ops/extract/extract_cluster.h"
#include "tests/ops/extract/hand_graph.h"
#include "tests/unit.h"

static const struct extract_options defaults = {
    .grammar = {.max_tokens = 15, .max_digits = 4},
    .per_cluster = 20,
    .verify = true,
    .points = 5,
};

static enum err_code cluster_of(Eqloom__Cluster *out, struct arena *a, const Eqloom__EGraph *m,
                                const struct extract_options *options, uint64_t seed, struct err *e)
{
    struct extraction x;
    struct rng rng = rng_new(seed, 2);
    enum err_code code = extract_begin(&x, a, m, options, e);
    return code ? code : extract_cluster(out, a, &x, &rng, e);
}

static enum err_code extract(Eqloom__Cluster *out, struct arena *a, const char *const *nodes,
                             uint32_t root, const char *seed, const struct extract_options *options,
                             struct err *e)
{
    return cluster_of(out, a, hand_graph(a, nodes, root, seed), options, 1, e);
}

/* sin(2x) = 2 sin x cos x and its neighbours */
static const char *const sin_2x[] = {"0 x",     "1 2",     "2 * 0 1", "2 * 1 0", "2 + 0 0",
                                     "3 sin 0", "4 cos 0", "5 * 3 4", "5 * 4 3", "6 sin 2",
                                     "6 * 1 5", "6 * 5 1", "6 + 5 5", NULL};

TEST_IN_ARENA(members_agree_with_the_seed)
{
    struct err e;
    Eqloom__Cluster c;
    assert_int_equal(extract(&c, a, sin_2x, 6, "sin * 2 x", &defaults, &e), OK);
    /* sin of three products, 2 * 2 products of four factors, and 2 * 2 sums. */
    assert_string_equal(c.terms, "11");
    assert_int_equal(c.n_members, 11);
    assert_string_equal(c.members[0]->prefix, "sin * 2 x");
    for (size_t i = 0; i < c.n_members; i++) {
        assert_int_equal(c.members[i]->standing, EQLOOM__STANDING__AGREES);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(c.members[i]->prefix, c.members[k]->prefix);
    }
    struct extract_options options = defaults;
    options.per_cluster = 4;
    options.verify = false;
    assert_int_equal(extract(&c, a, sin_2x, 6, "sin * 2 x", &options, &e), OK);
    assert_int_equal(c.n_members, 4);
    assert_int_equal(c.members[3]->standing, EQLOOM__STANDING__PROVED);
}

/* Boolean clusters are checked by truth tables. */
TEST_IN_ARENA(other_languages)
{
    static const char *const true_graph[] = {"0 a",      "1 b",      "2 not 0", "3 implies 0 1",
                                             "3 or 2 1", "3 or 1 2", NULL};
    static const char *const lie[] = {"0 a", "1 b", "2 implies 0 1", "2 implies 1 0", NULL};
    struct err e;
    Eqloom__Cluster c;
    Eqloom__EGraph *m = hand_graph(a, lie, 2, "implies a b");
    m->seed->language = "boolean";
    assert_int_equal(cluster_of(&c, a, m, &defaults, 1, &e), ERR_FAILED);
    assert_string_equal(e.message, "'b => a' is not equal to the seed 'a => b': a = true, "
                                   "b = false: false against true");
    m = hand_graph(a, true_graph, 3, "implies a b");
    m->seed->language = "boolean";
    assert_int_equal(cluster_of(&c, a, m, &defaults, 1, &e), OK);
    assert_int_equal(c.n_members, 3);
    for (size_t i = 0; i < c.n_members; i++)
        assert_int_equal(c.members[i]->standing, EQLOOM__STANDING__AGREES);
    m->seed->language = "klingon";
    assert_int_equal(cluster_of(&c, a, m, &defaults, 1, &e), ERR_INPUT);
}

TEST_IN_ARENA(a_lie_is_refuted)
{
    static const char *const nodes[] = {"0 x", "1 cos 0", "1 tan 0", NULL};
    struct err e;
    Eqloom__Cluster c;
    assert_int_equal(extract(&c, a, nodes, 1, "cos x", &defaults, &e), ERR_FAILED);
    assert_non_null(strstr(e.message, "'tan(x)'"));
    assert_non_null(strstr(e.message, "'cos(x)'"));
    assert_non_null(strstr(e.message, "x = "));
}

/* x - x as exponent base: 1/(x-x) is defined nowhere, so it agrees with nothing. */
TEST_IN_ARENA(members_never_defined_are_dropped)
{
    static const char *const nodes[] = {"0 x", "1 2", "2 - 0 0", "3 / 1 2", "3 cos 0", NULL};
    struct err e;
    Eqloom__Cluster c;
    assert_int_equal(extract(&c, a, nodes, 3, "cos x", &defaults, &e), OK);
    assert_int_equal(c.n_members, 1);
}

/* Three terms are defined, five are not: whatever the first draw gives, three remain. */
TEST_IN_ARENA(dropped_members_are_replaced)
{
    static const char *const nodes[] = {"0 x",     "1 -1",    "2 * 0 1", "2 * 1 0", "3 - 0 0",
                                        "4 cos 0", "4 cos 2", "4 / 5 3", "4 / 0 3", "4 / 2 3",
                                        "4 / 3 3", "5 1",     NULL};
    struct err e;
    struct extract_options options = defaults;
    options.per_cluster = 3;
    for (uint64_t seed = 0; seed < 40; seed++) {
        Eqloom__Cluster c;
        assert_int_equal(cluster_of(&c, a, hand_graph(a, nodes, 4, "cos x"), &options, seed, &e),
                         OK);
        assert_int_equal(c.n_members, 3);
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(strncmp(c.members[i]->prefix, "cos", 3), 0);
            for (size_t k = 0; k < i; k++)
                assert_string_not_equal(c.members[i]->prefix, c.members[k]->prefix);
        }
    }
}

TEST_IN_ARENA(uninterpreted_operators_are_taken_on_trust)
{
    static const char *const nodes[] = {"0 x", "1 integral 0 0", "1 cos 0", NULL};
    struct err e;
    Eqloom__Cluster c;
    assert_int_equal(extract(&c, a, nodes, 1, "cos x", &defaults, &e), OK);
    assert_int_equal(c.n_members, 2);
    assert_int_equal(c.members[1]->standing, EQLOOM__STANDING__PROVED);
}
