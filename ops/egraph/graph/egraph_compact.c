/* Compaction; see egraph_core.h. It keeps pinned nodes and all nodes in the circular list of a
 * class, which include all live ones. */
#include "ops/egraph/graph/egraph_core.h"

#include <string.h>

enum { LARGE = 1 << 18, LARGE_PERCENT = 20 };

/* In a large graph, memory matters more than time. */
bool graph_wants_compaction(const struct egraph *g)
{
    uint32_t percent = g->compact_at.percent;
    if (g->n_nodes > LARGE && percent > LARGE_PERCENT)
        percent = LARGE_PERCENT;
    return g->n_dead > g->compact_at.dead &&
           (uint64_t)g->n_dead * 100 > (uint64_t)g->n_nodes * percent;
}

void compaction_free(struct compaction *c)
{
    egraph_memory_free(c->to, c->n * sizeof *c->to);
}

/* Chooses the cells to keep; with proofs, all of them. */
static void choose(struct compaction *c, const struct egraph *g, uint32_t pinned)
{
    uint32_t before = 0;
    c->n = g->n_cells + 1u;
    c->to = egraph_memory_resize(NULL, 0, c->n * sizeof *c->to);
    for (uint32_t n = 0; n < g->n_cells; n++) {
        c->to[n] = before;
        before += g->proofs || n < pinned || g->members[n].next != NO_NODE;
    }
    c->to[g->n_cells] = before;
}

/* Renames the references of a node. Classes are found by their old ids, so all nodes are renamed
 * before any of them moves. */
static void rename_node(const struct compaction *c, struct egraph *g, uint32_t n)
{
    struct member *k = &g->members[n];
    if (k->next != NO_NODE)
        k->next = compaction_map(c, k->next);
    for (uint32_t i = 0, arity = graph_arity(g, g->cells[n].op); i < arity; i++)
        *graph_kid(g, n, i) = compaction_map(c, graph_find(g, *graph_kid(g, n, i)));
}

static bool is_kept(const struct compaction *c, uint32_t n)
{
    return c->to[n + 1] != c->to[n];
}

static void move_nodes(const struct compaction *c, struct egraph *g)
{
    uint32_t to = 0;
    for (uint32_t n = 0; n < g->n_cells; n++)
        if (is_kept(c, n)) {
            rename_node(c, g, n);
            if (!graph_is_class(g, n))
                g->members[n].up = graph_find(g, n); /* nodes in between may not be kept */
        }
    for (uint32_t n = 0; n < g->n_cells; n++) {
        if (!is_kept(c, n))
            continue;
        g->cells[to] = g->cells[n];
        uint32_t up = g->members[n].up;
        if (!(up & UP_ENTRY))
            up = compaction_map(c, up);
        g->members[to] = (struct member){up, g->members[n].next};
        g->kind[to] = g->kind[n];
        g->touched[to++] = g->touched[n];
    }
    g->n_cells = to;
    memset(g->touched_block, 0, g->cap / 64 + 1);
    for (uint32_t n = 0; n < to; n++)
        if (g->touched[n] > g->touched_block[n / 64])
            g->touched_block[n / 64] = g->touched[n];
    for (size_t i = 0; i < g->n_leaves; i++)
        if (g->leaves[i].node != NO_NODE)
            g->leaves[i].node = compaction_map(c, g->leaves[i].node);
}

/* Sorts the entries of classes by name. Until the parents are relinked, `parents` of each entry
 * holds its class. */
static void pack_entries(struct egraph *g)
{
    uint32_t to = 0;
    for (uint32_t i = 0; i < g->n_entries; i++)
        g->classes[i].parents = NO_NODE;
    for (uint32_t n = 0; n < g->n_cells; n++)
        if (graph_is_class(g, n))
            graph_eclass(g, n)->parents = n;
    for (uint32_t n = 0; n < g->n_cells; n++) {
        if (!graph_is_class(g, n))
            continue;
        struct eclass *own = graph_eclass(g, n), *place = &g->classes[to], moved = *place;
        if (moved.parents != NO_NODE)
            g->members[moved.parents].up = g->members[n].up;
        *place = *own;
        *own = moved;
        g->members[n].up = UP_ENTRY | to++;
    }
    g->n_entries = to;
    g->free_entry = NO_NODE;
}

/* Relinks the circular lists of slots: live nodes only, in id order. */
static void link_parents(struct egraph *g)
{
    for (uint32_t i = 0; i < g->n_entries; i++) {
        g->classes[i].parents = NO_NODE;
        g->classes[i].n_parents = 0;
    }
    for (uint32_t n = 0; n < g->n_cells; n++) {
        if (!graph_is_live(g, n))
            continue;
        for (uint32_t i = 0, arity = graph_arity(g, g->cells[n].op); i < arity; i++)
            graph_add_parent(g, *graph_kid(g, n, i), 2 * n + i);
    }
}

void graph_compact(struct compaction *out, struct egraph *g, uint32_t pinned)
{
    choose(out, g, pinned);
    if (!g->proofs) {
        move_nodes(out, g);
        graph_grow_table(g);
    }
    pack_entries(g);
    link_parents(g);
    g->n_dead = 0;
}
