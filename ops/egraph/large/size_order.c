/* Passes of an iteration; see size_order.h. Each pass takes nodes with up to four times as many
 * nodes in their own and their argument classes as the one before. */
#include "ops/egraph/large/size_order.h"

#include <stdlib.h>

enum {
    MOST_OF_BUDGET = 4, /* one pass if more matches are estimated per node of the budget */
    BEGUN_BY = 8,       /* one pass once 1/8 of the budget is used: it may not be completed */
};

void size_order_free(struct size_order *r)
{
    free(r->of);
}

/* The live nodes of each class, at most 65535. */
static uint16_t *count_nodes(struct egraph *g)
{
    uint16_t *count = calloc(g->n_cells + 1, sizeof *count);
    if (!count)
        abort();
    for (uint32_t n = 0; n < g->n_cells; n++)
        if (graph_is_live(g, n)) {
            uint16_t *c = &count[graph_find(g, n)];
            *c = (uint16_t)(*c + (*c < UINT16_MAX));
        }
    return count;
}

static uint8_t pass_of(uint32_t in_sight)
{
    return in_sight ? (uint8_t)((31 - (unsigned)__builtin_clz(in_sight)) / 2) : 0;
}

/* Sets the pass of each node. Returns the sum of the sizes of all argument classes, about the
 * number of matches. */
static uint64_t sort_nodes(struct size_order *r, struct egraph *g, const uint16_t *count)
{
    uint64_t below = 0;
    r->n = 1;
    for (uint32_t n = 0; n < g->n_cells; n++) {
        r->of[n] = 0;
        if (!graph_is_live(g, n))
            continue;
        uint32_t kids = 0;
        for (uint32_t i = 0, arity = graph_arity(g, graph_op(g, n)); i < arity; i++)
            kids += count[graph_find(g, *graph_kid(g, n, i))];
        below += kids;
        r->of[n] = pass_of(count[graph_find(g, n)] + kids);
        if (r->of[n] >= r->n)
            r->n = r->of[n] + 1u;
    }
    return below;
}

void size_order_plan(struct size_order *r, struct egraph *g, uint32_t max_nodes)
{
    r->n = 1;
    if (max_nodes < g->size_order_at || g->n_nodes > max_nodes / BEGUN_BY)
        return;
    if (g->n_cells > r->cap) {
        free(r->of);
        r->cap = g->n_cells + g->n_cells / 4;
        r->of = malloc(r->cap);
        if (!r->of)
            abort();
    }
    uint16_t *count = count_nodes(g);
    if (sort_nodes(r, g, count) / MOST_OF_BUDGET > max_nodes)
        r->n = 1;
    free(count);
}

uint64_t size_order_word(const struct size_order *r, const struct dirty_set *v, size_t w,
                         unsigned k)
{
    uint64_t word = v->dirty[w];
    if (r->n == 1)
        return word;
    for (uint64_t bits = word; bits; bits &= bits - 1) {
        unsigned i = (unsigned)__builtin_ctzll(bits);
        if (r->of[64 * w + i] != k)
            word &= ~(1ull << i);
    }
    return word;
}
