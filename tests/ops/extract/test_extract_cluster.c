/* Clusters: the seed leads, every member is compared with it, and a lie in the e-graph is found. */
#include "ops/extract/extract_cluster.h"
#include "schemas/egraph/egraph_arrays.h"
#include "tests/unit.h"

enum { MAX = 32 };
struct graph {
    Eqloom__EGraph m;
    Eqloom__Expr seed;
    char *operators[MAX], *leaves[MAX];
    uint32_t arities[MAX], class_begin[MAX], node_op[MAX], child_begin[MAX], child[2 * MAX];
};

/* Nodes as "class op child child" in order of class; leaves as "class leaf". */
static void build(struct graph *g, struct arena *a, const char *const *nodes, uint32_t root,
                  const char *seed)
{
    memset(g, 0, sizeof *g);
    eqloom__egraph__init(&g->m);
    eqloom__expr__init(&g->seed);
    g->seed.prefix = arena_strdup(a, seed);
    uint32_t n = 0, kids = 0, classes = 0, leaf_of[MAX] = {0};
    for (; nodes[n]; n++) {
        char *save, *text = arena_strdup(a, nodes[n]);
        uint32_t class = (uint32_t)atoi(strtok_r(text, " ", &save));
        char *name = strtok_r(NULL, " ", &save), *kid = strtok_r(NULL, " ", &save);
        while (classes <= class)
            g->class_begin[classes++] = n;
        g->child_begin[n] = kids;
        if (!kid) {
            leaf_of[n] = 1;
            g->leaves[g->m.n_leaves] = name;
            g->node_op[n] = (uint32_t)g->m.n_leaves++;
            continue;
        }
        g->operators[g->m.n_operators] = name;
        g->node_op[n] = (uint32_t)g->m.n_operators++;
        for (; kid; kid = strtok_r(NULL, " ", &save))
            g->child[kids++] = (uint32_t)atoi(kid);
        g->arities[g->m.n_arities++] = kids - g->child_begin[n];
    }
    for (uint32_t i = 0; i < n; i++)
        if (leaf_of[i])
            g->node_op[i] += (uint32_t)g->m.n_operators;
    g->class_begin[classes] = n;
    g->child_begin[n] = kids;
    g->m.operators = g->operators;
    g->m.leaves = g->leaves;
    g->m.arities = g->arities;
    g->m.node_ops = g->node_op;
    g->m.n_node_ops = n;
    egraph_arrays_write(
        &g->m, a, &(struct egraph_arrays){classes, n, g->class_begin, g->child_begin, g->child});
    g->m.root = root;
    g->m.seed = &g->seed;
}

static const struct extract_options defaults = {
    .grammar = {.max_tokens = 15, .max_digits = 4},
    .per_cluster = 20,
    .verify = true,
    .points = 5,
    .low = 0.05,
    .high = 12,
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
    static struct graph g;
    build(&g, a, nodes, root, seed);
    return cluster_of(out, a, &g.m, options, 1, e);
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
    struct graph g;
    build(&g, a, lie, 2, "implies a b");
    g.seed.language = "boolean";
    assert_int_equal(cluster_of(&c, a, &g.m, &defaults, 1, &e), ERR_FAILED);
    assert_string_equal(e.message, "'b => a' is not equal to the seed 'a => b': a = true, "
                                   "b = false: false against true");
    build(&g, a, true_graph, 3, "implies a b");
    g.seed.language = "boolean";
    assert_int_equal(cluster_of(&c, a, &g.m, &defaults, 1, &e), OK);
    assert_int_equal(c.n_members, 3);
    for (size_t i = 0; i < c.n_members; i++)
        assert_int_equal(c.members[i]->standing, EQLOOM__STANDING__AGREES);
    g.seed.language = "klingon";
    assert_int_equal(cluster_of(&c, a, &g.m, &defaults, 1, &e), ERR_INPUT);
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
        static struct graph g;
        Eqloom__Cluster c;
        build(&g, a, nodes, 4, "cos x");
        assert_int_equal(cluster_of(&c, a, &g.m, &options, seed, &e), OK);
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
