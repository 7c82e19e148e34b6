#include "ops/latex/graphs/feature_counts.h"

#include <inttypes.h>
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

void counts_put(struct buf *b, unsigned kind, uint64_t n, const char *name)
{
    buf_printf(b, "%u %" PRIu64 " %s", kind, n, name);
    buf_putc(b, 0);
}

bool counts_next(unsigned *kind, struct named_count *out, struct span *summary)
{
    const char *at = (const char *)summary->data;
    char *end;
    if (!summary->len)
        return false;
    *kind = (unsigned)strtoul(at, &end, 10);
    out->n = strtoull(end, &end, 10);
    out->name = end + (*end == ' ');
    *summary = span_of(at + strlen(at) + 1, summary->len - strlen(at) - 1);
    return true;
}
