/* The patterns of a rule set as one discrimination tree: programs (pattern.h) with a common
 * beginning share its states, so that a node is tested for all rules at once. The roots are the
 * root operators of the patterns and the bare variable. Read-only, shared by threads. */
#pragma once

#include "ops/egraph/match/pattern.h"

enum state_kind {
    STATE_ROOT,   /* nothing to test */
    STATE_SWITCH, /* one step for each operator that register a may hold */
    STATE_STEP,   /* of a switch, taken */
    STATE_LEAF,   /* as I_LEAF and so on */
    STATE_SAME,
    STATE_BIND,
    STATE_FIND,
    STATE_DONE, /* rule x matches */
};

/* The children of a state are `first` to `first + n` - 1, and their own follow soon after: a search
 * goes through memory in one direction. Two states fit a cache line. */
struct state {
    uint8_t kind;
    uint8_t
        depth; /* how far below the root's arguments the rules of its subtree look, see depth_of */
    uint8_t arity; /* STATE_BIND, STATE_FIND */
    bool whole;
    uint16_t a, out;
    uint32_t x;
    uint32_t first, n;
    uint16_t n_done; /* so many of the children, the first ones, are STATE_DONE */
    uint8_t key;     /* STATE_BIND, as in struct instruction */
    union {
        /* STATE_SWITCH: a step for each bit; its child is steps[x + bit]. */
        uint64_t mask;
        /* STATE_BIND, STATE_FIND: arguments that are bound already. */
        uint32_t bound[2];
    };
};
_Static_assert(sizeof(struct state) == 32, "two to a line of the cache");
/* A depth is two levels: below the root's first argument, and below its others. */
static inline uint8_t depth_of(const uint8_t *levels)
{
    return (uint8_t)(levels[0] | levels[1] << 3);
}

static inline unsigned depth_level(uint8_t depth, int i)
{
    return i ? depth >> 3 : depth & 7;
}

#define AUTOMATON_LEAF 0x80000000u /* bound: the leaf, or else the register, x */

struct automaton {
    struct state *states; /* parents come before children */
    uint32_t *parent;     /* by state */
    uint32_t n;
    uint8_t *steps;
    uint32_t *root; /* by operator; NO_STATE: no pattern begins with it */
    uint32_t n_ops;
    uint32_t any;   /* the root of bare variables, or NO_STATE */
    uint32_t *done; /* by rule: its last state, or NO_STATE */
};
#define NO_STATE UINT32_MAX

struct automaton_rule {
    const struct pattern *pattern; /* NULL: not searched for */
    uint8_t levels[2];             /* below 8 */
};
/* In the arena. */
void automaton_build(struct automaton *out, struct arena *a, const struct automaton_rule *rules,
                     size_t n, uint32_t n_ops);
