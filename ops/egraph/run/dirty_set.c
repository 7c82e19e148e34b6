/* The dirty set; see dirty_set.h. */
#include "ops/egraph/run/dirty_set.h"

#include <stdlib.h>
#include <string.h>

#define NEVER UINT32_MAX

void dirty_set_free(struct dirty_set *v)
{
    free(v->dirty);
}

void dirty_set_clear(struct dirty_set *v)
{
    memset(v->cells, 0xff, sizeof v->cells);
    memset(v->epoch, 0xff, sizeof v->epoch);
}

void dirty_set_widen(struct dirty_set *v, uint64_t kinds, uint32_t cells, uint32_t epoch)
{
    for (; kinds; kinds &= kinds - 1) {
        unsigned k = (unsigned)__builtin_ctzll(kinds);
        v->cells[k] = cells < v->cells[k] ? cells : v->cells[k];
        v->epoch[k] = epoch < v->epoch[k] ? epoch : v->epoch[k];
    }
}

static uint64_t mark_word(const struct dirty_set *v, const struct egraph *g, uint32_t from,
                          uint32_t end)
{
    uint64_t bits = 0;
    for (uint32_t n = from; n < end; n++) {
        unsigned k = g->kind[n];
        uint64_t dirty = n >= v->cells[k] || g->touched[n] >= v->epoch[k];
        bits |= dirty << (n - from);
    }
    return bits;
}

void dirty_set_fill(struct dirty_set *v, const struct egraph *g)
{
    size_t words = g->n_cells / 64 + 1;
    uint32_t cells = NEVER, epoch = NEVER;
    for (int k = 0; k < GRAPH_KINDS; k++) {
        cells = v->cells[k] < cells ? v->cells[k] : cells;
        epoch = v->epoch[k] < epoch ? v->epoch[k] : epoch;
    }
    if (words > v->cap) {
        v->cap = words + words / 4;
        free(v->dirty);
        v->dirty = malloc(v->cap * sizeof *v->dirty);
        if (!v->dirty)
            abort();
    }
    for (size_t w = 0; w < words; w++) {
        uint32_t from = (uint32_t)w * 64, end = from + 64 < g->n_cells ? from + 64 : g->n_cells;
        bool old = end <= cells && g->touched_block[w] < epoch;
        v->dirty[w] = old ? 0 : mark_word(v, g, from, end);
    }
}
