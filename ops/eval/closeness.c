/* See closeness.h. */
#include "ops/eval/closeness.h"

#include "ops/eval/affine.h"
#include "ops/eval/nearest.h"
#include "ops/expr/edit_distance.h"

#include <string.h>

static bool find_nearest(uint32_t *out, const struct vectors *v, uint32_t query)
{
    struct neighbour nearest;
    size_t n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        if (strcmp(v->text[i], v->text[query]) != 0)
            n = neighbours_insert(
                &nearest, n, 1,
                (struct neighbour){vector_dot(vectors_at(v, query), vectors_at(v, i), v->stride),
                                   i});
    if (n)
        *out = nearest.row;
    return n > 0;
}

enum err_code closeness_find(struct closeness *out, struct arena *a, const struct vectors *v,
                             const struct language *lang, uint32_t query, struct err *e)
{
    struct expr x, y;
    enum err_code code;
    *out = (struct closeness){0};
    if (!find_nearest(&out->row, v, query))
        return err_fail(e, ERR_NOTFOUND, "all expressions are the same");
    if ((code = err_up(e, expr_from_prefix(&x, a, lang, v->text[query], e))) ||
        (code = err_up(e, expr_from_prefix(&y, a, lang, v->text[out->row], e))) ||
        (code = err_up(e, edit_distance(&out->raw, a, &x, &y, e))))
        return code;
    x = affine_core(a, &x);
    y = affine_core(a, &y);
    return err_up(e, edit_distance(&out->core, a, &x, &y, e));
}
