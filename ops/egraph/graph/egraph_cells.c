/* Memory of cells, classes and the hash table. */
#include "ops/egraph/graph/egraph_core.h"

#include <assert.h>
#include <string.h>

enum { FIRST_CELLS = 1024, LARGE = 1 << 16, MAX_CELLS = 1 << 28 };

static void resize_cells(struct egraph *g, uint32_t cap)
{
    g->cells = egraph_memory_resize(g->cells, g->cap * sizeof *g->cells, cap * sizeof *g->cells);
    g->members =
        egraph_memory_resize(g->members, g->cap * sizeof *g->members, cap * sizeof *g->members);
    g->kind = egraph_memory_resize(g->kind, g->cap, cap);
    g->touched = egraph_memory_resize(g->touched, g->cap, cap);
    size_t blocks = g->cap ? g->cap / 64 + 1 : 0, more = cap / 64 + 1;
    g->touched_block = egraph_memory_resize(g->touched_block, blocks, more);
    memset(g->touched_block + blocks, 0, more - blocks);
    g->cap = cap;
}

void graph_grow_entries(struct egraph *g)
{
    uint32_t old = g->cap_entries, cap = old ? old + (old < LARGE ? old : old / 8) : FIRST_CELLS;
    g->classes =
        egraph_memory_resize(g->classes, old * sizeof *g->classes, cap * sizeof *g->classes);
    g->cap_entries = cap;
}

/* Grows by an eighth once the graph is large, so that the peak is close to what is used. */
bool graph_reserve_cell(struct egraph *g)
{
    if (g->n_cells < g->cap)
        return false;
    uint32_t cap = g->cap ? g->cap + (g->cap < LARGE ? g->cap : g->cap / 8) : FIRST_CELLS;
    assert(cap < MAX_CELLS * 2u);
    resize_cells(g, cap);
    if (g->proofs)
        proofs_grow(g->proofs, cap);
    bool ids_fit = cap <= g->cons.id_mask - 2;
    if (!ids_fit) /* otherwise the table has room whenever it is not full */
        graph_grow_table(g);
    return !ids_fit;
}

void graph_free_cells(struct egraph *g)
{
    egraph_memory_free(g->cells, g->cap * sizeof *g->cells);
    egraph_memory_free(g->members, g->cap * sizeof *g->members);
    egraph_memory_free(g->classes, g->cap_entries * sizeof *g->classes);
    egraph_memory_free(g->kind, g->cap);
    egraph_memory_free(g->touched, g->cap);
    egraph_memory_free(g->touched_block, g->cap ? g->cap / 64 + 1 : 0);
    g->cells = NULL;
    g->members = NULL;
    g->classes = NULL;
    g->kind = g->touched = g->touched_block = NULL;
    g->cap = g->n_entries = g->cap_entries = 0;
    g->free_entry = NO_NODE;
}

void graph_grow_table(struct egraph *g)
{
    hashcons_grow(&g->cons, g->cap);
    for (uint32_t n = 0; n < g->n_cells; n++)
        if (graph_is_live(g, n))
            hashcons_insert(&g->cons, hash_pair(g->cells[n].op, graph_pair(&g->cells[n])), n);
}
