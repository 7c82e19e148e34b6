/* The insides of an e-graph, for the files of this folder.
 *
 * Everything is an array indexed by cell. A node takes one cell for each two arguments, at least
 * one; its id is its first cell, the others are marked OP_CONT. A class is named by one of its
 * nodes, so that union-find, classes and nodes share their ids. An argument's place is a *slot*:
 * slot 2 * cell + i, so that the arguments of node n are kid[2n ..].
 *
 *     op      what the node applies: an operator number, or OP_LEAF | leaf; with OP_DEAD once a
 *             congruent twin stands for it
 *     kid     classes, by slot; canonical after a rebuild
 *     next    a circle through the nodes of a class (a dead node may stay where it names the class)
 *     parents by class: the last slot of a circle (through `link`) of slots that hold the class
 *     fact    by class: see fact.h
 *     mask    by class: which operators stand in it, to refuse a pattern at a glance; and
 * MASK_DOUBTFUL stamp   by class: the last epoch in which something changed at most 0, 1, 2, 3
 * steps below
 *
 * Unions leave congruence broken; `pending` and `doubtful` list what egraph_rebuild has to mend. */
#ifndef OPS_EGRAPH_GRAPH_H
#define OPS_EGRAPH_GRAPH_H

#include "base/buf.h"
#include "ops/egraph/egraph.h"
#include "ops/egraph/fact.h"
#include "ops/egraph/hashcons.h"
#include "ops/egraph/pattern.h"
#include "ops/egraph/proof.h"

#define NO_NODE UINT32_MAX
enum { STAMPS = 4, MASK_NUMBER = X_NUM, MASK_VARIABLE = X_SYM };
#define MASK_DOUBTFUL (1ull << 63) /* the class waits in `doubtful` */
#define OP_DEAD 0x80000000u
#define OP_LEAF 0x40000000u
#define OP_CONT 0x3fffffffu

struct joins; /* join.h */

struct u32_list {
    uint32_t *items;
    size_t n, cap;
};

struct leaf {
    char *text;
    uint16_t op;      /* X_NUM, X_SYM or X_VAR */
    uint8_t bit;      /* of a variable, in fact.vars */
    bool is_variable; /* a symbol other than pi and e */
    uint32_t node;    /* NO_NODE until it is added */
    uint32_t fact;
};

struct egraph {
    const struct language *lang;
    bool interpreted; /* the operators are those of lang_calculus */
    uint32_t n_cells, cap, n_nodes, n_classes;
    uint32_t *op, *kid, *uf, *next, *parents, *n_parents, *link, *fact;
    uint64_t *mask;
    uint16_t *stamp; /* STAMPS per cell */

    struct hashcons cons;
    struct facts facts;
    struct leaf *leaves;
    size_t n_leaves, leaves_cap;
    struct name_map leaf_index;
    unsigned n_variables;

    uint64_t ops;             /* masks of the operators that nodes apply */
    struct u32_list *by_op;   /* nodes by operator, ids ascending; swept of dead ones at times */
    struct u32_list pending;  /* nodes whose arguments lost their class: to be hashed again */
    struct u32_list doubtful; /* classes whose fact changed: their parents' facts may, too */
    struct u32_list changed;  /* classes that merged or learnt something since the last rebuild */
    struct u32_list died;     /* nodes that did, and still stand in their class's circle */
    struct u32_list wave[2];  /* scratch of stamping */
    uint16_t epoch;
    unsigned stamp_levels; /* how far up changes are stamped: what the rules in use look at */
    uint32_t dead_indexed; /* dead nodes in by_op */

    struct joins *joins; /* scratch of searching */

    /* While a search goes on over the nodes below this: a class that has such a node is named by
     * one, so that for the search nothing changes when classes without them join it. */
    uint32_t frozen;

    uint32_t node_limit; /* constants get no leaves beyond it */
    bool folding_stopped;
    struct proofs *proofs; /* NULL unless kept */

    /* The first contradiction found. */
    enum fact_conflict conflict;
    uint32_t conflict_a, conflict_b; /* nodes: what the two sides were */
    uint32_t conflict_fact_a, conflict_fact_b;
};

static inline uint32_t graph_find(struct egraph *g, uint32_t c)
{
    uint32_t *uf = g->uf;
    while (uf[c] != c) {
        uf[c] = uf[uf[c]];
        c = uf[c];
    }
    return c;
}

static inline uint32_t graph_arity(const struct egraph *g, uint32_t op)
{
    return op & OP_LEAF ? 0 : g->lang->ops[op & ~OP_DEAD].arity;
}

static inline bool graph_is_live(const struct egraph *g, uint32_t n)
{
    return !(g->op[n] & OP_DEAD) && g->op[n] != OP_CONT;
}

static inline uint32_t graph_op(const struct egraph *g, uint32_t n)
{
    return g->op[n] & ~OP_DEAD;
}

static inline uint32_t graph_slot_owner(const struct egraph *g, uint32_t slot)
{
    uint32_t n = slot >> 1;
    while (g->op[n] == OP_CONT)
        n--;
    return n;
}

/* Adding; kids may be any ids of the classes. Both give a *node*, whose class is graph_find of it.
 * With proofs, the node's arguments were in the same classes as `kids` at this moment. */
uint32_t graph_add(struct egraph *g, uint32_t op, const uint32_t *kids);
uint32_t graph_add_leaf(struct egraph *g, uint32_t leaf);
/* The node of op over these classes, or NO_NODE. */
uint32_t graph_lookup(struct egraph *g, uint32_t op, const uint32_t *kids);
uint32_t graph_leaf(struct egraph *g, uint16_t op, const char *text); /* interns */
/* Nodes a and b are equal for this reason. */
bool graph_union(struct egraph *g, uint32_t a, uint32_t b, struct reason why);
/* Nodes of a term, by position in x. Adds; or gives false, where it adds nothing. */
void graph_add_term(uint32_t *nodes, struct egraph *g, const struct expr *x);
bool graph_lookup_term(uint32_t *nodes, struct egraph *g, const struct expr *x);
void graph_begin_epoch(struct egraph *g);
static inline const struct fact *graph_fact(const struct egraph *g, uint32_t class)
{
    return &g->facts.items[g->fact[class]];
}

static inline void u32_push(struct u32_list *l, uint32_t v)
{
    if (l->n == l->cap)
        l->items = vec_grow(l->items, &l->cap, l->n + 1, sizeof *l->items);
    l->items[l->n++] = v;
}

#endif
