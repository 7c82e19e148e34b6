/* What searching costs each rule. A search looks for all rules with a common beginning at once, so
 * its cost is divided among them: ematch counts the steps at each state of the automaton (a state
 * entered or a candidate node tried). A step is shared equally by the active rules below its state,
 * so a rule that shares most of its path with others costs little.
 *
 * Steps, unlike times, are a function of the run's input. Counts are settled whenever the set of
 * active rules changes: at the end of an iteration, and when a rule is banned within one. */
#pragma once

#include "ops/egraph/graph/egraph.h"
#include "ops/egraph/match/ematch.h"

struct search_profile {
    struct rule_profile *rules; /* of the caller, counted up */
    struct ematch *m;
    uint64_t *steps;    /* by state, since the last settling */
    uint32_t *n_active; /* by state: active rules below it */
    double *share;      /* by state: steps of each rule below it */
};

/* Makes the ematch count into it. */
void search_profile_init(struct search_profile *p, struct rule_profile *rules, struct ematch *m);
void search_profile_free(struct search_profile *p);
/* Distributes the counts among the active rules. */
void search_profile_settle(struct search_profile *p);
