/* What a profile counts of searching: a search looks for all rules that begin alike at once, so
 * what it costs is divided among them. At each state of the automaton a search counts the steps
 * that it makes there (a state or a candidate node looked at); a step's share goes to each rule
 * below its state that is awake, in equal parts, and the time of searching from a root to its rules
 * in proportion to their steps. A rule that shares most of its way with others costs little by
 * itself, and what only one rule looks at is that rule's alone.
 *
 * Steps, unlike times, are a function of the run's input. Counts are settled when the rules that
 * are awake change: at the end of an iteration, and when a rule stops within one. */
#ifndef OPS_EGRAPH_RUN_RULE_PROFILE_H
#define OPS_EGRAPH_RUN_RULE_PROFILE_H

#include "ops/egraph/graph/egraph.h"
#include "ops/egraph/match/ematch.h"

struct search_profile {
    const struct saturate_profile *out;
    uint64_t *steps, *tried, *ns; /* by state, since they were settled; the last two of roots */
    uint32_t *n_active, *root;    /* by state: rules below it; the state above all */
    double *share, *whole;        /* by state: steps for each rule below; of roots: of all rules */
    uint32_t at;                  /* the root from which a search is under way, or NO_STATE ... */
    uint64_t begun;               /* ... and since when */
};

struct search_profile *search_profile_new(const struct saturate_profile *out,
                                          const struct automaton *automaton);
void search_profile_free(struct search_profile *p);
/* Gives what was counted to the rules that are awake. */
void search_profile_settle(struct ematch *m);

/* As ematch_search, with m->profile counting: ematch.c compiled once more (ematch_profiled.c), so
 * that it costs nothing where nobody counts. */
void ematch_search_profiled(struct ematch *m, uint32_t node);

static inline uint64_t search_profile_now(const struct search_profile *p)
{
    return p->out->clock_ns ? p->out->clock_ns(p->out->clock_arg) : 0;
}

#endif
