/* Edit distances of trees against their definition, by all mappings between the nodes of two small
 * trees that keep ancestors and the order from left to right (Tai 1979); and what any distance is.
 */
#include "base/rng.h"
#include "ops/expr/edit_distance.h"
#include "tests/ops/expr/random_tree.h"
#include "tests/ops/terms.h"

enum { SMALL = 6, ROUNDS = 400 };

static uint32_t distance(struct arena *a, const struct expr *x, const struct expr *y)
{
    uint32_t d = 0;
    struct err e = {0};
    if (edit_distance(&d, a, x, y, &e))
        fail_msg("%s", e.message);
    return d;
}

static uint32_t distance_of_texts(struct arena *a, const char *x, const char *y)
{
    struct expr p = prefix_term(a, &lang_calculus, x), q = prefix_term(a, &lang_calculus, y);
    return distance(a, &p, &q);
}

/* ---- the definition ---- */

static bool is_above(const struct expr *x, uint32_t i, uint32_t j)
{
    return i < j && j < i + x->nodes[i].size;
}

static bool agree(const struct expr *x, const struct expr *y, const int *to, uint32_t i, uint32_t k)
{
    uint32_t p = (uint32_t)to[i], q = (uint32_t)to[k];
    return p != q && is_above(x, i, k) == is_above(y, p, q) &&
           is_above(x, k, i) == is_above(y, q, p) && (i < k) == (p < q);
}

/* The cheapest way to map nodes i and on, the ones before being mapped. */
static uint32_t cheapest(const struct expr *x, const struct expr *y, int *to, uint32_t i)
{
    if (i == x->n) {
        uint32_t mapped = 0, renamed = 0;
        for (uint32_t k = 0; k < x->n; k++)
            if (to[k] >= 0) {
                struct expr_node p = x->nodes[k], q = y->nodes[to[k]];
                mapped++;
                renamed += p.op != q.op || (p.leaf && strcmp(p.leaf, q.leaf) != 0);
            }
        return x->n + y->n - 2 * mapped + renamed;
    }
    to[i] = -1;
    uint32_t best = cheapest(x, y, to, i + 1);
    for (uint32_t p = 0; p < y->n; p++) {
        bool fits = true;
        to[i] = (int)p;
        for (uint32_t k = 0; k < i && fits; k++)
            fits = to[k] < 0 || agree(x, y, to, k, i);
        uint32_t d = fits ? cheapest(x, y, to, i + 1) : best;
        best = d < best ? d : best;
    }
    return best;
}

static struct expr small_tree(struct arena *a, struct rng *r)
{
    for (;;) {
        struct expr x = random_tree(a, r, 3, false);
        if (x.n <= SMALL)
            return x;
    }
}

TEST_IN_ARENA(equals_all_mappings)
{
    struct rng r = rng_new(test_seed(11), 0);
    for (int round = 0; round < ROUNDS; round++) {
        int to[SMALL];
        struct expr x = small_tree(a, &r), y = small_tree(a, &r);
        uint32_t wanted = cheapest(&x, &y, to, 0);
        if (distance(a, &x, &y) != wanted)
            fail_msg("'%s' to '%s': %u instead of %u", expr_prefix(a, &x), expr_prefix(a, &y),
                     distance(a, &x, &y), wanted);
    }
}

TEST_IN_ARENA(is_a_distance)
{
    struct rng r = rng_new(test_seed(11), 1);
    for (int round = 0; round < ROUNDS; round++) {
        struct expr x = random_tree(a, &r, 6, false), y = random_tree(a, &r, 6, false);
        struct expr z = random_tree(a, &r, 6, false);
        uint32_t d = distance(a, &x, &y), more = x.n > y.n ? x.n - y.n : y.n - x.n;
        assert_int_equal(distance(a, &x, &x), 0);
        assert_int_equal(distance(a, &y, &x), d);
        assert_true(d >= more && d <= x.n + y.n);
        assert_int_equal(d == 0, expr_equal(&x, &y));
        assert_true(d <= distance(a, &x, &z) + distance(a, &z, &y));
    }
}

TEST_IN_ARENA(by_hand)
{
    assert_int_equal(distance_of_texts(a, "x", "x"), 0);
    assert_int_equal(distance_of_texts(a, "x", "2"), 1);
    assert_int_equal(distance_of_texts(a, "sin x", "cos x"), 1);
    assert_int_equal(distance_of_texts(a, "sin x", "x"), 1);
    assert_int_equal(distance_of_texts(a, "+ x 2", "+ 2 x"), 2);
    /* The product goes, and its arguments become those of the sum around it. */
    assert_int_equal(distance_of_texts(a, "sin * 2 x", "sin x"), 2);
    assert_int_equal(distance_of_texts(a, "+ sin * 2 x 3", "+ cos x 3"), 3);
    /* Zhang and Shasha's example has this shape: one node moves up a level. */
    assert_int_equal(distance_of_texts(a, "+ * x sin 2 3", "sin + * x 2 3"), 2);
}

TEST_IN_ARENA(too_large)
{
    struct err e = {0};
    uint32_t d;
    struct expr x = expr_leaf(a, &lang_calculus, X_SYM, "x");
    for (int i = 0; i < 13; i++) {
        struct expr both[2] = {x, x};
        x = expr_apply(a, &lang_calculus, X_ADD, both, 2);
    }
    assert_int_equal(edit_distance(&d, a, &x, &x, &e), ERR_LIMIT);
}
