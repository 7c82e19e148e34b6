/* A compiled rule set: the internals of struct ruleset. */
#pragma once

#include "ops/egraph/graph/egraph_core.h"
#include "ops/egraph/match/pattern.h"

struct condition {
    uint8_t predicate; /* enum rule_predicate */
    bool direct;       /* tests only the fact of `variable` */
    uint8_t n_args;
    uint16_t variable;
    const struct build *args;
};

/* Predicates that depend only on the fact of their argument, one bit each. */
#define RULE_OF_FACTS                                                                              \
    (1u << RULE_POSITIVE | 1u << RULE_NONNEGATIVE | 1u << RULE_NEGATIVE | 1u << RULE_NONPOSITIVE | \
     1u << RULE_NONZERO | 1u << RULE_MAYBE_NONZERO | 1u << RULE_REAL | 1u << RULE_INTEGER |        \
     1u << RULE_EVEN | 1u << RULE_ODD | 1u << RULE_CONSTANT)

struct compiled_rule {
    struct build rhs;
    const struct condition *conditions;
    size_t n_conditions;
    /* A condition tests the fact of a term that may be anywhere in the graph, so a failed match is
     * kept and tried again. For other conditions the variables are watched. */
    bool waits;
    /* How far below the root's first argument, and below its others, a change can make a match new;
     * for a bare variable, below the class above it. */
    uint8_t levels[2];
    uint16_t n_watched;
    /* Registers whose class makes a match new when it is merged or its fact changes. */
    const uint16_t *watched;
    const struct rule *rule;
    struct pattern lhs;
    uint64_t kinds; /* kinds of nodes at which the rule begins, as a mask */
};

/* The patterns of a rule set as one discrimination tree: programs (pattern.h) with a common prefix
 * share its states, so that a node is tested for all rules at once. The roots are the root
 * operators of the patterns and the bare variable. Read-only, shared by threads. */
enum state_kind {
    STATE_ROOT,   /* nothing to test */
    STATE_SWITCH, /* one step for each operator that may be in register a */
    STATE_STEP,   /* the chosen step of a switch */
    STATE_LEAF,   /* from here on as I_LEAF etc. */
    STATE_SAME,
    STATE_BIND,
    STATE_FIND,
    STATE_DONE, /* rule x matches */
};

/* The children of a state are `first` to `first + n` - 1, and their own children follow soon after,
 * so that a search reads memory in one direction. Two states fit into a cache line. */
struct state {
    uint8_t kind;
    uint8_t depth; /* how far below the root's arguments the rules of its subtree search, see
                      depth_of */
    uint8_t arity; /* STATE_BIND, STATE_FIND */
    bool whole;
    uint16_t a, out;
    uint32_t x;
    uint32_t first, n;
    uint16_t n_done; /* the first n_done children are STATE_DONE */
    uint8_t key;     /* STATE_BIND, as in struct instruction */
    union {
        /* STATE_SWITCH: a step for each bit; its child is steps[x + bit]. */
        uint64_t mask;
        /* STATE_BIND, STATE_FIND: arguments that are already bound, as in pattern.h. */
        uint32_t bound[2];
    };
};
_Static_assert(sizeof(struct state) == 32, "two to a line of the cache");
/* A depth holds two levels: below the root's first argument, and below its others. */
static inline uint8_t depth_of(const uint8_t *levels)
{
    return (uint8_t)(levels[0] | levels[1] << 3);
}

static inline unsigned depth_level(uint8_t depth, int i)
{
    return i ? depth >> 3 : depth & 7;
}

struct automaton {
    struct state *states; /* parents come before children */
    uint32_t *parent;     /* by state */
    uint32_t n;
    uint8_t *steps;
    uint32_t *root; /* by operator; NO_STATE: no pattern begins with this operator */
    uint32_t n_ops;
    uint32_t any;   /* the root of bare variables, or NO_STATE */
    uint32_t *done; /* by rule: its last state, or NO_STATE */
};
#define NO_STATE UINT32_MAX

enum { RULE_FIRST_VARS = 4, RHS_NODES = 3 };

/* The data of a rule that applying a match reads, nearly all in one cache line. */
struct compiled_rhs {
    const struct condition *conditions;
    const struct build_node *nodes; /* nodes of the right-hand side; `first` if they are few */
    uint16_t n_vars, n, root;
    uint8_t n_conditions;
    bool waits;
    struct build_node first[RHS_NODES];
};
_Static_assert(sizeof(struct compiled_rhs) == 64, "a line of the cache");

/* The data of a rule that a search reads after a match; packed, since there are many rules. */
struct rule_match {
    uint32_t registers; /* in ruleset.registers: of the variables, then those watched */
    uint32_t leaves;    /* in ruleset.watched_leaves: new leaves make a match new */
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
    uint32_t most_values; /* maximum number of variables and nodes of one right-hand side */
    uint64_t kinds;       /* union over all rules */
    unsigned reach;       /* the maximum of all levels */
    bool too_large;       /* a rule was too large; `problem` names it */
    struct err problem;
};

/* automaton.c: builds the automaton of compiled rules, in the arena of the set. */
void automaton_build(struct automaton *out, struct ruleset *set);

/* Maps the leaves of the rule set to leaves of the graph. The map lives in the arena. */
uint32_t *ruleset_leaves(struct arena *a, const struct ruleset *set, struct egraph *g);

/* Returns whether a condition holds for a match. `classes` are the classes of the variables; `leaf`
 * maps the leaves of the rule set to those of the graph. Does not change the graph. */
bool graph_condition_decide(struct egraph *g, const struct condition *c, const uint32_t *classes,
                            const uint32_t *leaf);
/* A fast path: most conditions test the fact of a variable, and the answer is cached. */
static inline bool graph_condition_holds(struct egraph *g, const struct condition *c,
                                         const uint32_t *classes, const uint32_t *leaf)
{
    uint32_t answers = 0;
    if (c->direct)
        answers = g->facts.answers[graph_eclass(g, graph_find(g, classes[c->variable]))->fact];
    return answers ? answers >> c->predicate & 1 : graph_condition_decide(g, c, classes, leaf);
}
