/* The dirty set; see dirty_set.h. */
#include "ops/egraph/run/dirty_set.h"

#include <stdlib.h>
#include <string.h>

#define NEVER UINT32_MAX
enum {
    MOST_OF_BUDGET = 4, /* one pass if the estimated matches per node of the budget exceed this */
    BEGUN_BY = 8,       /* one pass once 1/8 of the budget is used */
};

void dirty_set_free(struct dirty_set *v)
{
    free(v->dirty);
    free(v->pass);
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
        v->dirty = must_calloc(v->cap, sizeof *v->dirty);
    }
    for (size_t w = 0; w < words; w++) {
        uint32_t from = (uint32_t)w * 64, end = from + 64 < g->n_cells ? from + 64 : g->n_cells;
        bool old = end <= cells && g->touched_block[w] < epoch;
        v->dirty[w] = old ? 0 : mark_word(v, g, from, end);
    }
}

/* ---- passes: the limit on the number of nodes in a node's own and argument classes grows by a
 * factor of up to four from pass to pass ---- */

/* Counts the live nodes of each class, up to 65535. */
static uint16_t *count_nodes(struct egraph *g)
{
    uint16_t *count = must_calloc(g->n_cells + 1, sizeof *count);
    for (uint32_t n = 0; n < g->n_cells; n++)
        if (graph_is_live(g, n)) {
            uint16_t *c = &count[graph_find(g, n)];
            *c = (uint16_t)(*c + (*c < UINT16_MAX));
        }
    return count;
}

/* Sets the pass of each node. Returns the sum of the sizes of all argument classes, which estimates
 * the number of matches. */
static uint64_t sort_nodes(struct dirty_set *v, struct egraph *g, const uint16_t *count)
{
    uint64_t below = 0;
    v->passes = 1;
    for (uint32_t n = 0; n < g->n_cells; n++) {
        v->pass[n] = 0;
        if (!graph_is_live(g, n))
            continue;
        uint32_t kids = 0;
        for (uint32_t i = 0, arity = graph_arity(g, graph_op(g, n)); i < arity; i++)
            kids += count[graph_find(g, *graph_kid(g, n, i))];
        below += kids;
        uint32_t in_sight = count[graph_find(g, n)] + kids; /* at least the node itself */
        v->pass[n] = (uint8_t)((31 - (unsigned)__builtin_clz(in_sight)) / 2);
        if (v->pass[n] >= v->passes)
            v->passes = v->pass[n] + 1u;
    }
    return below;
}

void dirty_set_order(struct dirty_set *v, struct egraph *g, uint32_t max_nodes)
{
    v->passes = 1;
    if (max_nodes < g->size_order_at || g->n_nodes > max_nodes / BEGUN_BY)
        return;
    if (g->n_cells > v->cap_pass) {
        free(v->pass);
        v->cap_pass = g->n_cells + g->n_cells / 4;
        v->pass = must_calloc(v->cap_pass, 1);
    }
    uint16_t *count = count_nodes(g);
    if (sort_nodes(v, g, count) / MOST_OF_BUDGET > max_nodes)
        v->passes = 1;
    free(count);
}

uint64_t dirty_set_word(const struct dirty_set *v, size_t w, unsigned k)
{
    uint64_t word = v->dirty[w];
    if (v->passes == 1)
        return word;
    for (uint64_t bits = word; bits; bits &= bits - 1) {
        unsigned i = (unsigned)__builtin_ctzll(bits);
        if (v->pass[64 * w + i] != k)
            word &= ~(1ull << i);
    }
    return word;
}
