/* See dendrogram.h. Lance and Williams: the distance of a union is the larger of its parts'. */
#include "ops/images/dendrogram.h"

struct merge *dendrogram_find(struct arena *a, const struct vectors *v)
{
    uint32_t n = v->n;
    float *d = arena_array(a, float, (size_t)n *n + 1); /* between rows of live clusters */
    uint32_t *name = arena_array(a, uint32_t, n + 1);
    bool *gone = arena_array(a, bool, n + 1);
    struct merge *merges = arena_array(a, struct merge, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        name[i] = i;
        for (uint32_t j = 0; j < n; j++)
            d[(size_t)i * n + j] = 1 - vector_dot(vectors_at(v, i), vectors_at(v, j), v->stride);
    }
    for (uint32_t k = 0; k + 1 < n; k++) {
        uint32_t x = n, y = n;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = i + 1; j < n && !gone[i]; j++)
                if (!gone[j] && (x == n || d[(size_t)i * n + j] < d[(size_t)x * n + y])) {
                    x = i;
                    y = j;
                }
        merges[k] = (struct merge){name[x], name[y], d[(size_t)x * n + y]};
        name[x] = n + k;
        gone[y] = true;
        for (uint32_t i = 0; i < n; i++)
            if (d[(size_t)y * n + i] > d[(size_t)x * n + i])
                d[(size_t)x * n + i] = d[(size_t)i * n + x] = d[(size_t)y * n + i];
    }
    return merges;
}
