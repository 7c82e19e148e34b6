/* Nodes and classes: add, union, rebuild. Invariants after a rebuild (egraph_check holds them):
 * arguments are canonical; live nodes are exactly what the hash table holds, so congruent nodes
 * are one; facts are closed under facts_apply; a class with a constant holds its number. */
#include "ops/egraph/join.h"

#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CELLS = 1024, LARGE = 1 << 16, MAX_CELLS = 1 << 28 };

static void *grow_array(void *array, size_t n, size_t size)
{
    void *p = realloc(array, n * size);
    if (!p) {
        fprintf(stderr, "eqloom: out of memory (e-graph of %zu nodes)\n", n);
        abort();
    }
    return p;
}

/* By an eighth once the graph is large: memory is moved by its pages, not copied, and the peak is
 * close to what is used. */
static void reserve_cells(struct egraph *g, uint32_t more)
{
    if (g->n_cells + more <= g->cap)
        return;
    uint32_t cap = g->cap ? g->cap : FIRST_CELLS;
    while (cap < g->n_cells + more)
        cap += cap < LARGE ? cap : cap / 8;
    assert(cap < MAX_CELLS * 2u);
    g->cells = grow_array(g->cells, cap, sizeof *g->cells);
    g->classes = grow_array(g->classes, cap, sizeof *g->classes);
    if (g->proofs)
        proofs_grow(g->proofs, cap);
    g->cap = cap;
}

/* What is looked up: an operator and canonical arguments, two in each of `pairs`. Nearly all nodes
 * have one or two, so that the first pair is all there is. */
struct key {
    uint32_t op, arity, n_pairs, hash;
    uint64_t pairs[128];
};

static inline uint32_t hash_pair(uint32_t op, uint64_t pair)
{
    return hashcons_end(hashcons_mix(hashcons_begin(op), pair));
}

static inline void set_hash(struct key *k)
{
    uint64_t h = hashcons_begin(k->op);
    for (uint32_t i = 0; i < k->n_pairs; i++)
        h = hashcons_mix(h, k->pairs[i]);
    k->hash = hashcons_end(h);
}

static inline uint64_t find_pair(struct egraph *g, const uint32_t *kids, uint32_t n)
{
    uint64_t second = n > 1 ? graph_find(g, kids[1]) : 0;
    return n ? second << 32 | graph_find(g, kids[0]) : 0;
}

static inline void set_key(struct key *k, struct egraph *g, uint32_t op, const uint32_t *kids)
{
    k->op = op;
    k->arity = graph_arity(g, op);
    k->n_pairs = (k->arity + 1) / 2;
    for (uint32_t i = 0; i < k->n_pairs; i++)
        k->pairs[i] = find_pair(g, kids + 2 * i, k->arity - 2 * i);
    set_hash(k);
}

/* The key of a node as it is stored. */
static inline void set_node_key(struct key *k, const struct egraph *g, uint32_t n)
{
    k->op = g->cells[n].op;
    k->arity = graph_arity(g, k->op);
    k->n_pairs = (k->arity + 1) / 2;
    for (uint32_t i = 0; i < k->n_pairs; i++)
        k->pairs[i] = graph_pair(&g->cells[n + i]);
    set_hash(k);
}

static inline uint32_t find_node(const struct egraph *g, const struct key *k)
{
    const struct hashcons *t = &g->cons;
    for (struct hashcons_probe p = hashcons_probe(t, k->hash); hashcons_next(&p, t);) {
        const struct cell *c = &g->cells[p.node];
        uint32_t same = 0;
        if (c->op != k->op)
            continue;
        while (same < k->n_pairs && graph_pair(&c[same]) == k->pairs[same])
            same++;
        if (same == k->n_pairs)
            return p.node;
    }
    return NO_NODE;
}

/* Of one or two arguments. */
static inline uint32_t find_small(const struct egraph *g, uint32_t hash, uint32_t op, uint64_t pair)
{
    const struct hashcons *t = &g->cons;
    for (struct hashcons_probe p = hashcons_probe(t, hash); hashcons_next(&p, t);)
        if (g->cells[p.node].op == op && graph_pair(&g->cells[p.node]) == pair)
            return p.node;
    return NO_NODE;
}

/* The table has no hashes: when it grows, the nodes say theirs again. */
static void grow_table(struct egraph *g)
{
    hashcons_grow(&g->cons, g->cap);
    for (uint32_t n = 0; n < g->n_cells; n++)
        if (graph_is_live(g, n)) {
            struct key k;
            set_node_key(&k, g, n);
            hashcons_insert(&g->cons, k.hash, n);
        }
}

/* ---- circles of slots ---- */

static inline uint32_t *slot_link(struct egraph *g, uint32_t slot)
{
    return &g->cells[slot >> 1].link[slot & 1];
}

static void add_parent(struct egraph *g, uint32_t class, uint32_t slot)
{
    struct eclass *c = &g->classes[class];
    if (c->parents == NO_NODE) {
        *slot_link(g, slot) = slot;
    } else {
        uint32_t *last = slot_link(g, c->parents);
        *slot_link(g, slot) = *last;
        *last = slot;
    }
    c->parents = slot;
    c->weight += c->weight < MAX_WEIGHT;
}

static void splice_parents(struct egraph *g, struct eclass *into, struct eclass *from)
{
    uint32_t a = into->parents, b = from->parents;
    uint32_t weight = (uint32_t)into->weight + from->weight;
    into->weight = (uint16_t)(weight < MAX_WEIGHT ? weight : MAX_WEIGHT);
    if (b == NO_NODE)
        return;
    if (a != NO_NODE) {
        uint32_t *x = slot_link(g, a), *y = slot_link(g, b), first = *x;
        *x = *y;
        *y = first;
    }
    into->parents = b;
    from->parents = NO_NODE;
}

/* ---- facts ---- */

static void mark_changed(struct egraph *g, uint32_t class)
{
    uint8_t *stamp = g->classes[class].stamp;
    if (stamp[0] == g->epoch && g->epoch)
        return;
    stamp[0] = g->epoch;
    u32_push(&g->changed, class);
}

static void doubt(struct egraph *g, uint32_t class)
{
    if (g->classes[class].mask & MASK_DOUBTFUL)
        return;
    g->classes[class].mask |= MASK_DOUBTFUL;
    u32_push(&g->doubtful, class);
}

static inline uint32_t kid_fact(struct egraph *g, uint32_t n, uint32_t i)
{
    return g->classes[graph_find(g, *graph_kid(g, n, i))].fact;
}

static inline uint32_t node_fact(struct egraph *g, uint32_t n)
{
    uint32_t op = graph_op(g, n), facts[256];
    if (op & OP_LEAF)
        return g->leaves[op & ~OP_LEAF].fact;
    const struct op_info *info = &g->lang->ops[op];
    bool known = g->interpreted && op < X_DECLARED && info->interpreted;
    if (known && info->arity == 2)
        return facts_apply_two(&g->facts, op, kid_fact(g, n, 0), kid_fact(g, n, 1));
    for (uint32_t i = 0; i < info->arity; i++)
        facts[i] = kid_fact(g, n, i);
    return facts_apply(&g->facts, op, known, facts, info->arity);
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
    uint32_t c = graph_find(g, n), f, told = node_fact(g, n), known = g->classes[c].fact;
    enum fact_conflict conflict = facts_meet(&f, &g->facts, known, told);
    if (conflict) {
        note_conflict(g, conflict, c, n, known, told);
        return;
    }
    if (f == known)
        return;
    bool computed = g->facts.items[known].constant == NO_NUMBER;
    g->classes[c].fact = f;
    g->classes[c].joined = g->epoch;
    doubt(g, c);
    mark_changed(g, c);
    if (computed)
        add_constant(g, n);
}

/* ---- adding ---- */

/* Room for one node more. */
static inline uint32_t take_cells(struct egraph *g, uint32_t n)
{
    uint32_t first = g->n_cells;
    reserve_cells(g, n);
    if (!hashcons_has_room(&g->cons, g->cap))
        grow_table(g);
    g->n_cells += n;
    return first;
}

static inline void set_cell(struct egraph *g, uint32_t cell, uint32_t op, uint64_t pair, uint32_t n)
{
    g->cells[cell] = (struct cell){.op = op, .kid = {(uint32_t)pair, (uint32_t)(pair >> 32)}};
    g->classes[cell] = (struct eclass){.up = n, .next = n, .parents = NO_NODE};
}

/* `kids` are the arguments as they were given, for proofs. */
static inline void finish_node(struct egraph *g, uint32_t n, uint32_t hash, const uint32_t *kids,
                               uint32_t arity)
{
    for (uint32_t i = 0; i < arity; i++)
        add_parent(g, *graph_kid(g, n, i), 2 * n + i);
    if (g->proofs)
        proofs_add_node(g->proofs, n, kids, arity);
    hashcons_insert(&g->cons, hash, n);
    g->n_nodes++;
}

static uint32_t settle_new(struct egraph *g, uint32_t n, uint32_t op)
{
    uint64_t mask = pattern_op_mask(op);
    uint32_t fact = node_fact(g, n);
    g->classes[n].mask = mask;
    g->classes[n].fact = fact;
    g->ops |= mask;
    g->n_classes++;
    if (g->facts.items[fact].constant != NO_NUMBER)
        add_constant(g, n);
    return n;
}

/* Of more than two arguments. */
static uint32_t lookup_or_add_wide(struct egraph *g, uint32_t op, const uint32_t *kids, bool add)
{
    struct key k;
    set_key(&k, g, op, kids);
    uint32_t n = find_node(g, &k);
    if (n != NO_NODE || !add)
        return n;
    n = take_cells(g, k.n_pairs);
    for (uint32_t i = 0; i < k.n_pairs; i++)
        set_cell(g, n + i, i ? OP_CONT : op, k.pairs[i], n);
    finish_node(g, n, k.hash, kids, k.arity);
    return settle_new(g, n, op);
}

uint32_t graph_lookup(struct egraph *g, uint32_t op, const uint32_t *kids)
{
    uint32_t arity = graph_arity(g, op);
    if (arity > 2)
        return lookup_or_add_wide(g, op, kids, false);
    uint64_t pair = find_pair(g, kids, arity);
    return find_small(g, hash_pair(op, pair), op, pair);
}

void graph_expect(struct egraph *g, uint32_t op, const uint32_t *kids)
{
    uint32_t arity = graph_arity(g, op);
    if (arity == 0 || arity > 2)
        return;
    uint32_t hash = hash_pair(op, find_pair(g, kids, arity));
    __builtin_prefetch(&g->cons.slots[hash & (g->cons.size - 1)]);
}

uint32_t graph_add(struct egraph *g, uint32_t op, const uint32_t *kids)
{
    uint32_t arity = graph_arity(g, op);
    if (arity > 2)
        return lookup_or_add_wide(g, op, kids, true);
    uint64_t pair = find_pair(g, kids, arity);
    uint32_t hash = hash_pair(op, pair), n = find_small(g, hash, op, pair);
    if (n != NO_NODE)
        return n;
    n = take_cells(g, 1);
    set_cell(g, n, op, pair, n);
    finish_node(g, n, hash, kids, arity);
    return settle_new(g, n, op);
}

uint32_t graph_add_into(bool *placed, struct egraph *g, uint32_t op, const uint32_t *kids,
                        uint32_t to)
{
    uint32_t arity = graph_arity(g, op);
    *placed = false;
    if (arity > 2)
        return lookup_or_add_wide(g, op, kids, true);
    uint64_t pair = find_pair(g, kids, arity);
    uint32_t hash = hash_pair(op, pair), n = find_small(g, hash, op, pair);
    if (n != NO_NODE)
        return n;
    n = take_cells(g, 1);
    set_cell(g, n, op, pair, n);
    finish_node(g, n, hash, kids, arity);
    uint32_t c = graph_find(g, to);
    g->classes[n].up = c;
    g->classes[n].next = g->classes[c].next;
    g->classes[c].next = n;
    *placed = true;
    return n;
}

void graph_settle(struct egraph *g, uint32_t n)
{
    uint32_t c = graph_find(g, n), op = g->cells[n].op;
    uint64_t mask = pattern_op_mask(op);
    g->classes[c].mask |= mask;
    g->ops |= mask;
    mark_changed(g, c);
    learn(g, n);
}

uint32_t graph_add_leaf(struct egraph *g, uint32_t leaf)
{
    struct leaf *l = &g->leaves[leaf];
    if (l->node != NO_NODE)
        return l->node;
    uint32_t op = OP_LEAF | leaf;
    uint32_t n = take_cells(g, 1);
    set_cell(g, n, op, 0, n);
    finish_node(g, n, hashcons_end(hashcons_begin(op)), NULL, 0);
    g->n_classes++;
    l->node = n;
    g->classes[n].mask = 1ull << (l->op == X_NUM   ? MASK_NUMBER
                                  : l->is_variable ? MASK_VARIABLE
                                                   : MASK_OTHER_LEAF);
    g->classes[n].fact = l->fact;
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
    struct eclass *to = &g->classes[into], *gone = &g->classes[from];
    bool both_frozen = into < g->frozen && from < g->frozen;
    if (both_frozen)
        joins_note_union(g->joins, into, from);
    uint32_t f;
    enum fact_conflict c = facts_meet(&f, &g->facts, to->fact, gone->fact);
    if (c) {
        note_conflict(g, c, a, b, to->fact, gone->fact);
        f = to->fact;
    }
    /* The class with fewer parents goes: they are what has to be hashed again. */
    bool swap = to->weight < gone->weight || (to->weight == gone->weight && from < into);
    if (!both_frozen && (into < g->frozen || from < g->frozen))
        swap = from < g->frozen;
    if (swap) {
        uint32_t t = into;
        into = from;
        from = t;
        to = &g->classes[into];
        gone = &g->classes[from];
    }
    uint32_t last = gone->parents;
    if (last != NO_NODE) {
        uint32_t slot = last;
        do {
            slot = *slot_link(g, slot);
            uint32_t owner = graph_slot_owner(g, slot);
            if (graph_is_live(g, owner))
                u32_push(&g->pending, owner);
        } while (slot != last);
    }
    /* parents have to be asked again if what they saw has changed */
    bool learnt = f != to->fact || (f != gone->fact && last != NO_NODE);
    gone->up = into;
    splice_parents(g, to, gone);
    uint32_t first = to->next;
    to->next = gone->next;
    gone->next = first;
    bool named = gone->mask & ~to->mask & MASK_LEAVES; /* conditions ask for symbols, too */
    to->mask |= gone->mask;
    to->fact = f;
    if (both_frozen || learnt || named)
        to->joined = g->epoch;
    else if (gone->joined > to->joined)
        to->joined = gone->joined;
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
    struct key before, after;
    set_node_key(&before, g, n);
    after.op = before.op;
    after.arity = before.arity;
    after.n_pairs = before.n_pairs;
    bool stale = false;
    for (uint32_t i = 0; i < before.n_pairs; i++) {
        after.pairs[i] = find_pair(g, g->cells[n + i].kid, before.arity - 2 * i);
        stale |= after.pairs[i] != before.pairs[i];
    }
    if (!stale)
        return;
    /* Repairs leave gaps, and many may follow one another: probing needs empty slots to end at. */
    if (!hashcons_has_room(&g->cons, g->cap))
        grow_table(g);
    set_hash(&after);
    hashcons_remove(&g->cons, before.hash, n);
    for (uint32_t i = 0; i < after.arity; i++)
        *graph_kid(g, n, i) = (uint32_t)(after.pairs[i / 2] >> (i % 2 ? 32 : 0));
    uint32_t twin = find_node(g, &after);
    if (twin == NO_NODE) {
        hashcons_insert(&g->cons, after.hash, n);
        return;
    }
    g->cells[n].op |= OP_DEAD;
    g->n_nodes--;
    u32_push(&g->died, n);
    graph_union(g, n, twin, (struct reason){REASON_CONGRUENCE, 0});
}

static void doubt_parents(struct egraph *g, uint32_t class)
{
    uint32_t c = graph_find(g, class), last = g->classes[c].parents;
    bool waiting = g->classes[c].mask & MASK_DOUBTFUL;
    g->classes[c].mask &= ~MASK_DOUBTFUL;
    if (!waiting || last == NO_NODE)
        return; /* its class joined another that has been seen to */
    /* learn() may add nodes and join classes, and so change this circle: the slots first */
    size_t begin = g->wave[0].n;
    uint32_t slot = last;
    do {
        slot = *slot_link(g, slot);
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
        if (graph_next(g, g->died.items[i]) == NO_NODE)
            continue; /* with an earlier one of its class */
        uint32_t c = graph_find(g, g->died.items[i]), n = c;
        while (graph_next(g, n) != c) {
            uint32_t following = graph_next(g, n);
            if (!(g->cells[following].op & OP_DEAD)) {
                n = following;
                continue;
            }
            g->classes[n].next = graph_next(g, following);
            g->classes[following].next = NO_NODE;
        }
    }
    g->died.n = 0;
}

static void journal_put(struct egraph *g, uint32_t n)
{
    if (n < g->frozen)
        u32_push(&g->journal, n);
}

/* The parents of a class that changed k - 1 steps below: they may be the roots of new matches, and
 * their classes changed k steps below. */
static void stamp_parents(struct egraph *g, struct u32_list *to, uint32_t class, unsigned k)
{
    uint32_t last = g->classes[class].parents, slot = last;
    if (last == NO_NODE)
        return;
    do {
        slot = *slot_link(g, slot);
        uint32_t owner = graph_slot_owner(g, slot);
        if (!graph_is_live(g, owner))
            continue;
        journal_put(g, owner);
        if (k > g->stamp_levels)
            continue;
        uint32_t p = graph_find(g, owner);
        uint8_t *stamp = g->classes[p].stamp;
        if (stamp[STAMPS - 1] == g->epoch)
            continue; /* level by level: it changed no farther below than this */
        for (unsigned j = k < STAMPS ? k : STAMPS - 1; j < STAMPS; j++)
            stamp[j] = g->epoch;
        u32_push(to, p);
    } while (slot != last);
}

/* Stamps the changed classes, and those above them, level by level. */
static void stamp_changed(struct egraph *g)
{
    struct u32_list *from = &g->wave[0], *to = &g->wave[1];
    from->n = 0;
    for (size_t i = 0; i < g->changed.n; i++) {
        uint32_t c = graph_find(g, g->changed.items[i]);
        uint8_t *stamp = g->classes[c].stamp;
        stamp[0] = g->epoch;
        if (stamp[STAMPS - 1] == g->epoch)
            continue;
        for (int k = 1; k < STAMPS; k++)
            stamp[k] = g->epoch;
        u32_push(from, c);
        journal_put(g, c);
    }
    for (unsigned k = 1; k <= g->stamp_levels + 1; k++) {
        to->n = 0;
        for (size_t i = 0; i < from->n; i++)
            stamp_parents(g, to, from->items[i], k);
        struct u32_list *t = from;
        from = to;
        to = t;
    }
    g->wave[0].n = g->wave[1].n = 0;
}

void graph_repair(struct egraph *g)
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
}

void egraph_rebuild(struct egraph *g)
{
    graph_repair(g);
    bury(g);
    if (g->watched)
        stamp_changed(g);
    g->changed.n = 0;
    joins_forget(g->joins);
}

bool graph_begin_epoch(struct egraph *g)
{
    bool halved = g->epoch == MAX_EPOCH;
    if (halved) {
        for (uint32_t c = 0; c < g->n_cells; c++) {
            struct eclass *k = &g->classes[c];
            k->joined = (uint8_t)((k->joined + 1) / 2);
            for (int i = 0; i < STAMPS; i++)
                k->stamp[i] = (uint8_t)((k->stamp[i] + 1) / 2);
        }
        g->epoch = (MAX_EPOCH + 1) / 2;
    }
    g->epoch++;
    return halved;
}
