/* See closeness.h. A step of affine_core drops terms or factors along one kind of operators; steps
 * alternate, since in (x + 3) * 2 + 1 a sum contains a product that contains a sum. */
#include "ops/eval/measure/closeness.h"

#include "ops/expr/edit_distance.h"

#include <string.h>

static bool is_constant(const struct expr *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->nodes[i].op == X_VAR ||
            (x->nodes[i].op == X_SYM && !lang_is_constant(x->nodes[i].leaf)))
            return false;
    return true;
}

static struct expr argument(const struct expr *x, uint32_t i)
{
    uint32_t at = 1;
    for (; i; i--)
        at += x->nodes[at].size;
    return expr_sub(x, at);
}

static struct expr number(struct arena *a, const struct expr *like, const char *text)
{
    return expr_leaf(a, like->lang, X_NUM, text);
}

static struct expr apply(struct arena *a, const struct expr *x, struct expr left, struct expr right)
{
    struct expr both[2] = {left, right};
    return expr_apply(a, x->lang, x->nodes[0].op, both, 2);
}

/* Drops constant terms from x, which is not constant. `free`: its sign does not matter, so c - f
 * may become f. */
static struct expr drop_terms(struct arena *a, const struct expr *x, bool free)
{
    uint16_t op = x->nodes[0].op;
    if (op != X_ADD && op != X_SUB)
        return *x;
    struct expr left = argument(x, 0), right = argument(x, 1);
    if (is_constant(&right))
        return drop_terms(a, &left, free);
    if (is_constant(&left) && (op == X_ADD || free))
        return drop_terms(a, &right, free);
    if (!is_constant(&left))
        left = drop_terms(a, &left, false);
    return apply(a, x, left, drop_terms(a, &right, false));
}

static struct expr drop_factors(struct arena *a, const struct expr *x)
{
    uint16_t op = x->nodes[0].op;
    if (op != X_MUL && op != X_DIV)
        return *x;
    struct expr left = argument(x, 0), right = argument(x, 1);
    if (is_constant(&right))
        return drop_factors(a, &left);
    if (is_constant(&left) && op == X_MUL)
        return drop_factors(a, &right);
    left = is_constant(&left) ? number(a, x, "1") : drop_factors(a, &left);
    return apply(a, x, left, drop_factors(a, &right));
}

struct expr affine_core(struct arena *a, const struct expr *x)
{
    struct expr core = *x;
    if (is_constant(x))
        return number(a, x, "0");
    for (uint32_t before = 0; before != core.n;) {
        before = core.n;
        core = drop_terms(a, &core, true);
        core = drop_factors(a, &core);
    }
    return core;
}

static void find_nearest(struct closeness *out, const struct vectors *v, const struct vectors *pool,
                         uint32_t query)
{
    struct neighbour nearest[CLOSENESS_NEAR];
    size_t n = 0;
    for (uint32_t i = 0; i < pool->n; i++)
        if (strcmp(pool->text[i], v->text[query]) != 0)
            n = neighbours_insert(
                nearest, n, CLOSENESS_NEAR,
                (struct neighbour){vector_dot(vectors_at(v, query), vectors_at(pool, i), v->stride),
                                   i});
    for (out->n = 0; out->n < n; out->n++)
        out->row[out->n] = nearest[out->n].row;
}

enum err_code closeness_find(struct closeness *out, struct arena *a, const struct vectors *v,
                             const struct vectors *pool, const struct language *lang,
                             uint32_t query, struct err *e)
{
    struct expr x, y;
    enum err_code code;
    *out = (struct closeness){0};
    find_nearest(out, v, pool, query);
    if (!out->n)
        return err_fail(e, ERR_NOTFOUND, "all expressions are the same");
    if ((code = err_up(e, expr_from_prefix(&x, a, lang, v->text[query], e))) ||
        (code = err_up(e, expr_from_prefix(&y, a, lang, pool->text[out->row[0]], e))) ||
        (code = err_up(e, edit_distance(&out->raw, a, &x, &y, e))))
        return code;
    x = affine_core(a, &x);
    y = affine_core(a, &y);
    return err_up(e, edit_distance(&out->core, a, &x, &y, e));
}
