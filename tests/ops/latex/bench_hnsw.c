/* The approximate index of `evaluate-search` against the exact pass: bench_hnsw [VECTORS [DIM]].
 * Vectors of length 1 around 5,000 centres, as learnt ones are; queries are others of their kind.
 */
#include "base/os.h"
#include "base/rng.h"
#include "ops/latex/study/nearest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CENTRES = 5000, QUERIES = 50, MOST = 1000 };
static const double NOISE = 0.7; /* beside a centre of length 1 */

static void draw(float *out, const float *centre, uint32_t dim, struct rng *r)
{
    double length = 0;
    for (uint32_t d = 0; d < dim; d++) {
        double x = (centre ? (double)centre[d] : 0) +
                   (centre ? NOISE : 1) * rng_normal(r) / sqrt((double)dim);
        out[d] = (float)x;
        length += x * x;
    }
    for (uint32_t d = 0; d < dim; d++)
        out[d] = (float)((double)out[d] / sqrt(length));
}

static double seconds_since(uint64_t start)
{
    return (double)(os_monotonic_ns() - start) * 1e-9;
}

int main(int argc, char **argv)
{
    uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 20000;
    uint32_t dim = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 64;
    static const size_t cuts[] = {10, 100, MOST};
    struct arena a = {0};
    struct rng rng = rng_new(1, 0);
    uint32_t stride = (dim + VECTOR_LANES - 1) / VECTOR_LANES * VECTOR_LANES;
    struct vectors v = {
        .n = n, .dim = dim, .stride = stride, .x = calloc(n, stride * sizeof(float))};
    float *centres = calloc(CENTRES, stride * sizeof(float)),
          *query = calloc(stride, sizeof *query);
    double found[3] = {0}, exact_s = 0, approximate_s = 0;
    if (!v.x || !centres || !query)
        return 1;
    for (uint32_t i = 0; i < CENTRES; i++)
        draw(centres + (size_t)i * stride, NULL, dim, &rng);
    for (uint32_t i = 0; i < n; i++)
        draw(vectors_at(&v, i), centres + rng_below(&rng, CENTRES) * stride, dim, &rng);
    uint64_t start = os_monotonic_ns();
    struct hnsw *index = hnsw_new(v.x, n, stride, vector_dot, NULL, NULL);
    if (!index)
        return 1;
    printf("%u vectors of %u: indexed in %.0f s\n", n, dim, seconds_since(start));
    for (int q = 0; q < QUERIES; q++) {
        struct neighbour exact[MOST], near[MOST];
        draw(query, centres + rng_below(&rng, CENTRES) * stride, dim, &rng);
        arena_reset(&a);
        start = os_monotonic_ns();
        size_t m = nearest_find(exact, MOST, &v, NULL, NULL, query, &a);
        exact_s += seconds_since(start) / QUERIES;
        start = os_monotonic_ns();
        size_t k = nearest_find(near, MOST, &v, index, NULL, query, &a);
        approximate_s += seconds_since(start) / QUERIES;
        for (size_t c = 0; c < 3; c++) {
            size_t of = cuts[c] < m ? cuts[c] : m, is = cuts[c] < k ? cuts[c] : k;
            found[c] += (double)nearest_shared(exact, of, near, is) / (double)of / QUERIES;
        }
    }
    printf("recall at 10 %.4f, 100 %.4f, 1000 %.4f; a query exact %.1f ms, approximate %.1f ms\n",
           found[0], found[1], found[2], 1e3 * exact_s, 1e3 * approximate_s);
    hnsw_free(index);
    return 0;
}
