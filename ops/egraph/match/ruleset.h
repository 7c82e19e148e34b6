/* A compiled rule set; the insides of struct ruleset. */
#pragma once

#include "ops/egraph/graph/egraph_core.h"
#include "ops/egraph/match/automaton.h"
#include "ops/egraph/match/pattern.h"

struct condition {
    uint8_t predicate; /* enum rule_predicate */
    bool direct;       /* tests the fact of `variable` and nothing else */
    uint8_t n_args;
    uint16_t variable;
    const struct build *args;
};

/* Predicates that are decided by their argument's fact alone, a bit each. */
#define RULE_OF_FACTS                                                                              \
    (1u << RULE_POSITIVE | 1u << RULE_NONNEGATIVE | 1u << RULE_NEGATIVE | 1u << RULE_NONPOSITIVE | \
     1u << RULE_NONZERO | 1u << RULE_MAYBE_NONZERO | 1u << RULE_REAL | 1u << RULE_INTEGER |        \
     1u << RULE_EVEN | 1u << RULE_ODD | 1u << RULE_CONSTANT)

struct compiled_rule {
    struct build rhs;
    const struct condition *conditions;
    size_t n_conditions;
    /* A condition tests the fact of a term that may be anywhere in the graph: a match that fails is
     * kept and tried again. Variables of other conditions are watched. */
    bool waits;
    /* How far below the root's first argument, and below its others, a change can make a match new;
     * for a bare variable below the class above it. */
    uint8_t levels[2];
    uint16_t n_watched;
    /* Registers whose class makes a match new when it joins another or its fact changes. */
    const uint16_t *watched;
    const struct rule *rule;
    struct pattern lhs;
    uint64_t kinds; /* kinds of nodes at which it begins, as a mask */
};

enum { RULE_FIRST_VARS = 4, RHS_NODES = 3 };

/* What applying a match reads of its rule, in one cache line: nearly all of it. */
struct compiled_rhs {
    const struct condition *conditions;
    const struct build_node *nodes; /* of the right-hand side; `first` if they are few */
    uint16_t n_vars, n, root;
    uint8_t n_conditions;
    bool waits;
    struct build_node first[RHS_NODES];
};
_Static_assert(sizeof(struct compiled_rhs) == 64, "a line of the cache");

/* What a search reads of a rule that has matched; packed, since there are many rules. */
struct rule_match {
    uint32_t registers; /* in ruleset.registers: of the variables, then those watched */
    uint32_t leaves;    /* in ruleset.watched_leaves: a match is new if one of them is */
    uint16_t n_vars, n_watched, n_leaves, n_binds;
    uint8_t first[RULE_FIRST_VARS]; /* registers of the first variables, or 0 */
};

struct ruleset {
    const struct rules *source;
    struct arena arena;
    struct pattern_leaves leaves;
    struct compiled_rule *rules;
    size_t n;
    struct rule_match *matches; /* by rule */
    struct compiled_rhs *rhs;
    uint16_t *registers;
    uint32_t *watched_leaves;
    struct automaton automaton;
    uint32_t *constants; /* rules whose left side is a constant */
    size_t n_constants;
    uint32_t most_values; /* variables and nodes of one right side */
    uint64_t kinds;       /* of all rules */
    unsigned reach;       /* the maximum of all levels */
    bool too_large;       /* some rule was: `problem` says which */
    struct err problem;
};

/* The leaves of the rule set in the graph. In the arena. */
uint32_t *ruleset_leaves(struct arena *a, const struct ruleset *set, struct egraph *g);

/* Whether a condition holds for a match. `classes` are the classes of the variables, `leaf` maps
 * the leaves of the rule set to those of the graph. Changes nothing. */
bool graph_condition_decide(struct egraph *g, const struct condition *c, const uint32_t *classes,
                            const uint32_t *leaf);
/* Most conditions test the fact of a variable, with a cached answer. */
static inline bool graph_condition_holds(struct egraph *g, const struct condition *c,
                                         const uint32_t *classes, const uint32_t *leaf)
{
    uint32_t answers = 0;
    if (c->direct)
        answers = g->facts.answers[graph_eclass(g, graph_find(g, classes[c->variable]))->fact];
    return answers ? answers >> c->predicate & 1 : graph_condition_decide(g, c, classes, leaf);
}
