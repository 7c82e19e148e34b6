#include "ops/latex/study/search/precision.h"

const size_t precision_cuts[PRECISION_CUTS] = {10, 100, PRECISION_DEPTH};

struct precision precision_of(const bool *relevant, size_t n)
{
    struct precision p = {0};
    double found = 0;
    n = n < PRECISION_DEPTH ? n : PRECISION_DEPTH;
    for (size_t i = 0; i < n; i++) {
        double rank = (double)i + 1;
        found += relevant[i];
        p.umap += relevant[i] ? found / rank : 0;
        for (int c = 0; c < PRECISION_CUTS; c++)
            if (i < precision_cuts[c])
                p.at[c] = found / rank;
    }
    return p;
}
