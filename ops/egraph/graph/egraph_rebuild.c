/* Rebuilding: restores congruence and facts from the worklists of additions and unions, unlinks
 * dead nodes, and stamps changes. It touches only changed classes and their parents. */
#include "ops/egraph/graph/node_index.h"

static void repair_node(struct egraph *g, uint32_t n)
{
    if (!graph_is_live(g, n))
        return;
    struct cell *c = &g->cells[n];
    uint64_t before = graph_pair(c), after = find_pair(g, c->kid, graph_arity(g, c->op));
    if (before == after)
        return;
    /* Repairs leave gaps, and probes need empty slots to terminate. */
    if (!hashcons_has_room(&g->cons, g->cap))
        graph_grow_table(g);
    hashcons_remove(&g->cons, hash_pair(c->op, before), n);
    c->kid[0] = (uint32_t)after;
    c->kid[1] = (uint32_t)(after >> 32);
    struct hashcons_probe p;
    uint32_t hash = hash_pair(c->op, after), twin = find_node(&p, g, hash, c->op, after);
    if (twin == NO_NODE) {
        hashcons_insert(&g->cons, hash, n);
        return;
    }
    g->cells[n].op |= OP_DEAD;
    g->kind[n] = GRAPH_NO_KIND;
    g->n_nodes--;
    g->n_dead++;
    u32_push(&g->died, n);
    graph_union(g, n, twin, (struct reason){REASON_CONGRUENCE, 0});
}

static void update_parents(struct egraph *g, uint32_t class)
{
    uint32_t c = graph_find(g, class), last = graph_eclass(g, c)->parents;
    bool waiting = graph_eclass(g, c)->mask & MASK_STALE;
    graph_eclass(g, c)->mask &= ~MASK_STALE;
    if (!waiting || last == NO_NODE)
        return; /* its class joined another, which was already handled */
    /* learn() may add nodes and join classes, which changes this circular list: collect the slots
     * first */
    size_t begin = g->wave[0].n;
    uint32_t slot = last;
    do {
        slot = *graph_slot_link(g, slot);
        uint32_t owner = graph_slot_owner(slot);
        if (graph_is_live(g, owner))
            u32_push(&g->wave[0], owner);
    } while (slot != last);
    for (size_t i = begin; i < g->wave[0].n; i++)
        graph_update_fact(g, g->wave[0].items[i]);
    g->wave[0].n = begin;
}

/* Lists each class with dead nodes once: MASK_LISTED marks those on the list. */
static void list_bereft(struct egraph *g, struct u32_list *out)
{
    for (size_t i = 0; i < g->died.n; i++) {
        uint32_t c = graph_find(g, g->died.items[i]);
        if (!(graph_eclass(g, c)->mask & MASK_LISTED))
            u32_push(out, c);
        graph_eclass(g, c)->mask |= MASK_LISTED;
    }
    g->died.n = 0;
    for (size_t i = 0; i < out->n; i++)
        graph_eclass(g, out->items[i])->mask &= ~MASK_LISTED;
}

/* Unlinks dead nodes from the circular lists of their classes. */
static void unlink_dead(struct egraph *g)
{
    struct u32_list *classes = &g->wave[0];
    list_bereft(g, classes);
    for (size_t i = 0; i < classes->n; i++) {
        uint32_t n = classes->items[i], next;
        while ((next = graph_next(g, n)) != classes->items[i]) {
            if (g->cells[next].op & OP_DEAD) {
                g->members[n].next = graph_next(g, next);
                g->members[next].next = NO_NODE;
            } else {
                n = next;
            }
        }
    }
    classes->n = 0;
}

static void touch(struct egraph *g, uint32_t n)
{
    g->touched[n] = g->touched_block[n / 64] = g->epoch;
}

/* Stamps the owner of a slot whose class changed k - 1 steps below: it may be the root of new
 * matches, and its class changed k steps below. Nodes of this epoch are new anyway, and having them
 * marks their classes as changed. So stamps propagate only through older nodes, level by level:
 * nodes touched before changed no deeper than this. */
static void stamp_parent(struct egraph *g, struct u32_list *to, uint32_t slot, unsigned k)
{
    uint32_t owner = graph_slot_owner(slot);
    if (owner >= g->frozen || !graph_is_live(g, owner) || g->touched[owner] == g->epoch)
        return;
    touch(g, owner);
    if (k > g->stamp_levels)
        return;
    uint32_t p = graph_find(g, owner);
    uint8_t *stamp = graph_eclass(g, p)->stamp;
    if (stamp[STAMPS - 1] == g->epoch)
        return;
    for (unsigned j = k < STAMPS ? k : STAMPS - 1; j < STAMPS; j++)
        stamp[j] = g->epoch;
    u32_push(to, p);
}

static bool changed_below(struct egraph *g, uint32_t n, unsigned k)
{
    for (uint32_t i = 0, arity = graph_arity(g, graph_op(g, n)); i < arity; i++)
        if (graph_eclass(g, graph_find(g, *graph_kid(g, n, i)))->stamp[k - 1] == g->epoch)
            return true;
    return false;
}

/* Stamps the parents of these classes. Visits their slots, or, if there are fewer older nodes than
 * slots, the arguments of each older node. */
static void stamp_parents(struct egraph *g, struct u32_list *to, const struct u32_list *from,
                          unsigned k)
{
    uint64_t slots = 0;
    for (size_t i = 0; i < from->n; i++)
        slots += graph_eclass(g, from->items[i])->n_parents;
    bool by_slots = slots <= g->frozen || k > STAMPS;
    for (uint32_t n = 0; n < g->frozen && !by_slots; n++)
        if (changed_below(g, n, k))
            stamp_parent(g, to, 2 * n, k);
    for (size_t i = 0; i < from->n && by_slots; i++) {
        uint32_t last = graph_eclass(g, from->items[i])->parents, slot = last;
        if (last == NO_NODE)
            continue;
        do {
            stamp_parent(g, to, slot, k);
            slot = *graph_slot_link(g, slot);
        } while (slot != last);
    }
}

/* Stamps the changed classes and those above them, level by level. */
static void stamp_changed(struct egraph *g)
{
    struct u32_list *from = &g->wave[0], *to = &g->wave[1];
    from->n = 0;
    for (size_t i = 0; i < g->changed.n; i++) {
        uint32_t c = graph_find(g, g->changed.items[i]);
        uint8_t *stamp = graph_eclass(g, c)->stamp;
        stamp[0] = g->epoch;
        if (stamp[STAMPS - 1] == g->epoch)
            continue;
        for (int k = 1; k < STAMPS; k++)
            stamp[k] = g->epoch;
        u32_push(from, c);
        touch(g, c);
    }
    for (unsigned k = 1; k <= g->stamp_levels + 1; k++) {
        to->n = 0;
        stamp_parents(g, to, from, k);
        struct u32_list *t = from;
        from = to;
        to = t;
    }
    g->wave[0].n = g->wave[1].n = 0;
}

void graph_restore_congruence(struct egraph *g)
{
    for (size_t i = 0; i < g->pending.n; i++)
        repair_node(g, g->pending.items[i]);
    g->pending.n = 0;
}

/* Propagates facts upwards. This may fold constants and thereby join classes. */
static void update_stale(struct egraph *g)
{
    for (size_t i = 0; i < g->stale.n && !g->conflict; i++) {
        uint32_t doubted = g->stale.items[i], n = doubted & ~STALE_NODE;
        if (n == doubted)
            update_parents(g, doubted);
        else if (graph_is_live(g, n))
            graph_update_fact(g, n);
        graph_restore_congruence(g);
    }
    for (size_t i = 0; i < g->stale.n && g->conflict; i++)
        if (!(g->stale.items[i] & STALE_NODE))
            graph_eclass(g, graph_find(g, g->stale.items[i]))->mask &= ~MASK_STALE;
}

void egraph_rebuild(struct egraph *g)
{
    node_index_forget(g->node_index); /* first, so that it need not be informed of unions */
    graph_restore_congruence(g);
    update_stale(g);
    unlink_dead(g);
    if (g->watched)
        stamp_changed(g);
    struct u32_list *lists[] = {&g->pending, &g->stale,   &g->died,
                                &g->changed, &g->wave[0], &g->wave[1]};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        u32_release(lists[i]);
}

bool graph_begin_epoch(struct egraph *g)
{
    bool halved = g->epoch == MAX_EPOCH;
    if (halved) {
        for (uint32_t i = 0; i < g->n_entries; i++) {
            struct eclass *k = &g->classes[i];
            k->joined = (uint8_t)((k->joined + 1) / 2);
            for (int s = 0; s < STAMPS; s++)
                k->stamp[s] = (uint8_t)((k->stamp[s] + 1) / 2);
        }
        for (uint32_t c = 0; c < g->n_cells; c++)
            g->touched[c] = (uint8_t)((g->touched[c] + 1) / 2);
        for (uint32_t b = 0; b <= g->n_cells / 64; b++)
            g->touched_block[b] = (uint8_t)((g->touched_block[b] + 1) / 2);
        g->epoch = (MAX_EPOCH + 1) / 2;
    }
    g->epoch++;
    return halved;
}
