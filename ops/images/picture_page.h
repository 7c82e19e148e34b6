/* A page with pictures: queries and what is nearest, and labelled pictures as a dendrogram. */
#pragma once

#include "base/buf.h"
#include "base/span.h"
#include "ops/eval/measure/vectors.h"
#include "paper.pb-c.h"

struct page_picture {
    struct span png;
    const char *latex;
    const Eqloom__Place *place; /* may be NULL */
    double similarity;
};

void picture_page_begin(struct buf *out, const char *title);
/* The first is the query. */
void picture_page_query(struct buf *out, struct arena *a, const struct page_picture *pictures,
                        size_t n);
/* Of at most DENDROGRAM_MAX vectors of length 1; beyond that it says so. Subtrees of one cluster
 * have its colour. */
void picture_page_dendrogram(struct buf *out, struct arena *a, const struct vectors *v,
                             const Eqloom__Place *const *place);
void picture_page_end(struct buf *out);
