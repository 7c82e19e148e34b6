/* Pruning: a search that would bind many nodes in vain enters a state of the automaton only if the
 * classes in its registers hold the shapes (shapes.h) that some rule below the state needs; of a
 * class's nodes, the state gets only those whose arguments do. The shapes of all classes are
 * computed at once and kept up to date while classes are joined. They are a superset of what a
 * search can find in the class, so pruning changes how long a search takes, never what it finds. */
#ifndef OPS_EGRAPH_LARGE_PRUNE_H
#define OPS_EGRAPH_LARGE_PRUNE_H

#include "ops/egraph/graph/node_index.h"
#include "ops/egraph/large/shapes.h"
#include "ops/egraph/match/ematch.h"

/* The class in this register holds one of these shapes, or no rule of the state matches. */
struct prune_test {
    uint16_t reg, n;
    uint32_t shapes; /* the first, an index into `wanted` */
};

/* A state: its tests, and the pairs of shapes of which the arguments of a node that it binds must
 * fit one. */
struct prune_state {
    uint32_t semijoin; /* the only state after it, if semijoin_applies, or NO_STATE */
    uint32_t tests, pairs;
    uint16_t n_tests, n_pairs;
};

/* The nodes of a class for one state. */
struct prune_list {
    uint32_t state, begin, end; /* indices into `nodes` */
    uint32_t next;              /* of the same class, or NO_NODE */
};

struct pruner {
    struct egraph *g;
    struct shapes shapes;
    uint16_t *held; /* by class: its set of shapes */
    uint32_t until; /* classes and searched nodes are below this */
    struct prune_state *states;
    struct prune_test *tests;
    size_t n_tests, tests_cap;
    uint16_t *wanted; /* the shapes of tests and the pairs of states */
    size_t n_wanted, wanted_cap;
    struct u32_list outdated; /* nodes whose arguments have gained shapes */
    struct u32_list nodes;
    struct prune_list *lists;
    size_t n_lists, lists_cap;
    struct map64 classes; /* the first list of a class, or NO_NODE */
};

/* For the active rules, in a graph whose congruence is restored. The node index owns it and reports
 * unions to it. */
struct pruner *pruner_new(const struct ematch *m);
/* A search begins: takes in the unions since the last one. */
void pruner_begin(struct pruner *a);
/* The nodes of class c for this state, valid until the search ends. False: the state needs no
 * shapes, or the class has no index. */
bool pruner_list_of(struct node_range *out, struct pruner *a, uint32_t state, const struct state *s,
                    uint32_t c);

static inline bool pruner_fits(const struct pruner *a, const struct prune_test *t, uint32_t class)
{
    uint16_t set = a->held[class];
    for (uint32_t i = t->shapes; i < t->shapes + t->n; i++)
        if (shapes_have(&a->shapes, set, a->wanted[i]))
            return true;
    return false;
}

/* May some rule below this state match, with these classes in the registers? */
static inline bool pruner_allows(const struct pruner *a, uint32_t state, const uint32_t *reg)
{
    const struct prune_state *k = &a->states[state];
    if (!k->n_tests)
        return true;
    const struct prune_test *t = a->tests + k->tests;
    for (const struct prune_test *end = t + k->n_tests; t < end; t++)
        if (!pruner_fits(a, t, reg[t->reg]))
            return false;
    return true;
}

#endif
