/* How often tags, attributes and characters occur, and what else statistics count by name. */
#pragma once

#include "base/arena.h"
#include "base/map.h"

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
