/* Counts of tags, attributes, characters and other things that statistics count by name. */
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
    struct named_count *items; /* in order of first occurrence */
    size_t n, cap;
};

void counts_free(struct counts *c);
void counts_add(struct counts *c, const char *name, uint64_t n);
/* Sorts by decreasing count, then by name. */
void counts_sort(struct counts *c);

/* Appends a count to the summary of one element: a sequence of "KIND COUNT NAME", each followed by
 * a NUL. */
void counts_put(struct buf *b, unsigned kind, uint64_t n, const char *name);
/* Reads the next count of a summary; `name` points into the summary. Returns false at the end. */
bool counts_next(unsigned *kind, struct named_count *out, struct span *summary);
