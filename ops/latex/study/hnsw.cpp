/* See hnsw.h. hnswlib's own inner products differ between machines, and its prefetches read four
 * bytes past its lists. */
#include "ops/latex/study/hnsw.h"

#define NO_MANUAL_VECTORIZATION
#include <hnswlib/hnswlib.h>

static const size_t links = 16, construction = 200, breadth = 2000, seed = 100, ask_every = 1000;

struct product_space final : hnswlib::SpaceInterface<float> {
    hnsw_product *product;
    uint32_t dim;

    product_space(hnsw_product *f, uint32_t n) : product(f), dim(n)
    {
    }
    size_t get_data_size() override
    {
        return dim * sizeof(float);
    }
    hnswlib::DISTFUNC<float> get_dist_func() override
    {
        return distance;
    }
    void *get_dist_func_param() override
    {
        return this;
    }

    static float distance(const void *x, const void *y, const void *param)
    {
        auto *s = static_cast<const product_space *>(param);
        return 1 - s->product(static_cast<const float *>(x), static_cast<const float *>(y), s->dim);
    }
};

struct hnsw {
    product_space space;
    hnswlib::HierarchicalNSW<float> graph;

    hnsw(size_t n, uint32_t dim, hnsw_product *f)
        : space(f, dim), graph(&space, n, links, construction, seed)
    {
        graph.setEf(breadth);
    }
};

struct hnsw *hnsw_new(const float *x, size_t n, uint32_t dim, hnsw_product *product,
                      bool (*cancelled)(void *), void *arg)
{
    struct hnsw *h = nullptr;
    try {
        h = new hnsw(n, dim, product);
        for (size_t i = 0; i < n; i++) {
            if (i % ask_every == 0 && cancelled && cancelled(arg)) {
                hnsw_free(h);
                return nullptr;
            }
            h->graph.addPoint(x + i * dim, i);
        }
        return h;
    } catch (const std::exception &) { /* bad_alloc, or hnswlib's error for it */
        hnsw_free(h);
        return nullptr;
    }
}

void hnsw_free(struct hnsw *h)
{
    delete h;
}

size_t hnsw_nearest(uint32_t *rows, size_t k, const struct hnsw *h, const float *query)
{
    size_t n = 0;
    try {
        auto found = h->graph.searchKnn(query, k);
        for (; !found.empty(); found.pop())
            rows[n++] = static_cast<uint32_t>(found.top().second);
    } catch (const std::exception &) {
        return 0;
    }
    return n;
}
