/* The rows most similar to a query, found one after another. */
#ifndef OPS_EVAL_NEAREST_H
#define OPS_EVAL_NEAREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct neighbour {
    float similarity; /* cosine */
    uint32_t row;
};

/* Nearest first, equal ones by row. */
static inline bool neighbour_is_before(const struct neighbour *a, const struct neighbour *b)
{
    return a->similarity != b->similarity ? a->similarity > b->similarity : a->row < b->row;
}

/* Into a list of n in that order, of at most `most`, at least one; gives the new n. */
static inline size_t neighbours_insert(struct neighbour *list, size_t n, size_t most,
                                       struct neighbour x)
{
    if (n == most && !neighbour_is_before(&x, &list[n - 1]))
        return n;
    size_t at = n < most ? n++ : n - 1;
    for (; at > 0 && neighbour_is_before(&x, &list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = x;
    return n;
}

#endif
