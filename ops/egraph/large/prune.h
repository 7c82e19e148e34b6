/* Looking ahead: which shapes stand in which class, for searches that would bind many nodes in
 * vain. A state of the automaton is entered only if the classes in its registers hold the shapes
 * that some rule below it asks for; and of a class's nodes it is given those only whose arguments
 * do. What stands in classes is found out for the whole graph at once, and kept while classes join
 * one another: a class never holds less than what a search could find there at this moment, so that
 * looking ahead changes how long a search takes, never what it finds. */
#ifndef OPS_EGRAPH_LARGE_PRUNE_H
#define OPS_EGRAPH_LARGE_PRUNE_H

#include "ops/egraph/graph/node_index.h"
#include "ops/egraph/large/shapes.h"
#include "ops/egraph/match/ematch.h"

/* The class in a register holds one of these shapes, or no rule of the state matches. */
struct prune_test {
    uint16_t reg, n;
    uint32_t shapes; /* the first, in struct ahead */
};

/* Of a state: its tests; and what the arguments of a node that it binds hold, in pairs of shapes of
 * which one has to fit, if it asks for anything. */
struct prune_state {
    uint32_t semijoin; /* the one state after it, if a semijoin with it applies, or NO_STATE */
    uint32_t tests, pairs;
    uint16_t n_tests, n_pairs;
};

/* The nodes of a class that a state is given. */
struct prune_list {
    uint32_t state, begin, end; /* of `nodes` */
    uint32_t next;              /* of the same class, or NO_NODE */
};

struct prune_class {
    uint32_t class, first; /* of its lists */
};

struct pruner {
    struct egraph *g;
    struct shapes shapes;
    uint16_t *held; /* by class: a set of shapes */
    uint32_t until; /* classes are below this, as are nodes that are looked at */
    struct prune_state *states;
    struct prune_test *tests;
    size_t n_tests, tests_cap;
    uint16_t *wanted; /* of tests and of states, one after another */
    size_t n_wanted, wanted_cap;
    struct u32_list asked; /* nodes whose arguments hold more than before */
    struct u32_list nodes;
    struct prune_list *lists;
    size_t n_lists, lists_cap;
    struct prune_class *classes; /* a hash table */
    size_t n_classes, classes_cap;
};

/* For the active rules, in a graph whose congruence is restored. The node index owns it, and tells
 * it of unions. */
struct pruner *pruner_new(const struct ematch *m);
/* A search begins: what joined is seen to. */
void pruner_begin(struct pruner *a);
/* The nodes of class c for this state, which are read until the search ends. False: it asks for
 * nothing, or there is no index of the class. */
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
