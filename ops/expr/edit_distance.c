/* Zhang and Shasha's algorithm; see edit_distance.h.
 *
 * It numbers nodes in postorder, where the subtree of node i is the nodes from its leftmost leaf
 * l(i) to i. The prefix order of an expression, read backwards, is the postorder of its mirror
 * image, and mirroring both trees does not change the distance: so node i here is the i-th from the
 * end, and l(i) = i + 1 - size. The distance of the subtrees of i and j is computed from the
 * distances of all pairs of forests l(i)..p, l(j)..q; pairs with the same l share their tables, so
 * these are filled only for *keyroots*, the last nodes with a given l. */
#include "ops/expr/edit_distance.h"

struct operand {
    const struct expr *x;
    uint32_t *first; /* l(i) */
    uint32_t *keyroots, n_keyroots;
};

struct tables {
    struct operand x, y;
    uint32_t *tree;   /* (x.n, y.n): distances of subtrees */
    uint32_t *forest; /* (x.n + 1, y.n + 1): of the forests of one pair of keyroots; row and column
                       * 0 are the empty forests */
};

static struct operand operand_of(struct arena *a, const struct expr *x)
{
    struct operand s = {.x = x,
                        .first = arena_array(a, uint32_t, x->n),
                        .keyroots = arena_array(a, uint32_t, x->n)};
    bool *seen = arena_array(a, bool, x->n);
    for (uint32_t i = 0; i < x->n; i++)
        s.first[i] = i + 1 - x->nodes[x->n - 1 - i].size;
    for (uint32_t i = x->n; i-- > 0;)
        if (!seen[s.first[i]]) {
            seen[s.first[i]] = true;
            s.keyroots[s.n_keyroots++] = i;
        }
    return s;
}

static uint32_t cost_of_renaming(const struct tables *t, uint32_t i, uint32_t j)
{
    const struct expr_node *p = &t->x.x->nodes[t->x.x->n - 1 - i];
    const struct expr_node *q = &t->y.x->nodes[t->y.x->n - 1 - j];
    return !expr_node_same(p, q);
}

static uint32_t min_of_three(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Fills `tree` for all pairs of nodes whose l is that of these keyroots. */
static void compare_keyroots(struct tables *t, uint32_t i, uint32_t j)
{
    uint32_t li = t->x.first[i], lj = t->y.first[j], width = t->y.x->n + 1;
    uint32_t *f = t->forest;
    f[0] = 0;
    for (uint32_t p = li; p <= i; p++)
        f[(p - li + 1) * width] = p - li + 1;
    for (uint32_t q = lj; q <= j; q++)
        f[q - lj + 1] = q - lj + 1;
    for (uint32_t p = li; p <= i; p++) {
        uint32_t *row = f + (p - li + 1) * width, *above = row - width;
        /* The forest left of the subtree of p. */
        const uint32_t *before = f + (t->x.first[p] - li) * width;
        for (uint32_t q = lj; q <= j; q++) {
            uint32_t c = q - lj + 1, *tree = &t->tree[p * t->y.x->n + q];
            bool both_are_trees = t->x.first[p] == li && t->y.first[q] == lj;
            uint32_t matched = both_are_trees ? above[c - 1] + cost_of_renaming(t, p, q)
                                              : before[t->y.first[q] - lj] + *tree;
            row[c] = min_of_three(above[c] + 1, row[c - 1] + 1, matched);
            if (both_are_trees)
                *tree = row[c];
        }
    }
}

enum err_code edit_distance(uint32_t *out, struct arena *a, const struct expr *x,
                            const struct expr *y, struct err *e)
{
    if ((uint64_t)(x->n + 1) * (y->n + 1) > EDIT_MAX_PAIRS)
        return err_fail(e, ERR_LIMIT, "trees of %u and %u nodes are too large to be compared", x->n,
                        y->n);
    struct arena_mark mark = arena_mark(a);
    struct tables t = {.x = operand_of(a, x), .y = operand_of(a, y)};
    size_t pairs = (size_t)(x->n + 1) * (y->n + 1);
    t.tree = arena_try_alloc(a, pairs, sizeof *t.tree);
    t.forest = arena_try_alloc(a, pairs, sizeof *t.forest);
    enum err_code code = OK;
    if (!t.tree || !t.forest)
        code = err_fail(e, ERR_NOMEM, "no memory to compare trees of %u and %u nodes", x->n, y->n);
    /* Keyroots are listed from the root down; a pair needs the results of those with smaller
     * numbers. */
    for (uint32_t i = t.x.n_keyroots; i-- > 0 && !code;)
        for (uint32_t j = t.y.n_keyroots; j-- > 0;)
            compare_keyroots(&t, t.x.keyroots[i], t.y.keyroots[j]);
    if (!code)
        *out = t.tree[(x->n - 1) * y->n + y->n - 1];
    arena_release(a, mark);
    return code;
}
