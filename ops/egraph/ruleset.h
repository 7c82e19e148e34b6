/* A rule set compiled; the insides of struct ruleset. */
#ifndef OPS_EGRAPH_RULESET_H
#define OPS_EGRAPH_RULESET_H

#include "ops/egraph/automaton.h"
#include "ops/egraph/graph.h"
#include "ops/egraph/pattern.h"

struct condition {
    enum rule_predicate predicate;
    uint8_t n_args;
    struct build args[2];
};

struct compiled_rule {
    const struct rule *rule;
    struct pattern lhs;
    struct build rhs;
    struct condition *conditions;
    size_t n_conditions;
    /* How far below the root's first argument, and below its others, a change can make a match new;
     * of a bare variable below the class above it. */
    uint8_t levels[2];
    /* Registers whose class makes a match new by joining another or by learning something. */
    const uint16_t *watched;
    uint16_t n_watched;
    /* A condition asks for the fact of a term, which may come to stand anywhere: what fails waits,
     * and is asked again. Of others, the variables are watched. */
    bool waits;
};

struct ruleset {
    const struct rules *source;
    struct arena arena;
    struct pattern_leaves leaves;
    struct compiled_rule *rules;
    size_t n;
    struct automaton automaton;
    uint32_t *constants; /* rules whose left side is a constant */
    size_t n_constants;
    unsigned reach; /* the greatest of all levels */
    bool too_large; /* some rule was: `problem` says which */
    struct err problem;
};

/* Do the conditions hold for a match? `classes` are the variables' classes, `leaf` maps the rule
 * set's leaves to the graph's. Changes nothing. */
bool graph_condition_holds(struct egraph *g, const struct condition *c, const uint32_t *classes,
                           const uint32_t *leaf);

#endif
