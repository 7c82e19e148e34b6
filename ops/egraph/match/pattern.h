/* Compiled patterns and right-hand sides. A left side becomes a straight-line program of tests,
 * from which the automaton of the rule set is built (ruleset.h); a right side (or the argument of
 * a condition) becomes a list of nodes to build. Compiled once per rule set, read-only, shared by
 * threads and e-graphs. */
#pragma once

#include "ops/expr/expr.h"

enum instruction_kind {
    I_LEAF, /* register a holds the leaf x */
    I_SAME, /* registers a and x hold the same class */
    I_HAS,  /* some node of register a may have operator x, by its class's mask */
    I_BIND, /* for each node of register a with operator x and the bound arguments: its arguments to
               registers out.. */
    I_FIND, /* the node of operator x, all arguments of which are bound: its class to register a,
               its arguments to registers out.. */
    I_DONE,
};

/* An argument that is bound before its node: its register, or BOUND_LEAF | its leaf. */
#define BOUND_LEAF 0x80000000u
#define BOUND_NOT UINT32_MAX

struct instruction {
    uint8_t kind, arity;
    uint8_t key; /* I_BIND: the first bound argument, or PATTERN_NO_KEY */
    bool whole;  /* I_BIND: all arguments are bound: at most one node */
    uint16_t a, out;
    uint32_t x;
    const uint32_t *bound; /* by argument */
};
enum { PATTERN_NO_KEY = 255 };

/* A bit for each operator, the last shared by those that a rules file declared. */
enum { MASK_OTHERS = 62 };
static inline uint64_t pattern_op_mask(uint32_t op)
{
    return 1ull << (op < MASK_OTHERS ? op : MASK_OTHERS);
}

enum { PATTERN_MAX_REGISTERS = 256, PATTERN_MAX_VARS = 64 };

/* The leaves that the patterns of a rule set mention. */
struct pattern_leaves {
    struct pattern_leaf {
        uint16_t op;
        const char *text;
    } * items;
    size_t n, cap;
};

struct pattern {
    bool any;      /* a bare variable: every class matches */
    bool constant; /* a leaf, the only one of `leaves`: its node matches */
    uint16_t op;   /* of the root; its arguments are registers 1.. */
    uint8_t arity;
    uint64_t ops; /* masks of all its operators */
    uint16_t n_vars;
    uint16_t n_binds; /* nodes bound: the root, then each I_BIND and I_FIND in program order */
    uint16_t n_registers;
    uint16_t *var_register; /* by variable */
    const char **var_name;
    uint32_t *bind_position;     /* in the pattern's expression, by bind */
    struct instruction *program; /* of n_program instructions, the last I_DONE */
    uint32_t n_program;
    /* How far below the root's first argument, and below its others, a match looks; 0: not at all,
     * 1: at the argument's class. `reach` is for operators, leaves and repeated variables,
     * `var_reach` for first occurrences of variables. For a bare variable: below the class above
     * it. */
    uint8_t reach[2], var_reach[2];
    /* A match that was possible before is new again only if it binds a new node, if one of these
     * leaves is new, or if a class in one of these registers joined another. */
    uint16_t *watched;
    uint32_t *leaves;
    uint16_t n_watched, n_leaves;
};

/* The nodes to build, arguments first. A reference below n_vars is a variable, others are n_vars +
 * the index of an earlier node. */
struct build {
    struct build_node {
        bool is_leaf;
        uint8_t arity;
        uint16_t kid[2]; /* references, or 0 */
        uint32_t op;     /* or index of a leaf */
    } * nodes;
    uint16_t n, root, n_vars;
};

/* ERR_LIMIT if the pattern is too large. */
enum err_code pattern_compile(struct pattern *out, struct arena *a, struct pattern_leaves *leaves,
                              const struct expr *x, struct err *e);
/* Every variable of x occurs in p. */
enum err_code build_compile(struct build *out, struct arena *a, struct pattern_leaves *leaves,
                            const struct pattern *p, const struct expr *x, struct err *e);
