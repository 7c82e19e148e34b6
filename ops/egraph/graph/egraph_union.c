/* Joining two classes. Congruence is left broken: the parents of the class that is merged away go
 * to `pending`, and those whose facts may change to `stale`. */
#include "ops/egraph/graph/egraph_core.h"
#include "ops/egraph/graph/node_index.h"

/* Only these nodes see a new fact: the last of `pending`, now parents of the class. */
static void mark_nodes_stale(struct egraph *g, uint32_t class, size_t from)
{
    if (graph_eclass(g, class)->mask & MASK_STALE)
        return;
    for (size_t i = from; i < g->pending.n; i++)
        u32_push(&g->stale, g->pending.items[i] | STALE_NODE);
}

static void splice_parents(struct egraph *g, struct eclass *into, struct eclass *from)
{
    uint32_t a = into->parents, b = from->parents;
    uint32_t weight = (uint32_t)into->n_parents + from->n_parents;
    into->n_parents = (uint16_t)(weight < MAX_PARENTS ? weight : MAX_PARENTS);
    if (b == NO_NODE)
        return;
    if (a != NO_NODE) {
        uint32_t *x = graph_slot_link(g, a), *y = graph_slot_link(g, b), first = *x;
        *x = *y;
        *y = first;
    }
    into->parents = b;
    from->parents = NO_NODE;
}

bool graph_union(struct egraph *g, uint32_t a, uint32_t b, struct reason why)
{
    uint32_t into = graph_find(g, a), from = graph_find(g, b);
    if (into == from)
        return false;
    if (g->proofs)
        proofs_join(g->proofs, a, b, why);
    struct eclass *to = graph_eclass(g, into), *gone = graph_eclass(g, from);
    bool both_frozen = into < g->frozen && from < g->frozen;
    if (both_frozen)
        node_index_note_union(g->node_index, into, from);
    uint32_t f;
    enum fact_conflict c = facts_meet(&f, &g->facts, to->fact, gone->fact);
    if (c) {
        graph_note_conflict(g, c, a, b, to->fact, gone->fact);
        f = to->fact;
    }
    /* The class with fewer parents is merged away: they have to be hashed again. */
    bool swap =
        to->n_parents < gone->n_parents || (to->n_parents == gone->n_parents && from < into);
    if (!both_frozen && (into < g->frozen || from < g->frozen))
        swap = from < g->frozen;
    if (swap) {
        uint32_t t = into;
        into = from;
        from = t;
        struct eclass *other = to;
        to = gone;
        gone = other;
    }
    uint32_t last = gone->parents;
    size_t moved = g->pending.n; /* from here on: parents of the class that is merged away */
    if (last != NO_NODE) {
        uint32_t slot = last;
        do {
            slot = *graph_slot_link(g, slot);
            uint32_t owner = graph_slot_owner(slot);
            if (graph_is_live(g, owner))
                u32_push(&g->pending, owner);
        } while (slot != last);
    }
    /* the facts of parents may change if that of their argument did */
    bool all_learn = f != to->fact, learnt = all_learn || (f != gone->fact && last != NO_NODE);
    g->n_unions++;
    uint32_t freed = g->members[from].up & ~UP_ENTRY;
    g->members[from].up = into;
    splice_parents(g, to, gone);
    uint32_t first = g->members[into].next;
    g->members[into].next = g->members[from].next;
    g->members[from].next = first;
    bool named = gone->mask & ~to->mask & MASK_LEAVES; /* conditions test for symbols, too */
    to->mask |= gone->mask;
    to->fact = f;
    if (both_frozen || learnt || named)
        to->joined = g->epoch;
    else if (gone->joined > to->joined)
        to->joined = gone->joined;
    g->n_classes--;
    gone->parents = g->free_entry;
    g->free_entry = freed;
    if (all_learn)
        graph_mark_stale(g, into);
    else if (learnt)
        mark_nodes_stale(g, into, moved);
    graph_mark_changed(g, into);
    return true;
}
