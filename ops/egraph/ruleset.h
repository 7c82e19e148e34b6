/* A rule set compiled; the insides of struct ruleset. */
#ifndef OPS_EGRAPH_RULESET_H
#define OPS_EGRAPH_RULESET_H

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
    /* A match is new only if its root node is, or something changed at most `levels` steps below
     * the root's class; ALWAYS if that cannot be told. */
    uint8_t levels;
};
enum { LEVELS_ALWAYS = 255 };

struct ruleset {
    const struct rules *source;
    struct arena arena;
    struct pattern_leaves leaves;
    struct compiled_rule *rules;
    size_t n;
    bool too_large; /* some rule was: `problem` says which */
    struct err problem;
};

/* Do the conditions hold for a match? `classes` are the variables' classes, `leaf` maps the rule
 * set's leaves to the graph's. Changes nothing. */
bool graph_condition_holds(struct egraph *g, const struct condition *c, const uint32_t *classes,
                           const uint32_t *leaf);

#endif
