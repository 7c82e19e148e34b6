/* E-matching: runs the automaton of a rule set at one node of an e-graph after another. The matches
 * at a node come in rule-set order, those of one rule in the order of the bound nodes, as records:
 *
 *     root node | class of each variable | with proofs: the node of each further bind
 *
 * (for a bare variable the root is the class, for a constant its node). Only new matches are found:
 * those that did not exist at the last search for the rule, because a node that they bind was
 * missing, two classes were different, or a fact was missing. Which matches are new does not depend
 * on the other rules, with one exception: unions since the last rebuild are visible at once where
 * some rule has a reason to search, and the rule that looks deepest decides how far up this holds
 * (ruleset.reach).
 *
 * The graph may grow between searches. Nodes from `until` on are ignored. In a graph with unions
 * since the last rebuild, a match may be found more than once. It may also be missed, if these
 * unions make two of its arguments congruent; then the next search finds it as new. */
#pragma once

#include "ops/egraph/match/ruleset.h"

/* A point in time of a run: later nodes and changes are new. Zeroed: everything is new. */
struct moment {
    uint32_t cells; /* nodes from here on are new */
    uint32_t epoch; /* stamps from here on are new */
};

/* The search state of one rule. A rule that was stopped within an iteration has searched the nodes
 * before its cursor more recently than the others. */
struct ematch_rule {
    struct moment since[2]; /* for nodes before `cursor`, and from `cursor` on */
    uint32_t cursor;
    bool banned;
    bool exceeded; /* had more matches than its limit in this iteration */
};

struct ematch_match {
    uint32_t rule, record; /* record: index into `records` */
};

struct ematch {
    struct egraph *g;
    const struct ruleset *set;
    const struct state *states; /* states of the automaton of `set` */
    const uint32_t *leaf;       /* leaves of the graph, by leaf of the rule set */
    /* Until the first ban all rules are active and search for what is new since `since`; after that
     * `uniform` is false and `rules` holds the state of each. The caller owns both and may change
     * them between searches. */
    bool uniform;
    struct moment since;
    struct ematch_rule *rules;
    uint64_t *left;    /* by rule: how many more matches it may find */
    uint64_t *matched; /* by rule: incremented for each match */
    uint32_t until;
    struct ematch_match *matches; /* matches at the node searched last */
    size_t n_matches, cap_matches;
    struct ematch_match *sorted; /* scratch for sorting, like the next two (by rule) */
    size_t cap_sorted;
    uint32_t *count;
    uint64_t *counted; /* a bit for each rule */
    struct u32_list records;

    uint32_t *leaf_node; /* by leaf of the rule set; NO_NODE: not in the graph yet */
    struct activity { /* by state, unless `uniform`: the oldest moment of its rules; the maximum if
                         none is active */
        uint32_t cells, epoch;
    } * active;
    uint32_t node;              /* the node being searched */
    uint8_t age[2][STAMPS + 1]; /* stamps below its first argument, and below its others */
    uint64_t fresh;             /* if `uniform`: the depths at which something is new, as bits */
    uint32_t n_bound;
    uint32_t bound[PATTERN_MAX_REGISTERS]; /* nodes bound below the root */
    uint32_t reg[PATTERN_MAX_REGISTERS];
    /* What searching costs each rule; NULL: not counted. A search looks for all rules with a common
     * prefix at once, so its cost is divided among them: a step is a state of the automaton that is
     * entered, or a candidate node that is tried there, and the active rules below the state share
     * it equally. So a rule that shares most of its path with others costs little. Unlike times,
     * steps are a function of the run's input. */
    struct rule_profile *profile; /* owned by the caller; ematch_settle adds to it */
    uint64_t *steps;    /* by state, since the last ematch_settle; NULL without a profile */
    uint32_t *n_active; /* by state: active rules below it */
    double *share;      /* by state: steps of each rule below it */
};

/* At first all rules are active and may find no matches (`left` is 0). */
void ematch_init(struct ematch *m, struct egraph *g, const struct ruleset *set,
                 const uint32_t *leaf, struct ematch_rule *rules, uint64_t *matched);
void ematch_free(struct ematch *m);
/* Counts from here on what each rule costs, if `profile` is not NULL. */
void ematch_profile(struct ematch *m, struct rule_profile *profile);
/* Distributes the counts among the active rules. Call it at the end of an iteration; a ban calls
 * it, too. */
void ematch_settle(struct ematch *m);
/* Call this after `rules` and `left` changed and the graph was rebuilt, before nodes below `until`
 * are searched. */
void ematch_begin(struct ematch *m, uint32_t until);
/* For ematch_search.c. ematch_ban stops the search for the rule in this iteration; it continues at
 * this node later. ematch_sort sorts matches by rule, and keeps the order within a rule. */
void ematch_ban(struct ematch *m, uint32_t rule);
void ematch_sort(struct ematch *m);
/* Finds the new matches at a node. */
void ematch_search(struct ematch *m, uint32_t node);

/* Returns the class of a leaf of the rule set, or NO_NODE. */
static inline uint32_t ematch_leaf(const struct ematch *m, uint32_t leaf)
{
    uint32_t n = m->leaf_node[leaf];
    return n == NO_NODE ? NO_NODE : graph_find(m->g, n);
}

/* Returns the class of an argument that is already bound, or NO_NODE. */
static inline uint32_t ematch_bound(const struct ematch *m, uint32_t bound)
{
    return bound & BOUND_LEAF ? ematch_leaf(m, bound & ~BOUND_LEAF) : m->reg[bound];
}

/* Returns whether a rule that may begin at nodes of this kind is active. */
static inline bool ematch_wants(const struct ematch *m, unsigned kind)
{
    const struct automaton *a = &m->set->automaton;
    if (m->uniform || kind >= MASK_OTHERS || MASK_LEAVES >> kind & 1)
        return true;
    if (a->any != NO_STATE && m->active[a->any].cells != UINT32_MAX)
        return true;
    return kind < a->n_ops && a->root[kind] != NO_STATE &&
           m->active[a->root[kind]].cells != UINT32_MAX;
}

/* The number of further binds in a record; below, the length of a whole record. */
static inline uint32_t ematch_record_binds(const struct egraph *g, uint32_t n_binds)
{
    return g->proofs && n_binds ? n_binds - 1 : 0;
}

static inline size_t ematch_record(const struct egraph *g, const struct pattern *p)
{
    return 1u + p->n_vars + ematch_record_binds(g, p->n_binds);
}
