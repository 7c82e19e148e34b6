#include "ops/latex/graphs/feature_counts.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

void counts_free(struct counts *c)
{
    name_map_free(&c->index);
    free(c->items);
}

void counts_add(struct counts *c, const char *name, uint64_t n)
{
    bool added;
    uint64_t *place = name_map_put(&c->index, name, c->n, &added);
    if (added) {
        c->items = vec_grow(c->items, &c->cap, c->n + 1, sizeof *c->items);
        c->items[c->n++] = (struct named_count){arena_strdup(c->a, name), 0};
    }
    c->items[*place].n += n;
}

static int by_count(const void *x, const void *y)
{
    const struct named_count *a = x, *b = y;
    return a->n != b->n ? (a->n < b->n) - (a->n > b->n) : strcmp(a->name, b->name);
}

void counts_sort(struct counts *c)
{
    if (c->n)
        qsort(c->items, c->n, sizeof *c->items, by_count);
    name_map_free(&c->index);
}
