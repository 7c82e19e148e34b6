/* E-matching: runs the automaton of a rule set at one node of an e-graph after another. The matches
 * at a node come in rule-set order, those of one rule in the order of the nodes bound, as records:
 *
 *     root node | class of each variable | with proofs: the node of each further bind
 *
 * (for a bare variable the root is the class, for a constant its node). Only new matches are found:
 * those that did not exist when the rule was last searched for, because a node that they bind was
 * missing, two classes were different, or a fact was missing. This does not depend on the other
 * rules, with one exception: unions since the last rebuild are seen at once where some rule has a
 * reason to search, and the rule that looks deepest decides how far up that holds (ruleset.reach).
 *
 * The graph may grow between searches. Nodes from `until` on are ignored. In a graph with unions
 * that were not rebuilt, a match may be found more than once; or not at all, if these unions make
 * two of its arguments congruent, and then the next search finds it as new. */
#pragma once

#include "ops/egraph/match/ruleset.h"

/* A moment of a run: later nodes and changes are new. Zeroed: everything is new. */
struct moment {
    uint32_t cells; /* nodes from here on are new */
    uint32_t epoch; /* stamps from here on are new */
};

/* The search state of one rule. A rule that was stopped within an iteration has seen the nodes
 * before its cursor at a later moment. */
struct ematch_rule {
    struct moment since[2]; /* for nodes before `cursor`, and from it on */
    uint32_t cursor;
    bool banned;
    bool exceeded; /* found more than its limit in this iteration */
};

struct ematch_match {
    uint32_t rule, record; /* index into `records` */
};

struct ematch {
    struct egraph *g;
    const struct ruleset *set;
    const struct state *states; /* of the automaton of the set */
    const uint32_t *leaf;       /* of the graph, by leaf of the rule set */
    /* Until the first ban all rules are active and search for what is new since `since`; after that
     * `uniform` is false and `rules` holds the state of each. The caller owns both and may change
     * them between searches. */
    bool uniform;
    struct moment since;
    struct ematch_rule *rules;
    uint64_t *left;    /* by rule: matches that may still be found */
    uint64_t *matched; /* by rule: counted up */
    uint32_t until;
    struct ematch_match *matches; /* of the node searched last */
    size_t n_matches, cap_matches;
    struct ematch_match *sorted; /* scratch of sorting, as are the next two (by rule) */
    size_t cap_sorted;
    uint32_t *count;
    uint64_t *counted; /* a bit for each rule */
    struct u32_list records;

    uint32_t *leaf_node; /* by leaf of the rule set; NO_NODE: not in the graph yet */
    struct activity {    /* by state, unless `uniform`: the oldest moment of its rules; the maximum:
                            none is active */
        uint32_t cells, epoch;
    } * active;
    uint32_t node;              /* the one being searched */
    uint8_t age[2][STAMPS + 1]; /* stamps below its first argument, and below its others */
    uint64_t fresh;             /* if `uniform`: the depths at which something is new, as bits */
    uint32_t n_bound;
    uint32_t bound[PATTERN_MAX_REGISTERS]; /* below the root */
    uint32_t reg[PATTERN_MAX_REGISTERS];
    /* What searching costs each rule, unless it is NULL. A search looks for all rules with a common
     * beginning at once, so its cost is divided among them: a step is a state of the automaton that
     * is entered, or a candidate node that is tried there, and is shared equally by the active
     * rules below the state. So a rule that shares most of its path with others costs little.
     * Steps, unlike times, are a function of the run's input. */
    struct rule_profile *profile; /* of the caller, counted up by ematch_settle */
    uint64_t *steps;              /* by state, since the last settling; NULL without a profile */
    uint32_t *n_active;           /* by state: active rules below it */
    double *share;                /* by state: steps of each rule below it */
};

/* All rules are active, with no matches left. */
void ematch_init(struct ematch *m, struct egraph *g, const struct ruleset *set,
                 const uint32_t *leaf, struct ematch_rule *rules, uint64_t *matched);
void ematch_free(struct ematch *m);
/* From here on it counts what each rule costs, if `profile` is not NULL. */
void ematch_profile(struct ematch *m, struct rule_profile *profile);
/* Distributes the counts among the active rules: at the end of an iteration (a ban does it, too).
 */
void ematch_settle(struct ematch *m);
/* To be called when `rules` and `left` have changed and the graph was rebuilt, before nodes below
 * `until` are searched. */
void ematch_begin(struct ematch *m, uint32_t until);
/* For ematch_search.c. Ban: the rule is not searched for any more in this iteration, and continues
 * at this node later. Sort: matches by rule, those of a rule in the order found. */
void ematch_ban(struct ematch *m, uint32_t rule);
void ematch_sort(struct ematch *m);
/* Finds the new matches at a node. */
void ematch_search(struct ematch *m, uint32_t node);

/* The class of a leaf of the rule set, or NO_NODE. */
static inline uint32_t ematch_leaf(const struct ematch *m, uint32_t leaf)
{
    uint32_t n = m->leaf_node[leaf];
    return n == NO_NODE ? NO_NODE : graph_find(m->g, n);
}

/* The class of an argument that is bound already, or NO_NODE. */
static inline uint32_t ematch_bound(const struct ematch *m, uint32_t bound)
{
    return bound & BOUND_LEAF ? ematch_leaf(m, bound & ~BOUND_LEAF) : m->reg[bound];
}

/* Some rule that may begin at nodes of this kind is active. */
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

/* The length of a record: of its further binds; in all. */
static inline uint32_t ematch_record_binds(const struct egraph *g, uint32_t n_binds)
{
    return g->proofs && n_binds ? n_binds - 1 : 0;
}

static inline size_t ematch_record(const struct egraph *g, const struct pattern *p)
{
    return 1u + p->n_vars + ematch_record_binds(g, p->n_binds);
}
