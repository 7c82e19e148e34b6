/* Indexes for searching: the nodes of a class by operator, and those of one operator by one
 * argument. They avoid walking large classes for a few nodes, and make joining two lists of nodes
 * linear. Candidates come in the order of the class's circular list, so an index changes how long a
 * search takes, never what it finds. */
#pragma once

#include "base/map.h"
#include "ops/egraph/graph/egraph_core.h"

enum {
    NODE_INDEX_ANY = 255,
    NODE_INDEX_SLOTS = 1024,
    NODE_INDEX_LARGE = 16,
    NODE_INDEX_SMALL = 8, /* this few nodes are read as fast as an index */
};

struct node_index_key {
    uint32_t class, op;
    uint32_t argument; /* the argument's index, or NODE_INDEX_ANY: all nodes of the operator */
};

struct node_range {
    uint32_t begin, end; /* arguments of node_index_node */
};

/* The index of one class: the mask of its operators. The pool holds, for each operator by bit, the
 * place where its nodes begin, and then the nodes. */
struct class_index {
    uint32_t class,
        age; /* age: the entry of a small class is outdated unless this is node_index.age */
    uint64_t mask;
    uint32_t begin;
    bool built;
};

/* The index of one key: the pool holds where the buckets begin, then the nodes. It covers the group
 * that begins at `group`, with its arguments after this many unions. */
struct argument_index {
    uint32_t group;
    uint64_t unions;
    uint32_t asked; /* how often it was used for classes that joined others since */
    bool built;
    uint32_t begin, buckets;
};

struct node_index {
    uint32_t age;                 /* entries of another age are outdated; never 0 */
    size_t limit;                 /* maximum size of the pool; 0: nothing is indexed */
    struct u32_list pool, listed; /* `listed` is scratch */
    /* Small classes are in a direct-mapped cache; classes of more than NODE_INDEX_LARGE nodes, and
     * tables, are in arrays with maps from class and key to the place. */
    struct class_index groups[NODE_INDEX_SLOTS];
    struct map64 large_of, table_of;
    struct class_index *large;
    size_t n_large, large_cap;
    struct argument_index *tables;
    size_t n_tables, tables_cap;
    uint64_t unions;
};

struct node_index *node_index_new(void);
void node_index_free(struct node_index *j);
/* Call this when the graph is rebuilt. */
void node_index_forget(struct node_index *j);
/* Call this when no search follows soon: frees large memory. */
void node_index_release(struct node_index *j);
/* Call this when a search begins. */
void node_index_begin(struct egraph *g);
/* Call this when two classes with frozen nodes are merged. */
void node_index_note_union(struct node_index *j, uint32_t a, uint32_t b);

static inline uint32_t node_index_slot(uint32_t class)
{
    return class * 0x9e3779b1u >> 22;
}

/* Returns the index of a small class, or NULL if it is not built. */
static inline const struct class_index *node_index_cached(const struct node_index *j,
                                                          uint32_t class)
{
    const struct class_index *s = &j->groups[node_index_slot(class)];
    return s->class == class && s->age == j->age && s->built ? s : NULL;
}

/* Returns the operators of the nodes to search in a class. Without an index this is the class's
 * mask, which may include newer nodes. */
static inline uint64_t node_index_mask(const struct egraph *g, uint32_t class)
{
    const struct class_index *s = node_index_cached(g->node_index, class);
    uint64_t mask = graph_eclass(g, class)->mask;
    return s ? mask & s->mask : mask;
}

/* Counts bits without the library call that compilers make for baseline x86-64. */
static inline uint32_t count_bits(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    return (uint32_t)(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
}

/* Returns the nodes of an operator in a class with a built index. */
static inline struct node_range node_index_range(const struct node_index *j,
                                                 const struct class_index *s, uint32_t op)
{
    uint64_t bit = pattern_op_mask(op);
    if (!(s->mask & bit))
        return (struct node_range){0, 0};
    const uint32_t *p = j->pool.items + s->begin + count_bits(s->mask & (bit - 1));
    return (struct node_range){p[0], p[1]};
}

bool node_index_find_far(struct node_range *out, struct egraph *g, const struct node_index_key *key,
                         uint32_t value, bool large);
/* Finds candidates, a superset of the nodes whose argument is of class `value`. Returns false if
 * the caller must walk the class. A class that is not `large` is indexed at its second search. */
static inline bool node_index_find(struct node_range *out, struct egraph *g,
                                   const struct node_index_key *key, uint32_t value, bool large)
{
    const struct class_index *s = node_index_cached(g->node_index, key->class);
    if (s) {
        *out = node_index_range(g->node_index, s, key->op);
        if (key->argument == NODE_INDEX_ANY || out->end - out->begin <= NODE_INDEX_SMALL)
            return true;
    }
    return node_index_find_far(out, g, key, value, large);
}

/* Ranges are valid until the search ends. */
static inline uint32_t node_index_node(const struct node_index *j, uint32_t i)
{
    return j->pool.items[i];
}
