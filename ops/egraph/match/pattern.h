/* Compiled patterns and right-hand sides. A left side becomes a straight-line program of tests,
 * from which the automaton of the rule set is built (ruleset.h); a right side (or the argument of
 * a condition) becomes a list of nodes to build. Compiled once per rule set, read-only, shared by
 * threads and e-graphs. */
#pragma once

#include "ops/expr/expr.h"

enum instruction_kind {
    I_LEAF, /* register a contains the leaf x */
    I_SAME, /* registers a and x contain the same class */
    I_HAS,  /* some node of register a may have operator x, according to its class's mask */
    I_BIND, /* for each node of register a with operator x and the bound arguments: puts its
               arguments into registers out.. */
    I_FIND, /* the node of operator x whose arguments are all bound: puts its class into register a
               and its arguments into registers out.. */
    I_DONE,
};

/* An argument that is bound before its node: a register, or BOUND_LEAF | a leaf. */
#define BOUND_LEAF 0x80000000u
#define BOUND_NOT UINT32_MAX

struct instruction {
    uint8_t kind, arity;
    uint8_t key; /* I_BIND: the first bound argument, or PATTERN_NO_KEY */
    bool whole;  /* I_BIND: all arguments are bound, so at most one node fits */
    uint16_t a, out;
    uint32_t x;
    const uint32_t *bound; /* by argument */
};
enum { PATTERN_NO_KEY = 255 };

/* A bit for each operator; the operators that a rules file declares share the last. */
enum { MASK_OTHERS = 62 };
static inline uint64_t pattern_op_mask(uint32_t op)
{
    return 1ull << (op < MASK_OTHERS ? op : MASK_OTHERS);
}

enum { PATTERN_MAX_REGISTERS = 256, PATTERN_MAX_VARS = 64 };

/* The leaves that occur in the patterns of a rule set. */
struct pattern_leaves {
    struct pattern_leaf {
        uint16_t op;
        const char *text;
    } * items;
    size_t n, cap;
};

struct pattern {
    bool any;      /* a bare variable: every class matches */
    bool constant; /* a leaf, the only one in `leaves`: its node matches */
    uint16_t op;   /* operator of the root; its arguments are in registers 1.. */
    uint8_t arity;
    uint64_t ops; /* masks of all its operators */
    uint16_t n_vars;
    uint16_t n_binds; /* bound nodes: the root, then each I_BIND and I_FIND in program order */
    uint16_t n_registers;
    uint16_t *var_register; /* by variable */
    const char **var_name;
    uint32_t *bind_position;     /* by bind: position in the pattern's expression */
    struct instruction *program; /* n_program instructions, the last is I_DONE */
    uint32_t n_program;
    /* How far below the root's first argument, and below its others, a match looks; 0: not at all,
     * 1: at the argument's class. `reach` counts operators, leaves and repeated variables,
     * `var_reach` first occurrences of variables. For a bare variable: below the class above it. */
    uint8_t reach[2], var_reach[2];
    /* A match that was possible before is new again only if it binds a new node, if one of these
     * leaves is new, or if a class in one of these registers was merged. */
    uint16_t *watched;
    uint32_t *leaves;
    uint16_t n_watched, n_leaves;
};

/* The nodes to build, arguments first. References below n_vars are variables; others are n_vars +
 * the index of an earlier node. */
struct build {
    struct build_node {
        bool is_leaf;
        uint8_t arity;
        uint16_t kid[2]; /* references, or 0 */
        uint32_t op;     /* an operator, or the index of a leaf */
    } * nodes;
    uint16_t n, root, n_vars;
};

/* Fails with ERR_LIMIT if the pattern is too large. */
enum err_code pattern_compile(struct pattern *out, struct arena *a, struct pattern_leaves *leaves,
                              const struct expr *x, struct err *e);
/* Every variable of x must occur in p. */
enum err_code build_compile(struct build *out, struct arena *a, struct pattern_leaves *leaves,
                            const struct pattern *p, const struct expr *x, struct err *e);
