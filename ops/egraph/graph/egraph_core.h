/* The internals of an e-graph, for the files of this folder.
 *
 * All data is in arrays by cell, in three parts: the node itself (struct cell), its place in
 * union-find (struct member) and the data of its class (struct eclass). Operators have at most two
 * arguments, so a node is one cell. A class is named by one of its nodes, so union-find, classes
 * and nodes share their ids. Most cells name no class, so class data is in a denser array of
 * entries; the member of the naming node holds the current entry. The place of an argument is a
 * *slot*: slot 2 * cell + i, so the arguments of node n are slots 2n and 2n + 1. A cell takes 30
 * bytes and a class 24; with the table of hashcons.h about 38 and 24.
 *
 * Unions break congruence; `pending` and `stale` list what egraph_rebuild has to restore. */
#pragma once

#include "base/buf.h"
#include "ops/egraph/facts/fact.h"
#include "ops/egraph/graph/egraph.h"
#include "ops/egraph/graph/hashcons.h"
#include "ops/egraph/graph/proof_forest.h"
#include "ops/egraph/match/pattern.h"

#include <stdlib.h>

#define NO_NODE UINT32_MAX
enum {
    STAMPS = 4,
    MAX_EPOCH = 255,
    MAX_PARENTS = UINT16_MAX,
    MASK_NUMBER = X_NUM,
    MASK_VARIABLE = X_SYM,
    MASK_OTHER_LEAF = X_VAR, /* pi and e */
    GRAPH_NO_KIND = 63,
    GRAPH_KINDS = 64,
};
#define MASK_LEAVES (1ull << MASK_NUMBER | 1ull << MASK_VARIABLE | 1ull << MASK_OTHER_LEAF)
#define MASK_STALE (1ull << 63) /* the class is in `stale` */
#define MASK_LISTED MASK_STALE  /* used while `stale` is empty */
#define STALE_NODE 0x80000000u
#define UP_ENTRY 0x80000000u
#define OP_DEAD 0x80000000u
#define OP_LEAF 0x40000000u

struct node_index; /* node_index.h */

struct u32_list {
    uint32_t *items;
    size_t n, cap;
};

struct leaf {
    char *text;
    uint16_t op;      /* X_NUM, X_SYM or X_VAR */
    uint8_t bit;      /* its bit in fact.vars, if it is a variable */
    bool is_variable; /* a symbol other than pi and e */
    uint32_t node;    /* NO_NODE until it is added */
    uint32_t fact;
};

struct cell {
    uint32_t op;      /* an operator number, or OP_LEAF | leaf; OP_DEAD: replaced by another node */
    uint32_t kid[2];  /* classes of the arguments, canonical after a rebuild; 0 if unused */
    uint32_t link[2]; /* circular lists of the slots with the same class */
};

/* The class of a node, in a dense array because it is read very often. */
struct member {
    /* Union-find: a node closer to the naming one; in the naming node, UP_ENTRY | its entry. */
    uint32_t up;
    uint32_t next; /* a circular list of the nodes of a class; a dead naming node stays in it */
};

struct eclass {
    uint64_t mask;      /* the operators of its nodes, to reject patterns quickly */
    uint32_t parents;   /* the last slot of a circular list of the slots that hold the class, or
                           NO_NODE; in a free entry, the next free one */
    uint32_t fact;      /* see fact.h */
    uint16_t n_parents; /* slots that hold it, capped at MAX_PARENTS */
    /* `joined` is the last epoch in which the class was merged with another that has frozen nodes,
     * or its fact changed; stamp[k] is the last in which the class, or anything at most k steps
     * below it, changed in any way. */
    uint8_t joined, stamp[STAMPS];
};
_Static_assert(sizeof(struct cell) == 20 && sizeof(struct member) == 8 &&
                   sizeof(struct eclass) == 24,
               "bytes an e-node");

struct egraph {
    const struct language *lang;
    bool interpreted; /* the operators are those of lang_calculus */
    /* The operators for which facts are computed: all of them, and the binary ones. */
    uint64_t interpreted_ops, interpreted_binary;
    uint32_t n_cells, cap, n_nodes, n_classes;
    uint32_t n_dead;   /* nodes that died since the last compaction */
    uint32_t n_unions; /* unions of classes */
    struct {
        uint32_t dead, percent; /* compact if more than this percentage of live nodes is dead */
    } compact_at;
    uint32_t size_order_at; /* from this node budget on, iterations search small classes first */
    struct cell *cells;
    struct member *members;
    struct eclass *classes; /* by entry; graph_eclass returns that of a class */
    /* The entries that were ever in use, and the first free one or NO_NODE. */
    uint32_t n_entries, cap_entries, free_entry;
    uint8_t *kind; /* by cell: the bit of the node in masks, or GRAPH_NO_KIND for dead nodes */
    /* By cell, and by 64 cells: the last epoch in which something changed in the class that the
     * cell names, or below its arguments, as deep as the rules search. */
    uint8_t *touched, *touched_block;

    struct hashcons cons;
    struct facts facts;
    struct leaf *leaves;
    size_t n_leaves, leaves_cap;
    struct name_map leaf_index;
    unsigned n_variables;

    uint64_t ops;            /* the mask of all operators in use */
    struct u32_list pending; /* nodes to rehash, since the class of an argument was merged away */
    /* Classes whose fact changed, so that those of their parents may change. With STALE_NODE,
     * single nodes, for a class that got a stronger fact by joining another: its former parents may
     * be few among many. */
    struct u32_list stale;
    struct u32_list changed; /* classes that merged or got a new fact since the last rebuild */
    struct u32_list died;    /* dead nodes that are still in the circular list of their class */
    struct u32_list wave[2]; /* scratch for stamping */
    bool watched;            /* more searches follow, so a rebuild stamps changes */
    uint8_t epoch;
    unsigned stamp_levels; /* how far up changes are stamped: as deep as the rules search */

    struct node_index *node_index; /* scratch for searching */

    /* A class with nodes below this id is named by one of them during an iteration, so that its
     * name does not change when younger classes join it. */
    uint32_t frozen;

    uint32_t node_limit; /* no leaves are added for constants beyond it */
    bool folding_stopped;
    struct proof_forest *proofs; /* NULL unless kept */
    struct ball_domain *domains; /* declared domains; their texts are borrowed */
    size_t n_domains, cap_domains;

    /* The first contradiction found. */
    bool conflict;
    uint32_t conflict_a, conflict_b; /* the nodes whose facts contradict each other */
    uint32_t conflict_fact_a, conflict_fact_b;
};

static inline uint32_t graph_find(struct egraph *g, uint32_t c)
{
    struct member *k = g->members;
    uint32_t up = k[c].up;
    if (up & UP_ENTRY)
        return c;
    c = up; /* usually the root */
    while (!((up = k[c].up) & UP_ENTRY)) {
        uint32_t above = k[up].up;
        if (above & UP_ENTRY)
            return up;
        c = k[c].up = above;
    }
    return c;
}

/* Returns the data of the class that node c names. */
static inline struct eclass *graph_eclass(const struct egraph *g, uint32_t c)
{
    return &g->classes[g->members[c].up & ~UP_ENTRY];
}

/* Returns whether facts are computed for this operator of one or two arguments. */
static inline bool graph_interprets(const struct egraph *g, uint32_t op)
{
    return op < X_DECLARED && g->interpreted_ops >> op & 1;
}

static inline uint32_t graph_arity(const struct egraph *g, uint32_t op)
{
    if (graph_interprets(g, op))
        return 1 + (uint32_t)(g->interpreted_binary >> op & 1);
    return op & OP_LEAF ? 0 : g->lang->ops[op & ~OP_DEAD].arity;
}

static inline bool graph_is_live(const struct egraph *g, uint32_t n)
{
    return !(g->cells[n].op & OP_DEAD);
}

static inline bool graph_is_class(const struct egraph *g, uint32_t c)
{
    return g->members[c].up & UP_ENTRY;
}

static inline uint32_t graph_op(const struct egraph *g, uint32_t n)
{
    return g->cells[n].op & ~OP_DEAD;
}

static inline uint32_t graph_slot_owner(uint32_t slot)
{
    return slot >> 1;
}

/* Returns both arguments of a cell as one number. */
static inline uint64_t graph_pair(const struct cell *c)
{
    return (uint64_t)c->kid[1] << 32 | c->kid[0];
}

static inline uint32_t *graph_slot_link(struct egraph *g, uint32_t slot)
{
    return &g->cells[slot >> 1].link[slot & 1];
}

/* The argument as stored: canonical only after a rebuild. */
static inline uint32_t *graph_kid(const struct egraph *g, uint32_t n, uint32_t i)
{
    return &g->cells[n].kid[i];
}

/* Returns the next node in the circular list of a class. */
static inline uint32_t graph_next(const struct egraph *g, uint32_t n)
{
    return g->members[n].next;
}

/* ---- keys of the hash-consing table: an operator and its canonical arguments as one number ----
 */

static inline uint32_t hash_pair(uint32_t op, uint64_t pair)
{
    return hashcons_end(hashcons_mix(hashcons_begin(op), pair));
}

static inline uint64_t find_pair(struct egraph *g, const uint32_t *kids, uint32_t n)
{
    uint64_t second = n > 1 ? graph_find(g, kids[1]) : 0;
    return n ? second << 32 | graph_find(g, kids[0]) : 0;
}

/* Returns NO_NODE if there is no such node; then the probe is at the slot where it belongs. */
static inline uint32_t find_node(struct hashcons_probe *p, const struct egraph *g, uint32_t hash,
                                 uint32_t op, uint64_t pair)
{
    const struct hashcons *t = &g->cons;
    *p = hashcons_probe(t, hash);
    while (hashcons_next(p, t))
        if (g->cells[p->node].op == op && graph_pair(&g->cells[p->node]) == pair)
            return p->node;
    return NO_NODE;
}

/* ---- functions ---- */

/* Makes room for one more cell. Returns true if the hash table was rebuilt. */
bool graph_reserve_cell(struct egraph *g);
void graph_grow_entries(struct egraph *g);
void graph_free_cells(struct egraph *g);
/* Grows the hash table and refills it. */
void graph_grow_table(struct egraph *g);
/* Adds a node; kids may be any ids of the classes. Both functions return a *node*; graph_find maps
 * it to its class. With proofs, the arguments of the node are in the same classes as `kids` at this
 * moment. */
uint32_t graph_add(struct egraph *g, uint32_t op, const uint32_t *kids);
/* As graph_add, with separate arguments; b is ignored for a unary operator. */
uint32_t graph_add_small(struct egraph *g, uint32_t op, uint32_t arity, uint32_t a, uint32_t b);
uint32_t graph_add_leaf(struct egraph *g, uint32_t leaf);
/* As graph_add_small, but puts a new node into the class of node `to`. The caller records the
 * reason, if proofs are kept, and calls graph_settle. */
uint32_t graph_add_into(bool *placed, struct egraph *g, uint32_t op, uint32_t arity, uint32_t a,
                        uint32_t b, uint32_t to);
void graph_settle(struct egraph *g, uint32_t n);
void graph_add_parent(struct egraph *g, uint32_t class, uint32_t slot);
/* Returns the fact that follows from a node and the facts of its arguments' classes. */
uint32_t graph_node_fact(struct egraph *g, uint32_t n);
/* Merges the fact of node n into that of its class. */
void graph_update_fact(struct egraph *g, uint32_t n);
/* Returns the node of op over these classes, or NO_NODE. */
uint32_t graph_lookup(struct egraph *g, uint32_t op, const uint32_t *kids);
uint32_t graph_leaf(struct egraph *g, uint16_t op, const char *text); /* interns the leaf */
/* Joins the classes of nodes a and b, which are equal for this reason. */
bool graph_union(struct egraph *g, uint32_t a, uint32_t b, struct reason why);
/* Finds the nodes of a term, by position in x. Adds nothing; returns false if one is missing. */
bool graph_lookup_term(uint32_t *nodes, struct egraph *g, const struct expr *x);
/* Restores congruence within an iteration; leaves facts of parents, stamps and unlinking of dead
 * nodes to egraph_rebuild. */
void graph_restore_congruence(struct egraph *g);
/* Begins the next epoch for later changes. Epochs are few: when they run out, this halves all
 * stamps and the current epoch, rounded up, and returns true; callers that hold an epoch must then
 * halve it, rounded down. */
bool graph_begin_epoch(struct egraph *g);
static inline const struct fact *graph_fact(const struct egraph *g, uint32_t class)
{
    return &g->facts.items[graph_eclass(g, class)->fact];
}

/* ---- memory of the arrays: large ones are separate mappings, which grow and shrink by pages
 * without a copy and are returned to the system at once ---- */

/* Resizes an array from `old` bytes (0: array is NULL) to `size`. New bytes are zero only in fresh
 * pages. */
void *egraph_memory_resize(void *array, size_t old, size_t size);
/* Makes room for `need` elements, like vec_grow. */
void *egraph_memory_grow(void *array, size_t *cap, size_t need, size_t element_size);
void egraph_memory_free(void *array, size_t size);

static inline void u32_free(struct u32_list *l)
{
    egraph_memory_free(l->items, l->cap * sizeof *l->items);
    *l = (struct u32_list){0};
}

/* Empties the list, and frees its memory if it is large. */
static inline void u32_release(struct u32_list *l)
{
    enum { MUCH = 1 << 14 };
    l->n = 0;
    if (l->cap > MUCH)
        u32_free(l);
}

static inline void u32_push(struct u32_list *l, uint32_t v)
{
    if (l->n == l->cap)
        l->items = egraph_memory_grow(l->items, &l->cap, l->n + 1, sizeof *l->items);
    l->items[l->n++] = v;
}

/* Marks the class as changed in this epoch. */
static inline void graph_mark_changed(struct egraph *g, uint32_t class)
{
    uint8_t *stamp = graph_eclass(g, class)->stamp;
    if (stamp[0] == g->epoch && g->epoch)
        return;
    stamp[0] = g->epoch;
    u32_push(&g->changed, class);
}

/* Notes that the facts of the class's parents may change. */
static inline void graph_mark_stale(struct egraph *g, uint32_t class)
{
    if (graph_eclass(g, class)->mask & MASK_STALE)
        return;
    graph_eclass(g, class)->mask |= MASK_STALE;
    u32_push(&g->stale, class);
}

/* Records that nodes a and b of one class have contradicting facts. Only the first conflict is
 * kept. */
static inline void graph_note_conflict(struct egraph *g, uint32_t a, uint32_t b, uint32_t fact_a,
                                       uint32_t fact_b)
{
    if (g->conflict)
        return;
    g->conflict = true;
    g->conflict_a = a;
    g->conflict_b = b;
    g->conflict_fact_a = fact_a;
    g->conflict_fact_b = fact_b;
}

/* ---- compaction: removes the cells of dead nodes. Live nodes keep their order and get new ids
 * ---- */

/* The map from old ids to new ones. */
struct compaction {
    uint32_t *to; /* by old cell, and one past the end: how many earlier cells were kept */
    size_t n;
};

/* Returns whether enough nodes died since the last compaction. */
bool graph_wants_compaction(const struct egraph *g);
/* Call this right after a rebuild. Ids below `pinned` do not change. With proofs, which refer to
 * dead nodes, no cell moves, but circular lists and entries are ordered as if they had: a
 * saturation is the same with and without proofs. */
void graph_compact(struct compaction *out, struct egraph *g, uint32_t pinned);
void compaction_free(struct compaction *c);

/* Returns how many cells before `n` were kept: the new id of `n`, if it was kept. */
static inline uint32_t compaction_map(const struct compaction *c, uint32_t n)
{
    return c->to[n];
}
