/* What tests of evaluations are given: vectors and reports. */
#pragma once

#include "base/rng.h"
#include "ops/eval/measure/vectors.h"
#include "report.pb-c.h"
#include "tests/unit.h"

/* Clusters of `each` vectors; `uneven`: or of one or two more. Spread 0.05: separated clouds; 3:
 * one cloud. */
static inline struct vectors clouds(struct arena *a, uint32_t clusters, uint32_t each, bool uneven,
                                    uint32_t dim, double spread)
{
    struct rng rng = rng_new(9, clusters);
    float *centre = arena_array(a, float, dim);
    Eqloom__EmbeddingBatch **batches = arena_array(a, Eqloom__EmbeddingBatch *, clusters);
    struct vectors v;
    for (uint32_t c = 0; c < clusters; c++) {
        Eqloom__EmbeddingBatch *b = batches[c] = arena_new(a, Eqloom__EmbeddingBatch);
        eqloom__embedding_batch__init(b);
        b->dim = dim;
        b->count = each + (uneven ? c % 3 : 0);
        float *values = arena_array(a, float, (size_t)b->count *dim);
        for (uint32_t d = 0; d < dim; d++)
            centre[d] = (float)rng_normal(&rng);
        for (uint32_t i = 0; i < b->count * dim; i++)
            values[i] = centre[i % dim] + (float)(spread * rng_normal(&rng));
        b->values = (ProtobufCBinaryData){(size_t)b->count * dim * sizeof(float), (void *)values};
        b->source_id = (ProtobufCBinaryData){32, arena_zalloc(a, 32)};
        b->source_id.data[0] = (uint8_t)c;
    }
    assert_int_equal(vectors_load(&v, a, batches, clusters, 0, NULL), OK);
    return v;
}

enum { GIVEN_VALUES = 10 };

static inline Eqloom__Report *report(struct arena *a, const char *title)
{
    Eqloom__Report *r = arena_new(a, Eqloom__Report);
    eqloom__report__init(r);
    r->title = (char *)title;
    r->values = arena_array(a, Eqloom__Value *, GIVEN_VALUES);
    return r;
}

static inline void give(struct arena *a, Eqloom__Report *r, const char *name, double value)
{
    Eqloom__Value *v = r->values[r->n_values++] = arena_new(a, Eqloom__Value);
    eqloom__value__init(v);
    v->name = (char *)name;
    v->value = value;
}

static inline size_t count_of(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}
