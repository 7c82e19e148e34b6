/* Nodes and classes: add and union. A union breaks congruence: the parents of the class that is
 * merged away go to `pending`, and those whose facts may change to `stale`. Invariants after a
 * rebuild (egraph_check tests them): arguments are canonical; the hash table holds exactly the live
 * nodes, so congruent nodes are one; facts are closed under facts_apply; a class with a constant
 * contains its number. */
#include "ops/egraph/graph/egraph_core.h"
#include "ops/egraph/graph/node_index.h"

/* Creates the class of a new node. */
static inline struct eclass *new_class(struct egraph *g, uint32_t n)
{
    uint32_t entry = g->free_entry;
    if (entry != NO_NODE) {
        g->free_entry = g->classes[entry].parents;
    } else {
        if (g->n_entries == g->cap_entries)
            graph_grow_entries(g);
        entry = g->n_entries++;
    }
    g->members[n] = (struct member){UP_ENTRY | entry, n};
    g->n_classes++;
    return &g->classes[entry];
}

/* ---- circles of slots ---- */

/* Branch-free: whether it is the first parent would be unpredictable. */
void graph_add_parent(struct egraph *g, uint32_t class, uint32_t slot)
{
    struct eclass *c = graph_eclass(g, class);
    uint32_t *own = graph_slot_link(g, slot);
    uint32_t none = -(uint32_t)(c->parents == NO_NODE); /* a mask, since compilers would branch */
    uint32_t *last = graph_slot_link(g, (slot & none) | (c->parents & ~none));
    *own = slot;
    uint32_t first = *last;
    *last = slot;
    *own = first;
    c->parents = slot;
    c->n_parents = (uint16_t)(c->n_parents + (c->n_parents < MAX_PARENTS));
}

/* ---- facts ---- */

/* Returns the fact of an operator over class a and, if binary, b. */
static inline uint32_t small_fact(struct egraph *g, uint32_t op, uint32_t arity, uint32_t a,
                                  uint32_t b)
{
    uint32_t facts[] = {arity > 0 ? graph_eclass(g, a)->fact : 0,
                        arity > 1 ? graph_eclass(g, b)->fact : 0};
    uint32_t known;
    if (graph_interprets(g, op) && facts_recall(&known, &g->facts, op, facts[0], facts[1]))
        return known;
    return facts_apply(&g->facts, op, graph_interprets(g, op), facts, arity);
}

uint32_t graph_node_fact(struct egraph *g, uint32_t n)
{
    uint32_t op = graph_op(g, n), arity = graph_arity(g, op);
    if (op & OP_LEAF)
        return g->leaves[op & ~OP_LEAF].fact;
    return small_fact(g, op, arity, arity > 0 ? graph_find(g, *graph_kid(g, n, 0)) : 0,
                      arity > 1 ? graph_find(g, *graph_kid(g, n, 1)) : 0);
}

/* Joins the class of node n, which folds to a constant, with the node of the number. */
static void add_constant(struct egraph *g, uint32_t n)
{
    uint32_t number = graph_fact(g, graph_find(g, n))->constant;
    if (number == NO_CONSTANT || !g->interpreted || graph_op(g, n) & OP_LEAF)
        return;
    if (g->n_nodes >= g->node_limit) {
        g->folding_stopped = true;
        return;
    }
    uint32_t leaf = graph_leaf(g, X_NUM, constant_text(&g->facts.constants, number));
    uint32_t l = graph_add_leaf(g, leaf);
    graph_union(g, n, l, (struct reason){REASON_CONSTANT, 0});
}

/* Merges the fact of node n into that of its class. */
static inline void meet_fact(struct egraph *g, uint32_t c, uint32_t n, uint32_t told)
{
    uint32_t f, known = graph_eclass(g, c)->fact;
    if (told == known)
        return;
    if (!facts_meet(&f, &g->facts, known, told)) {
        graph_note_conflict(g, c, n, known, told);
        return;
    }
    if (f == known)
        return;
    bool computed = g->facts.items[known].constant == NO_CONSTANT;
    graph_eclass(g, c)->fact = f;
    graph_eclass(g, c)->joined = g->epoch;
    graph_mark_stale(g, c);
    graph_mark_changed(g, c);
    if (computed)
        add_constant(g, n);
}

void graph_update_fact(struct egraph *g, uint32_t n)
{
    meet_fact(g, graph_find(g, n), n, graph_node_fact(g, n));
}

/* ---- adding ---- */

/* Makes room for one more node. Returns true if the table was rebuilt. */
static __attribute__((noinline)) bool make_room(struct egraph *g)
{
    bool moved = graph_reserve_cell(g);
    if (hashcons_has_room(&g->cons, g->cap))
        return moved;
    graph_grow_table(g);
    return true;
}

uint32_t graph_lookup(struct egraph *g, uint32_t op, const uint32_t *kids)
{
    struct hashcons_probe p;
    uint64_t pair = find_pair(g, kids, graph_arity(g, op));
    return find_node(&p, g, hash_pair(op, pair), op, pair);
}

/* A node that may already exist: its operator, arity, and the classes of the arguments (or 0). */
struct new_node {
    uint32_t op, arity, a, b;
    struct hashcons_probe p; /* where it belongs, if it does not exist */
};

static inline uint32_t find_new_node(struct new_node *s, struct egraph *g, uint32_t op,
                                     uint32_t arity, uint32_t a, uint32_t b)
{
    s->op = op;
    s->arity = arity;
    s->a = s->b = 0;
    if (arity > 0) { /* whether there is a second is unpredictable, so always look up a class */
        s->a = graph_find(g, a);
        s->b = graph_find(g, b) & -(uint32_t)(arity > 1);
    }
    uint64_t pair = (uint64_t)s->b << 32 | s->a;
    return find_node(&s->p, g, hash_pair(op, pair), op, pair);
}

/* Adds the node without creating its class. */
static inline uint32_t add_node(struct egraph *g, const struct new_node *s, uint32_t a, uint32_t b)
{
    bool moved = g->n_cells == g->cap || g->cons.n + g->cons.n_gaps >= g->cons.most;
    if (moved)
        moved = make_room(g);
    uint32_t n = g->n_cells++;
    struct cell *c = &g->cells[n];
    c->op = s->op;
    c->kid[0] = s->a;
    c->kid[1] = s->b;
    c->link[0] = c->link[1] = 0;
    if (moved)
        hashcons_insert(&g->cons, hash_pair(s->op, (uint64_t)s->b << 32 | s->a), n);
    else
        hashcons_insert_at(&g->cons, &s->p, n);
    if (s->arity > 0)
        graph_add_parent(g, s->a, 2 * n);
    if (s->arity > 1)
        graph_add_parent(g, s->b, 2 * n + 1);
    if (g->proofs)
        proofs_add_node(g->proofs, n, (uint32_t[]){a, b}, s->arity);
    g->n_nodes++;
    return n;
}

static inline void set_kind(struct egraph *g, uint32_t n, uint32_t op)
{
    g->kind[n] = op < MASK_OTHERS ? (uint8_t)op : MASK_OTHERS;
    g->touched[n] = 0;
}

uint32_t graph_add_small(struct egraph *g, uint32_t op, uint32_t arity, uint32_t a, uint32_t b)
{
    struct new_node s;
    uint32_t n = find_new_node(&s, g, op, arity, a, b);
    if (n != NO_NODE)
        return n;
    n = add_node(g, &s, a, b);
    uint64_t mask = pattern_op_mask(op);
    uint32_t fact = small_fact(g, op, arity, s.a, s.b);
    *new_class(g, n) = (struct eclass){.parents = NO_NODE, .fact = fact, .mask = mask};
    g->ops |= mask;
    set_kind(g, n, op);
    if (g->facts.items[fact].constant != NO_CONSTANT)
        add_constant(g, n);
    return n;
}

uint32_t graph_add(struct egraph *g, uint32_t op, const uint32_t *kids)
{
    uint32_t arity = graph_arity(g, op);
    return graph_add_small(g, op, arity, arity > 0 ? kids[0] : 0, arity > 1 ? kids[1] : 0);
}

uint32_t graph_add_into(bool *placed, struct egraph *g, uint32_t op, uint32_t arity, uint32_t a,
                        uint32_t b, uint32_t to)
{
    struct new_node s;
    uint32_t n = find_new_node(&s, g, op, arity, a, b);
    *placed = n == NO_NODE;
    if (n != NO_NODE)
        return n;
    n = add_node(g, &s, a, b);
    uint32_t c = graph_find(g, to);
    g->members[n] = (struct member){c, g->members[c].next};
    g->members[c].next = n;
    set_kind(g, n, op);
    return n;
}

void graph_settle(struct egraph *g, uint32_t n)
{
    uint32_t c = g->members[n].up;
    const struct cell *cell = &g->cells[n];
    uint64_t mask = pattern_op_mask(cell->op);
    graph_eclass(g, c)->mask |= mask;
    g->ops |= mask;
    graph_mark_changed(g, c);
    meet_fact(g, c, n, graph_node_fact(g, n));
}

uint32_t graph_add_leaf(struct egraph *g, uint32_t leaf)
{
    struct leaf *l = &g->leaves[leaf];
    if (l->node != NO_NODE)
        return l->node;
    struct new_node s;
    find_new_node(&s, g, OP_LEAF | leaf, 0, 0, 0);
    uint32_t n = add_node(g, &s, 0, 0);
    l->node = n;
    g->touched[n] = 0;
    g->kind[n] = l->op == X_NUM ? MASK_NUMBER : l->is_variable ? MASK_VARIABLE : MASK_OTHER_LEAF;
    *new_class(g, n) =
        (struct eclass){.parents = NO_NODE, .fact = l->fact, .mask = 1ull << g->kind[n]};
    /* A fraction is also a quotient: the corpora contain that form. */
    uint32_t number = g->facts.items[l->fact].constant;
    struct facts *f = &g->facts;
    if (number != NO_CONSTANT && g->interpreted && !constant_is_integer(&f->constants, number)) {
        uint32_t kids[2];
        for (int i = 0; i < 2; i++) {
            uint32_t part = constant_part(&f->constants, number, i);
            kids[i] = graph_add_leaf(g, graph_leaf(g, X_NUM, constant_text(&f->constants, part)));
        }
        graph_add(g, X_DIV, kids);
    }
    return n;
}

/* ---- joining ---- */

/* Marks the last nodes of `pending` as stale. They are now parents of the class and the only ones
 * for which its fact is new. */
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
    if (!facts_meet(&f, &g->facts, to->fact, gone->fact)) {
        graph_note_conflict(g, a, b, to->fact, gone->fact);
        f = to->fact;
    }
    /* Merge away the class with fewer parents, since these have to be rehashed. */
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
    size_t moved = g->pending.n; /* later entries are parents of the class that is merged away */
    if (last != NO_NODE) {
        uint32_t slot = last;
        do {
            slot = *graph_slot_link(g, slot);
            uint32_t owner = graph_slot_owner(slot);
            if (graph_is_live(g, owner))
                u32_push(&g->pending, owner);
        } while (slot != last);
    }
    /* if a class's fact changed, those of its parents may change */
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
