/* See hnsw.h. */
#include "ops/latex/study/hnsw.h"

#include <hnswlib/hnswlib.h>

static const size_t links = 16, construction = 200, breadth = 2000, seed = 100, ask_every = 1000;

struct hnsw {
    hnswlib::InnerProductSpace space;
    hnswlib::HierarchicalNSW<float> graph;

    hnsw(size_t n, size_t dim) : space(dim), graph(&space, n, links, construction, seed)
    {
        graph.setEf(breadth);
    }
};

struct hnsw *hnsw_new(const float *x, size_t n, size_t dim, bool (*cancelled)(void *), void *arg)
{
    struct hnsw *h = nullptr;
    try {
        h = new hnsw(n, dim);
        for (size_t i = 0; i < n; i++) {
            if (i % ask_every == 0 && cancelled && cancelled(arg)) {
                hnsw_free(h);
                return nullptr;
            }
            h->graph.addPoint(x + i * dim, i);
        }
        return h;
    } catch (const std::exception &) { /* bad_alloc, or hnswlib's word for it */
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
