/* A page with pictures: its beginning and end, and labelled pictures as a dendrogram. */
#pragma once

#include "base/buf.h"
#include "ops/eval/measure/vectors.h"
#include "paper.pb-c.h"

void picture_page_begin(struct buf *out, const char *title);
/* Of at most DENDROGRAM_MAX vectors of length 1; beyond that it says so. Subtrees of one cluster
 * have its colour. */
void picture_page_dendrogram(struct buf *out, struct arena *a, const struct vectors *v,
                             const Eqloom__Place *const *place);
void picture_page_end(struct buf *out);
