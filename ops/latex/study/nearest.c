#include "ops/latex/study/nearest.h"

#include <stdlib.h>

static int compare(const void *x, const void *y)
{
    const struct neighbour *a = x, *b = y;
    return neighbour_is_before(b, a) - neighbour_is_before(a, b);
}

static bool is_excluded(const struct nearest_exclude *exclude, uint32_t row)
{
    return exclude && exclude->group[row] == exclude->excluded;
}

static size_t look_up(struct neighbour *out, size_t k, const struct vectors *v,
                      const struct hnsw *index, const struct nearest_exclude *exclude,
                      const float *query, struct arena *a)
{
    uint32_t *rows = arena_array(a, uint32_t, k);
    size_t found = hnsw_nearest(rows, k, index, query), n = 0;
    for (size_t i = 0; i < found; i++)
        if (!is_excluded(exclude, rows[i]))
            out[n++] =
                (struct neighbour){vector_dot(query, vectors_at(v, rows[i]), v->stride), rows[i]};
    if (n)
        qsort(out, n, sizeof *out, compare);
    return n;
}

size_t nearest_find(struct neighbour *out, size_t k, const struct vectors *v,
                    const struct hnsw *index, const struct nearest_exclude *exclude,
                    const float *query, struct arena *a)
{
    size_t n = 0;
    if (index)
        return look_up(out, k, v, index, exclude, query, a);
    for (uint32_t row = 0; row < v->n; row++)
        if (!is_excluded(exclude, row))
            n = neighbours_insert(
                out, n, k,
                (struct neighbour){vector_dot(query, vectors_at(v, row), v->stride), row});
    return n;
}

size_t nearest_shared(const struct neighbour *x, size_t n, const struct neighbour *y, size_t m)
{
    size_t shared = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++)
            shared += x[i].row == y[k].row;
    return shared;
}
