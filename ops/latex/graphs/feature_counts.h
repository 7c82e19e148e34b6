/* How often tags, attributes and characters occur, and what else statistics count by name. */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "base/span.h"

struct named_count {
    const char *name;
    uint64_t n;
};

struct counts {
    struct arena *a;
    struct name_map index;
    struct named_count *items; /* in order of the first occurrence */
    size_t n, cap;
};

void counts_free(struct counts *c);
void counts_add(struct counts *c, const char *name, uint64_t n);
/* The most frequent first, then by name. */
void counts_sort(struct counts *c);

/* Counts of several kinds as a summary of one element: "KIND COUNT NAME" and a NUL, again and
 * again.
 */
void counts_put(struct buf *b, unsigned kind, uint64_t n, const char *name);
/* The next of a summary; name: good while the summary is. False at its end. */
bool counts_next(unsigned *kind, struct named_count *out, struct span *summary);
