/* The matching machine: runs the automaton of a rule set at one node of an e-graph after another.
 * The matches at a node come in rule-set order, those of one rule in the order of the nodes bound,
 * as records:
 *
 *     root node | class of each variable | with proofs: the node of each further bind
 *
 * (for a bare variable the root is the class, for a constant its node). Only new matches are found:
 * those that could not have been found when the rule was last searched for, because a node that
 * they bind was not there, or two classes were not one, or a fact was not known. Which these are
 * does not depend on the other rules; but unions since the last rebuild are seen at once where some
 * rule has a reason to look, and how far up such reasons go, the farthest look decides
 * (ruleset.reach).
 *
 * The graph may grow between visits. Nodes from `until` on are not looked at, and in a graph with
 * unions that were not rebuilt yet, matches are found once or more, or not at all if it is these
 * unions that make two arguments congruent: then the next search counts them as new. */
#ifndef OPS_EGRAPH_MATCH_EMATCH_H
#define OPS_EGRAPH_MATCH_EMATCH_H

#include "ops/egraph/match/ruleset.h"

/* A moment of a run: what came later is new. Zeroed: everything is. */
struct moment {
    uint32_t cells; /* nodes from here on */
    uint32_t epoch; /* stamps from here on */
};

/* What is to be found of one rule. A rule that stopped in the middle of an iteration is at a later
 * moment before the node at which it stopped. */
struct ematch_rule {
    struct moment since[2]; /* of nodes before `cursor`, and from it on */
    uint32_t cursor;
    bool banned;
    bool exceeded; /* its limit in this iteration */
};

struct ematch_match {
    uint32_t rule, record; /* index into `records` */
};

struct ematch {
    struct egraph *g;
    const struct ruleset *set;
    const struct state *states; /* of the automaton of the set */
    const uint32_t *leaf;       /* of the graph, by leaf of the rule set */
    /* As long as no rule has stopped, all are awake and look for what is new since one moment;
     * once one has, it is false, and `rules` says what is to be found of each. Both are of the
     * caller, who may change them between searches. */
    bool alike;
    struct moment since;
    struct ematch_rule *rules;
    uint64_t *left;    /* by rule: matches that may still be found */
    uint64_t *matched; /* by rule: counted up */
    uint32_t until;
    struct pruner *pruner;        /* what helps to look ahead, or NULL */
    uint64_t looked;              /* nodes that were to be bound, since the last ematch_begin */
    struct ematch_match *matches; /* of the node visited last */
    size_t n_matches, cap_matches;
    struct ematch_match *sorted; /* scratch of sorting, as are the next two, by rule */
    size_t cap_sorted;
    uint32_t *count;
    uint64_t *counted; /* a bit each */
    struct u32_list records;

    uint32_t *leaf_node; /* by leaf of the rule set, NO_NODE if it is not there yet */
    struct activity {    /* by state, unless all rules are alike: the oldest moment of its rules;
                          * never: none is awake */
        uint32_t cells, epoch;
    } * active;
    uint32_t node;              /* that is visited */
    uint8_t age[2][STAMPS + 1]; /* stamps below its first argument, and below the others */
    uint64_t fresh;             /* where all rules are alike: looks that see something new */
    uint32_t n_bound;
    uint32_t bound[PATTERN_MAX_REGISTERS]; /* below the root, which is the node visited */
    uint32_t reg[PATTERN_MAX_REGISTERS];
    /* For a profile, else NULL: by state, how often it was entered or a node was tried there; and
     * what is called before the rules that are searched for change. */
    uint64_t *steps;
    void (*settle)(void *arg);
    void *settle_arg;
};

/* All rules are alike, and nothing is left of any. */
void ematch_init(struct ematch *m, struct egraph *g, const struct ruleset *set,
                 const uint32_t *leaf, struct ematch_rule *rules, uint64_t *matched);
void ematch_free(struct ematch *m);
/* To be called after `rules` and `left` changed and the graph was rebuilt, before visits: of the
 * nodes before `until`. */
void ematch_begin(struct ematch *m, uint32_t until);
/* For ematch_search.c: the rule is not searched for any more in this iteration, and goes on at this
 * node later; the matches by rule, those of a rule in the order in which they were found. */
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

/* The class that an argument is known to be, or NO_NODE. */
static inline uint32_t ematch_bound(const struct ematch *m, uint32_t known)
{
    return known & AUTOMATON_LEAF ? ematch_leaf(m, known & ~AUTOMATON_LEAF) : m->reg[known];
}

/* Some rule that may begin at nodes of this kind has not stopped. */
static inline bool ematch_wants(const struct ematch *m, unsigned kind)
{
    const struct automaton *a = &m->set->automaton;
    if (m->alike || kind >= MASK_OTHERS || MASK_LEAVES >> kind & 1)
        return true;
    if (a->any != NO_STATE && m->active[a->any].cells != UINT32_MAX)
        return true;
    return kind < a->n_ops && a->root[kind] != NO_STATE &&
           m->active[a->root[kind]].cells != UINT32_MAX;
}

/* Of a record: the nodes of further binds; the whole. */
static inline uint32_t ematch_record_binds(const struct egraph *g, uint32_t n_binds)
{
    return g->proofs && n_binds ? n_binds - 1 : 0;
}

static inline size_t ematch_record(const struct egraph *g, const struct pattern *p)
{
    return 1u + p->n_vars + ematch_record_binds(g, p->n_binds);
}

#endif
