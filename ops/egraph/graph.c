/* Nodes and classes: add, union, rebuild. Invariants after a rebuild (egraph_check holds them):
 * arguments are canonical; live nodes are exactly what the hash table holds, so congruent nodes
 * are one; facts are closed under facts_apply; a class with a constant holds its number. */
#include "ops/egraph/join.h"

#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CELLS = 1024, MAX_CELLS = 1 << 28 };

static void *grow_array(void *array, size_t n, size_t size)
{
    void *p = realloc(array, n * size);
    if (!p) {
        fprintf(stderr, "eqloom: out of memory (e-graph of %zu nodes)\n", n);
        abort();
    }
    return p;
}

static void reserve_cells(struct egraph *g, uint32_t more)
{
    if (g->n_cells + more <= g->cap)
        return;
    uint32_t cap = g->cap ? g->cap : FIRST_CELLS;
    while (cap < g->n_cells + more)
        cap += cap / 2;
    assert(cap < MAX_CELLS * 2u);
    g->op = grow_array(g->op, cap, sizeof *g->op);
    g->kid = grow_array(g->kid, cap, 2 * sizeof *g->kid);
    g->uf = grow_array(g->uf, cap, sizeof *g->uf);
    g->next = grow_array(g->next, cap, sizeof *g->next);
    g->parents = grow_array(g->parents, cap, sizeof *g->parents);
    g->n_parents = grow_array(g->n_parents, cap, sizeof *g->n_parents);
    g->link = grow_array(g->link, cap, 2 * sizeof *g->link);
    g->fact = grow_array(g->fact, cap, sizeof *g->fact);
    g->mask = grow_array(g->mask, cap, sizeof *g->mask);
    g->stamp = grow_array(g->stamp, cap, STAMPS * sizeof *g->stamp);
    if (g->proofs)
        proofs_grow(g->proofs, cap);
    g->cap = cap;
}

static uint32_t find_node(const struct egraph *g, uint32_t hash, uint32_t op, const uint32_t *kids,
                          uint32_t arity)
{
    const struct hashcons *t = &g->cons;
    if (!t->size)
        return NO_NODE;
    for (size_t i = hash & (t->size - 1);; i = (i + 1) & (t->size - 1)) {
        uint32_t n = t->slots[i].node;
        if (n == NO_NODE)
            return NO_NODE;
        if (t->slots[i].hash != hash || g->op[n] != op)
            continue;
        const uint32_t *k = &g->kid[2 * (size_t)n];
        uint32_t same = 0;
        while (same < arity && k[same] == kids[same])
            same++;
        if (same == arity)
            return n;
    }
}

/* ---- circles of slots ---- */

static void add_parent(struct egraph *g, uint32_t class, uint32_t slot)
{
    uint32_t last = g->parents[class];
    if (last == NO_NODE) {
        g->link[slot] = slot;
    } else {
        g->link[slot] = g->link[last];
        g->link[last] = slot;
    }
    g->parents[class] = slot;
    g->n_parents[class]++;
}

static void splice_parents(struct egraph *g, uint32_t into, uint32_t from)
{
    uint32_t a = g->parents[into], b = g->parents[from];
    g->n_parents[into] += g->n_parents[from];
    if (b == NO_NODE)
        return;
    if (a != NO_NODE) {
        uint32_t first = g->link[a];
        g->link[a] = g->link[b];
        g->link[b] = first;
    }
    g->parents[into] = b;
    g->parents[from] = NO_NODE;
}

/* ---- facts ---- */

static void mark_changed(struct egraph *g, uint32_t class)
{
    uint16_t *stamp = &g->stamp[STAMPS * (size_t) class];
    if (stamp[0] == g->epoch && g->epoch)
        return;
    stamp[0] = g->epoch;
    u32_push(&g->changed, class);
}

static void doubt(struct egraph *g, uint32_t class)
{
    if (g->mask[class] & MASK_DOUBTFUL)
        return;
    g->mask[class] |= MASK_DOUBTFUL;
    u32_push(&g->doubtful, class);
}

static uint32_t node_fact(struct egraph *g, uint32_t n)
{
    uint32_t op = graph_op(g, n);
    if (op & OP_LEAF)
        return g->leaves[op & ~OP_LEAF].fact;
    uint32_t arity = graph_arity(g, op), few[2] = {0, 0}, *facts = few;
    if (arity > 2)
        facts = grow_array(NULL, arity, sizeof *facts);
    for (uint32_t i = 0; i < arity; i++)
        facts[i] = g->fact[graph_find(g, g->kid[2 * (size_t)n + i])];
    bool known = g->interpreted && op < X_DECLARED && g->lang->ops[op].interpreted;
    uint32_t f = facts_apply(&g->facts, op, known, facts, arity);
    if (facts != few)
        free(facts);
    return f;
}

static void note_conflict(struct egraph *g, enum fact_conflict c, uint32_t a, uint32_t b,
                          uint32_t fact_a, uint32_t fact_b)
{
    if (g->conflict)
        return;
    g->conflict = c;
    g->conflict_a = a;
    g->conflict_b = b;
    g->conflict_fact_a = fact_a;
    g->conflict_fact_b = fact_b;
}

/* The class of n has a constant that n computes to: the number's own node joins it. */
static void add_constant(struct egraph *g, uint32_t n)
{
    uint32_t number = graph_fact(g, graph_find(g, n))->constant;
    if (number == NO_NUMBER || !g->interpreted || graph_op(g, n) & OP_LEAF)
        return;
    if (g->n_nodes >= g->node_limit) {
        g->folding_stopped = true;
        return;
    }
    uint32_t leaf = graph_leaf(g, X_NUM, numbers_text(&g->facts.numbers, number));
    uint32_t l = graph_add_leaf(g, leaf);
    graph_union(g, n, l, (struct reason){REASON_CONSTANT, 0});
}

/* The fact of a class learns what node n of it says; add_constant follows. */
static void learn(struct egraph *g, uint32_t n)
{
    uint32_t c = graph_find(g, n), f, told = node_fact(g, n);
    enum fact_conflict conflict = facts_meet(&f, &g->facts, g->fact[c], told);
    if (conflict) {
        note_conflict(g, conflict, c, n, g->fact[c], told);
        return;
    }
    if (f == g->fact[c])
        return;
    bool computed = graph_fact(g, c)->constant == NO_NUMBER;
    g->fact[c] = f;
    doubt(g, c);
    mark_changed(g, c);
    if (computed)
        add_constant(g, n);
}

/* ---- adding ---- */

static uint32_t new_node(struct egraph *g, uint32_t op, const uint32_t *kids,
                         const uint32_t *canonical, uint32_t arity, uint32_t hash)
{
    uint32_t cells = arity > 2 ? (arity + 1) / 2 : 1;
    reserve_cells(g, cells);
    uint32_t n = g->n_cells;
    g->n_cells += cells;
    for (uint32_t i = 0; i < cells; i++) {
        g->op[n + i] = OP_CONT;
        g->uf[n + i] = n;
    }
    g->op[n] = op;
    g->next[n] = n;
    g->parents[n] = NO_NODE;
    g->n_parents[n] = 0;
    memset(&g->stamp[STAMPS * (size_t)n], 0, STAMPS * sizeof *g->stamp);
    if (arity)
        memcpy(&g->kid[2 * (size_t)n], canonical, arity * sizeof *kids);
    for (uint32_t i = 0; i < arity; i++)
        add_parent(g, canonical[i], 2 * n + i);
    if (g->proofs)
        proofs_add_node(g->proofs, n, kids, arity);
    hashcons_insert(&g->cons, hash, n);
    g->n_nodes++;
    g->n_classes++;
    return n;
}

uint32_t graph_lookup(struct egraph *g, uint32_t op, const uint32_t *kids)
{
    uint32_t arity = graph_arity(g, op), canonical[256];
    for (uint32_t i = 0; i < arity; i++)
        canonical[i] = graph_find(g, kids[i]);
    return find_node(g, hashcons_hash(op, canonical, arity), op, canonical, arity);
}

uint32_t graph_add(struct egraph *g, uint32_t op, const uint32_t *kids)
{
    uint32_t arity = graph_arity(g, op), canonical[256];
    for (uint32_t i = 0; i < arity; i++)
        canonical[i] = graph_find(g, kids[i]);
    uint32_t hash = hashcons_hash(op, canonical, arity);
    uint32_t n = find_node(g, hash, op, canonical, arity);
    if (n != NO_NODE)
        return n;
    n = new_node(g, op, kids, canonical, arity, hash);
    g->mask[n] = pattern_op_mask(op);
    g->ops |= g->mask[n];
    g->fact[n] = node_fact(g, n);
    u32_push(&g->by_op[op], n);
    if (graph_fact(g, n)->constant != NO_NUMBER)
        add_constant(g, n);
    return n;
}

uint32_t graph_add_leaf(struct egraph *g, uint32_t leaf)
{
    struct leaf *l = &g->leaves[leaf];
    if (l->node != NO_NODE)
        return l->node;
    uint32_t op = OP_LEAF | leaf;
    uint32_t n = new_node(g, op, NULL, NULL, 0, hashcons_hash(op, NULL, 0));
    l->node = n;
    g->mask[n] = l->op == X_NUM ? 1ull << MASK_NUMBER : l->is_variable ? 1ull << MASK_VARIABLE : 0;
    g->fact[n] = l->fact;
    /* A fraction is a quotient, too: that form is a term of the corpora. */
    uint32_t number = g->facts.items[l->fact].constant;
    struct facts *f = &g->facts;
    if (number != NO_NUMBER && g->interpreted && !numbers_is_integer(&f->numbers, number)) {
        const char *p = numbers_text(&f->numbers, numbers_numerator(&f->numbers, number));
        uint32_t kids[2];
        kids[0] = graph_add_leaf(g, graph_leaf(g, X_NUM, p));
        const char *q = numbers_text(&f->numbers, numbers_denominator(&f->numbers, number));
        kids[1] = graph_add_leaf(g, graph_leaf(g, X_NUM, q));
        graph_add(g, X_DIV, kids);
    }
    return n;
}

/* ---- joining ---- */

bool graph_union(struct egraph *g, uint32_t a, uint32_t b, struct reason why)
{
    uint32_t into = graph_find(g, a), from = graph_find(g, b);
    if (into == from) {
        if (g->proofs && (why.kind == REASON_RULE ||
                          proofs_want(g->proofs, a, b, (enum reason_kind)why.kind, 0)))
            proofs_add_spare(g->proofs, a, b, why);
        return false;
    }
    if (g->proofs)
        proofs_join(g->proofs, a, b, why);
    bool both_frozen = into < g->frozen && from < g->frozen;
    if (both_frozen)
        joins_note_union(g->joins, into, from);
    uint32_t f;
    enum fact_conflict c = facts_meet(&f, &g->facts, g->fact[into], g->fact[from]);
    if (c) {
        note_conflict(g, c, a, b, g->fact[into], g->fact[from]);
        f = g->fact[into];
    }
    /* The class with fewer parents goes: they are what has to be hashed again. */
    bool swap = g->n_parents[into] < g->n_parents[from] ||
                (g->n_parents[into] == g->n_parents[from] && from < into);
    if (!both_frozen && (into < g->frozen || from < g->frozen))
        swap = from < g->frozen;
    if (swap) {
        uint32_t t = into;
        into = from;
        from = t;
    }
    bool learnt = f != g->fact[into] || f != g->fact[from];
    uint32_t last = g->parents[from];
    if (last != NO_NODE) {
        uint32_t slot = last;
        do {
            slot = g->link[slot];
            uint32_t owner = graph_slot_owner(g, slot);
            if (graph_is_live(g, owner))
                u32_push(&g->pending, owner);
        } while (slot != last);
    }
    g->uf[from] = into;
    splice_parents(g, into, from);
    uint32_t first = g->next[into];
    g->next[into] = g->next[from];
    g->next[from] = first;
    g->mask[into] |= g->mask[from];
    g->fact[into] = f;
    g->n_classes--;
    if (learnt)
        doubt(g, into);
    mark_changed(g, into);
    return true;
}

/* ---- rebuilding ---- */

static void repair_node(struct egraph *g, uint32_t n)
{
    if (!graph_is_live(g, n))
        return;
    uint32_t op = g->op[n], arity = graph_arity(g, op), canonical[256];
    uint32_t *kids = &g->kid[2 * (size_t)n];
    bool stale = false;
    for (uint32_t i = 0; i < arity; i++) {
        canonical[i] = graph_find(g, kids[i]);
        stale |= canonical[i] != kids[i];
    }
    if (!stale)
        return;
    hashcons_remove(&g->cons, hashcons_hash(op, kids, arity), n);
    memcpy(kids, canonical, arity * sizeof *kids);
    uint32_t hash = hashcons_hash(op, canonical, arity);
    uint32_t twin = find_node(g, hash, op, canonical, arity);
    if (twin == NO_NODE) {
        hashcons_insert(&g->cons, hash, n);
        return;
    }
    g->op[n] |= OP_DEAD;
    g->n_nodes--;
    g->dead_indexed++;
    u32_push(&g->died, n);
    graph_union(g, n, twin, (struct reason){REASON_CONGRUENCE, 0});
}

static void doubt_parents(struct egraph *g, uint32_t class)
{
    uint32_t c = graph_find(g, class), last = g->parents[c];
    bool waiting = g->mask[c] & MASK_DOUBTFUL;
    g->mask[c] &= ~MASK_DOUBTFUL;
    if (!waiting || last == NO_NODE)
        return; /* its class joined another that has been seen to */
    /* learn() may add nodes and join classes, and so change this circle: the slots first */
    size_t begin = g->wave[0].n;
    uint32_t slot = last;
    do {
        slot = g->link[slot];
        uint32_t owner = graph_slot_owner(g, slot);
        if (graph_is_live(g, owner))
            u32_push(&g->wave[0], owner);
    } while (slot != last);
    for (size_t i = begin; i < g->wave[0].n; i++)
        learn(g, g->wave[0].items[i]);
    g->wave[0].n = begin;
}

/* Takes dead nodes out of the circles of their classes. */
static void bury(struct egraph *g)
{
    for (size_t i = 0; i < g->died.n; i++) {
        if (g->next[g->died.items[i]] == NO_NODE)
            continue; /* with an earlier one of its class */
        uint32_t c = graph_find(g, g->died.items[i]), n = c;
        while (g->next[n] != c) {
            uint32_t following = g->next[n];
            if (!(g->op[following] & OP_DEAD)) {
                n = following;
                continue;
            }
            g->next[n] = g->next[following];
            g->next[following] = NO_NODE;
        }
    }
    g->died.n = 0;
    if (g->dead_indexed <= g->n_nodes / 4)
        return;
    for (uint32_t op = 0; op < g->lang->n_ops; op++) {
        struct u32_list *l = &g->by_op[op];
        size_t kept = 0;
        for (size_t i = 0; i < l->n; i++)
            if (graph_is_live(g, l->items[i]))
                l->items[kept++] = l->items[i];
        l->n = kept;
    }
    g->dead_indexed = 0;
}

/* Stamps the changed classes, and those above them, level by level. */
static void stamp_changed(struct egraph *g)
{
    struct u32_list *from = &g->wave[0], *to = &g->wave[1];
    from->n = 0;
    for (size_t i = 0; i < g->changed.n; i++) {
        uint32_t c = graph_find(g, g->changed.items[i]);
        uint16_t *stamp = &g->stamp[STAMPS * (size_t)c];
        stamp[0] = g->epoch;
        if (stamp[1] == g->epoch)
            continue;
        for (int k = 1; k < STAMPS; k++)
            stamp[k] = g->epoch;
        u32_push(from, c);
    }
    g->changed.n = 0;
    for (unsigned k = 1; k <= g->stamp_levels; k++) {
        to->n = 0;
        for (size_t i = 0; i < from->n; i++) {
            uint32_t last = g->parents[from->items[i]], slot = last;
            if (last == NO_NODE)
                continue;
            do {
                slot = g->link[slot];
                uint32_t owner = graph_slot_owner(g, slot);
                if (!graph_is_live(g, owner))
                    continue;
                uint32_t p = graph_find(g, owner);
                uint16_t *stamp = &g->stamp[STAMPS * (size_t)p];
                if (stamp[k] == g->epoch)
                    continue;
                for (unsigned j = k; j < STAMPS; j++)
                    stamp[j] = g->epoch;
                u32_push(to, p);
            } while (slot != last);
        }
        struct u32_list *t = from;
        from = to;
        to = t;
    }
    g->wave[0].n = g->wave[1].n = 0;
}

void egraph_rebuild(struct egraph *g)
{
    size_t repaired = 0, doubted = 0;
    for (;;) {
        if (repaired < g->pending.n)
            repair_node(g, g->pending.items[repaired++]);
        else if (doubted < g->doubtful.n && !g->conflict)
            doubt_parents(g, g->doubtful.items[doubted++]);
        else
            break;
    }
    g->pending.n = g->doubtful.n = 0;
    bury(g);
    stamp_changed(g);
    joins_forget(g->joins);
}

void graph_begin_epoch(struct egraph *g)
{
    g->epoch++;
}
